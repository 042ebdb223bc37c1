"""allow_mutation_on_saved_tensors: what is saved is copied before it is written over. Facts recorded from PyTorch."""

from __future__ import annotations

import ast
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.autograd.graph import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    saved_tensors_hooks,
)
from retrograd.graph import versions

SOURCE = Path(torch.__file__).parent


def leaf(*values: float) -> Any:
    return torch.tensor(values, requires_grad=True)


def counts(context: Any) -> tuple[int, int]:
    return len(context.cloned), len(context.original)


def unrecorded(write: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(tensor: Any) -> None:
        with torch.no_grad():
            write(tensor)

    return call


def put(tensor: Any) -> None:
    tensor[torch.tensor([0])] = 7.


def put_in_part(tensor: Any) -> None:
    tensor[1:] = 7.


def put_where(tensor: Any) -> None:
    tensor[tensor > 1] = 0.


WRITES: dict[str, Callable[[Any], Any]] = {
    "sin_": lambda b: b.sin_(), "mul_ number": lambda b: b.mul_(10), "mul_ tensor": lambda b: b.mul_(torch.ones(2) * 3),
    "add_ itself": lambda b: b.add_(b), "fill_": lambda b: b.fill_(3), "zero_": lambda b: b.zero_(),
    "copy_": lambda b: b.copy_(torch.zeros(2)), "uniform_": lambda b: b.detach().uniform_(), "an index": put,
    "a slice": put_in_part, "a mask": put_where, "a view": lambda b: b[:1].mul_(5), "data": lambda b: b.data.mul_(3),
    "detach": lambda b: b.detach().mul_(3), "clamp_": lambda b: b.clamp_(0, 1.5),
    "index_fill_": lambda b: b.index_fill_(0, torch.tensor([1]), 9.),
    "masked_fill_": lambda b: b.masked_fill_(b > 1, 0.),
}


@pytest.mark.parametrize("way", [lambda write: write, unrecorded], ids=["recorded", "no_grad"])
@pytest.mark.parametrize("write", WRITES.values(), ids=list(WRITES))
def test_the_values_before_a_write_are_used(write: Callable[[Any], Any], way: Any) -> None:
    x = leaf(1., 2.)
    with allow_mutation_on_saved_tensors() as context:
        b = x.clone()
        y = (b ** 2).sum()
        way(write)(b)
        assert len(context.cloned) == 1
        y.backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2., 4.])


def test_a_value_is_copied_once_and_each_version_is_kept() -> None:
    x = leaf(1., 2.)
    with allow_mutation_on_saved_tensors() as context:
        b = x.clone()
        first = (b * b).sum()
        assert counts(context) == (0, 1)
        b.sin_()
        assert counts(context) == (1, 1)
        second = (b ** 2).sum()
        b.cos_()
        b.mul_(3)
        assert counts(context) == (2, 2)
        (g,) = torch.autograd.grad(second, x)
        np.testing.assert_allclose(g.numpy(), np.sin([2., 4.]), rtol=1e-6)
        (g,) = torch.autograd.grad(first, x)
        np.testing.assert_array_equal(g.numpy(), [2., 4.])


def test_nothing_is_copied_that_a_write_leaves_alone() -> None:
    with allow_mutation_on_saved_tensors() as context:
        b = leaf(1., 2.).clone()
        v, w = b[1:], b[:1]
        (v * v).sum()
        kept = (v * v).sum()
        w.sin_()
        assert counts(context)[0] == 0
        kept.backward()


def test_writes_through_the_base_and_through_views_are_noticed() -> None:
    x = leaf(1., 2.)
    with allow_mutation_on_saved_tensors():
        b = x.clone()
        y = (b[1:] ** 2).sum()
        b.mul_(10)
        y.backward()
    np.testing.assert_array_equal(x.grad.numpy(), [0., 4.])


def test_optimizers_and_accumulation_write_too() -> None:
    for optimizer in (torch.optim.SGD, torch.optim.Adam):
        w = leaf(1., 2.)
        with allow_mutation_on_saved_tensors():
            first, second = (w ** 2).sum(), (w ** 3).sum()
            first.backward()
            optimizer([w], lr=0.5).step()
            of_gradient = (leaf(1., 1.) * w.grad * w).sum()
            second.backward()
            np.testing.assert_array_equal(w.grad.numpy(), [5., 16.])
            (g,) = torch.autograd.grad(of_gradient, w)
        np.testing.assert_array_equal(g.numpy(), [2., 4.])


def test_clipping_gradients_writes_too() -> None:
    w = leaf(3., 4.)
    for clip in (lambda: torch.nn.utils.clip_grad_norm_([w], 1.), lambda: torch.nn.utils.clip_grad_value_([w], 1.)):
        w.grad = torch.tensor([6., 8.])
        with allow_mutation_on_saved_tensors():
            y = (w * w.grad).sum()
            clip()
            (g,) = torch.autograd.grad(y, w)
        np.testing.assert_array_equal(g.numpy(), [6., 8.])


