"""Every class of torch.nn that is here is called as PyTorch's: the names, kinds and defaults of all parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch

import retrograd
from same_text import same

MODULES = sorted(name for name in retrograd.nn.__all__ if inspect.isclass(getattr(retrograd.nn, name))
                 and issubclass(getattr(retrograd.nn, name), retrograd.nn.Module))

# What PyTorch takes as (*args, **kwargs), only to refuse it or to hand it on.
SPELLED_OUT = {"Module", "NLLLoss2d", "Softmax2d"}

# Public methods that are not here, by the class that defines them.
ABSENT = {
    "Module": {
        "bfloat16", "compile", "ipu", "mtia", "register_load_state_dict_post_hook", "register_load_state_dict_pre_hook",
        "register_state_dict_post_hook", "register_state_dict_pre_hook", "set_submodule", "share_memory", "to_empty",
        "xpu"},
    "MultiheadAttention": {"merge_masks"},
}


def parameters(function: Callable[..., Any]) -> list[tuple[str, str, str]]:
    """The names of a function's parameters, how they may be given, and their defaults."""
    return [(p.name, p.kind.name, repr(p.default)) for p in inspect.signature(function).parameters.values()]


def methods(name: str) -> set[str]:
    """The public methods that PyTorch's class has of its own, not from Module."""
    theirs, base = getattr(torch.nn, name), torch.nn.Module
    names = {n for n in dir(theirs) if not n.startswith("_") and callable(getattr(theirs, n))}
    return {n for n in names if name == "Module" or getattr(theirs, n) is not getattr(base, n, None)}


def test_every_module_is_one_of_pytorch() -> None:
    assert [name for name in MODULES if not hasattr(torch.nn, name)] == []


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_made_alike(name: str) -> None:
    ours, theirs = (parameters(getattr(library.nn, name)) for library in (retrograd, torch))
    if name in SPELLED_OUT:
        assert [kind for _, kind, _ in theirs] == ["VAR_POSITIONAL", "VAR_KEYWORD"]
    else:
        assert ours == theirs


@pytest.mark.parametrize("name", MODULES)
def test_methods_are_called_alike(name: str) -> None:
    ours, theirs = getattr(retrograd.nn, name), getattr(torch.nn, name)
    absent = ABSENT.get(name, set())
    assert {m for m in methods(name) if not hasattr(ours, m)} == absent
    different = {m: (parameters(getattr(ours, m)), parameters(getattr(theirs, m))) for m in methods(name) - absent}
    assert {m: pair for m, pair in different.items() if pair[0] != pair[1]} == {}
