"""What `vmap` returns as views of its arguments, and writes of its function to its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from comparing.same_text import same

Case = Callable[[Any], Any]


def made(t: Any) -> tuple[Any, Any]:
    leaf = t.arange(6.).reshape(2, 3).requires_grad_()
    return leaf, leaf * 1


def viewed(function: Callable[[Any], Any], **dims: Any) -> Case:
    """Whose view a result is, what its node is, and what a write to it makes of the tensor."""

    def case(t: Any) -> Any:
        leaf, x = made(t)
        results = t.vmap(function, **dims)(x)
        y = results[0] if isinstance(results, tuple) else results
        facts = [y is x, y._base is x, y.shape, type(y.grad_fn).__name__]
        y.mul_(3)
        return [*facts, type(x.grad_fn).__name__, type(y.grad_fn).__name__, t.autograd.grad(x.sum(), leaf)]

    return case


VIEWS = {
    "itself": viewed(lambda a: a), "moved": viewed(lambda a: a, out_dims=1), "columns": viewed(lambda a: a, in_dims=1),
    "columns as columns": viewed(lambda a: a, in_dims=1, out_dims=1), "a part": viewed(lambda a: a[1:]),
    "a number": viewed(lambda a: a[1]), "parts": viewed(lambda a: a.split(2)), "numbers": viewed(lambda a: a.unbind()),
    "a copy": viewed(lambda a: a.clone()), "flat": viewed(lambda a: a.view(3, 1)),
    "detached": viewed(lambda a: a.detach()), "expanded": viewed(lambda a: a.expand(2, 3)[0]),
    "a view of a view": viewed(lambda a: a[1:][:1]),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_of_the_samples_is_a_view_of_the_tensor(name: str) -> None:
    same(VIEWS[name])


def written(function: Callable[[Any], Any], after: Callable[[Any], Any] = lambda x: x) -> Case:
    """The gradient of a tensor, or of a view of it, to whose samples a function has written."""

    def case(t: Any) -> Any:
        leaf, x = made(t)
        part = after(x)
        y = t.vmap(function)(part)
        return [x, y, type(x.grad_fn).__name__, x._version, t.autograd.grad(x.square().sum(), leaf)]

    return case


WRITES = {
    "a whole sample": written(lambda a: a.mul_(2)), "a part": written(lambda a: a[1:].mul_(2)),
    "twice": written(lambda a: a.mul_(2).sin_()), "an element": written(lambda a: a.__setitem__(0, a[1] * 5) or a),
    "of a view": written(lambda a: a.mul_(2), lambda x: x[:, 1:]),
    "a part of a view": written(lambda a: a[:1].exp_(), lambda x: x[:, 1:]),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_to_the_samples_is_a_write_to_the_tensor(name: str) -> None:
    same(WRITES[name])


@pytest.mark.parametrize("function", [lambda a: a.mul_(2), lambda a: a.view(3, 1).mul_(2)])
def test_a_write_to_the_samples_of_a_leaf_is_refused(function: Callable[[Any], Any]) -> None:
    def case(t: Any) -> Any:
        try:
            t.vmap(function)(made(t)[0])
        except RuntimeError as error:
            return "leaf Variable that requires grad is being used in an in-place operation" in str(error)

    same(case)


def test_batches_of_batches() -> None:
    def case(t: Any) -> Any:
        leaf, x = made(t)
        y = t.vmap(t.vmap(lambda a: a.view(1)))(x)
        facts = [y._base is x, type(y.grad_fn).__name__]
        t.vmap(t.vmap(lambda a: a.mul_(3)))(x)
        return [*facts, type(x.grad_fn).__name__, t.autograd.grad(x.sum(), leaf)]

    same(case)


def test_several_results_by_name() -> None:
    same(lambda t: t.vmap(lambda a: t.topk(a, 2))(made(t)[0].detach()))


def test_numbers_in_the_order_of_the_memory() -> None:
    """In PyTorch, the samples along the last dim are drawn in the order of the memory, not one after another."""
    for name in ("rand_like", "randn_like"):
        def case(t: Any, name: str = name) -> Any:
            t.manual_seed(0)
            x = t.zeros(3, 5, 4)
            return [t.vmap(getattr(t, name), in_dims=-1, randomness=kind)(x) for kind in ("different",)]

        same(case)


def test_normal_numbers_that_all_samples_share() -> None:
    def case(t: Any) -> Any:
        t.manual_seed(0)
        return t.vmap(lambda a: a.normal_(), in_dims=-1, randomness="same")(t.zeros(3, 7, 4))

    same(case)
