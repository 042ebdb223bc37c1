"""Operators of a program's own: one statement gives derivatives in both modes and of all orders, and batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.autograd import gradcheck, gradgradcheck

op = torch.op
xlogy = op.elementwise("my_xlogy", lambda x, y: x * np.log(y), domain="float", tensors=2,
                       x=lambda g, y: g * np.log(y), y=lambda g, x, y: g * x / y)
# A name that an operator of the package has, but other options and another meaning.
softmax = op.operator("softmax", lambda x, dim: np.exp(x) / np.exp(x).sum() * dim, tensors=1,
                      x=lambda g, out, dim: g * out - out * (np.sum(g * out) / dim))
pairs = op.linear("pairs", lambda x: x.reshape(-1, 2).sum(1), x=lambda g, x_shape: np.reshape(
    np.stack([g, g], 1), x_shape))


def _halves(g: Any, x: Any) -> Any:
    whole, parity = (0.0 if part is None else part for part in g)
    return whole * 2 * x + parity * 3 * x * x


both = op.operator("both", lambda x: (x * x, x ** 3), outputs="square cube", x=_halves)
X = torch.tensor([0.5, 1.5, 2.5, 3.0], dtype=torch.float64, requires_grad=True)
FUNCTIONS = {"xlogy": lambda x: xlogy(x, x + 1), "softmax": lambda x: softmax(x, 2), "pairs": pairs, "both": both,
             "mixed": lambda x: xlogy(2.0, softmax(x, 3)) + both(x)[1]}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_modes_and_batches_follow_from_the_statement(name: str) -> None:
    function = FUNCTIONS[name]
    assert gradcheck(function, (X,), check_forward_ad=True, check_batched_grad=True, check_batched_forward_grad=True)
    assert gradgradcheck(function, (X,), check_fwd_over_rev=True)
    batch = torch.stack([X.detach(), X.detach() * 2])
    for found, rows in zip(_parts(torch.vmap(function)(batch)), zip(*[_parts(function(row)) for row in batch])):
        torch.testing.assert_close(found, torch.stack(rows))


def _parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def test_the_operator_has_a_node_of_its_name() -> None:
    assert type(xlogy(X, X).grad_fn).__name__ == "MyXlogyBackward0"
    assert xlogy(torch.tensor(3), 2).dtype == torch.float32


def test_a_rule_that_names_nothing_known_is_refused() -> None:
    with pytest.raises(TypeError, match="^the rule of wrong for 'x' names 'z', which is no argument"):
        op.elementwise("wrong", lambda x: x, x=lambda g, z: g)
