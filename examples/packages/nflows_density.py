"""nflows: masked affine and coupling flows learn a bent Gaussian."""

import torch
from nflows.distributions.normal import StandardNormal
from nflows.flows.base import Flow
from nflows.transforms.autoregressive import MaskedAffineAutoregressiveTransform
from nflows.transforms.base import CompositeTransform
from nflows.transforms.permutations import ReversePermutation

torch.manual_seed(0)
layers = []
for _ in range(3):
    layers += [ReversePermutation(features=2), MaskedAffineAutoregressiveTransform(features=2, hidden_features=16)]
flow = Flow(CompositeTransform(layers), StandardNormal(shape=[2]))
optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)

base = torch.randn(1000, 2)
data = torch.stack((base[:, 0], 0.5 * base[:, 0] ** 2 + 0.3 * base[:, 1]), dim=1)
for step in range(80):
    batch = data[torch.randperm(1000)[:200]]
    loss = -flow.log_prob(inputs=batch).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: negative log likelihood {loss.item():.4f}")
samples = flow.sample(200)
print(f"samples: mean {[round(m, 3) for m in samples.mean(0).tolist()]}")
