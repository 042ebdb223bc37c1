"""opacus: trains with clipped gradients of samples and noise, and says how much privacy is spent."""

import warnings

import torch
from opacus import GradSampleModule, PrivacyEngine
from opacus.layers import DPMultiheadAttention
from opacus.validators import ModuleValidator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


def main() -> None:
    torch.manual_seed(0)
    x = torch.randn(64, 1, 8, 8)
    data = DataLoader(TensorDataset(x, (x.mean((1, 2, 3)) > 0).long()), batch_size=16)
    network = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
    network = ModuleValidator.fix(network)
    print(network)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    engine = PrivacyEngine(accountant="rdp")
    network, optimizer, data = engine.make_private(
        module=network, optimizer=optimizer, data_loader=data, noise_multiplier=1.0, max_grad_norm=1.0)
    for epoch in range(3):
        for inputs, targets in data:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(network(inputs), targets)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}   loss {loss.item():.5f}, epsilon {engine.get_epsilon(1e-5):.4f}")

    for functions in (False, True):
        torch.manual_seed(1)
        plain = nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.GELU(), nn.Linear(6, 2))
        samples = GradSampleModule(plain, force_functorch=functions)
        samples(torch.randn(3, 4)).square().sum().backward()
        shapes = [tuple(p.grad_sample.shape) for p in plain.parameters()]
        print(f"by torch.func {functions}: {shapes} {plain[0].weight.grad_sample.norm():.5f}")
    attention = GradSampleModule(DPMultiheadAttention(8, 2))
    out, _ = attention(*[torch.randn(5, 3, 8)] * 3)
    out.square().sum().backward()
    print("attention:", f"{sum(p.grad_sample.square().sum() for p in attention.parameters()).item():.4f}")


if __name__ == "__main__":
    main()
