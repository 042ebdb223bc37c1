"""torch.autograd.Function: the context, what forward and backward may return, marks, views, higher derivatives."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd.autograd import Function
from retrograd.autograd.function import once_differentiable


def leaf() -> Any:
    return torch.tensor([1.0, 2.0], requires_grad=True)


def made(forward: Callable[..., Any], backward: Callable[..., Any], **more: Callable[..., Any]) -> type[Any]:
    """A Function of two plain functions."""
    namespace = {"forward": forward, "backward": backward, **more}
    return type("Made", (Function,), {name: staticmethod(function) for name, function in namespace.items()})


class Square(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, factor: float = 1.0) -> Any:
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * x * factor

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 2 * x * ctx.factor, None


class Exp(Function):
    """Saves its own result, which must not keep itself alive."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (y,) = ctx.saved_tensors
        return g * y


def test_a_function_records_its_context_as_the_node() -> None:
    x = leaf()
    y = Square.apply(x, 3.0)
    node = y.grad_fn
    assert (node.name(), node.factor, node.needs_input_grad) == ("SquareBackward", 3.0, (True, False))
    assert node.saved_tensors == (x,)
    assert node.next_functions[0][0].variable is x
    y.sum().backward()
    assert x.grad.tolist() == [6, 12]


def test_higher_derivatives_go_through_saved_inputs_and_saved_outputs() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(Square.apply(x, 3.0).sum(), x, create_graph=True)
    assert torch.autograd.grad(first.sum(), x)[0].tolist() == [6, 6]
    y = third = Exp.apply(x)
    for _ in range(3):
        (third,) = torch.autograd.grad(third.sum(), x, create_graph=True)
    assert torch.allclose(third, y)


def test_grad_mode_inside() -> None:
    modes: list[bool] = []
    function = made(lambda ctx, x: (modes.append(torch.is_grad_enabled()), x * 2)[1],
                    lambda ctx, g: (modes.append(torch.is_grad_enabled()), g * 2)[1])
    x = leaf()
    function.apply(x).sum().backward()
    torch.autograd.grad(function.apply(x).sum(), x, create_graph=True)
    assert modes == [False, False, False, True]
    with torch.no_grad():
        assert not function.apply(x).requires_grad


def test_without_anything_that_requires_grad_nothing_is_kept() -> None:
    contexts: list[Any] = []
    function = made(lambda ctx, x: (contexts.append(ctx), ctx.save_for_backward(x), x * 2)[2], lambda ctx, g: g)
    assert not function.apply(torch.ones(2)).requires_grad
    assert contexts[0].saved_tensors == ()
    assert contexts[0].next_functions == ()


def test_setup_context_sees_inputs_with_defaults_and_the_output() -> None:
    seen: list[Any] = []

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        seen.append((inputs[1:], output.tolist()))
        ctx.save_for_backward(inputs[0])

    function = made(lambda x, a, b=5: x * a, lambda ctx, g: (g * ctx.saved_tensors[0], None, None),
                    setup_context=setup_context)
    x = leaf()
    function.apply(x, 3).sum().backward()
    function.apply(x, b=1, a=2)
    assert seen == [((3, 5), [3, 6]), ((2, 1), [2, 4])]
    assert x.grad.tolist() == [1, 2]


def test_arguments_by_name() -> None:
    assert Square.apply(leaf(), factor=2.0).tolist() == [2, 8]
    with pytest.raises(TypeError, match="unexpected keyword argument 'scale'"):
        Square.apply(leaf(), scale=2.0)


def test_vjp_is_another_name_for_backward_and_both_is_one_too_many() -> None:
    x = leaf()
    methods = {"forward": staticmethod(lambda ctx, x: x * 2), "vjp": staticmethod(lambda ctx, g: g * 9)}
    function = type("F", (Function,), methods)
    assert torch.autograd.grad(function.apply(x).sum(), x)[0].tolist() == [9, 9]
    function.backward = staticmethod(lambda ctx, g: g)
    with pytest.raises(RuntimeError, match="^Implementing both 'backward' and 'vjp' for a custom Function is not allo"):
        function.apply(x).sum().backward()


