"""Operators of a program's own. One statement gives both modes, every order, batches, and a name in the graph.

An operator is a kernel, which computes with NumPy arrays, and a rule for each differentiable argument. A rule turns the
cotangent `g` into the gradient of its argument, and names the other values that it needs: an argument, `out`, the shape
or dtype of an argument (`x_shape`, `x_dtype`), or an option. It computes with NumPy's functions and with operators, so
it can be differentiated in turn.

>>> import numpy as np
>>> import retrograd as torch
>>> from retrograd import op
>>> double_exp = op.elementwise("double_exp", lambda x: np.exp(2 * x), x=lambda g, out: 2 * g * out)
>>> x = torch.tensor(0., requires_grad=True)
>>> double_exp(x)
tensor(1., grad_fn=<DoubleExpBackward0>)
>>> torch.func.hessian(double_exp)(x).item(), torch.vmap(double_exp)(torch.zeros(2))
(4.0, tensor([1., 1.]))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .ops import framework
from .ops.choosing import either as either
from .ops.framework import Op as Op, composed as composed

__all__ = ["Op", "composed", "either", "elementwise", "linear", "operator"]


def _own(op: Op) -> Op:
    """The operator, as one whose rules may do anything, and whose options may be called like dims."""
    op.known = False
    op.written.known = False
    return op


def elementwise(name: str, kernel: Callable[..., Any], **statement: Any) -> Op:
    """An operator that computes each element from the elements at the same place of its operands.

    `kernel` takes arrays and returns an array; a ufunc will do. `statement` has a rule for each differentiable
    argument, under the name of the argument. It may also say `domain` ('promote', 'float' or 'as given': the types that
    the kernel computes with), `tensors` (how many arguments are tensors; the others are options), `complex`
    ('holomorphic', 'real' or 'adjoint': what the rules do about conjugates) and `node` (the name in the graph).

    Returns the operator, which is called with tensors and numbers. A rule multiplies by a derivative, so the operator
    computes tangents with it, too; a batch is one call.

    >>> import numpy as np
    >>> import retrograd as torch
    >>> cube = torch.op.elementwise("cube", lambda x: x ** 3, x=lambda g, x: g * 3 * x ** 2)
    >>> torch.func.grad(torch.func.grad(cube))(torch.tensor(2.))
    tensor(12.)

    Raises TypeError if a rule names a value that the operator has not.
    """
    return _own(framework.elementwise(name, kernel, **statement))


def linear(name: str, kernel: Callable[..., Any], **statement: Any) -> Op:
    """An operator that is linear in all arguments together that have rules: its tangent is itself on the tangents.

    `statement` is as for `elementwise`; without `domain`, arrays come as they are.

    >>> import numpy as np
    >>> import retrograd as torch
    >>> double_sum = torch.op.linear("double_sum", lambda x: 2 * np.sum(x),
    ...                              x=lambda g, x_shape: np.broadcast_to(2 * g, x_shape))
    >>> torch.func.jvp(double_sum, (torch.ones(3),), (torch.ones(3),))
    (tensor(6.), tensor(6.))
    """
    return _own(framework.linear(name, kernel, **statement))


def operator(name: str, kernel: Callable[..., Any], **statement: Any) -> Op:
    """Any other operator. Its tangent is computed from its rules by transposition, and a batch sample by sample.

    `statement` is as for `elementwise`, and may name several `outputs` ("out mask") of which `differentiable` ("out")
    have gradients. An operator with several outputs returns a tuple. Its rules get a list of cotangents if several
    outputs have gradients.

    >>> import numpy as np
    >>> import retrograd as torch
    >>> norm = torch.op.operator("norm2", lambda x: np.sqrt(np.sum(x * x)), x=lambda g, x, out: g / out * x)
    >>> torch.func.hessian(norm)(torch.tensor([3., 4.]))
    tensor([[ 0.1280, -0.0960],
            [-0.0960,  0.0720]])
    """
    return _own(framework.operator(name, kernel, **statement))
