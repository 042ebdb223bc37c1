"""The tangent that a program gives to `make_dual` is the tangent: the same tensor, and the same memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from comparing.same_text import same


def duals(case: Callable[[Any, Any, Any, Any], Any]) -> Callable[[Any], Any]:
    """A case with a tensor and a tangent at a level of forward mode."""

    def with_level(t: Any) -> Any:
        mode = t.autograd.forward_ad
        with mode.dual_level():
            return case(t, mode, t.tensor([1., 2.]), t.tensor([3., 4.]))

    return with_level


def tangent_is_given(t: Any, mode: Any, x: Any, v: Any) -> Any:
    dual = mode.make_dual(x, v)
    return [mode.unpack_dual(dual).tangent is v, mode.unpack_dual(dual).tangent is v,
            mode.unpack_dual(dual).primal is x]


def a_write_to_the_dual(t: Any, mode: Any, x: Any, v: Any) -> Any:
    dual = mode.make_dual(x, v)
    dual *= 2
    return [x, v, x._version, v._version, mode.unpack_dual(dual), mode.unpack_dual(x).tangent]


def a_write_to_the_tangent(t: Any, mode: Any, x: Any, v: Any) -> Any:
    dual = mode.make_dual(x, v)
    v.mul_(10)
    mode.unpack_dual(dual).tangent.add_(1)
    return [v, mode.unpack_dual(dual * 1).tangent, mode.unpack_dual(dual).tangent is v]


def a_write_to_a_part(t: Any, mode: Any, x: Any, v: Any) -> Any:
    dual = mode.make_dual(x, v)
    part = dual.narrow(0, 0, 1)
    part *= 2
    return [v, mode.unpack_dual(dual).tangent, mode.unpack_dual(part).tangent]


def of_another_layout(t: Any, mode: Any, x: Any, v: Any) -> Any:
    x, v = t.zeros(2, 3), t.ones(3, 2).t()
    dual = mode.make_dual(x, v)
    found = mode.unpack_dual(dual).tangent
    dual *= 2
    return [found is v, found.stride(), v, mode.unpack_dual(dual).tangent]


def that_requires_grad(t: Any, mode: Any, x: Any, v: Any) -> Any:
    v.requires_grad_()
    dual = mode.make_dual(x, v)
    (g,) = t.autograd.grad(mode.unpack_dual(dual * x).tangent.sum(), v)
    return [mode.unpack_dual(dual).tangent is v, g]


def a_detached_view(t: Any, mode: Any, x: Any, v: Any) -> Any:
    base = t.zeros(2)
    view = base.detach()
    view += mode.make_dual(x, v)
    return [mode.unpack_dual(base).tangent, mode.unpack_dual(view).tangent]


CASES = [tangent_is_given, a_write_to_the_dual, a_write_to_the_tangent, a_write_to_a_part, of_another_layout,
         that_requires_grad, a_detached_view]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_the_tangent_that_was_given(case: Any) -> None:
    same(duals(case))


def test_gradcheck_makes_duals_of_all_inputs_at_the_level_of_forward_ad() -> None:
    def case(t: Any) -> Any:
        seen = []

        def function(x: Any, y: Any) -> Any:
            mode = t.autograd.forward_ad
            if mode._current_level >= 0:
                seen.append([x.requires_grad, *[mode.unpack_dual(each).tangent is None for each in (x, y)]])
            return x * y

        x, y = t.ones(2, dtype=t.float64, requires_grad=True), t.ones(2, dtype=t.float64, requires_grad=True)
        options = dict.fromkeys(("check_backward_ad", "check_undefined_grad", "check_batched_grad"), False)
        passed = t.autograd.gradcheck(function, (x, y), check_forward_ad=True, fast_mode=True, **options)
        return passed, seen

    same(case)


@pytest.mark.parametrize("moving", ["x", "mean", "x mean", "x var"])
def test_tangents_of_running_statistics(moving: str) -> None:
    def case(t: Any) -> Any:
        mode = t.autograd.forward_ad
        given = {"x": t.arange(12.).reshape(3, 2, 2), "mean": t.zeros(2), "var": t.ones(2)}
        with mode.dual_level():
            duals = [mode.make_dual(v, t.ones_like(v)) if name in moving.split() else v for name, v in given.items()]
            return mode.unpack_dual(t.nn.functional.batch_norm(*duals)).tangent

    same(case)
