"""The table of signatures as objects. Must not know tensors."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from .functions import FUNCTIONS
from .namespaces import FFT, FUNCTIONAL, LINALG, SPECIAL

# For each namespace the table, and what PyTorch's messages put before the names.
_TABLES = {"": (FUNCTIONS, ""), "linalg": (LINALG, "linalg_"), "fft": (FFT, "fft_"), "special": (SPECIAL, "special_"),
           "nn.functional": (FUNCTIONAL, "")}
# The functions that messages call by the name of what they call.
_SPOKEN = {"logsigmoid": "log_sigmoid"}
_MAKING = "dtype dtype=None, layout layout=None, device device=None, bool pin_memory=False, bool requires_grad=False"
_SHORT = {
    r", out\)": (", *, Tensor out=None)",),
    r", options\)": (f", *, Generator? generator, Tensor out=None, {_MAKING})", f", *, Tensor out=None, {_MAKING})"),
    r", like\)": (f", *, Generator? generator, memory_format memory_format=None, {_MAKING})",
                  f", *, memory_format memory_format=None, {_MAKING})"),
}


class Parameter(NamedTuple):
    """One parameter: the type as in the table, of a list how many one number stands for, whether it may be None, the
    default as text."""

    kind: str
    size: int
    none: bool
    name: str
    default: str | None
    by_name: bool


class Signature(NamedTuple):
    """One way to call a function; `text` is how messages show it."""

    parameters: tuple[Parameter, ...]
    text: str

    @property
    def required(self) -> int:
        return sum(p.default is None for p in self.parameters)

    @property
    def positional(self) -> int:
        return sum(not p.by_name for p in self.parameters)


NAMES = {"Tensors": "tuple of Tensors", "ints": "tuple of ints",
         "floats": "tuple of floats", "dtype": "torch.dtype", "layout": "torch.layout", "device": "torch.device",
         "memory_format": "torch.memory_format", "Generator": "torch.Generator"}


def _signature(text: str) -> Signature:
    """The signature that stands between parentheses."""
    parameters, shown, by_name = [], [], False
    for part in re.split(r", (?![^\[(]*[\])])", text):
        if part == "*":
            by_name = True
            shown.append(part)
            continue
        match = re.fullmatch(r"(\w+)(?:\[(\d*)\])?(\??) (\w+)(?:=(.*))?", part)
        assert match is not None, part
        kind, size, optional, name, default = match.groups()
        none = bool(optional) or default in ("None", "[]")
        parameters.append(Parameter(kind, int(size or 0), none, name, default, by_name))
        shown.append(f"{NAMES.get(kind, kind)} {name}" + ("" if default is None else f" = {default}"))
    return Signature(tuple(parameters), f"({', '.join(shown)})")


@cache
def _entries(space: str) -> dict[str, str]:
    """For each name of a namespace, its ways to be called as text."""
    found = {}
    for line in re.sub(r"\n +", " ", _TABLES[space][0]).strip().split("\n"):
        names, _, ways = line.partition(":")
        found.update(dict.fromkeys(names.split(), ways))
    return found


def names(space: str) -> list[str]:
    """The names in the table of a namespace."""
    return [*_entries(space)]


def spoken(space: str, name: str) -> str:
    """The name of a function in messages."""
    return _SPOKEN.get(name) or f"{_TABLES[space][1]}{name}"


@cache
def signatures(space: str, name: str) -> tuple[Signature, ...]:
    """The ways to call a function, in the order in which PyTorch tries them."""
    ways = [f"({way})" for way in re.findall(r"\(((?:[^()]|\([^()]*\))*)\)", _entries(space)[name])]
    for short, longer in _SHORT.items():
        ways = [re.sub(short, long, way) for way in ways for long in (longer if re.search(short, way) else ("",))]
    return tuple([_signature(way[1:-1]) for way in ways])