def test_a_function_that_marks_its_input_dirty() -> None:
    class Tenfold(torch.autograd.Function):
        """Ten times the input, in its place."""

        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.mark_dirty(a)
            return a.mul_(10)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 10

    x = leaf(1., 2.)
    with allow_mutation_on_saved_tensors():
        b = x.clone()
        y = (b * b).sum()
        Tenfold.apply(b)
        y.backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2., 4.])


def test_second_derivatives_use_the_values_before_the_write() -> None:
    x = leaf(1., 2.)
    with allow_mutation_on_saved_tensors():
        b = x.clone()
        y = (b ** 3).sum()
        b.sin_()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        (h,) = torch.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(h.numpy(), [6., 12.])


def test_the_backward_pass_belongs_into_the_context() -> None:
    with allow_mutation_on_saved_tensors():
        y = (leaf(1., 2.).clone() ** 2).sum()
    for context in (allow_mutation_on_saved_tensors, lambda: saved_tensors_hooks(id, id)):  # type: ignore[arg-type]
        with context(), pytest.raises(AssertionError, match="Trying to backward outside of the "
                                                             "'allow_mutation_on_saved_tensors' context"):
            y.backward()


def test_what_was_saved_before_is_guarded_as_ever() -> None:
    b = leaf(1., 2.).clone()
    y = (b ** 2).sum()
    with allow_mutation_on_saved_tensors():
        b.sin_()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


def test_contexts_cannot_be_nested_and_the_outer_one_goes_on() -> None:
    x = leaf(1., 2.)
    with allow_mutation_on_saved_tensors():
        with (pytest.raises(RuntimeError, match="allow_mutation_on_saved_tensors contexts cannot be nested"),
              allow_mutation_on_saved_tensors()):
            pass
        b = x.clone()
        y = (b ** 2).sum()
        b.sin_()
        y.backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2., 4.])
    assert versions.before_write == []


def test_it_is_a_decorator_and_ends_with_an_error() -> None:
    @allow_mutation_on_saved_tensors()
    def gradient() -> Any:
        x = leaf(1., 2.)
        b = x.clone()
        y = (b ** 2).sum()
        b.sin_()
        y.backward()
        return x.grad

    for _ in range(2):
        np.testing.assert_array_equal(gradient().numpy(), [2., 4.])
    with pytest.raises(ValueError, match="no"), allow_mutation_on_saved_tensors():
        raise ValueError("no")
    assert versions.before_write == []
    with (disable_saved_tensors_hooks("off"), pytest.raises(RuntimeError, match="off"),
          allow_mutation_on_saved_tensors()):
        pass


def test_hooks_inside_take_the_place_of_the_copies() -> None:
    x = leaf(1., 2.)
    with allow_mutation_on_saved_tensors():
        b = x.clone()
        with saved_tensors_hooks(lambda t: t, lambda packed: packed):
            y = (b * b).sum()
        b.mul_(2)
        y.backward()
    np.testing.assert_array_equal(x.grad.numpy(), [4., 8.])


def test_other_threads_may_write_and_run_the_pass() -> None:
    x = leaf(1., 2.)
    with allow_mutation_on_saved_tensors():
        b = x.clone()
        y = (b ** 2).sum()
        for work in (b.sin_, y.backward):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
    np.testing.assert_array_equal(x.grad.numpy(), [2., 4.])


@pytest.mark.usefixtures("no_collector")
def test_memory_goes_with_the_graph_and_with_the_context() -> None:
    with allow_mutation_on_saved_tensors() as context:
        b = leaf(1., 2.).clone()
        y = b.exp()
        b.sin_()
        y.mul_(2)
        memory = [weakref.ref(held.array) for held in context.cloned]
        assert counts(context) == (1, 1)
        del y
        assert counts(context) == (0, 1)
        assert memory[0]() is None
        y = (b ** 2).sum()
        y.backward()
        assert counts(context) == (0, 0)
        y = (b ** 2).sum()
        context.clear()
        with pytest.raises(AssertionError):
            y.backward()
        y = (leaf(1.) ** 2).sum()
        (held,) = context.original
    assert held.array is None


def functions() -> Iterator[tuple[str, set[str]]]:
    """The functions of all files with the word `written`, and the names of what they call."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_bytes()
        for function in ast.walk(ast.parse(text)) if b"written" in text else ():
            if isinstance(function, ast.FunctionDef):
                called = [call.func for call in ast.walk(function) if isinstance(call, ast.Call)]
                yield f"{path.stem}.{function.name}", {
                    f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "") for f in called}


def test_every_write_that_is_counted_is_announced() -> None:
    """But for the functions that count for others, for what the author of a Function wrote by such writes, and for
    what puts other memory, or another geometry, behind a tensor, or copies it onto itself, or was told of a write; for
    a first gradient, whose memory is new; and for the mark of a coalesced tensor.
    """
    silent = {name for name, called in functions() if "written" in called and "writing" not in called}
    assert silent == {
        "inplace.written", "versions.written_all", "function_outputs.__init__", "storage.set_", "geometry._turn",
        "geometry._resize", "overwriting.copy_", "edges.increment_version", "gradients._copied",
        "shadows.rewritten", "fused._add_relu_", "memory.sparse_resize_", "memory.sparse_resize_and_clear_",
        "conversion.coalesced_"}
