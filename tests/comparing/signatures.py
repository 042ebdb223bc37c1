"""What PyTorch says of the parameters of its functions and methods, read from the stub files that it installs."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType
from typing import Any, NamedTuple

import torch

_STUBS = Path(torch.__file__).parent / "_C"


class Overload(NamedTuple):
    """One way to call a function: names of what may be given by position, and of what only by name."""

    positional: tuple[str, ...]
    keywords: tuple[str, ...]


def _overload(function: ast.FunctionDef) -> Overload:
    spec = function.args
    positional = [a.arg for a in [*spec.posonlyargs, *spec.args]]
    return Overload(tuple(positional), tuple(a.arg for a in spec.kwonlyargs))


def _collected(body: list[ast.stmt]) -> dict[str, list[Overload]]:
    found: dict[str, list[Overload]] = {}
    for statement in body:
        if isinstance(statement, ast.FunctionDef) and not any(
                isinstance(d, ast.Name) and d.id == "property" for d in statement.decorator_list):
            found.setdefault(statement.name, []).append(_overload(statement))
    return found


@cache
def functions() -> dict[str, list[Overload]]:
    """The overloads of the functions of torch, and of those of nn.functional that are built in."""
    return _collected(ast.parse((_STUBS / "_VariableFunctions.pyi").read_text()).body)


@cache
def methods() -> dict[str, list[Overload]]:
    """The overloads of the methods of a tensor."""
    tree = ast.parse((_STUBS / "__init__.pyi").read_text())
    base = next(s for s in tree.body if isinstance(s, ast.ClassDef) and s.name == "TensorBase")
    return _collected(base.body)


def of_python(function: Callable[..., Any]) -> list[Overload]:
    """The one signature of what is written in Python; none where there is none to be seen.

    From Python 3.14 on, a function in C without a signature pretends to have a parameter `object`.
    """
    if isinstance(function, BuiltinFunctionType):
        return []
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return []
    return [Overload(tuple(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY),
                     tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY))]


def of_doc(function: Callable[..., Any]) -> list[Overload]:
    """The signature that the first line of a docstring shows, as those of what is built in do.

    But for the tensor that comes first: in docstrings it has another name than when it is given.
    """
    first = (function.__doc__ or "").strip().partition("\n")[0]
    match = re.match(r"[\w.]+\((.*)\) ->", first)
    if match is None:
        return []
    # Without defaults, and where C++ types stand before names, without those.
    names = [re.sub(r"=.*", "", part).split()[-1] for part in re.split(r",\s*(?![^(]*\))", match[1]) if part.strip()]
    place = names.index("*") if "*" in names else len(names)
    return [Overload(tuple(names[1:place]), tuple(names[place + 1:]))]


def overloads(name: str, function: Callable[..., Any]) -> list[Overload]:
    """How a function is called, by its full name, as in `torch.linalg.inv`; none where PyTorch does not tell."""
    space, _, plain = name.rpartition(".")
    if space == "torch.Tensor":
        return [] if plain.startswith("__") else methods().get(plain, [])
    if space == "torch":
        return of_python(function) or functions().get(plain, [])
    return of_python(function) or of_doc(function)


# What the stubs say and PyTorch does not take when it is called, or takes only to say that it is not for CPUs.
_UNTRUE = {"names", "out_dtype", "device_for_backend_keys", "dispatch_device", "dispatch_strides", "mode"}


# The same, of single functions.
ABSENT: dict[str, set[str]] = {
    # Its overloads have four pairs of names for two operands; these are not taken.
    "torch.result_type": {"other", "scalar", "scalar1", "scalar2", "tensor"},
    "torch.Tensor.to": {"other"},
    "torch.set_num_threads": {"num"},
    "torch.set_num_interop_threads": {"num"},
    "torch.Tensor.new": {"cls", "other", "size", "storage"},
    "torch.linalg.lstsq": {"B"},
    "torch.linalg.tensorsolve": {"B"},
}


def refused(function: Callable[..., Any], overloads: list[Overload]) -> list[str]:
    """The names that PyTorch takes by keyword, and this function does not."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return []
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return []
    accepted = {p.name for p in parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    asked = {name for o in overloads for name in (*o.positional, *o.keywords)} - {"self"} - _UNTRUE
    return sorted(asked - accepted)
