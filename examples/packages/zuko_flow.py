"""zuko: a neural spline flow learns the two moons from samples."""

import math

import torch
import zuko

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)


def two_moons(n: int) -> torch.Tensor:
    """Points of two half circles with noise."""
    angle = math.pi * torch.rand(n)
    upper = torch.rand(n) < 0.5
    x = torch.where(upper, torch.cos(angle) - 0.5, 0.5 - torch.cos(angle))
    y = torch.where(upper, torch.sin(angle) - 0.25, 0.25 - torch.sin(angle))
    return torch.stack((x, y), dim=-1) + 0.05 * torch.randn(n, 2)


data = two_moons(1024)
flow = zuko.flows.NSF(features=2, transforms=2, hidden_features=(32, 32))
optimizer = torch.optim.Adam(flow.parameters(), lr=5e-3)
for step in range(60):
    batch = data[torch.randint(0, 1024, (128,))]
    loss = -flow().log_prob(batch).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: negative log likelihood {loss.item():.4f}")
samples = flow().sample((500,))
print(f"samples: mean {samples.mean(0).tolist()[0]:.3f}, deviations {[round(s, 3) for s in samples.std(0).tolist()]}")
affine = zuko.flows.MAF(features=3, context=2, transforms=2)
context = torch.randn(5, 2)
z, logarithm = affine(context).rsample_and_log_prob((4,))
print(f"conditional samples {tuple(z.shape)}, mean log density {logarithm.mean().item():.4f}")
