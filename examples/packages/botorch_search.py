"""botorch: looks for the highest point of a function by a Gaussian process and several acquisition functions."""

import warnings

import torch
from botorch.acquisition import (
    ExpectedImprovement,
    LogExpectedImprovement,
    UpperConfidenceBound,
    qExpectedImprovement,
    qNoisyExpectedImprovement,
)
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from gpytorch.mlls import ExactMarginalLogLikelihood

warnings.filterwarnings("ignore")


def height(x: torch.Tensor) -> torch.Tensor:
    """The function to search, which is highest near (0.3, 0.6)."""
    return (-8 * (x - torch.tensor([0.3, 0.6])).square().sum(-1, keepdim=True)).exp() + 0.1 * torch.sin(9 * x[:, :1])


def fitted(x: torch.Tensor) -> SingleTaskGP:
    """A process that is fitted to what is known."""
    model = SingleTaskGP(x, height(x), input_transform=Normalize(2), outcome_transform=Standardize(1))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def main() -> None:
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    x, bounds = torch.rand(8, 2), torch.tensor([[0.0, 0.0], [1.0, 1.0]])
    for step in range(4):
        model = fitted(x)
        rule = LogExpectedImprovement(model, best_f=height(x).max())
        found, _ = optimize_acqf(rule, bounds, q=1, num_restarts=3, raw_samples=16)
        x = torch.cat([x, found])
        print(f"step {step}   at {[round(c, 3) for c in found[0].tolist()]}, best {height(x).max().item():.4f}")

    model, sampler = fitted(x), SobolQMCNormalSampler(torch.Size([32]), seed=1)
    places, best = torch.tensor([[[0.2, 0.5], [0.7, 0.1]]]), height(x).max() - 0.2
    rules = (qExpectedImprovement(model, best, sampler), qNoisyExpectedImprovement(model, x, sampler))
    for rule in rules:
        print(f"{type(rule).__name__}: {rule(places).item():.4f}")
    for rule in (ExpectedImprovement(model, best), UpperConfidenceBound(model, 0.5)):
        single = places[:, :1].clone().requires_grad_()
        (slope,) = torch.autograd.grad(rule(single).sum(), single)
        slopes = [round(g, 3) for g in slope.flatten().tolist()]
        print(f"{type(rule).__name__}: {rule(single).item():.4f}, slope {slopes}")


if __name__ == "__main__":
    main()
