"""What Python says about the arguments of a method names the class that a program knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import isfunction
from typing import Any

import pytest

import retrograd as torch
from retrograd.foundations.inherited import name_inherited
from retrograd.nn.modules.layer import _OF_PRIVATE_CLASSES


def methods() -> Iterator[Any]:
    """The constructors and `forward` methods of all layers."""
    for each in (getattr(torch.nn, name) for name in dir(torch.nn)):
        if isinstance(each, type):
            yield from filter(isfunction, (getattr(each, name, None) for name in ("__init__", "forward")))


def test_no_private_class_is_named() -> None:
    found = list(methods())
    named = {method.__qualname__ for method in found if method.__qualname__.startswith("_")}
    assert len(found) > 200
    assert named <= _OF_PRIVATE_CLASSES | {"_forward_unimplemented"}


@pytest.mark.parametrize(("call", "words"), [
    (lambda: torch.nn.ReLU()(1, 2), r"ReLU\.forward\(\) takes 2 positional arguments but 3 were given"),
    (lambda: torch.nn.Softmax(1, 2), r"Softmax\.__init__\(\) takes from 1 to 2 positional arguments but 3 were given"),
    (lambda: torch.nn.Conv2d(1), r"Conv2d\.__init__\(\) missing 2 required positional arguments: 'out_channels' and ")])
def test_messages(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(TypeError, match=f"^{words}"):
        call()


def test_classes_of_a_program_keep_their_methods() -> None:
    class _Own(torch.nn.ReLU):
        def forward(self, input: Any) -> Any:
            return input

    class Public(_Own):
        pass

    name_inherited(Public, "forward")
    assert "forward" not in vars(Public)
    assert Public().forward.__func__ is _Own.forward
