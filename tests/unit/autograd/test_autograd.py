"""torch.autograd as a whole: its names, the grad modes, edges held by users, batches of cotangents."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import retrograd as torch
from retrograd.autograd import functional, gradcheck, gradgradcheck, graph
from retrograd.foundations import modes


def leaf() -> Any:
    return torch.tensor([1.0, 2.0], requires_grad=True)


def on() -> bool:
    return torch.is_grad_enabled()


def test_the_public_names_are_exact_and_exist() -> None:
    assert all(hasattr(torch.autograd, name) for name in torch.autograd.__all__)
    assert len(set(torch.autograd.__all__)) == len(torch.autograd.__all__)
    assert sorted(functional.__all__) == ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
    assert sorted(graph.__all__) == [
        "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
        "increment_version", "memory_held", "region_activation_memory_budget", "register_multi_grad_hook",
        "save_on_cpu", "saved_tensors_hooks", "set_override_stale_capture_stream",
        "set_warn_on_accumulate_grad_stream_mismatch"]
    assert callable(gradcheck)
    assert callable(gradgradcheck)


# Grad modes


def test_no_grad_as_context_manager_and_as_decorator() -> None:
    @torch.no_grad()
    def parenthesised(x: Any) -> Any:
        """Doubles."""
        return x * 2

    @torch.no_grad
    def bare(x: Any) -> Any:
        return x * 2

    x = leaf()
    with torch.no_grad():
        assert not (x * 2).requires_grad
        with torch.enable_grad():
            assert (x * 2).requires_grad
    assert not parenthesised(x).requires_grad
    assert not bare(x).requires_grad
    assert (parenthesised.__name__, parenthesised.__doc__) == ("parenthesised", "Doubles.")
    assert (x * 2).requires_grad


def test_one_mode_object_may_be_entered_twice_and_a_decorated_function_may_recurse() -> None:
    mode = torch.no_grad()
    with mode:
        with mode:
            assert not on()
        assert not on()
    assert on()

    @torch.no_grad()
    def deep(n: int) -> list[bool]:
        return [on(), *(deep(n - 1) if n else [])]

    assert deep(3) == [False] * 4
    assert on()


def test_set_grad_enabled_works_at_once_and_as_a_block_and_decorating_is_not_setting() -> None:
    try:
        switch = torch.set_grad_enabled(False)
        assert not on()
        with switch:
            assert not on()
        assert on()
    finally:
        torch.set_grad_enabled(True)

    @torch.set_grad_enabled(False)
    def quiet() -> bool:
        return on()

    assert on()
    assert not quiet()
    with pytest.raises(TypeError, match="^set_grad_enabled.*must be bool, not int"):
        torch.set_grad_enabled(1)
    assert on()


@pytest.mark.parametrize(
    "mode", [torch.no_grad, torch.inference_mode, lambda: torch.set_grad_enabled(False), torch.enable_grad]
)
def test_a_mode_ends_with_an_exception(mode: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match="mine"), mode():
        raise ValueError("mine")
    assert on()
    assert not torch.is_inference_mode_enabled()


def test_a_decorated_generator_has_the_mode_only_while_it_runs() -> None:
    seen: list[Any] = []

    @torch.no_grad()
    def talk() -> Iterator[Any]:
        try:
            seen.append((yield on()))
            yield on()
        except ValueError:
            yield ("caught", on())
        finally:
            seen.append(("closed", on()))

    generator: Any = talk()
    assert next(generator) is False
    assert on()
    assert generator.send("sent") is False
    assert generator.throw(ValueError) == ("caught", False)
    generator.close()
    assert seen == ["sent", ("closed", False)]
    assert on()

    @torch.no_grad()
    def counting() -> Any:
        yield 1
        return 7

    def outer() -> Any:
        seen.append((yield from counting()))

    assert list(outer()) == [1]
    assert seen[-1] == 7


def test_what_was_made_in_inference_mode_is_not_written_to_under_no_grad() -> None:
    with torch.inference_mode():
        x = torch.ones(2)
    for write in (lambda: x.add_(x), lambda: x.mul_(2), lambda: x.zero_(), lambda: x.clamp_(0, 1)):
        with torch.no_grad(), pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
            write()
    assert x.tolist() == [1, 1]


def test_inference_mode() -> None:
    x = leaf()
    with torch.inference_mode():
        made, computed, view = torch.ones(2), x * 2, x.view(2)
        assert torch.is_inference_mode_enabled()
        assert not on()
        assert made.is_inference()
        assert computed.is_inference()
        assert not view.is_inference()
        made.add_(1)
        with pytest.raises(RuntimeError, match="^Inference tensors do not track version counter"):
            _ = made._version
        with torch.enable_grad():
            assert not (x * 2).requires_grad
        with torch.inference_mode(False):
            assert (x * 2).requires_grad
    assert not (computed + 1).is_inference()
    assert (computed + x).requires_grad
    with pytest.raises(RuntimeError, match="^Setting requires_grad=True on inference tensor outside InferenceMode is"):
        computed.requires_grad_()
    with pytest.raises(RuntimeError, match="^Inplace update to inference tensor outside InferenceMode is not allowed"):
        computed.add_(1)
    assert computed.tolist() == [2, 4]

    @torch.inference_mode
    def inside() -> bool:
        return torch.is_inference_mode_enabled()

    assert inside()
    assert not torch.is_inference_mode_enabled()


SAVING: dict[str, Any] = {
    "mul": lambda x, t, i: x * t,
    "mm": lambda x, t, i: x.t() @ t,
    "pow": lambda x, t, i: x ** t,
    "a view": lambda x, t, i: x * t[:],
    "a detached one": lambda x, t, i: x * t.detach(),
    "another dtype": lambda x, t, i: x.double() * t,
    "maximum": lambda x, t, i: torch.maximum(x, t),
    "lerp": lambda x, t, i: torch.lerp(x, x, t),
    "a loss": lambda x, t, i: torch.nn.functional.mse_loss(x, t),
    "a layer": lambda x, t, i: torch.nn.Linear(3, 1)(t),
    "in place": lambda x, t, i: (x * 1).mul_(t),
    "an index": lambda x, t, i: x[i],
    "index_select": lambda x, t, i: x.index_select(0, i),
    "gather": lambda x, t, i: x.gather(0, i[None]),
    "an embedding": lambda x, t, i: torch.nn.functional.embedding(i, x),
    "labels": lambda x, t, i: torch.nn.functional.cross_entropy(x, i),
    "a recorded pass": lambda x, t, i: torch.autograd.grad(x * x, x, t, create_graph=True),
}
NOT_SAVING: dict[str, Any] = {
    "add": lambda x, t, i: x + t,
    "cat": lambda x, t, i: torch.cat([x, t]),
    "where": lambda x, t, i: torch.where(t > 0, x, t),
    "a clone": lambda x, t, i: x * t.clone(),
    "a copy in another dtype": lambda x, t, i: x * t.double(),
    "no_grad": lambda x, t, i: torch.no_grad()(lambda: x * t)(),
    "a constant": lambda x, t, i: x.detach() * t,
    "a pass": lambda x, t, i: torch.autograd.grad(x * x, x, t),
}


def of_inference_mode() -> tuple[Any, Any]:
    with torch.inference_mode():
        return torch.ones(2, 3), torch.tensor([0, 1])


@pytest.mark.parametrize("call", SAVING.values(), ids=SAVING)
def test_tensors_of_inference_mode_are_not_saved(call: Any) -> None:
    t, i = of_inference_mode()
    x = torch.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="^Inference tensors cannot be saved for backward"):
        call(x, t, i)
    packed: list[Any] = []
    with graph.saved_tensors_hooks(lambda v: packed.append(v) or v, lambda v: v), pytest.raises(RuntimeError):
        call(x, t, i)
    assert all(not each.is_inference() for each in packed)


@pytest.mark.parametrize("call", NOT_SAVING.values(), ids=NOT_SAVING)
def test_tensors_of_inference_mode_may_be_used(call: Any) -> None:
    x = torch.ones(2, 3, requires_grad=True)
    call(x, *of_inference_mode())
    (x * torch.ones(2, 3)).sum().backward()
    assert x.grad.tolist() == [[1.0] * 3] * 2


def test_a_refused_write_is_not_made() -> None:
    t, _ = of_inference_mode()
    x = torch.ones(2, 3, requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="^Inference tensors"):
        x.mul_(t)
    assert x._version == 0
    assert type(x.grad_fn).__name__ == "MulBackward0"
    x.sum().backward()


def test_what_shares_memory_is_of_inference_mode_if_the_other_is() -> None:
    normal, (t, _) = torch.ones(2, 3), of_inference_mode()
    for share in (lambda x: x[0], lambda x: x.t(), lambda x: x.view(-1), lambda x: x.detach(), lambda x: x.data):
        assert share(t).is_inference()
        assert not share(normal).is_inference()
    with torch.inference_mode():
        assert not normal.detach().is_inference()
        assert not normal.data.is_inference()
        assert not normal[0].is_inference()
        assert normal[0]._is_view()
        assert t[0].is_inference()
        assert not t[0]._is_view()                       # PyTorch tracks no views of them
        assert torch.Tensor([1.0]).is_inference()
        assert torch.nn.Parameter(t).is_inference()
        assert normal.clone().is_inference()
        assert torch.narrow_copy(normal, 0, 0, 1).is_inference()


def test_unrecorded_use_leaves_nothing_behind() -> None:
    t, _ = of_inference_mode()
    for _ in range(100):
        t + 1
    assert len(modes.local.thread.watchers) <= 1
    x = torch.ones(2, 3, requires_grad=True)
    for _ in range(10):
        x * 2
    assert modes.local.thread.watchers == ()


# Edges and variables


def test_an_edge_stands_for_its_tensor() -> None:
    x = leaf()
    first, second = (x * 2).unbind()
    edge = graph.get_gradient_edge(second)
    assert isinstance(edge.node, graph.Node)
    assert edge.output_nr == 1
    product = first * second
    assert torch.autograd.grad(product, edge, retain_graph=True)[0].item() == 2
    assert torch.autograd.grad(edge, x, retain_graph=True)[0].tolist() == [0, 2]
    torch.autograd.backward(graph.get_gradient_edge(product), inputs=graph.get_gradient_edge(x))
    assert x.grad.tolist() == [8, 4]
    with pytest.raises(RuntimeError, match="^It is not possible to get the gradient edge for a Tensor that does not"):
        graph.get_gradient_edge(torch.ones(2))


def test_an_edge_does_not_keep_its_tensor_but_keeps_its_graph() -> None:
    x = leaf()
    y = x * x
    edge, total = graph.get_gradient_edge(y), (y * 3).sum()
    del y
    assert torch.autograd.grad(total, edge)[0].tolist() == [3, 3]


def test_variable_is_every_tensors_old_name() -> None:
    x = leaf()
    variable = torch.autograd.Variable(x * 2, requires_grad=True)
    assert variable.is_leaf
    assert isinstance(x, torch.autograd.Variable)
    assert not torch.autograd.Variable(x).requires_grad
    with pytest.raises(TypeError, match="^Variable data has to be a tensor, but got list"):
        torch.autograd.Variable([1.0])


# Batches of cotangents


def test_a_batch_of_cotangents_gives_a_batch_of_gradients() -> None:
    x = leaf()
    y = x * x
    (rows,) = torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True)
    assert rows.tolist() == [[2, 0], [0, 4]]
    with pytest.raises(RuntimeError, match="a second time"):
        y.sum().backward()
    unused = torch.ones(3, requires_grad=True)
    found = torch.autograd.grad(x * 2, [x, unused], torch.eye(2), is_grads_batched=True, allow_unused=True)
    assert found[0].tolist() == [[2, 0], [0, 2]]
    assert found[1] is None
    assert torch.autograd.grad(x * 2, x, torch.ones(0, 2), is_grads_batched=True)[0].shape == (0, 2)
    with pytest.raises(RuntimeError, match="^If `is_grads_batched=True`, we interpret the first dimension"):
        torch.autograd.grad(x * 2, x, torch.ones(3, 3), is_grads_batched=True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: torch.autograd.grad(x.sum(), x, only_inputs=False), "only_inputs argument is deprecated"),
        (lambda x: torch.autograd.backward(x, grad_variables=torch.ones(2)), "`grad_variables` is deprecated"),
    ],
)
def test_deprecated_arguments_warn(call: Callable[[Any], Any], message: str) -> None:
    x = leaf()
    with pytest.warns(FutureWarning, match=message):
        call(x)


@pytest.mark.parametrize("batched", [False, True])
def test_zeros_for_what_was_not_used_are_leaves_of_the_graph_that_is_made(batched: bool) -> None:
    x, unused = (torch.ones(2, requires_grad=True) for _ in range(2))
    for made in (True, False):
        given = torch.eye(2) if batched else torch.ones(2)
        _, zeros = torch.autograd.grad(x * x, (x, unused), given, create_graph=made, is_grads_batched=batched,
                                       materialize_grads=True)
        assert (zeros.tolist(), zeros.requires_grad, zeros.is_leaf) == ([0, 0], made, True)
