"""curvlinops: curvature matrices of a small network as linear operators, which nobody writes out."""

import torch
from curvlinops import EFLinearOperator, GGNLinearOperator, HessianLinearOperator
from torch import nn

torch.manual_seed(0)
x, wanted = torch.rand(20, 3, dtype=torch.float64), torch.rand(20, 2, dtype=torch.float64)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
parameters = list(model.parameters())
direction = torch.rand(sum(p.numel() for p in parameters), dtype=torch.float64)
for kind in (HessianLinearOperator, GGNLinearOperator, EFLinearOperator):
    curvature = kind(model, nn.MSELoss(), parameters, [(x[:12], wanted[:12]), (x[12:], wanted[12:])])
    product = curvature @ direction
    print(f"{kind.__name__:22} {tuple(curvature.shape)} {product.norm():.6f} {direction @ product:.6f}")
