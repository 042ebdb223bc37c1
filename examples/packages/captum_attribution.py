"""captum: which inputs a small network looks at, by gradients, by integrals, by ablation and by hooks inside layers."""

import numpy as np
import torch
from captum.attr import (
    DeepLift,
    FeatureAblation,
    GradientShap,
    GuidedBackprop,
    InputXGradient,
    IntegratedGradients,
    LayerConductance,
    LayerGradCam,
    NoiseTunnel,
    Saliency,
    ShapleyValueSampling,
)
from torch import nn

torch.manual_seed(0)
np.random.seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)).eval()
x, baseline = torch.randn(2, 4), torch.zeros(2, 4)


def show(name: str, attribution: torch.Tensor) -> None:
    """One line with the attributions of the first example."""
    print(f"{name}: {[round(a, 4) for a in attribution[0].flatten().tolist()]}")


attribution, delta = IntegratedGradients(model).attribute(x, baseline, target=1, return_convergence_delta=True)
show("integrated gradients", attribution)
print(f"completeness holds: {bool(delta.abs().max() < 1e-2)}")
show("saliency", Saliency(model).attribute(x, target=0))
show("input times gradient", InputXGradient(model).attribute(x, target=2))
show("DeepLift", DeepLift(model).attribute(x, baseline, target=1))
show("guided backpropagation", GuidedBackprop(model).attribute(x, target=1))
show("ablation", FeatureAblation(model).attribute(x, target=1))
show("Shapley values", ShapleyValueSampling(model).attribute(x, target=1, n_samples=10))
show("gradient SHAP", GradientShap(model).attribute(x, baseline, target=1, n_samples=5))
show("noise tunnel", NoiseTunnel(Saliency(model)).attribute(x, nt_samples=4, target=1))
show("conductance of the hidden layer", LayerConductance(model, model[0]).attribute(x, baseline, target=1))
pictures = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(2 * 16, 2)).eval()
show("Grad-CAM", LayerGradCam(pictures, pictures[0]).attribute(torch.randn(1, 1, 6, 6), target=0))