# What forward may return


def test_several_outputs_share_the_node_and_missing_gradients_are_zeros_or_none() -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any, materialize: bool) -> Any:
        ctx.set_materialize_grads(materialize)
        return x * 2, x * 3

    def backward(ctx: Any, g: Any, h: Any) -> Any:
        seen.append(None if h is None else h.tolist())
        return g * 2, None

    function = made(forward, backward)
    for materialize in (True, False):
        first, second = function.apply(leaf(), materialize)
        assert first.grad_fn is second.grad_fn
        assert (first.output_nr, second.output_nr) == (0, 1)
        first.sum().backward()
    assert seen == [[0, 0], None]


def test_what_is_no_tensor_passes_through_and_integers_have_no_gradient() -> None:
    function = made(lambda ctx, x: (x * 2, 5, None, x > 1), lambda ctx, *gs: gs[0] * (gs[1] is None) * (gs[2] is None))
    x = leaf()
    doubled, five, none, mask = function.apply(x)
    assert (five, none, mask.requires_grad) == (5, None, False)
    doubled.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_an_input_returned_as_it_is_becomes_a_view_that_must_not_be_written() -> None:
    x = leaf()
    y = made(lambda ctx, x: x, lambda ctx, g: g * 5).apply(x)
    assert y is not x
    assert y._is_view()
    with pytest.raises(RuntimeError, match="^Output 0 of Made is a view and is being modified inplace"):
        y.mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [5, 5]


def test_an_output_marked_non_differentiable() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        first, second = x * 2, x * 3
        ctx.mark_non_differentiable(second)
        return first, second

    first, second = made(forward, lambda ctx, g, h: g + h).apply(leaf())
    assert first.requires_grad
    assert not second.requires_grad


# Writing in place


class Double_(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


def test_a_dirty_input_is_returned_itself_with_a_new_history() -> None:
    x = leaf()
    y = x * 3
    assert Double_.apply(y) is y
    assert y.grad_fn.name() == "Double_Backward"
    y.sum().backward()
    assert x.grad.tolist() == [6, 6]


def test_a_dirty_view_rewrites_the_history_of_its_base() -> None:
    x = leaf()
    y = x * 3
    Double_.apply(y[0:1])
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    y.sum().backward()
    assert x.grad.tolist() == [6, 3]


def test_a_dirty_leaf_is_refused() -> None:
    with pytest.raises(RuntimeError, match="^a leaf Variable that requires grad"):
        Double_.apply(leaf())


@pytest.mark.parametrize(
    ("forward", "error", "message"),
    [
        (lambda ctx, x: ctx.save_for_backward(3), TypeError, "save_for_backward can only save variables, but argument"),
        (lambda ctx, x: ctx.mark_dirty(3), RuntimeError, "mark_dirty can only accept variables, but argument"),
        (lambda ctx, x: ctx.mark_dirty(x), RuntimeError, "Some elements marked as dirty during the forward method wer"),
        (lambda ctx, x: ctx.mark_non_differentiable(3), RuntimeError, "mark_non_differentiable only accepts variable"),
        (lambda ctx, x: ctx.save_for_forward(3), AssertionError, "save_for_forward expects all arguments to be tensor"),
    ],
)
def test_marks_on_no_tensor_are_refused(forward: Callable[..., Any], error: type[Exception], message: str) -> None:
    function = made(lambda ctx, x: (forward(ctx, x), x * 2)[1], lambda ctx, g: g)
    with pytest.raises(error) as caught:
        function.apply(leaf())
    assert str(caught.value).startswith(message)
    assert torch.is_grad_enabled()


# What backward may return


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda g: (g, g), "function MadeBackward returned an incorrect number of gradients (expected 1, got 2)"),
        (lambda g: (), "function MadeBackward returned an incorrect number of gradients (expected 1, got 0)"),
        (lambda g: 3, "expected Variable or None (got int)"),
        (lambda g: [g], "expected Variable or None (got list)"),
        (lambda g: torch.ones(3), "Function MadeBackward returned an invalid gradient at index 0 - got [3] but expect"),
    ],
)
def test_gradients_that_do_not_fit_are_refused(returned: Callable[[Any], Any], message: str) -> None:
    y = made(lambda ctx, x: x * 2, lambda ctx, g: returned(g)).apply(leaf())
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    assert str(caught.value).startswith(message)


