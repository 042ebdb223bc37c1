"""One expression, evaluated with real PyTorch and with retrograd: values to the accuracy of their type, and errors.

`same_expression` wants every bit to be the same, as this does not: sums are taken in another order here.
"""

from __future__ import annotations

from typing import Any

from comparing.against_torch import compare

# Vectors, matrices and a stack of them, that expressions of linear algebra name.
MATRICES = """
L, F = torch.linalg, torch.nn.functional
x = torch.tensor([[0.5, -1.25, 0.75], [1.5, 0.25, -0.5]], requires_grad=True)
v = torch.tensor([0.5, -1.5, 2.], requires_grad=True)
s = ((torch.arange(36.) * 7 % 11) / 4 - 1).view(4, 3, 3).requires_grad_()
m = torch.tensor([[1., 0.5, -0.25], [0.25, -1., 0.5], [0.75, 0.5, 1.5]], requires_grad=True)
a = torch.tensor([[0.5, 1.], [-1.25, 0.25], [2., -0.5]], requires_grad=True)
b = torch.tensor([[1., -1.], [0.25, 0.75], [0.5, 1.], [-2., 1.5]], requires_grad=True)
i, d = torch.arange(6).view(2, 3), x.detach()
z = torch.complex(d, d.flip(1))
"""


def check(setup: str, expression: str, *, names: bool = True) -> None:
    """Fail where the two outcomes differ."""

    def case(library: Any) -> Any:
        known: dict[str, Any] = {"torch": library}
        exec(setup, known)
        return eval(expression, known)

    compare(case, order=0, names=names)
