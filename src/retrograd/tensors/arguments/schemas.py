"""PyTorch's schemas of its functions, such as "cumsum(Tensor input, int dim, *, dtype dtype=None) -> Tensor".

A schema names a function, its parameters with their types and defaults, and its results. A type with brackets is a
list: `ints[2]` also accepts one int. A question mark behind a type allows None. Three words stand for parameters that
many functions share: `out` for `*, Tensor out=None`, `options` for the options of functions that make tensors, and
`like` for the options of functions that take shape and dtype from a tensor.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import Any, NamedTuple

from ..state.base import TensorBase

_MAKING = "dtype dtype=None, layout layout=None, device device=None, bool pin_memory=False, bool requires_grad=False"
_SHORT = {
    r", out\)": (", *, Tensor out=None)",),
    r", options\)": (f", *, Generator? generator, Tensor out=None, {_MAKING})", f", *, Tensor out=None, {_MAKING})"),
    r", like\)": (f", *, Generator? generator, memory_format memory_format=None, {_MAKING})",
                  f", *, memory_format memory_format=None, {_MAKING})"),
}
_SCHEMA = re.compile(r"([\w.]+)(\(.*\))(?: -> (.+))?", re.DOTALL)
_PARAMETER = re.compile(r"(\w+)(?:\[(\d*)\])?(\??) (\w+)(?:=(.*))?")
# The names that are accepted besides PyTorch's own, as NumPy has them.
OTHER_NAMES = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}
# How messages name the types of schemas.
NAMES = {"Tensors": "tuple of Tensors", "ints": "tuple of ints",
         "floats": "tuple of floats", "dtype": "torch.dtype", "layout": "torch.layout", "device": "torch.device",
         "memory_format": "torch.memory_format", "Generator": "torch.Generator"}
_PYTHON = {"Tensor": TensorBase, "Number": "Number", "int": int, "float": float, "bool": bool, "str": str}


class Parameter(NamedTuple):
    """One parameter: its type, how many elements of a list one number stands for, whether it may be None, its name,
    its default as text (None if it has none), and whether it is given by name only."""

    kind: str
    size: int
    none: bool
    name: str
    default: str | None
    by_name: bool


class Schema(NamedTuple):
    """One way to call a function. `text` is the list of parameters as messages show it."""

    name: str
    parameters: tuple[Parameter, ...]
    returns: str
    text: str

    @property
    def required(self) -> int:
        """How many arguments have no default."""
        return sum(p.default is None for p in self.parameters)

    @property
    def positional(self) -> int:
        """How many arguments may be given by position."""
        return sum(not p.by_name for p in self.parameters)


def _parsed(name: str, text: str, returns: str) -> Schema:
    """The schema whose parameters stand in `text`, without parentheses."""
    parameters, shown, by_name = [], [], False
    for part in re.split(r", (?![^\[(]*[\])])", text) if text else ():
        if part == "*":
            by_name = True
            shown.append(part)
            continue
        match = _PARAMETER.fullmatch(part)
        assert match is not None, part
        kind, size, optional, parameter, default = match.groups()
        none = bool(optional) or default in ("None", "[]")
        parameters.append(Parameter(kind, int(size or 0), none, parameter, default, by_name))
        shown.append(f"{NAMES.get(kind, kind)} {parameter}" + ("" if default is None else f" = {default}"))
    return Schema(name, tuple(parameters), returns, f"({', '.join(shown)})")


@cache
def schemas(texts: tuple[str, ...]) -> tuple[Schema, ...]:
    """The schemas in these texts, in the order in which PyTorch tries them. A text with a short word may be two."""
    found = []
    for text in texts:
        match = _SCHEMA.fullmatch(re.sub(r"\s+", " ", text))
        assert match is not None, text
        name, ways, returns = match.group(1), [match.group(2)], match.group(3) or "Tensor"
        for short, longer in _SHORT.items():
            ways = [re.sub(short, long, way) for way in ways for long in (longer if re.search(short, way) else ("",))]
        found += [_parsed(name.replace(".", "_"), way[1:-1], returns) for way in ways]
    return tuple(found)


class SignatureOfSchema(inspect.Signature):
    """The Python signature that schemas describe, worked out when somebody asks for its parameters.

    `own` is the Python signature's source where the function has no schema, and otherwise the function below the
    schema, whose defaults the signature shows.
    """

    __slots__ = ("body", "texts")

    def __init__(self, texts: tuple[str, ...], body: Any) -> None:
        super().__init__()
        self.texts, self.body = texts, body

    @property
    def parameters(self) -> Any:
        """The parameters of the widest schema, with the names that are accepted besides PyTorch's own."""
        return _signature(self.texts, self.body)

    def replace(self, **changes: Any) -> inspect.Signature:  # type: ignore[override]
        """A plain signature with other parameters or another return annotation."""
        parameters = changes.get("parameters", [*self.parameters.values()])
        return inspect.Signature(parameters, return_annotation=changes.get("return_annotation", inspect.Signature.empty))


@cache
def _signature(texts: tuple[str, ...], body: Any) -> Any:
    """The parameters of the Python function `body`, followed by those that only the schemas have and by aliases."""
    own = inspect.signature(body).parameters
    found = dict(own)
    extra: dict[str, inspect.Parameter] = {}
    for schema in schemas(texts):
        for p in schema.parameters:
            for name in (p.name, *OTHER_NAMES.get(p.name, ())[:1 if p.name != "input" else 0]):
                if name not in found:
                    extra[name] = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
    rest = [p for p in found.values() if p.kind is inspect.Parameter.VAR_KEYWORD]
    kept = [p for p in found.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    return inspect.Signature([*kept, *extra.values(), *rest]).parameters
