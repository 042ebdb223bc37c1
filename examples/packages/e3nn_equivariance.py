"""e3nn: a small network that turns with its input, checked and trained."""

import torch
from e3nn import o3
from e3nn.nn import Gate

torch.manual_seed(0)
harmonics = o3.Irreps.spherical_harmonics(lmax=2)
points = torch.randn(10, 3)
print("harmonics:", [round(v, 4) for v in o3.spherical_harmonics(harmonics, points, normalize=True)[0].tolist()])
product = o3.FullyConnectedTensorProduct("4x0e + 2x1o", harmonics, "4x0e + 2x1o")
print(product)
features = torch.randn(10, product.irreps_in1.dim)
angles = o3.rand_angles()
turn_in, turn_out = (irreps.D_from_angles(*angles) for irreps in (product.irreps_in1, product.irreps_out))
rotation = o3.Irreps("1o").D_from_angles(*angles)


def network(features: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
    """The product of the features with the harmonics of the points."""
    return product(features, o3.spherical_harmonics(harmonics, points, normalize=True))


turned_first = network(features @ turn_in.T, points @ rotation.T)
turned_last = network(features, points) @ turn_out.T
print("equivariant:", torch.allclose(turned_first, turned_last, atol=1e-4))
gate = Gate("4x0e", [torch.tanh], "2x0e", [torch.sigmoid], "2x1o")
linear = o3.Linear(product.irreps_out, gate.irreps_in)
optimizer = torch.optim.Adam([*product.parameters(), *linear.parameters()], lr=1e-2)
for step in range(31):
    loss = (gate(linear(network(features, points))).pow(2).sum(1) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step}: loss {loss.item():.4f}")