def test_a_gradient_for_what_is_no_tensor_is_refused() -> None:
    y = made(lambda ctx, x, k: x * k, lambda ctx, g: (g, g)).apply(leaf(), 3)
    with pytest.raises(RuntimeError, match="^function MadeBackward returned a gradient different than None at positio"):
        y.sum().backward()


def test_gradients_are_summed_down_cast_and_may_be_missing() -> None:
    for returned, expected in (
        (lambda g: torch.ones(5, 2).double(), [5, 5]),
        (lambda g: (g, None), [1, 1]),
        (lambda g: None, None),
    ):
        x = leaf()
        made(lambda ctx, x: x * 2, lambda ctx, g, returned=returned: returned(g)).apply(x).sum().backward()
        assert (None if x.grad is None else x.grad.tolist()) == expected


def test_backward_runs_even_where_no_gradient_comes() -> None:
    stop = made(lambda ctx, x: x * 2, lambda ctx, g: None)
    x = leaf()
    stop.apply(Square.apply(x)).sum().backward()
    assert x.grad.tolist() == [0, 0]


# Saved tensors


def test_saved_tensors_are_freed_with_the_graph() -> None:
    y = Square.apply(leaf())
    y.sum().backward()
    with pytest.raises(RuntimeError, match="^Trying to backward through the graph a second time"):
        _ = y.grad_fn.saved_tensors
    with pytest.raises(RuntimeError, match="^Trying to backward through the graph a second time"):
        y.sum().backward()


def test_a_saved_tensor_that_was_written_to_is_refused() -> None:
    x = leaf()
    middle = x * 1
    y = Square.apply(middle)
    middle.mul_(2)
    with pytest.raises(RuntimeError, match="^one of the variables needed for gradient computation has been modified"):
        y.sum().backward()
    z = Exp.apply(x)
    z.mul_(2)
    with pytest.raises(RuntimeError, match=r"which is output 0 of Exp"):
        z.sum().backward()


def test_once_differentiable() -> None:
    function = made(lambda ctx, x: x * x, once_differentiable(lambda ctx, g: g * 2))
    x = leaf()
    function.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2]
    (first,) = torch.autograd.grad((function.apply(x) ** 2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="^trying to differentiate twice a function that was marked with"):
        first.sum().backward()


# Passes inside


def test_a_pass_inside_backward() -> None:
    class Inner(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.y = ctx.x.exp()
            return ctx.y.detach()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            with torch.enable_grad():
                ctx.y.backward(g)
            return ctx.x.grad

    x = leaf()
    Inner.apply(x * 2).sum().backward()
    assert torch.allclose(x.grad, 2 * (x * 2).exp())


def test_in_many_threads_each_call_has_its_own_context() -> None:
    results: dict[int, Any] = {}

    def work(number: int) -> None:
        x = leaf()
        Square.apply(x, float(number)).sum().backward()
        results[number] = x.grad.tolist()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {i: [2.0 * i, 4.0 * i] for i in range(8)}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: Function.apply(x), NotImplementedError, "You must implement the forward function for custom"),
        (lambda x: made(lambda ctx, x: x * 2, Function.backward).apply(x).sum().backward(), NotImplementedError,
         "You must implement either the backward or vjp method for your custom autograd.Function"),
        (lambda x: Square.apply(), TypeError, "Square.forward() missing 1 required positional argument"),
        (lambda x: Function.jvp(None, x), NotImplementedError, "You must implement the jvp function for custom"),
        (lambda x: Function.vmap(None, None, x), NotImplementedError, "To use autograd.Function with vmap"),
    ],
)
def test_what_is_missing_is_named(call: Callable[[Any], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        call(leaf())
    assert str(caught.value).startswith(message)


def test_a_function_is_not_to_be_instantiated() -> None:
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = Square()
    with pytest.raises(RuntimeError, match="^Legacy autograd function with non-static forward method is deprecated"):
        instance(leaf())
