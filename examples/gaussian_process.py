"""A Gaussian process finds how smooth a noisy curve is: Cholesky factors, and Newton's method with exact Hessians.

The negative log likelihood of the data is a function of two numbers, the logarithms of the length scale and of the
noise. Its gradient and its Hessian come from autograd, through `torch.linalg.cholesky` and `torch.cholesky_solve`.
"""

import math

import torch

POINTS = 40


def kernel(a: torch.Tensor, b: torch.Tensor, length: torch.Tensor) -> torch.Tensor:
    """The covariance of the values at two places."""
    return torch.exp(-0.5 * ((a[:, None] - b[None, :]) / length) ** 2)


def unlikelihood(logs: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The negative logarithm of the likelihood of the data."""
    length, noise = logs.exp()
    factor = torch.linalg.cholesky(kernel(x, x, length) + noise * torch.eye(len(x)))
    weights = torch.cholesky_solve(y[:, None], factor)[:, 0]
    return 0.5 * y @ weights + factor.diagonal().log().sum() + 0.5 * len(x) * math.log(2 * math.pi)


def main() -> None:
    torch.manual_seed(2)
    torch.set_default_dtype(torch.float64)
    x = torch.linspace(0, 6, POINTS)
    y = torch.sin(x) + 0.1 * torch.randn(POINTS)
    logs = torch.tensor([0.5, -3.0])
    for step in range(1, 9):
        value = unlikelihood(logs, x, y)
        slope = torch.autograd.functional.jacobian(lambda p: unlikelihood(p, x, y), logs)
        bend = torch.autograd.functional.hessian(lambda p: unlikelihood(p, x, y), logs)
        curvatures, directions = torch.linalg.eigh(bend)
        # The absolute values make the step go downhill even if the function bends downwards.
        bent = directions @ torch.diag(curvatures.abs().clamp(min=1.0)) @ directions.mT
        logs = logs - torch.linalg.solve(bent, slope)
        print(f"step {step}: {value.item():9.4f}   slope {slope.norm().item():.1e}")
    length, noise = logs.exp()
    print(f"length scale {length.item():.3f}, standard deviation of the noise {noise.sqrt().item():.3f}")
    places = torch.tensor([1.0, 3.0, 5.0])
    factor = torch.linalg.cholesky(kernel(x, x, length) + noise * torch.eye(POINTS))
    across = kernel(places, x, length)
    mean = across @ torch.cholesky_solve(y[:, None], factor)[:, 0]
    spread = (1 - torch.linalg.solve_triangular(factor, across.mT, upper=False).square().sum(0)).sqrt()
    for place, m, s in zip(places, mean, spread):
        print(f"at {place.item():.0f}: {m.item():.3f} +- {s.item():.3f}; the curve without noise is "
              f"{math.sin(place.item()):.3f}")


if __name__ == "__main__":
    main()
