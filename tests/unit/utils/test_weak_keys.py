"""torch.utils.weak, the blocks of torch.utils._contextlib, and small names of torch.utils. Facts from PyTorch 2.13."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import retrograd as torch
from retrograd.utils import _contextlib, _python_dispatch, collect_env, model_zoo
from retrograd.utils.weak import TensorWeakRef, WeakIdKeyDictionary, WeakIdRef, WeakTensorKeyDictionary


def test_a_dictionary_knows_tensors_by_identity_and_forgets_them() -> None:
    a, b = torch.ones(2), torch.ones(2)
    notes = WeakTensorKeyDictionary({a: 1, b: 2})
    assert (len(notes), a in notes, torch.ones(2) in notes, 3 in notes, notes[b], notes.get(torch.ones(1), 5)) == (
        2, True, False, False, 2, 5)
    assert [key is a for key in notes] == [True, False]
    assert notes.popitem() == (b, 2)
    assert notes.setdefault(b, 7) == 7
    assert notes == WeakIdKeyDictionary({b: 7, a: 1}) == notes.copy()
    assert (notes | {b: 8})[b] == 8
    with pytest.raises(KeyError):
        notes.pop(torch.ones(1))
    with pytest.raises(TypeError, match="cannot create weak reference to 'int' object"):
        notes[3] = 1
    del a
    assert len(notes) == 1
    assert [reference() is b for reference in notes.keyrefs()] == [True]


def test_references() -> None:
    a = torch.ones(2)
    assert WeakIdRef(a) == WeakIdRef(a)
    assert hash(WeakIdRef(a)) == id(a)
    assert WeakIdRef(a) != WeakIdRef(torch.ones(2))
    reference = TensorWeakRef(a)
    assert reference() is a
    del a
    assert reference() is None
    with pytest.raises(AssertionError, match=r"expected torch\.Tensor, got <class 'int'>\."):
        TensorWeakRef(3)


class Noted(_contextlib._DecoratorContextManager):
    def __init__(self, notes: list[str]) -> None:
        self.notes = notes

    def __enter__(self) -> None:
        self.notes.append("in")

    def __exit__(self, *error: object) -> None:
        self.notes.append("out")

    def clone(self) -> Any:
        return type(self)(self.notes)


def test_blocks_are_decorators() -> None:
    notes: list[str] = []

    @Noted(notes)
    def steps() -> Iterator[Any]:
        notes.append("1")
        try:
            notes.append((yield 1))
            yield 2
        except ValueError:
            yield 3

    made: Any = steps()
    assert next(made) == 1
    assert made.send("sent") == 2
    assert made.throw(ValueError) == 3
    assert [*made] == []
    assert notes == ["in", "1", "out", "in", "sent", "out", "in", "out", "in", "out"]
    assert Noted(notes)(lambda x: x + 1)(1) == 2

    @contextmanager
    def block() -> Iterator[None]:
        yield

    with pytest.raises(RuntimeError, match="Cannot decorate classes; it is ambiguous"):
        _contextlib.context_decorator(block, int)
    with pytest.raises(AssertionError, match="is both callable and also a valid context manager"):
        _contextlib.context_decorator(block(), steps)


def test_a_block_without_options_decorates_by_its_class() -> None:
    class Plain(_contextlib._NoParamDecoratorContextManager):
        def __enter__(self) -> None:
            pass

        def __exit__(self, *error: object) -> None:
            pass

    assert Plain(lambda: 2)() == 2
    assert isinstance(Plain(), Plain)


def test_small_names() -> None:
    x = torch.ones(1)
    assert not _python_dispatch.is_traceable_wrapper_subclass(x)
    assert not _python_dispatch.is_in_torch_dispatch_mode()
    with _python_dispatch.TorchDispatchMode():
        assert _python_dispatch.is_in_torch_dispatch_mode()
    assert model_zoo.load_url is torch.hub.load_state_dict_from_url
    report = collect_env.get_pretty_env_info()
    assert "PyTorch version: " in report
    assert "\n[pip3] numpy==" in report
