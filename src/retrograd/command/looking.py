"""Look up names of torch in retrograd, for the check of a program: what stands at a path, and what a call returns."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from retrograd.foundations.names import PACKAGE, in_pytorch

# The first words of paths that mean torch.
ROOTS = ("torch", PACKAGE)
# Questions with one answer here: there are no other devices, and no compiler runs.
_NO = ("is_available", "is_built", "is_compiling", "is_dynamo_compiling", "is_exporting", "is_scripting", "is_tracing")
# Methods that return one tensor and have neither a schema nor an annotation that says so.
_VIEWS = frozenset(("contiguous", "expand", "expand_as", "repeat", "reshape_as", "transpose", "view", "view_as"))


class Found(NamedTuple):
    """What stands at a path. `path` ends where the last module or class of the path does, or with the missing name."""

    path: str
    value: Any
    missing: bool

    @property
    def is_space(self) -> bool:
        """Whether a module or a class stands there, so that names may follow."""
        return not self.missing and isinstance(self.value, ModuleType | type)

    @property
    def in_pytorch(self) -> bool:
        """Whether retrograd has the name, or PyTorch lists it."""
        space, _, name = self.path.rpartition(".")
        return not self.missing or name in in_pytorch(space)


@cache
def look_up(path: str) -> Found:
    """What stands at a path such as `torch.nn.Linear`."""
    value: Any = sys.modules[PACKAGE]
    seen = "torch"
    for name in path.split(".")[1:]:
        if not isinstance(value, ModuleType | type):
            return Found(seen, value, False)
        seen = f"{seen}.{name}"
        found, value = _member(value, name)
        if not found:
            return Found(seen, None, True)
    return Found(seen, value, False)


def _member(space: Any, name: str) -> tuple[bool, Any]:
    """Whether a module or a class has a name, and what it stands for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                           # deprecated names warn when they are read
        try:
            return True, getattr(space, name)
        except AttributeError:
            module = f"{getattr(space, '__name__', '')}.{name}"
            if not hasattr(space, "__path__") or importlib.util.find_spec(module) is None:
                return name in getattr(space, "__annotations__", {}), None
            return True, importlib.import_module(module)


@cache
def makes_tensor(path: str) -> bool:
    """Whether the function at a path always returns one tensor, as its annotation or its schemas say."""
    found = look_up(path)
    if path.removeprefix("torch.Tensor.") in _VIEWS:
        return True
    result = getattr(found.value, "__annotations__", {}).get("return")
    schemas = getattr(getattr(found.value, "public", None), "schemas", ())
    if found.missing or not isinstance(result, str):
        return False
    return result in ("Tensor", "TensorBase") or (result == "Any" and bool(schemas) and not any(
        " -> " in text and not text.endswith(" -> Tensor") for text in schemas))


def certain_answer(path: str) -> bool | None:
    """What a question such as `torch.cuda.is_available` always answers here; None if there is no certain answer."""
    return False if path.rpartition(".")[2] in _NO and not look_up(path).missing and path != "torch.cpu.is_available" \
        else None
