"""Modes and wrappers below autograd see what they see in PyTorch."""

import warnings
from collections import Counter
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import retrograd
from comparing.dispatch_calls import CALLS, DIFFERENT, REASONS
from comparing.programs import same
from retrograd.dispatch.core import _texts
from retrograd.utils._python_dispatch import TorchDispatchMode as Mode


def shapes(values: Any, package: Any) -> list[tuple[int, ...]]:
    if isinstance(values, package.Tensor):
        return [tuple(values.shape)]
    return [s for value in values for s in shapes(value, package)] if isinstance(values, (list, tuple)) else []


def arrived(package: Any, base: Any, text: str) -> list[Counter[Any]]:
    """The operators that arrive in a call, and in its backward pass, each with the shapes of its tensors."""
    class Log(base):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.seen: Counter[Any] = Counter()

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if not str(func).startswith("profiler"):
                self.seen[str(func), tuple(shapes(args, package))] += 1
            return func(*args, **(kwargs or {}))

    names = tensors(package)
    call, back = Log(), Log()
    with call:
        found = eval(text, names)
    found = [t for t in (found if isinstance(found, (list, tuple)) else [found]) if isinstance(t, package.Tensor)]
    found = [t for t in found if t.grad_fn is not None]
    if found:
        with back:
            try:
                package.autograd.backward(found, [package.ones_like(t) for t in found])
            except (NotImplementedError, RuntimeError) as error:
                back.seen[type(error).__name__, ()] += 1
    return [call.seen, without_copies(back.seen)]


def without_copies(seen: Counter[Any]) -> Counter[Any]:
    """The first gradient of a leaf is an alias in a mode's eyes. PyTorch copies it if somebody else holds it, too."""
    for (name, (*size,)), count in [*seen.items()]:
        copied = "aten.copy_.default", (*size, *size)
        if name == "aten.new_empty_strided.default":
            both = min(count, seen[copied])
            seen["aten.detach.default", tuple(size)] += both
            seen[name, tuple(size)] -= both
            seen[copied] -= both
    return +seen


def tensors(package: Any) -> dict[str, Any]:
    def leaf(*shape: int) -> Any:
        return package.randn(*shape).requires_grad_()

    package.manual_seed(0)
    s = package.eye(3) * 3 + package.ones(3, 3) * 0.1
    return {"torch": package, "F": package.nn.functional, "x": leaf(4, 5), "y": leaf(4, 5), "b": leaf(2, 4, 5),
            "p": (package.rand(4, 5) + 0.5).requires_grad_(), "w": leaf(3, 5), "v": leaf(3), "im": leaf(2, 3, 6, 6),
            "k": leaf(4, 3, 3, 3), "s": s.requires_grad_(), "i": package.tensor([0, 2]),
            "j": package.zeros(4, 5, dtype=package.int64), "c": package.tensor([0, 1, 2, 3])}


@pytest.mark.parametrize("text", CALLS)
def test_the_operators_that_arrive_are_pytorchs(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, found = arrived(torch, TorchDispatchMode, text), arrived(retrograd, Mode, text)
    assert (found != expected) is (text in DIFFERENT), (expected, found)


def test_each_difference_has_a_reason() -> None:
    assert {*DIFFERENT.values()} == {*REASONS}
    assert {*DIFFERENT} <= {*CALLS}
    assert len(CALLS) >= 300


def test_the_schemas_are_pytorchs() -> None:
    texts = {line for lines in _texts().values() for line in lines}
    packets = {name: getattr(torch.ops.aten, name) for name in _texts()}
    known = {str(getattr(packet, which)._schema).removeprefix("aten::")
             for packet in packets.values() for which in packet.overloads()}
    assert texts <= known
    assert len(texts) > 900


@pytest.mark.parametrize(("program", "lines"), [
    ("modes", 200), ("wrappers", 90), ("fake_tensors", 35), ("overloads", 60), ("schemas", 70), ("together", 30)])
def test_programs_print_the_same(program: str, lines: int) -> None:
    same(f"dispatching/{program}.py", lines)
