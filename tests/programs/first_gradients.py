"""How a leaf comes by its first gradient: programs that leave one in `x.grad`, with what PyTorch makes of each.

A gradient that nobody else holds and that lies as its leaf does becomes `.grad` itself; its `_version` is 0. PyTorch
copies any other into memory of the leaf's layout, and that write counts; where the leaf is not dense it makes a plain
clone, which counts nothing.
"""

from __future__ import annotations

from typing import Any

ROWS = "torch.ones(2, 3, requires_grad=True)"
COLUMNS = "torch.ones(3, 2).t().detach().requires_grad_()"
GAPS = "torch.ones(2, 6)[:, ::2].detach().requires_grad_()"
EXPANDED = "torch.ones(1, 3).expand(2, 3).detach().requires_grad_()"

# The leaf, what is done with it, the strides of x.grad, and its _version.
PROGRAMS: list[tuple[str, str, tuple[int, ...], int]] = [
    (ROWS, "x.sum().backward()", (3, 1), 1),
    (ROWS, "(x * 2).sum().backward()", (3, 1), 0),
    (ROWS, "(x * x.detach()).sum().backward()", (3, 1), 0),
    (ROWS, "x.sum(0).sum().backward()", (3, 1), 1),
    (ROWS, "x.exp().sum().backward()", (3, 1), 0),
    (ROWS, "x.mean().backward()", (3, 1), 0),
    (ROWS, "x.mean(1).sum().backward()", (3, 1), 0),
    (ROWS, "x.mean(1).mul(2).mean(0, keepdim=True).backward()", (3, 1), 0),
    (ROWS, "x.t().contiguous().mul(2).sum().backward()", (3, 1), 1),
    (ROWS, "x.reshape(6).sum().backward()", (3, 1), 1),
    (ROWS, "x.backward(torch.ones(2, 3))", (3, 1), 1),
    (ROWS, "x.backward(torch.ones(3, 2).t())", (3, 1), 1),
    (ROWS, "x.backward(torch.ones(1, 3).expand(2, 3))", (3, 1), 1),
    (ROWS, "x.clone().backward(torch.ones(2, 6)[:, ::2])", (3, 1), 1),
    (ROWS, "x.t().backward(torch.ones(3, 2))", (3, 1), 1),
    (ROWS, "x.t().backward(torch.ones(2, 3).t())", (3, 1), 0),
    (ROWS, "x.reshape(6).backward(torch.ones(6))", (3, 1), 0),
    (ROWS, "(x * 2).backward(torch.ones(3, 2).t())", (3, 1), 1),
    (ROWS, "(x * 2).backward(torch.ones(1, 3).expand(2, 3))", (3, 1), 0),
    (ROWS, "x[0].sum().backward()", (3, 1), 0),
    (ROWS, "(x + torch.ones(4, 2, 3)).sum().backward()", (3, 1), 0),
    (ROWS, "x.double().sum().backward()", (3, 1), 0),
    (ROWS, "torch.cat([x, x], 1).backward(torch.ones(2, 6))", (3, 1), 0),
    (ROWS, "(x.sum() + x.sum()).backward()", (3, 1), 0),
    (ROWS, "(torch.ones(4, 2) @ x).sum().backward()", (3, 1), 0),
    (ROWS, "torch.nn.functional.linear(torch.ones(4, 3), x, torch.ones(2)).sum().backward()", (3, 1), 0),
    (ROWS, "x.sum().backward(); x.sum().backward()", (3, 1), 2),
    (ROWS, "x.grad = torch.zeros(2, 3); x.sum().backward()", (3, 1), 1),
    (ROWS, "kept = []; x.register_hook(lambda g: kept.append(g)); (x * 2).sum().backward()", (3, 1), 1),
    (ROWS, "x.register_hook(lambda g: g * 2); x.sum().backward()", (3, 1), 0),
    (ROWS, "kept = torch.ones(2, 3); x.register_hook(lambda g: kept); (x * 2).sum().backward()", (3, 1), 1),
    (ROWS, "w = x.detach().requires_grad_(); (x + w).backward(torch.ones(2, 3))", (3, 1), 1),
    (ROWS, "w = x.detach().requires_grad_(); ((x + w) * 2).sum().backward()", (3, 1), 1),
    (ROWS, "w = x.detach().requires_grad_(); ((w + x) * 2).sum().backward()", (3, 1), 0),
    (COLUMNS, "x.sum().backward()", (1, 2), 1),
    (COLUMNS, "(x * 2).sum().backward()", (1, 2), 1),
    (COLUMNS, "(x * x.detach()).sum().backward()", (1, 2), 0),
    (COLUMNS, "x.backward(torch.ones(2, 3))", (1, 2), 1),
    (COLUMNS, "x.mean().backward()", (1, 2), 1),
    (GAPS, "x.sum().backward()", (3, 1), 0),
    (GAPS, "(x * 2).sum().backward()", (3, 1), 0),
    (GAPS, "x.backward(torch.ones(2, 3))", (3, 1), 0),
    (EXPANDED, "x.sum().backward()", (3, 1), 0),
    (EXPANDED, "(x * 2).sum().backward()", (3, 1), 0),
    ("torch.ones((), requires_grad=True)", "x.backward()", (), 1),
    ("torch.ones((), requires_grad=True)", "(x * 1).backward()", (), 0),
    ("torch.ones(1, requires_grad=True)", "x.sum().backward()", (1,), 1),
    # A pass that is recorded always copies a first gradient, and puts a new tensor in the place of a later one.
    (ROWS, "(x * 2).sum().backward(create_graph=True)", (3, 1), 1),
    (ROWS, "(x * x.detach()).sum().backward(create_graph=True)", (3, 1), 1),
    (ROWS, "x.sum().backward(create_graph=True); x.sum().backward(create_graph=True)", (3, 1), 0),
    (COLUMNS, "x.sum().backward(create_graph=True)", (1, 2), 1),
    (GAPS, "x.sum().backward(create_graph=True)", (3, 1), 0),
]


def first_gradient(torch: Any, leaf: str, program: str) -> tuple[tuple[int, ...], int]:
    """The strides and the version of what a program leaves in `x.grad`."""
    names: dict[str, Any] = {"torch": torch}
    exec(f"x = {leaf}\n{program}", names)
    grad = names["x"].grad
    return grad.stride(), grad._version
