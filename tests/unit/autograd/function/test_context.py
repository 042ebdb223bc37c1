"""The context of a custom Function, which is the grad_fn too, and what becomes of inputs that forward returns."""

from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd.autograd import Function
from retrograd.autograd.function import BackwardCFunction, FunctionCtx, InplaceFunction
from retrograd.autograd.graph import Node, get_gradient_edge


def leaf() -> Any:
    return torch.tensor([1.0, 2.0], requires_grad=True)


def made(forward: Callable[..., Any], backward: Callable[..., Any], **more: Any) -> type[Any]:
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Made", (Function,), {**methods, **more})


def test_the_context_is_the_grad_fn_even_where_nobody_kept_it() -> None:
    contexts: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        contexts.append(ctx)
        ctx.shape, ctx.edges = "mine", "too"
        return x * 2

    x = leaf()
    y = made(forward, lambda ctx, g: (contexts.append(ctx), g)[1]).apply(x)
    y.sum().backward()
    assert contexts[0] is contexts[1] is y.grad_fn
    contexts.clear()
    y.grad_fn.later = 5
    assert (y.grad_fn.shape, y.grad_fn.edges, y.grad_fn.later) == ("mine", "too", 5)
    node = (y * 3).grad_fn.next_functions[0][0]
    assert node is y.grad_fn is get_gradient_edge(y).node
    assert isinstance(node, Node)
    assert isinstance(node, FunctionCtx)
    assert isinstance(node, BackwardCFunction)
    assert isinstance((x * 2).grad_fn, Node)
    assert not isinstance(x, Node)


def test_what_is_to_be_read_only() -> None:
    node = made(lambda ctx, x: x * 2, lambda ctx, g: g).apply(leaf()).grad_fn
    for name in ("saved_tensors", "next_functions", "metadata", "requires_grad"):
        with pytest.raises(AttributeError, match=f"attribute '{name}' of .* is not writable"):
            setattr(node, name, 3)
    with pytest.raises(AttributeError, match="attribute 'materialize_grads' of .* is not readable"):
        _ = node.materialize_grads
    with pytest.raises(TypeError, match="set_materialize_grads received an invalid combination"):
        node.set_materialize_grads(None)
    with pytest.raises(TypeError, match="cannot pickle 'MadeBackward' object"):
        node.__reduce_ex__(2)


def test_old_names_warn() -> None:
    x = leaf()
    node = made(lambda ctx, x: (ctx.save_for_backward(x), x * 2)[1], lambda ctx, g: g).apply(x).grad_fn
    with pytest.warns(DeprecationWarning, match="'saved_variables' is deprecated"):
        assert node.saved_variables[0] is x
    with pytest.warns(FutureWarning, match="`mark_shared_storage` is deprecated"):
        node.mark_shared_storage((x, x))
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = InplaceFunction(True)
    assert (instance.inplace, instance.saved_tensors, instance.needs_input_grad) == (True, (), None)


def test_saved_tensors_that_may_be_read_once() -> None:
    y = made(lambda ctx, x: (ctx.save_for_backward(x), x * 2)[1], lambda ctx, g: g,
             clear_saved_tensors_on_access=True).apply(leaf())
    assert len(y.grad_fn.saved_tensors) == 1
    with pytest.raises(RuntimeError, match="^saved_tensors can only be accessed once"):
        _ = y.grad_fn.saved_tensors


def test_gradients_in_a_list_that_backward_may_empty() -> None:
    x = leaf()
    function = made(lambda ctx, x: (x * 2, x * 3), lambda ctx, grads: grads.pop() - grads.pop(), boxed_grads_call=True)
    y, z = function.apply(x)
    (y.sum() * 5 + z.sum()).backward()
    assert x.grad.tolist() == [-4, -4]
    assert y.grad_fn.apply(torch.ones(2), torch.ones(2)).tolist() == [0, 0]


def test_an_input_that_setup_context_saves_must_not_be_returned_as_it_is() -> None:
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    function = made(lambda x: x, lambda ctx, g: g, setup_context=staticmethod(setup_context))
    with pytest.raises(RuntimeError, match="^An input that has been returned as-is as output is being saved"):
        function.apply(leaf())


def double_(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(x)
    return x.mul_(2)


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (lambda x: x[0:1], "a view of a leaf Variable that requires grad is being used in an in-place operation"),
        (lambda x: (x * 1).unbind()[1], "Output 1 of Unbind is a view and is being modified inplace"),
        (lambda x: x, "a leaf Variable that requires grad has been used in an in-place operation"),
    ],
)
def test_what_must_not_be_written_to(view: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(RuntimeError, match=f"^{message}"):
        made(double_, lambda ctx, g: g * 2).apply(view(leaf()))


def test_a_view_that_is_written_to_together_with_another_output_is_refused() -> None:
    y = leaf() * 1
    with pytest.raises(RuntimeError, match="^If your Function modifies inplace an input that is a view"):
        made(lambda ctx, x: (double_(ctx, x), x * 1), lambda ctx, g, h: g).apply(y[0:1])


def test_a_mark_on_what_is_no_input_warns() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        y = x * 2
        ctx.mark_dirty(y)
        return y

    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        made(forward, lambda ctx, g: g).apply(leaf())


def test_writes_to_a_view_change_the_history_of_the_base_again_and_again() -> None:
    x = leaf()
    y = x * 1
    view = y[0:1]
    function = made(double_, lambda ctx, g: g * 2)
    function.apply(function.apply(view))
    assert (y.tolist(), view._version, y.grad_fn.name()) == ([4, 2], 4, "torch::autograd::CopySlices")
    (y * 1 + view).sum().backward()
    assert x.grad.tolist() == [12, 1]


class Deeper(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        with torch.enable_grad():
            ctx.x = x.detach().requires_grad_() - 1
        return ctx.x.detach()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        if ctx.x < 0:
            raise ValueError("at the bottom")
        with torch.enable_grad():
            if ctx.x > 0:
                Deeper.apply(ctx.x).backward()
        return g


def test_passes_inside_passes_to_any_depth() -> None:
    x = torch.tensor(1500.0, requires_grad=True)
    Deeper.apply(x).backward()
    assert x.grad.item() == 1
    with pytest.raises(ValueError, match="at the bottom"):
        Deeper.apply(torch.tensor(200.5, requires_grad=True)).backward()
    assert torch.is_grad_enabled()


def test_an_inference_tensor_cannot_be_saved() -> None:
    with torch.inference_mode():
        constant = torch.ones(2)
    function = made(lambda ctx, x: (ctx.save_for_backward(constant), x * 2)[1], lambda ctx, g: g)
    with pytest.raises(RuntimeError, match="^Inference tensors cannot be saved for backward"):
        function.apply(leaf())
