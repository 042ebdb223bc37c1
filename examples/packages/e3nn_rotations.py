"""e3nn: a network of irreducible representations, whose output turns with its input."""

import math
import warnings

import torch
from e3nn import o3
from e3nn.nn import FullyConnectedNet, Gate

warnings.filterwarnings("ignore")


class Convolution(torch.nn.Module):
    """Sums messages of points, which depend on the distance and on the direction between two points."""

    def __init__(self, into: o3.Irreps, out: o3.Irreps) -> None:
        super().__init__()
        self.directions = o3.Irreps.spherical_harmonics(2)
        self.product = o3.FullyConnectedTensorProduct(into, self.directions, out, shared_weights=False)
        self.radial = FullyConnectedNet([8, 16, self.product.weight_numel], torch.nn.functional.silu)

    def forward(self, features: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """The sum over all other points."""
        ahead, behind = torch.triu_indices(len(places), len(places), 1)
        ahead, behind = torch.cat([ahead, behind]), torch.cat([behind, ahead])
        arrows = places[ahead] - places[behind]
        harmonics = o3.spherical_harmonics(self.directions, arrows, normalize=True, normalization="component")
        distances = arrows.norm(dim=1, keepdim=True) - torch.linspace(0, 3, 8)
        messages = self.product(features[behind], harmonics, self.radial(torch.exp(-distances.square())))
        return torch.zeros(len(places), messages.shape[1]).index_add(0, ahead, messages) / math.sqrt(len(places))


class Network(torch.nn.Module):
    """A convolution, a gate and another convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate("8x0e", [torch.tanh], "4x0e", [torch.sigmoid], "4x1o")
        self.first = Convolution(o3.Irreps("2x0e"), self.gate.irreps_in)
        self.second = Convolution(self.gate.irreps_out, o3.Irreps("0e + 1o"))

    def forward(self, features: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """A number and a vector for each point."""
        return self.second(self.gate(self.first(features, places)), places)


def main() -> None:
    torch.manual_seed(0)
    network, features, places = Network(), torch.randn(6, 2), torch.randn(6, 3)
    target = torch.cat([places.norm(dim=1, keepdim=True), places.roll(1, 0)], 1)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    for step in range(5):
        loss = (network(features, places) - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}   loss {loss.item():.5f}")

    turn = o3.rand_matrix()
    turned = network(features, places @ turn.T)
    expected = network(features, places) @ o3.Irreps("0e + 1o").D_from_matrix(turn).T
    print(f"turns with its input: {torch.allclose(turned, expected, atol=1e-4)}")
    print("Wigner 3j", o3.wigner_3j(1, 1, 2).square().sum().item(), o3.Irreps("1o") * 2)
    angles = o3.matrix_to_angles(turn)
    print("angles", [round(angle.item(), 4) for angle in angles], f"{o3.wigner_D(2, *angles).sum().item():.5f}")
    linear = o3.Linear("4x0e + 2x1o", "3x0e + 5x1o")
    print(linear, f"{linear(torch.randn(3, 10)).std().item():.5f}")


if __name__ == "__main__":
    main()
