"""Handles of hooks, hooks on several tensors and on all modules, passes deep inside each other: without PyTorch."""

import pickle
import threading
import weakref
from collections import OrderedDict
from typing import Any

import pytest

import retrograd as torch
from retrograd.autograd import graph
from retrograd.nn.modules import module
from retrograd.utils.hooks import RemovableHandle

ENTRIES: Any = OrderedDict()


def leaf(*values: float) -> Any:
    return torch.tensor([float(value) for value in values], requires_grad=True)


def test_a_handle_takes_its_hook_from_all_dictionaries_and_keeps_none_alive() -> None:
    hooks: Any = OrderedDict()
    extra: Any = OrderedDict()
    handle = RemovableHandle(hooks, extra_dict=extra)
    hooks[handle.id] = extra[handle.id] = 1
    handle.remove()
    handle.remove()
    assert not hooks
    assert not extra
    reference = weakref.ref(hooks)
    del hooks
    assert reference() is None
    assert handle.hooks_dict_ref() is None
    handle.remove()


def test_a_handle_can_be_pickled_with_what_it_refers_to() -> None:
    handle = RemovableHandle(ENTRIES)
    entries, copied = pickle.loads(pickle.dumps((ENTRIES, handle)))
    assert copied.id == handle.id
    assert copied.hooks_dict_ref() is entries
    alone = pickle.loads(pickle.dumps(handle))
    alone.remove()
    old = RemovableHandle(ENTRIES)
    old.__setstate__((None, old.id))
    assert old.hooks_dict_ref() is None
    assert RemovableHandle(ENTRIES).id > old.id


def test_hooks_stay_with_the_node_that_a_write_in_place_leaves_behind() -> None:
    seen: list[Any] = []
    y = leaf(1, 2) * 2
    y.register_hook(lambda g: seen.append(("early", g.tolist())))
    first = y._backward_hooks
    y.mul_(3)
    assert y._backward_hooks is None
    y.register_hook(lambda g: seen.append(("late", g.tolist())))
    assert y._backward_hooks is not first
    y.sum().backward()
    assert seen == [("late", [1, 1]), ("early", [3, 3])]


def test_a_hook_on_several_tensors_waits_for_those_that_the_pass_reaches() -> None:
    x, w = leaf(1, 2), leaf(3, 4)
    a, b = x * w, x + w
    calls: list[list[bool]] = []
    handle = graph.register_multi_grad_hook((x, w, a, b), lambda gs: calls.append([g is not None for g in gs]))
    a.sum().backward(retain_graph=True)
    (a + b).sum().backward(inputs=[x], retain_graph=True)
    handle.remove()
    a.sum().backward()
    assert calls == [[True, True, True, False], [True, False, True, True]]
    with pytest.raises(ValueError, match="Expects mode to be one of"):
        graph.register_multi_grad_hook((x,), print, mode="some")


@pytest.mark.usefixtures("no_collector")
def test_the_first_gradient_of_each_pass_and_no_pass_outlives_its_end() -> None:
    x = leaf(1, 2)
    y = x * x
    seen: list[Any] = []
    graph.register_multi_grad_hook((x, y), lambda g: seen.append(g.tolist()), mode="any")
    graph.register_multi_grad_hook((x, y), lambda gs: seen.append(len(gs)))
    z = y * 2
    z.sum().backward(retain_graph=True)
    z.sum().backward()
    alive = weakref.ref(z.grad_fn.next_functions[0][0].next_functions[0][0])
    del y, z
    assert alive() is None
    assert seen == [[2, 2], 2, [2, 2], 2]


def test_a_multi_hook_called_outside_a_pass_says_so() -> None:
    x = leaf(1)
    graph.register_multi_grad_hook((x,), print, mode="any")
    assert x._backward_hooks is not None
    (hook,) = x._backward_hooks.values()
    with pytest.raises(AssertionError, match="inside a backward call"):
        hook(torch.ones(1))


