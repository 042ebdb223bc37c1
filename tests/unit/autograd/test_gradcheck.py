"""gradcheck and gradgradcheck are right on right derivatives, and on wrong ones say where and by how much."""

import re
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd.autograd import Function, gradcheck, gradgradcheck
from retrograd.autograd.comparison import GradcheckError
from retrograd.autograd.function import once_differentiable


def vector(*values: complex, dtype: Any = torch.float64) -> Any:
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def made(forward: Callable[..., Any], backward: Callable[..., Any]) -> Any:
    return type("Made", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)}).apply


def saving(forward: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda ctx, x: (ctx.save_for_backward(x), forward(x))[1]


X, Z = vector(1, 2), vector(1 + 2j, 3 - 1j, dtype=torch.complex128)
wrong_square = made(saving(lambda x: x * x), lambda ctx, g: g * ctx.saved_tensors[0])
wrong_complex = made(saving(lambda z: z * z), lambda ctx, g: g * 2 * ctx.saved_tensors[0])
wrong_second = made(
    saving(lambda x: x * x * x), lambda ctx, g: g * 3 * ctx.saved_tensors[0] * ctx.saved_tensors[0].detach()
)
fast_too = pytest.mark.parametrize("fast", [False, True])


@fast_too
@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (lambda x: x * x, X),
        (lambda x: x * x, [X]),
        (lambda x: x, (X,)),
        (lambda x: x.view(2, 1), (X,)),
        (lambda x, y: (x * y, x.sum(), y.exp()), (X, vector(3, 4))),
        (lambda x, k: x * k, (X, 3)),
        (lambda x, c: x * c, (X, torch.ones(2, dtype=torch.float64))),
        (lambda x: (x > 1, x * 2, x.detach(), x.long()), (X,)),
        (lambda x: x.floor(), (vector(0.5, 1.5),)),
        (lambda x: x.sum(), (vector(),)),
        (lambda x: x[:0], (X,)),
        (lambda x: x * 3, (torch.tensor(2.0, dtype=torch.float64, requires_grad=True),)),
        (lambda x: x.t() @ x, (torch.ones(3, 2, dtype=torch.float64).t().requires_grad_(),)),
        (lambda z: z * z, (Z,)),
        (lambda z: z.conj(), (Z,)),
        (lambda z: z.abs(), (Z,)),
        (lambda z, x: (z * x, x * 2), (Z, X)),
        (lambda x: x * (1 + 2j), (X,)),
    ],
)
def test_a_right_derivative_passes(function: Callable[..., Any], inputs: Any, fast: bool) -> None:
    assert gradcheck(function, inputs, fast_mode=fast)


@fast_too
@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (lambda x: x * x * x, (X,)),
        (lambda x, y: (x * y * y, x.exp()), (X, vector(3, 4))),
        (lambda x, c: x * c * x, (X, torch.ones(2, dtype=torch.float64))),
        (lambda x: x * 2, (X,)),
        (lambda z: z * z * z, (Z,)),
    ],
)
def test_a_right_second_derivative_passes(function: Callable[..., Any], inputs: Any, fast: bool) -> None:
    assert gradgradcheck(function, inputs, fast_mode=fast)
    assert gradgradcheck(function, inputs, gen_non_contig_grad_outputs=True, check_batched_grad=True)


def refused(check: Callable[..., bool], *args: Any, **options: Any) -> str:
    """The message and the notes of a check that fails, and that returns False where it is not to raise."""
    with pytest.raises(GradcheckError) as caught:
        check(*args, **options)
    assert not check(*args, **options, raise_exception=False)
    assert caught.value.__cause__ is None or isinstance(caught.value.__cause__, RuntimeError)
    return re.sub(r"at /?\S*[\\/]", "at ", "\n".join([str(caught.value), *caught.value.__notes__]))


LINE = f"at test_gradcheck.py:{refused.__code__.co_firstlineno + 3}    check(*args, **options)"
NO_OP = ("  at fault   no rule: each op alone passes the check\n"
         "  instead    look for a value that left the graph: by .detach(), .data, .item(), NumPy or torch.no_grad(). "
         "Or a hook changes a gradient")
WORST = ("most in the derivative of the output's element [1] by the input's element [1]: 4 numerically and 2 "
         "analytically; the difference is 2, and 0.00401 is allowed")


def read_more(anchor: str) -> str:
    return f"  read more  retrograd help {anchor}"


def test_a_wrong_derivative_is_shown_with_its_worst_element() -> None:
    message = refused(gradcheck, wrong_square, (X,))
    assert message == (
        "Jacobian mismatch for output 0 with respect to input 0,\n"
        "numerical:tensor([[2.0000, 0.0000],\n        [0.0000, 4.0000]], dtype=torch.float64)\n"
        "analytical:tensor([[1., 0.],\n        [0., 2.]], dtype=torch.float64)\n"
        f"\n  differ     {WORST}\n  at fault   most likely Made, {LINE}\n  alone      the op fails, too: {WORST}\n"
        + read_more("jacobian-mismatch"))


def test_in_fast_mode_the_whole_is_computed_for_the_message() -> None:
    message = refused(gradcheck, wrong_square, (X,), fast_mode=True)
    assert message.startswith("Jacobian mismatch for output 0 with respect to input 0,\nnumerical:")
    assert "in fast mode" in message
    assert "output's element [1] by the input's element [1]" in message


def test_a_mismatch_names_the_output_the_input_and_the_part() -> None:
    y = vector(3, 4)
    message = refused(gradcheck, lambda x, y: (x * 2, wrong_square(y) * x), (X, y))
    assert "output 1 with respect to input 1,\n" in message
    message = refused(gradcheck, wrong_complex, (Z,))
    assert message.startswith("While considering the imaginary part of complex outputs only, Jacobian mismatch for ")


