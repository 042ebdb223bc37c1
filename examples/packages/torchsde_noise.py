"""torchsde: solves stochastic equations along Brownian paths, and learns the drift of one from its samples."""

import torch
import torchsde
from torch import nn


class Growth(nn.Module):
    """Geometric Brownian motion, with a drift that is learned."""

    sde_type = "ito"
    noise_type = "diagonal"

    def __init__(self, drift: float) -> None:
        super().__init__()
        self.drift = nn.Parameter(torch.tensor(drift))

    def f(self, t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.drift * y

    def g(self, t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return 0.3 * y


def main() -> None:
    torch.manual_seed(13)
    torch.set_default_dtype(torch.float64)
    times = torch.linspace(0, 1, 5)
    start = torch.ones(16, 2)
    path = torchsde.BrownianInterval(t0=0.0, t1=1.0, size=(16, 2), entropy=21, levy_area_approximation="space-time")
    for method in ("euler", "milstein", "srk"):
        end = torchsde.sdeint(Growth(0.5), start, times, bm=path, method=method, dt=0.05)[-1]
        exact = torch.exp((0.5 - 0.3**2 / 2) + 0.3 * path(0.0, 1.0))
        print(f"{method:9} mean {end.mean().item():.6f}, error {(end - exact).abs().mean().item():.6f}")

    model = Growth(0.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for solve in (torchsde.sdeint, torchsde.sdeint_adjoint):
        for _ in range(6):
            end = solve(model, start, times, bm=path, dt=0.1)[-1]
            loss = (end.mean() - exact.mean()).square()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"{solve.__name__}: drift {model.drift.item():.6f}, loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
