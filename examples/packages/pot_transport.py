"""ot: moves points onto others by exact, regularized, unbalanced, sliced and structural transport, with gradients."""

import ot
import torch


def main() -> None:
    torch.manual_seed(10)
    torch.set_default_dtype(torch.float64)
    here, there = torch.randn(12, 2), torch.randn(10, 2) / 2 + 1
    first, second = torch.full((12,), 1 / 12), torch.full((10,), 1 / 10)
    for name, cost in (
        ("exact", lambda m, x: ot.emd2(first, second, m)),
        ("regularized", lambda m, x: ot.sinkhorn2(first, second, m, 1.0)),
        ("in logarithms", lambda m, x: ot.sinkhorn2(first, second, m, 0.5, method="sinkhorn_log")),
        ("unbalanced", lambda m, x: ot.unbalanced.sinkhorn_unbalanced2(first, second, m, 1.0, 1.0)),
        ("sliced", lambda m, x: ot.sliced_wasserstein_distance(x, there, n_projections=20, seed=0)),
        ("structural", lambda m, x: ot.gromov_wasserstein2(ot.dist(x, x), ot.dist(there, there), first, second)),
        ("of Gaussians", lambda m, x: ot.gaussian.empirical_bures_wasserstein_distance(x, there)),
    ):
        x = here.clone().requires_grad_()
        value = cost(ot.dist(x, there), x)
        value.backward()
        print(f"{name:14} cost {value.item():.5f}, gradient {x.grad.norm().item():.5f}")
    x = here.clone().requires_grad_()
    optimizer = torch.optim.SGD([x], lr=1.0)
    for step in range(13):
        loss = ot.sinkhorn2(first, second, ot.dist(x, there), 0.5)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 4 == 0:
            print(f"step {step:2d}   cost {loss.item():.5f}")
    grid = torch.arange(8.0)[:, None]
    middle = ot.bregman.barycenter(torch.softmax(torch.randn(8, 2), 0), ot.dist(grid, grid) / 49, 0.05)
    print("in the middle", [f"{value:.4f}" for value in middle.tolist()])


if __name__ == "__main__":
    main()
