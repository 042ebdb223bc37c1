"""After a failed gradcheck, the error names the op whose own derivative is wrong, and the line that called it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch
from noting import whole
from retrograd import op
from retrograd.autograd import Function, gradcheck, gradgradcheck
from retrograd.autograd.comparison import GradcheckError
from retrograd.autograd.suspects import recorded_calls


class Right(Function):
    """The sine."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x.sin()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.saved_tensors[0].cos()

    @staticmethod
    def jvp(ctx: Any, t: Any) -> Any:
        return t * ctx.saved_tensors[0].cos()


class WrongGradient(Right):
    """The sine with a wrong gradient."""

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.saved_tensors[0].cos() * 1.1


class WrongTangent(Right):
    """The sine with a wrong tangent."""

    @staticmethod
    def jvp(ctx: Any, t: Any) -> Any:
        return t * ctx.saved_tensors[0].cos() * 1.1


class WrongSecond(Right):
    """The sine with a right gradient, whose own gradient is wrong."""

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.saved_tensors[0].detach().cos()


X = torch.tensor([[0.5, -0.3], [1.2, 0.7]], dtype=torch.float64, requires_grad=True)
W = torch.tensor([[0.1, 0.9], [-0.6, 0.4]], dtype=torch.float64, requires_grad=True)


def model(culprit: Any, x: Any, w: Any) -> Any:
    hidden = torch.nn.functional.softmax(Right.apply(x @ w), -1)
    hidden = culprit(hidden * 2)
    return hidden.exp().sum(0), (hidden.relu() + x).pow(2)


LINE = f"test_suspects.py:{model.__code__.co_firstlineno + 2}    hidden = culprit(hidden * 2)"


def message(check: Any, culprit: Any, **options: Any) -> str:
    with pytest.raises(GradcheckError) as caught:
        check(lambda x, w: model(culprit, x, w), (X, W), **options)
    return whole(caught.value)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(("check", "culprit", "options"), [
    (gradcheck, WrongGradient, {}),
    (gradcheck, WrongTangent, {"check_forward_ad": True}),
    (gradcheck, WrongTangent, {"check_forward_ad": True, "check_backward_ad": False}),
    (gradgradcheck, WrongSecond, {}),
])
def test_a_wrong_function_among_right_ops_is_named_with_its_line(
        check: Any, culprit: Any, options: Any, fast: bool) -> None:
    text = message(check, culprit.apply, fast_mode=fast, **options)
    assert f"\n  at fault   most likely {culprit.__name__}, at " in text
    assert LINE in text
    assert "these fail" not in text
    assert check(lambda x, w: model(Right.apply, x, w), (X, W), fast_mode=fast, **options)


def test_an_operator_of_the_table_is_named_too() -> None:
    wrong = op.elementwise("wrong_square", np.square, x=lambda g, x: 3 * g * x)
    text = message(gradcheck, wrong)
    assert "at fault   most likely WrongSquare, at " in text
    assert LINE in text
    made = torch.library.custom_op("test::wrong_cube", cube, mutates_args=())
    made.register_autograd(lambda ctx, g: g * 2)
    text = message(gradcheck, made)
    assert "at fault   most likely GeneratedBackwardFor_test_wrong_cube_default, at " in text


def cube(x: torch.Tensor) -> torch.Tensor:
    return x ** 3


def test_the_worst_of_several_is_named_and_the_others_after_it() -> None:
    wrong = op.elementwise("wronger_square", np.square, x=lambda g, x: 30 * g * x)
    text = message(gradcheck, lambda x: WrongGradient.apply(wrong(x)))
    assert "at fault   most likely WrongerSquare, at " in text
    assert "\n  also       these fail alone, but less: WrongGradient\n" in text


def test_a_cut_graph_is_no_op() -> None:
    text = message(gradcheck, lambda x: x * x.detach())
    assert "Or a hook changes a gradient\n" in text
    assert "at fault   no rule: each op alone passes the check\n" in text


def test_large_arguments_are_checked_along_random_directions() -> None:
    x = torch.linspace(0.1, 1.0, 400, dtype=torch.float64).requires_grad_()
    with pytest.raises(GradcheckError) as caught:
        gradcheck(lambda x: WrongGradient.apply(x).sum(), x)
    assert "at fault   most likely WrongGradient" in whole(caught.value)
    assert "alone      the op fails, too: along random directions they are" in whole(caught.value)


def test_an_op_that_draws_numbers_is_not_suspected_and_the_stream_stays() -> None:
    torch.manual_seed(0)
    state = torch.get_rng_state()

    def noisy(x: Any) -> Any:
        with torch.random.fork_rng():
            torch.manual_seed(1)
            return WrongGradient.apply(torch.nn.functional.dropout(x, 0.5))

    text = message(gradcheck, noisy)
    assert "at fault   most likely WrongGradient" in text
    assert "Dropout" not in text
    assert torch.equal(torch.get_rng_state(), state)


def test_a_function_that_cannot_run_once_more_has_no_suspects() -> None:
    calls: list[int] = []

    def counting(x: Any) -> Any:
        calls.append(1)
        if len(calls) > 9:
            raise ValueError("no more")
        return WrongGradient.apply(x)

    with pytest.raises(GradcheckError) as caught:
        gradcheck(counting, torch.ones(4, dtype=torch.float64, requires_grad=True))
    assert "at fault" not in whole(caught.value)
    assert len(calls) == 10


def test_calls_are_noted_in_order_with_copies_of_their_arguments() -> None:
    def function(x: Any) -> Any:
        y = x * 2
        z = WrongGradient.apply(y)
        y.add_(1)
        return z.sum(0)

    calls = recorded_calls(function, (X,))
    assert [call.name for call in calls if call.name != "Add"] == ["Mul", "WrongGradient", "Sum1"]
    assert torch.equal(calls[1].inputs[0], X * 2)
    assert torch.equal(calls[-1].again(*calls[-1].inputs), (X * 2).sin().sum(0))
