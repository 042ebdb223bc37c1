"""torchmin: finds the lowest point of Rosenbrock's valley by several methods, with Hessians by `vmap`."""

import torch
from torchmin import least_squares, minimize

torch.manual_seed(0)


def rosenbrock(x: torch.Tensor) -> torch.Tensor:
    return torch.sum(100 * (x[..., 1:] - x[..., :-1] ** 2) ** 2 + (1 - x[..., :-1]) ** 2)


start = torch.tensor([-0.7, 1.2, 0.4, 0.9], dtype=torch.float64)
for method in ("bfgs", "l-bfgs", "newton-cg", "newton-exact", "trust-ncg", "trust-exact"):
    found = minimize(rosenbrock, start, method=method)
    print(f"{method:12} {found.nit:3} steps, {found.nfev:3} values, ended: {found.success}, lowest {found.fun:.6f}")

times = torch.linspace(0, 3, 12, dtype=torch.float64)
seen = 2.5 * torch.exp(-1.3 * times) + 0.5 + 0.01 * torch.randn(12, dtype=torch.float64)


def misses(p: torch.Tensor) -> torch.Tensor:
    return p[0] * torch.exp(-p[1] * times) + p[2] - seen


fit = least_squares(misses, torch.ones(3, dtype=torch.float64))
print("decay:", [round(value, 4) for value in fit.x.tolist()], "cost", round(float(fit.cost), 6))