def test_passes_within_passes_are_not_limited_by_recursion() -> None:
    x = leaf(1)
    deepest: list[str] = []

    def nested(n: int) -> Any:
        y = x * 2

        def hook(g: Any) -> None:
            if not n:
                deepest.append(threading.current_thread().name)
                raise ValueError("at the bottom")
            with torch.enable_grad():
                nested(n - 1).backward()

        y.register_hook(hook)
        return y

    with pytest.raises(ValueError, match="at the bottom"):
        nested(300).backward()
    assert deepest != [threading.current_thread().name]
    assert torch.is_grad_enabled()
    assert x.grad is None
    (x * 2).backward()
    assert x.grad.tolist() == [2]


def test_a_node_is_a_function_of_the_gradients_of_its_outputs() -> None:
    x = leaf(1, 2)
    product = (x * x).grad_fn
    left, right = product(torch.ones(2))
    assert left.tolist() == right.tolist() == [1, 2]
    assert left.requires_grad
    with pytest.raises(TypeError, match="expected 1 arguments, got 0"):
        product()
    first = x.unbind()[0].grad_fn
    assert first(torch.ones(()), None).tolist() == [1, 0]
    end = product.next_functions[0][0]
    assert end(torch.ones(2)) == ()
    assert x.grad.tolist() == [1, 1]


def test_hooks_on_all_modules_come_first_and_go_with_their_handle() -> None:
    seen: list[str] = []
    layer = torch.nn.Linear(1, 1)
    layer.register_forward_hook(lambda *a: seen.append("own"))
    handles = [module.register_module_forward_pre_hook(lambda *a: seen.append("before")),
               module.register_module_forward_hook(lambda *a: seen.append("after")),
               module.register_module_full_backward_pre_hook(lambda *a: seen.append("backward before")),
               module.register_module_full_backward_hook(lambda *a: seen.append("backward"))]
    layer(leaf(1)).backward()
    for handle in handles:
        handle.remove()
    layer(leaf(1)).backward()
    assert seen == ["before", "after", "own", "backward before", "backward", "own"]
    with pytest.raises(RuntimeError, match="both regular backward hooks and full backward hooks"):
        module.register_module_backward_hook(print)


def test_the_old_backward_hook_sees_the_last_operation_and_excludes_the_full_one() -> None:
    seen: list[int] = []
    layer = torch.nn.ReLU()
    layer.register_backward_hook(lambda module, into, out: seen.append(len(out)))
    layer(leaf(1) * 2).backward()
    assert seen == [1]
    with pytest.raises(RuntimeError, match="both regular backward hooks and full backward hooks"):
        layer.register_full_backward_hook(print)
    out = torch.nn.ReLU()
    out.register_backward_hook(print)
    result = out(leaf(1) * 2)
    del out
    with pytest.raises(RuntimeError, match="dead Module"):
        result.backward()


def test_a_gradient_that_cannot_be_added_to_is_refused_and_left_alone() -> None:
    x = leaf(1, 2)
    x.grad = torch.ones(1).expand(2)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        (x * 2).sum().backward()
    with torch.inference_mode():
        x.grad = torch.ones(2)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        (x * 2).sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_a_gradient_that_is_handed_on_unchanged_is_the_same_tensor() -> None:
    x, w, g = leaf(1, 2), leaf(3, 4), torch.ones(2)
    assert torch.autograd.grad(x, x, g)[0] is g
    first, second = torch.autograd.grad(x + w, [x, w], g)
    assert first is second is g


def test_a_warning_once_a_process_and_every_time() -> None:
    x = leaf(1)
    assert torch.is_warn_always_enabled()
    with pytest.warns(UserWarning, match="will create a reference cycle"):
        (x * x).backward(create_graph=True)
    x.grad = None
    with pytest.raises(RuntimeError, match="expects a bool"):
        torch.set_warn_always(1)        # type: ignore[arg-type]


def test_a_count_of_writes_that_nobody_saw() -> None:
    y = leaf(1, 2) * 2
    z = y * y
    graph.increment_version([y])
    assert y._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    with pytest.raises(RuntimeError, match="expect a Iterable"):
        graph.increment_version(3)
    with pytest.raises(RuntimeError, match="each element of the iterable"):
        graph.increment_version([3])
