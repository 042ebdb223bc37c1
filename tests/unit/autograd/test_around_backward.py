"""What programs name around a backward pass: callbacks at its end, saved tensors by their type, `torch._utils`.

Facts recorded from PyTorch.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, ClassVar

import pytest

import retrograd as torch
from retrograd import _utils
from retrograd.autograd import SavedTensor, Variable

queue: Any = Variable._execution_engine.queue_callback


def leaf(*values: float) -> Any:
    return torch.tensor(values or (1.0, 2.0), requires_grad=True)


class Queueing(torch.autograd.Function):
    """Queues two callbacks in its backward."""

    log: ClassVar[list[str]] = []

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        Queueing.log.append("backward")
        for name in ("first", "second"):
            queue(lambda name=name: Queueing.log.append(name))
        return g * 2


class TestCallbacks:
    def test_they_run_in_order_when_all_gradients_are_there(self) -> None:
        x, log = leaf(), Queueing.log
        x.register_post_accumulate_grad_hook(lambda p: log.append("accumulated"))
        for run, seen in (
            (lambda: Queueing.apply(x).sum().backward(), ["backward", "accumulated", "first", "second"]),
            (lambda: torch.autograd.grad(Queueing.apply(x).sum(), x), ["backward", "first", "second"]),
            (lambda: torch.autograd.grad(Queueing.apply(x).sum(), x, create_graph=True),
             ["backward", "first", "second"]),
        ):
            log.clear()
            run()
            assert log == seen

    @pytest.mark.filterwarnings("ignore:Using backward")
    def test_grad_mode_is_that_of_the_pass(self) -> None:
        seen: list[bool] = []
        for recorded in (False, True):
            y = leaf() * 2
            y.register_hook(lambda g: queue(lambda: seen.append(torch.is_grad_enabled())))
            y.sum().backward(create_graph=recorded)
        assert seen == [False, True]

    def test_a_callback_may_queue_another(self) -> None:
        seen: list[str] = []
        y = leaf() * 2

        def outer() -> None:
            seen.append("outer")
            queue(lambda: seen.append("inner"))

        y.register_hook(lambda g: queue(outer))
        y.sum().backward()
        assert seen == ["outer", "inner"]

    def test_a_pass_inside_another_runs_its_own(self) -> None:
        seen: list[str] = []
        y = leaf() * 2

        def inside(g: Any) -> None:
            queue(lambda: seen.append("of the outer"))
            with torch.enable_grad():
                z = leaf() * 2
                z.register_hook(lambda g: queue(lambda: seen.append("of the inner")))
                z.sum().backward()
            seen.append("inner pass done")

        y.register_hook(inside)
        y.sum().backward()
        assert seen == ["of the inner", "inner pass done", "of the outer"]

    def test_an_error_in_the_pass_drops_them_and_an_error_in_one_comes_through(self) -> None:
        seen: list[str] = []
        y = leaf() * 2

        def failing(g: Any) -> None:
            queue(lambda: seen.append("never"))
            raise ValueError("in a hook")

        y.register_hook(failing)
        with pytest.raises(ValueError, match="in a hook"):
            y.sum().backward()
        z = leaf() * 2

        def bad() -> None:
            raise ValueError("in a callback")

        z.register_hook(lambda g: queue(bad) or queue(lambda: seen.append("never")))
        with pytest.raises(ValueError, match="in a callback"):
            z.sum().backward()
        (leaf() * 2).sum().backward()
        assert seen == []

    def test_outside_of_a_pass(self) -> None:
        with pytest.raises(RuntimeError, match="^Final callbacks can only be installed during backward pass"):
            queue(lambda: None)


class TestSavedTensor:
    def test_it_is_the_type_of_raw_saved_values(self) -> None:
        x = leaf()
        y = x * x
        raw = y.grad_fn._raw_saved_self
        assert isinstance(raw, SavedTensor)
        assert torch.autograd.SavedTensor is SavedTensor
        assert raw.unpack_hook is None
        assert raw.data is raw.unpack() is x
        y.sum().backward()
        assert raw.data is None
        with pytest.raises(RuntimeError, match="^Trying to backward through the graph a second time"):
            raw.unpack()

    def test_with_hooks_it_shows_what_they_made(self) -> None:
        raw = leaf().exp().grad_fn._raw_saved_result
        assert raw.data.grad_fn is None
        raw.register_hooks(lambda t: ("packed", t), lambda packed: packed[1])
        assert raw.data[0] == "packed"
        assert raw.unpack_hook(raw.data) is raw.data[1]

    def test_programs_make_none(self) -> None:
        with pytest.raises(RuntimeError, match="^Trying to create a SavedTensor object from Python is forbidden"):
            SavedTensor()


class TestUtils:
    @pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
    def test_tensors_of_storages(self) -> None:
        x = torch.arange(6.0)
        storage = x.storage()
        y = _utils._rebuild_tensor_v2(storage, 1, (2, 2), (2, 1), True, OrderedDict())
        assert y.tolist() == [[1.0, 2.0], [3.0, 4.0]]
        assert y.requires_grad
        assert y.is_leaf
        assert not y._is_view()
        x.add_(1)
        assert y.tolist() == [[2.0, 3.0], [4.0, 5.0]]
        assert _utils._rebuild_tensor(storage, 5, (), ()).item() == 6.0
        hooks = OrderedDict({0: print})
        assert _utils._rebuild_tensor_v2(storage, 0, (6,), (1,), True, hooks)._backward_hooks == hooks

    def test_parameters(self) -> None:
        data = torch.ones(2)
        assert not _utils._rebuild_parameter(data, False, OrderedDict()).requires_grad
        parameter = _utils._rebuild_parameter_with_state(data, True, OrderedDict(), {"note": 1})
        assert isinstance(parameter, torch.nn.Parameter)
        assert parameter.note == 1

    def test_one_tensor_of_many(self) -> None:
        tensors = [torch.ones(2), torch.zeros(2, 2).t()]
        flat = _utils._flatten_dense_tensors(tensors)
        assert flat.tolist() == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
        parts = _utils._unflatten_dense_tensors(torch.arange(6.0), tensors)
        assert [part.tolist() for part in parts] == [[0.0, 1.0], [[2.0, 3.0], [4.0, 5.0]]]

    def test_groups_of_tensors(self) -> None:
        small, large, ints = torch.ones(2), torch.ones(4), torch.arange(1)
        groups = [*_utils._take_tensors([small, ints, small, large], 8)]
        assert [[t.numel() for t in group] for group in groups] == [[2], [2], [4], [1]]
        assert _utils._reorder_tensors_as([small, ints], [ints, small]) == (ints, small)

    def test_exceptions_elsewhere(self) -> None:
        try:
            raise KeyError("k")
        except KeyError:
            wrapper = _utils.ExceptionWrapper(where="in a worker")
        with pytest.raises(KeyError, match="Caught KeyError in a worker."):
            wrapper.reraise()
