"""torch.utils.checkpoint: what is run and when, what a mismatch says, what is as it was after an error."""

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from noting import whole
from retrograd.foundations.errors import Site, at
from retrograd.utils.checkpoint import (
    CheckpointError,
    CheckpointFunction,
    check_backward_validity,
    checkpoint,
    checkpoint_sequential,
    detach_variable,
    noop_context_fn,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

KINDS = pytest.mark.parametrize("reentrant", [False, True])


def leaf(*values: float) -> Any:
    return torch.tensor(values or (1.0, 2.0), requires_grad=True)


class Counted:
    """A function that counts how often it is begun and how often it comes to its end."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.begun, self.ended = function, 0, 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.begun += 1
        result = self.function(*args, **kwargs)
        self.ended += 1
        return result


def changing(*functions: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that is another one each time that it is run."""
    turns = iter(functions)
    return lambda x: next(turns)(x)


@KINDS
def test_gradients_are_those_without_a_checkpoint(reentrant: bool) -> None:
    x, plain, function = leaf(0.3, 0.7), leaf(0.3, 0.7), Counted(lambda x: (x.sin() * x).exp() + x)
    y = checkpoint(function, x, use_reentrant=reentrant)
    assert (function.begun, y.requires_grad) == (1, True)
    y.sum().backward()
    function.function(plain).sum().backward()
    assert function.begun == 2
    assert torch.equal(x.grad, plain.grad)


def test_the_recomputation_stops_when_all_is_there() -> None:
    for stop, ended in ((True, 1), (False, 2)):
        function = Counted(lambda x: x.sin() * x + 1)
        checkpoint(function, leaf(), use_reentrant=False, early_stop=stop).sum().backward()
        assert (function.begun, function.ended) == (2, ended)
        function = Counted(lambda x: x.sin() * x + 1)
        with set_checkpoint_early_stop(stop):
            y = checkpoint(function, leaf(), use_reentrant=False, early_stop=not stop)
        y.sum().backward()
        assert (function.begun, function.ended) == (2, ended)


def test_stopping_early_is_nothing_that_a_function_catches_by_accident() -> None:
    def cautious(x: Any) -> Any:
        try:
            return x.sin() * x
        except Exception:
            return None

    x = leaf()
    checkpoint(cautious, x, use_reentrant=False).sum().backward()
    assert torch.equal(x.grad, x.cos() * x + x.sin())


def test_each_pass_runs_it_once() -> None:
    function, x = Counted(lambda x: (x.sin() * x, x.exp() * x)), leaf()
    a, b = checkpoint(function, x, use_reentrant=False)
    (a + b).sum().backward(retain_graph=True)
    assert function.begun == 2
    a.sum().backward(retain_graph=True)
    b.sum().backward()
    assert function.begun == 4
    with pytest.raises(RuntimeError, match="a second time"):
        (a + b).sum().backward()


def test_double_backward() -> None:
    x = leaf()
    y = checkpoint(lambda x: x ** 4, x, use_reentrant=False)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert torch.equal(h, 12 * x.detach() ** 2)
    assert torch.autograd.gradgradcheck(lambda x: checkpoint(torch.tanh, x, use_reentrant=False), leaf().double())


def test_a_nested_one_is_run_again_inside_the_outer() -> None:
    inner = Counted(lambda x: x.exp() * x)
    outer = Counted(lambda x: checkpoint(inner, x.sin(), use_reentrant=False).cos())
    x, plain = leaf(), leaf()
    checkpoint(outer, x, use_reentrant=False).sum().backward()
    (plain.sin().exp() * plain.sin()).cos().sum().backward()
    assert (outer.begun, inner.begun) == (2, 3)
    assert torch.allclose(x.grad, plain.grad)


def test_random_numbers_are_drawn_again_and_the_stream_goes_on() -> None:
    for reentrant in (False, True):
        torch.manual_seed(5)
        x, drawn = leaf(), []

        def noisy(x: Any, drawn: list[Any] = drawn) -> Any:
            drawn.append(torch.randn(2))
            return (x * drawn[-1]).exp()

        y = checkpoint(noisy, x, use_reentrant=reentrant)
        state = torch.get_rng_state()
        y.sum().backward()
        assert torch.equal(drawn[0], drawn[1])
        assert torch.equal(torch.get_rng_state(), state)
        y = checkpoint(noisy, x, use_reentrant=reentrant, preserve_rng_state=False)
        y.sum().backward()
        assert not torch.equal(drawn[2], drawn[3])


# What is said of a mismatch


def test_a_mismatch_names_the_operations_and_the_lines_of_both_runs() -> None:
    def first(x: Any) -> Any:
        return x.sin() * x

    def then(x: Any) -> Any:
        return x.cos()

    y = checkpoint(changing(first, then), leaf(), use_reentrant=False)
    line, here = first.__code__.co_firstlineno + 1, at(Site(first.__code__, 0)).partition(":")[0]
    with pytest.raises(CheckpointError) as caught:
        y.sum().backward()
    said = whole(caught.value)
    assert said.startswith(
        "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
        "recomputation.\nNumber of tensors saved during forward: 3\nNumber of tensors saved during recomputation: 1.\n")
    assert ("\n  differ     from position 0 on\n"
            f"             SinBackward0 at {here}:{line}    return x.sin() * x, and\n"
            f"             CosBackward0 at {here}:{line + 3}    return x.cos()\n") in said


def test_a_mismatch_of_the_shape_and_of_the_dtype() -> None:
    for then, metadata in ((lambda x: x[:1].sin(), "torch.Size([1]), 'dtype': torch.float32"),
                           (lambda x: x.double().sin(), "torch.Size([2]), 'dtype': torch.float64")):
        y = checkpoint(changing(torch.sin, then), leaf(), use_reentrant=False)
        with pytest.raises(CheckpointError) as caught:
            y.sum().backward()
        assert ("have different metadata than during the forward pass.\ntensor at position 0:\nsaved metadata: "
                "{'shape': torch.Size([2]), 'dtype': torch.float32, 'device': device(type='cpu')}\nrecomputed "
                f"metadata: {{'shape': {metadata}, 'device': device(type='cpu')}}\n.\n\nTip: ") in str(caught.value)
        assert "  differ     position 0: saved by SinBackward0 at " in whole(caught.value)
        y = checkpoint(changing(torch.sin, then), leaf(), use_reentrant=False, determinism_check="none")
        with contextlib.suppress(RuntimeError):
            y.sum().backward()                      # the value does not fit, and that is what is said, if anything


def test_a_recomputation_that_saves_more() -> None:
    y = checkpoint(changing(torch.sin, lambda x: x.sin().exp()), leaf(), use_reentrant=False, early_stop=False)
    with pytest.raises(CheckpointError, match="trying to save more tensors during recomputation than") as caught:
        y.sum().backward()
    assert "position 1 on: only the recomputation saved one, by ExpBackward0 at " in whole(caught.value)
    y = checkpoint(changing(lambda x: x.sin().exp(), torch.sin), leaf(), use_reentrant=False)
    with pytest.raises(CheckpointError) as caught:
        y.sum().backward()
    assert "only the forward run saved one, by ExpBackward0 at " in whole(caught.value)


def test_debug_lists_all_operations() -> None:
    for function in (lambda x: x.sin().neg().exp(),
                     lambda x: checkpoint(torch.exp, x.sin().neg(), use_reentrant=False)):
        with set_checkpoint_debug_enabled(True):
            y = checkpoint(changing(function, torch.cos), leaf(), use_reentrant=False)
        with pytest.raises(CheckpointError, match="An error happened while unpacking tensors") as caught:
            y.sum().backward()
        forward, recomputation = str(caught.value).split("\n\n")[1:]
        assert [line.split()[0] for line in forward.splitlines()[1:3]] == ["SinBackward0", "NegBackward0"]
        _, *operations = recomputation.splitlines()
        assert [line.split()[0] for line in operations] == ["CosBackward0"]
        assert caught.value.__notes__ == ["  read more  retrograd help logs-of-debug"]
        assert str(caught.value.__cause__).startswith("torch.utils.checkpoint: A different number of tensors")


def test_an_input_of_a_nested_checkpoint_is_named_too() -> None:
    function = changing(lambda x: checkpoint(torch.exp, x * 2, use_reentrant=False), lambda x: x * 2)
    with pytest.raises(CheckpointError) as caught:
        checkpoint(function, leaf(), use_reentrant=False).sum().backward()
    assert "saved one, by a checkpoint inside, as its input, at " in whole(caught.value)


# Modes and errors


def state() -> tuple[Any, ...]:
    thread = torch.foundations.modes.local.thread
    return thread.grad, thread.inference, thread.watchers, thread.walk, torch.get_rng_state().tolist()


@KINDS
def test_an_error_leaves_everything_as_it_was(reentrant: bool) -> None:
    def failing(x: Any) -> Any:
        torch.rand(2)
        with torch.no_grad():
            x.sin()
            raise KeyError("no")

    x, before = leaf(), state()[:4]
    with pytest.raises(KeyError):
        checkpoint(failing, x, use_reentrant=reentrant)
    assert state()[:4] == before
    y = checkpoint(changing(torch.exp, failing, torch.exp), x, use_reentrant=reentrant)
    before = state()
    with pytest.raises(KeyError):
        y.sum().backward(retain_graph=True)
    assert (state(), x.grad) == (before, None)
    y.sum().backward()
    assert torch.equal(x.grad, x.exp().detach())


def test_reentrant_refuses_chosen_inputs() -> None:
    x = leaf()
    for go in (lambda y: torch.autograd.grad(y, x), lambda y: y.backward(inputs=[x])):
        y = checkpoint(torch.exp, x, use_reentrant=True).sum()
        with pytest.raises(RuntimeError, match="torch.utils.checkpoint is incompatible with .grad\\(\\) or passing"):
            go(y)
    y = checkpoint(lambda x: x.detach(), x, use_reentrant=True).sum()
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
        y.backward()


def test_options_are_checked() -> None:
    x = leaf()
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed explicitly"):
        checkpoint(torch.exp, x)
    with pytest.warns(UserWarning, match="checkpoint_sequential: the use_reentrant parameter should be"):
        checkpoint_sequential([torch.exp], 1, x)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True. Gradients will be None"):
        checkpoint(torch.exp, x.detach(), use_reentrant=True)
    with pytest.warns(UserWarning, match="None of the inputs"):
        check_backward_validity([1, x.detach()])
    for options, sentence in (
            ({"use_reentrant": True, "n": 1}, "Unexpected keyword arguments: n"),
            ({"use_reentrant": True, "debug": True}, "Passing `context_fn` or `debug` is only supported when"),
            ({"use_reentrant": False, "determinism_check": "no"}, "determinism_check should be one of"),
            ({"use_reentrant": False, "debug": True, "context_fn": lambda: noop_context_fn()}, "is incompatible with")):
        with pytest.raises(ValueError, match=sentence):
            checkpoint(torch.exp, x, **options)
    with pytest.raises(RuntimeError, match="Only tuple of tensors is supported"):
        detach_variable([x])
    assert [value.requires_grad for value in detach_variable((x, x.detach()))] == [True, False]
    with pytest.raises(RuntimeError, match="suppressed an exception raised during the checkpointed forward"):
        checkpoint(lambda x: 1 / 0, x, use_reentrant=False, context_fn=lambda: (
            contextlib.suppress(ZeroDivisionError), contextlib.nullcontext()))
    assert CheckpointFunction.apply(torch.exp, True, x).grad_fn.name() == "CheckpointFunctionBackward"


def test_an_input_that_was_written_to_is_refused() -> None:
    y = leaf() * 2
    z = checkpoint(lambda y: y.sin() * y, y, use_reentrant=False)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation.*output 0 of Mul, is at version 1"):
        z.sum().backward()


def test_threads_make_values_again_each_for_itself() -> None:
    x = torch.full((50,), 0.5, requires_grad=True)
    y = checkpoint(lambda x: (x.sin() * x).exp(), x, use_reentrant=False).sum()
    gradients: list[Any] = []

    def work() -> None:
        for _ in range(20):
            gradients.extend(torch.autograd.grad(y, x, retain_graph=True))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(gradients) == 80
    assert all(np.array_equal(g.numpy(), gradients[0].numpy()) for g in gradients)
