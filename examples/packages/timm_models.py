"""timm: trains small models of five families with its own optimizers and schedules, and an average of the weights."""

import torch
import vision  # noqa: F401
from timm import create_model
from timm.layers import AvgPool2dSame, DropPath
from timm.loss import LabelSmoothingCrossEntropy
from timm.models import ConvNeXt, MlpMixer, VisionTransformer
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import ModelEmaV3, accuracy

families = {
    "resnet": lambda: create_model("resnet10t", num_classes=5, layers=(1, 1, 1, 1)),
    "transformer": lambda: VisionTransformer(64, 16, embed_dim=32, depth=2, num_heads=2, num_classes=5),
    "mixer": lambda: MlpMixer(5, 64, patch_size=16, embed_dim=32, num_blocks=2),
    "convnext": lambda: ConvNeXt(depths=(1, 1, 1, 1), dims=(8, 16, 32, 64), num_classes=5),
    "efficientnet": lambda: create_model("test_efficientnet", num_classes=5)}
for (name, make), kind in zip(families.items(), ("sgd", "adamw", "lamb", "adafactor", "nadamw")):
    torch.manual_seed(1)
    model, x, y = make(), torch.randn(8, 3, 64, 64), torch.arange(8) % 5
    optimizer = create_optimizer_v2(model, kind, lr=0.002, weight_decay=0.05)
    schedule = CosineLRScheduler(optimizer, t_initial=5, warmup_t=2, warmup_lr_init=1e-4)
    average, measure, losses = ModelEmaV3(model, decay=0.9), LabelSmoothingCrossEntropy(0.1), []
    for step in range(5):
        optimizer.zero_grad()
        loss = measure(model(x), y)
        loss.backward()
        optimizer.step()
        schedule.step(step + 1)
        average.update(model)
        losses.append(f"{loss.item():.4f}")
    weights = sum([parameter.double().sum().item() for parameter in average.module.parameters()])
    print(f"{name:12} {kind:9}", *losses, f"average {weights:.3f}, rate {optimizer.param_groups[0]['lr']:.6f}")

features = create_model("resnet10t", features_only=True, layers=(1, 1, 1, 1)).eval()
print([tuple(part.shape) for part in features(x)], accuracy(torch.eye(5), torch.arange(5))[0].item())
torch.manual_seed(2)
print(f"{DropPath(0.5).train()(torch.ones(6, 2)).sum():.1f} {AvgPool2dSame(3, 2)(x).sum():.3f}")
