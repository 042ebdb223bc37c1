"""normflows: affine coupling layers learn two moons by the forward Kullback-Leibler divergence."""

import normflows
import torch

torch.manual_seed(0)
base = normflows.distributions.base.DiagGaussian(2)
layers: list[torch.nn.Module] = []
for _ in range(6):
    network = normflows.nets.MLP([1, 32, 32, 2], init_zeros=True)
    layers += [normflows.flows.AffineCouplingBlock(network), normflows.flows.Permute(2, mode="swap")]
model = normflows.NormalizingFlow(base, layers)
target = normflows.distributions.TwoMoons()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-5)
for step in range(60):
    optimizer.zero_grad()
    loss = model.forward_kld(target.sample(128))
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: divergence {loss.item():.4f}")
samples, logarithm = model.sample(100)
print(f"samples: mean {[round(m, 3) for m in samples.mean(0).tolist()]}, log density {logarithm.mean().item():.4f}")