@fast_too
def test_a_wrong_second_derivative(fast: bool) -> None:
    assert gradcheck(wrong_second, (X,), fast_mode=fast)
    assert refused(gradgradcheck, wrong_second, (X,), fast_mode=fast).startswith("Jacobian mismatch for output 0 with")
    once = made(lambda ctx, x: x * 2, once_differentiable(lambda ctx, g: g * 2))
    assert gradcheck(once, (X,), fast_mode=fast)
    assert refused(gradgradcheck, once, (X,), fast_mode=fast).startswith("Jacobian mismatch for output 0 with respect")


@fast_too
def test_a_function_whose_outputs_lost_their_history(fast: bool) -> None:
    message = refused(gradcheck, lambda x: (x * x).detach(), (X,), fast_mode=fast)
    assert message == "\n".join(["Numerical gradient for function expected to be zero", NO_OP,
                                 read_more("gradient-expected-zero")])


def test_a_backward_that_differs_from_run_to_run() -> None:
    calls: list[int] = []
    noisy = made(lambda ctx, x: x * 2, lambda ctx, g: (calls.append(1), g * 2 + g * len(calls) * 1e-9)[1])
    assert refused(gradcheck, noisy, (X,)).startswith("Backward is not reentrant, i.e., running backward with same inp")
    assert gradcheck(noisy, (X,), nondet_tol=1e-3)


def test_a_backward_that_ignores_its_cotangent() -> None:
    ignoring = made(lambda ctx, x: x.sum(), lambda ctx, g: torch.ones(2, dtype=torch.float64))
    assert refused(gradcheck, ignoring, (X,)) == (
        f"backward not multiplied by grad_output\n  at fault   most likely Made, {LINE}\n"
        f"  alone      the op fails, too\n{read_more('not-multiplied')}")


def test_a_backward_that_cannot_do_without_a_cotangent() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x * 2

    def failing(ctx: Any, g: Any) -> Any:
        if g is None:
            raise RuntimeError("nothing came")
        return g * 2

    with pytest.warns(UserWarning, match="^Backwards compatibility: New undefined gradient support checking"):
        message = refused(gradcheck, made(forward, failing), (X,))
    assert message.startswith("Expected backward function to handle undefined output grads.")
    inventing = made(forward, lambda ctx, g: torch.ones(2, dtype=torch.float64) if g is None else g * 2)
    with pytest.warns(UserWarning, match="^Backwards compatibility"):
        message = refused(gradcheck, inventing, (X,))
    assert message.startswith("Expected all input grads to be undefined or zero when all output grads are undefined or")
    assert gradcheck(made(forward, failing), (X,), check_undefined_grad=False)


def test_inputs_are_put_back_and_not_counted_as_written() -> None:
    x = vector(1, 2)

    def fail(x: Any) -> Any:
        if x[0].item() != 1:
            raise ValueError("moved")
        return x * x

    with pytest.raises(ValueError, match="moved"):
        gradcheck(fail, (x,))
    assert x.tolist() == [1, 2]
    assert x._version == 0


def test_single_precision_is_warned_of() -> None:
    x = vector(1, 2, dtype=torch.float32)
    with pytest.warns(UserWarning, match="^Input #0 requires gradient and is not a double precision floating point"):
        assert gradcheck(lambda x: x * x, (x,), eps=1e-2, atol=1e-2)


def growing(x: Any, calls: list[int] = []) -> Any:  # noqa: B006  # it is to remember
    calls.append(1)
    return x.repeat(len(calls))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: gradcheck(abs, (X.detach(),)), ValueError, "gradcheck expects at least one input tensor to require g"),
        (lambda: gradcheck(abs, (torch.ones(1).double().expand(3).requires_grad_(),)), RuntimeError, "The 0th input h"),
        (lambda: gradcheck(growing, (X,)), AssertionError, "Expected `func` to return outputs with the same shape whe"),
        (lambda: gradcheck(abs, (X,), check_backward_ad=False), AssertionError, "Expected at least one of check_forwa"),
        (lambda: gradcheck(abs, (X,), check_batched_forward_grad=True), AssertionError, "Setting check_batched_forwar"),
        (lambda: gradgradcheck(abs, (X,), check_rev_over_rev=False), AssertionError, "Expected at least one of check_"),
    ],
)
def test_what_is_refused(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith(message)


class _Square(torch.autograd.Function):
    """The square, with a tangent that is half as long again."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx, t):
        return 3 * t * ctx.saved_tensors[0]


@pytest.mark.parametrize("fast", [False, True])
def test_forward_mode_is_checked(fast):
    x = torch.tensor([1., 2.], dtype=torch.float64, requires_grad=True)
    z = torch.tensor([1 + 1j, 2.], dtype=torch.complex128, requires_grad=True)
    for func, given in ((lambda x: x * x, x), (lambda z: z * z, z), (torch.abs, z), (torch.view_as_complex, x)):
        assert gradcheck(func, (given,), check_forward_ad=True, check_batched_forward_grad=True, fast_mode=fast)
    assert gradcheck(_Square.apply, (x,), fast_mode=fast)
    with pytest.raises(GradcheckError, match="^Jacobian computed with forward mode mismatch for output 0 with respect"):
        gradcheck(_Square.apply, (x,), check_forward_ad=True, check_backward_ad=False, fast_mode=fast)
    assert not gradcheck(_Square.apply, (x,), check_forward_ad=True, fast_mode=fast, raise_exception=False)
    assert gradgradcheck(lambda x: x ** 3, (x,), check_fwd_over_rev=True, fast_mode=fast)
