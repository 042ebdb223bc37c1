"""Tangents that are batches: memory of their own, writes that reach the arguments, no call for a single sample."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch
from retrograd.ops.framework import Op


def test_a_write_to_an_argument_reaches_the_argument() -> None:
    """As in PyTorch, a function under `jvp` writes over the tensors that it is called with, also inside of `vmap`."""
    rows = torch.arange(6.).reshape(3, 2)
    values, tangents = torch.vmap(
        lambda row: torch.func.jvp(lambda x: x.mul_(2).sum(), (row,), (row.clone(),)))(rows)
    assert values.tolist() == tangents.tolist() == [2, 10, 18]
    assert rows.tolist() == [[0, 2], [4, 6], [8, 10]]
    x = torch.tensor([0., 1.])
    tangents = torch.vmap(lambda t: torch.func.jvp(lambda x: x.mul_(2).sum(), (x,), (t,))[1])(torch.eye(2))
    assert tangents.tolist() == [2, 2]
    assert x.tolist() == [0, 2]


def test_a_tangent_that_a_rule_hands_on_is_copied() -> None:
    """The tangent of `x + 1` is that of x, but a write to x must not change it. Nor must a write to a result."""

    def written(x: Any) -> Any:
        x = x.clone()
        y = x + 1
        x.mul_(3)
        return y, x

    def pushed(t: Any) -> Any:
        tangent = torch.func.jvp(lambda x: x * 1.0, (torch.ones(2),), (t,))[1]
        tangent.mul_(5)
        return tangent, t

    directions = torch.eye(2)
    first, second = torch.vmap(lambda t: torch.func.jvp(written, (torch.ones(2),), (t,))[1])(directions)
    assert first.tolist() == [[1, 0], [0, 1]]
    assert second.tolist() == [[3, 0], [0, 3]]
    assert torch.vmap(pushed)(directions)[0].tolist() == [[5, 0], [0, 5]]
    assert directions.tolist() == [[1, 0], [0, 1]]


def test_columns_and_rows_lie_as_in_pytorch() -> None:
    x = torch.arange(3.)
    total, kept = (lambda z: z.sum()), (lambda z: z.sum(0, keepdim=True))
    assert torch.func.jacrev(total)(x).stride() == (0,)
    assert torch.func.jacrev(total, chunk_size=1)(x).stride() == (0,)
    assert torch.func.jacfwd(total)(x).stride() == (1,)
    assert torch.func.hessian(total)(x).stride() == (1, 0)
    assert torch.func.jacrev(kept)(x).stride() == (0, 0)
    assert torch.func.jacfwd(kept)(x).stride() == (3, 1)
    assert torch.func.jacrev(lambda z: z * z)(x).stride() == (3, 1)
    assert torch.func.hessian(lambda z: z * z)(x).stride() == (3, 1, 9)


@pytest.mark.parametrize("shape", [(3,), (2, 2), (1,)])
@pytest.mark.parametrize("transform", ["jacfwd", "hessian"])
def test_recorded_columns_are_views_as_in_pytorch(transform: str, shape: tuple[int, ...]) -> None:
    x = torch.ones(shape, requires_grad=True)
    for function in (lambda z: z * z, lambda z: (z * z).sum()):
        assert getattr(torch.func, transform)(function)(x).grad_fn.name() == "ViewBackward0"


def names(node: Any) -> set[str]:
    """The names of a node and of all nodes that it leads to."""
    return {type(node).__name__}.union(*[names(after) for after, _ in node.next_functions if after is not None])


def test_users_see_no_borders() -> None:
    func, forward_ad = torch.func, torch.autograd.forward_ad
    x, w = torch.ones(2, 2, requires_grad=True), torch.ones(2, requires_grad=True)
    seen = names(torch.vmap(lambda y: y.sin() * w, in_dims=1, out_dims=1)(x).grad_fn)
    assert seen == {"PermuteBackward0", "MulBackward0", "SinBackward0", "AliasBackward0", "AccumulateGrad"}
    seen = names(torch.vmap(torch.vmap(torch.exp))(x).grad_fn) | names(func.jacfwd(torch.exp)(w).grad_fn)
    seen |= names(func.jvp(torch.exp, (w,), (w,))[1].grad_fn) | names(func.hessian(lambda y: y.exp().sum())(w).grad_fn)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(w, w).exp()
        seen |= names(forward_ad.unpack_dual(dual).primal.grad_fn) | names(forward_ad.unpack_dual(dual).tangent.grad_fn)
    assert {name for name in seen if not name.endswith(("Backward0", "Backward1"))} == {"AccumulateGrad", "Identity"}


@pytest.mark.parametrize("second", ["hessian", "jacfwd(jacfwd)", "jacrev(jacrev)"])
def test_the_number_of_calls_does_not_depend_on_the_size(second: str, monkeypatch: pytest.MonkeyPatch) -> None:
    func = torch.func
    made = {"hessian": func.hessian, "jacfwd(jacfwd)": lambda f: func.jacfwd(func.jacfwd(f)),
            "jacrev(jacrev)": lambda f: func.jacrev(func.jacrev(f))}[second]
    computed: list[str] = []
    compute = Op.compute
    monkeypatch.setattr(Op, "compute", lambda op, *args: (computed.append(op.name), compute(op, *args))[1])
    counts = []
    for size in (3, 30):
        matrix = torch.ones(size, size)
        computed.clear()
        made(lambda z, m=matrix: (z.sin() @ m @ z).tanh().sum())(torch.ones(size))  # type: ignore[misc]
        counts.append(len(computed))
    assert counts[0] == counts[1] > 10
