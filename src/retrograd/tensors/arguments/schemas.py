"""The schemas of functions, such as "cumsum(Tensor input, int dim, *, dtype dtype=None) -> Tensor".

The notation is close to PyTorch's. A schema names a function, its parameters with their types and defaults, and its
results. Plural types are lists. A list type with a number in brackets also accepts one element: `ints[2]` takes an int.
A question mark behind a type allows None. At the end of the parameters, three words stand for parameters that many
functions share: `out` for `*, Tensor out=None`, `options` for the options of functions that make tensors, and `like`
for the options of functions that take shape and dtype from a tensor.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from keyword import iskeyword
from typing import Any, NamedTuple

_MAKING = "dtype dtype=None, layout layout=None, device device=None, bool pin_memory=False, bool requires_grad=False"
_SHORT = {
    r", out\)": (", *, Tensor out=None)",),
    r", options\)": (f", *, Generator? generator, Tensor out=None, {_MAKING})", f", *, Tensor out=None, {_MAKING})"),
    r", like\)": (f", *, Generator? generator, memory_format memory_format=None, {_MAKING})",
                  f", *, memory_format memory_format=None, {_MAKING})"),
}
_SCHEMA = re.compile(r"([\w.]+)(\(.*\))")
_PARAMETER = re.compile(r"(\w+)(?:\[(\d*)\])?(\??) (\w+)(?:=(.*))?")
# NumPy's names of parameters, which PyTorch accepts besides its own.
OTHER_NAMES = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}
# The names among them that signatures show.
_SHOWN_TOO = {name: OTHER_NAMES[name] for name in ("dim", "keepdim")}
# The names of these types in messages.
NAMES = {"Tensors": "tuple of Tensors", "ints": "tuple of ints", "floats": "tuple of floats",
         "Numbers": "tuple of Scalars", "dtype": "torch.dtype", "layout": "torch.layout", "device": "torch.device",
         "memory_format": "torch.memory_format", "Generator": "torch.Generator"}

# The types of schemas as Python annotates them.
_ANNOTATIONS = {"Tensors": "Sequence[Tensor]", "ints": "Sequence[int]", "floats": "Sequence[float]",
                "Number": "int | float | complex", "Numbers": "Sequence[int | float | complex]",
                "device": "device | str | int"}


class Parameter(NamedTuple):
    """One parameter of a schema.

    `kind` is its type. A `size` above 0 says that one number stands for a list of so many. `none` says whether it may
    be None. `default` is a text, or None if there is no default. `by_name` says whether it is keyword-only.
    """

    kind: str
    size: int
    none: bool
    name: str
    default: str | None
    by_name: bool

    @property
    def annotation(self) -> str:
        """The type as Python annotates it."""
        kinds = [_ANNOTATIONS.get(self.kind, self.kind)]
        if self.size and self.kind == "ints":
            kinds.insert(0, "int")
        return " | ".join(kinds + ["None"] * self.none)


class Schema(NamedTuple):
    """One way to call a function. `text` is the list of its parameters as messages show it."""

    name: str
    parameters: tuple[Parameter, ...]
    returns: str
    text: str

    @property
    def result(self) -> str:
        """The type of the results as Python annotates it. Several results with names are a class of `return_types`."""
        if not self.returns.startswith("("):
            return "tuple[Tensor, ...]" if self.returns == "Tensors" else self.returns
        results = [part.split() for part in self.returns[1:-1].split(", ")]
        if len(results[0]) == 2:
            return f"return_types.{self.name}"
        return f"tuple[{', '.join(kind for (kind,) in results)}]"

    @property
    def required(self) -> int:
        """The number of parameters without a default."""
        return sum(p.default is None for p in self.parameters)

    @property
    def positional(self) -> int:
        """The number of parameters that may be given by position."""
        return sum(not p.by_name for p in self.parameters)


def _shown_default(text: str) -> str:
    """A default as PyTorch writes it: "fro" between double quotes, {-2,-1} for (-2, -1), 1 for 1."""
    return re.sub(r"\((-?\d+), (-?\d+)\)", r"{\1,\2}", text.replace("'", '"')).removesuffix(".")


def _parsed(name: str, text: str, returns: str) -> Schema:
    """The schema with the parameters in `text`, which has no parentheses."""
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
        ending = "" if default is None else f" = {_shown_default(default)}"
        shown.append(f"{NAMES.get(kind, kind)} {parameter}{ending}")
    return Schema(name, tuple(parameters), returns, f"({', '.join(shown)})")


@cache
def schemas(texts: tuple[str, ...]) -> tuple[Schema, ...]:
    """The schemas in these texts, in the order in which PyTorch tries them. A text with `options` or `like` is two."""
    found = []
    for text in texts:
        called, _, returns = re.sub(r"\s+", " ", text).partition(" -> ")
        match = _SCHEMA.fullmatch(called)
        assert match is not None, text
        name, ways = match.group(1), [match.group(2)]
        for short, longer in _SHORT.items():
            ways = [re.sub(short, long, way) for way in ways for long in (longer if re.search(short, way) else ("",))]
        found += [_parsed(name, way[1:-1], returns or "Tensor") for way in ways]
    return tuple(found)


def of_methods(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The schemas of a method: those whose first parameter is the tensor of the method, without it and without `out`.

    Products in another dtype, `out_dtype`, and the repeats of no tensor are not among the methods of PyTorch.

    >>> of_methods(("xlogy(Tensor input, Number other, out)", "xlogy(Number self, Tensor other, out)"))
    ('xlogy(Number other)',)
    """
    return tuple([_OUT.sub("", re.sub(r"\(Tensor \w+(, )?", "(", text, count=1)) for text in texts
                  if "(Tensor " in text and not _OF_FUNCTIONS.search(text)])


_OF_FUNCTIONS = re.compile(r"dtype out_dtype|\(Tensor repeats")
# The end of a schema that only functions have.
_OUT = re.compile(r"(, )?(\*, )?(Tensors? out=None|\bout)(?=\))")


class SignatureOfSchema(inspect.Signature):
    """The signature of a public function: the decorated function's, with the parameters that only its schemas have.

    The parameters are computed on first use, since import has no need of them.
    """

    __slots__ = ("body", "out", "texts")

    def __init__(self, texts: tuple[str, ...], body: Callable[..., Any], out: bool) -> None:
        # The base class's constructor would only make empty parameters, for a thousand functions.
        self.texts, self.body, self.out = texts, body, out

    @property
    def parameters(self) -> Any:
        """The parameters by name."""
        return _parameters(self.texts, self.body, self.out)

    @property
    def return_annotation(self) -> Any:
        """The types of the results, of all ways to call the function."""
        results = dict.fromkeys(schema.result for schema in schemas(self.texts))
        return " | ".join(results) if results else inspect.signature(self.body).return_annotation

    def replace(self, **changes: Any) -> inspect.Signature:  # type: ignore[override]
        """A plain signature with other parameters or another return annotation."""
        parameters = changes.get("parameters", [*self.parameters.values()])
        returned = changes.get("return_annotation", self.return_annotation)
        return inspect.Signature(parameters, return_annotation=returned)

    def __reduce__(self) -> Any:
        """A copy, also from a pickle, is a plain signature."""
        return self.replace().__reduce__()


@cache
def _parameters(texts: tuple[str, ...], body: Callable[..., Any], out: bool) -> Any:
    """The parameters of `body`, parameters that only schemas have, NumPy's names (`axis`, `keepdims`), and `out`."""
    found = dict(inspect.signature(body).parameters)
    rest = [found.pop(name) for name in [*found] if found[name].kind is inspect.Parameter.VAR_KEYWORD]
    stated = [p for schema in schemas(texts) for p in schema.parameters if p.name != "self"]
    names = [p.name for p in stated]
    others = [other for known in names for other in _SHOWN_TOO.get(known, ())]
    for name in (*names, *others, *(("out",) if out else ())):
        if name not in found and not iskeyword(name):
            found[name] = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
    for name, parameter in found.items():
        kinds = dict.fromkeys(kind for p in stated if p.name == name for kind in p.annotation.split(" | "))
        if kinds:
            kinds = {**dict.fromkeys(kind for kind in kinds if kind != "None"), **kinds}
            found[name] = parameter.replace(annotation=" | ".join(kinds))
    return inspect.Signature([*found.values(), *rest]).parameters
