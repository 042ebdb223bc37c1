"""infer_schema: the schema of an operator, from the annotations of the function that computes it."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import operator
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any

from ..foundations.devices import device
from ..foundations.dtypes import dtype
from ..tensors.tensor import Tensor

_NUMBER = int | float | bool
_ONE: dict[Any, str] = {Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", _NUMBER: "Scalar",
                        dtype: "ScalarType", device: "Device"}
_LISTS = ("Tensor", "SymInt", "float", "bool", "Scalar")          # the types that schemas have lists of
_RETURNED = ("Tensor", "Tensor[]", "SymInt", "float", "bool", "Scalar")


def infer_schema(prototype_function: Callable[..., Any], /, *, mutates_args: Any, op_name: str | None = None,
                 tags: Any = ()) -> str:
    """The schema of a function, by its annotations. `mutates_args` are the names of the arguments that it writes over.

    With `op_name`, the schema begins with the name. `tags` change nothing.

    >>> import retrograd as torch
    >>> def scale(x: torch.Tensor, factor: float = 2.0) -> torch.Tensor: ...
    >>> torch.library.infer_schema(scale, mutates_args=())
    '(Tensor x, float factor=2.0) -> Tensor'

    Raises ValueError for a function without annotations, and for types that operators cannot have.
    """
    signature = inspect.signature(prototype_function)

    def refuse(what: str) -> ValueError:
        return ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    written = _written(mutates_args)
    parts: list[str] = []
    space = getattr(inspect.unwrap(prototype_function), "__globals__", {})
    for place, (name, parameter) in enumerate(signature.parameters.items()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise refuse("We do not support positional-only args, varargs, or varkwargs.")
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        kind = _kind(parameter, space, refuse)
        if (mutates_args == "unknown" and kind.startswith("Tensor")) or name in written:
            if not kind.startswith("Tensor"):
                raise refuse(f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be "
                             "mutated")
            kind = f"Tensor(a{place}!){kind.removeprefix('Tensor')}"
        parts.append(f"{kind} {name}{_default(parameter, refuse)}")
    unknown = {name for name in written if name not in signature.parameters}
    if unknown:
        raise refuse(f"{unknown} in mutates_args were not found in the custom op's signature. mutates_args should "
                     "contain the names of all args that the custom op mutates, or just the string 'unknown' if you "
                     "don't know.")
    return f"{op_name or ''}({', '.join(parts)}) -> {_returned(signature, space, refuse)}"


Refuse = Callable[[str], ValueError]


def _written(mutates_args: str | Iterable[str]) -> set[str]:
    if isinstance(mutates_args, str):
        if mutates_args != "unknown":
            raise ValueError("mutates_args must either be a sequence of the names of the arguments that are mutated "
                             "or the string 'unknown'. ")
        return set()
    return set(mutates_args)


def _evaluated(annotation: Any, space: dict[str, Any], refuse: Refuse) -> Any:
    """The type that an annotation stands for."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, space)                            # as typing.get_type_hints does
    except Exception as error:
        raise refuse(f"Unsupported type annotation {annotation}. It is not a type. ({error}). If you are using 'from "
                     "__future__ import annotations', note that annotations are evaluated lazily as strings; make sure "
                     "all types referenced in annotations are importable at module scope, not only inside a local "
                     "function.") from error


def _kind(parameter: inspect.Parameter, space: dict[str, Any], refuse: Refuse) -> str:
    if parameter.annotation is parameter.empty:
        raise refuse(f"Parameter {parameter.name} must have a type annotation.")
    annotation = _evaluated(parameter.annotation, space, refuse)
    kind = schema_type(annotation)
    if kind is None:
        advice = ""
        if typing.get_origin(annotation) is tuple:
            advice = ("We do not support Tuple inputs in schema. As a workaround, please try to use List instead. For "
                      "example, list[int].\n\n")
        raise refuse(f"Parameter {parameter.name} has unsupported type {annotation}. {advice}The valid types are: "
                     "Tensor, int, float, bool, str, torch.types.Number, torch.dtype and torch.device, Optional of "
                     "these, and lists of tensors and numbers.")
    return kind


def schema_type(annotation: Any) -> str | None:
    """The type in a schema that a Python type stands for, or None."""
    if annotation in _ONE:
        return _ONE[annotation]
    origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (list, collections.abc.Sequence):
        element = schema_type(inside[0])
        return f"{element}[]" if element in _LISTS or element == "Tensor?" else None
    if origin in (typing.Union, types.UnionType) and type(None) in inside:
        rest = [each for each in inside if each is not type(None)]
        kind = schema_type(rest[0] if len(rest) == 1 else functools.reduce(operator.or_, rest))
        if kind is None or "?" in kind or kind in ("Tensor[]", "Scalar[]"):
            return None
        return f"{kind}?"
    if origin in (typing.Union, types.UnionType) and set(inside) == {int, float, bool}:
        return "Scalar"
    return None


def _default(parameter: inspect.Parameter, refuse: Refuse) -> str:
    value = parameter.default
    if value is parameter.empty:
        return ""
    if isinstance(value, (str, device)):
        return f'="{value}"'
    if isinstance(value, dtype):
        return f"={str(value).removeprefix('torch.')}"
    if value is None or isinstance(value, (int, float, bool)):
        return f"={value}"
    raise refuse(f"Parameter {parameter.name} has an unsupported default value type {type(value)}. Please file an "
                 "issue on GitHub so we can prioritize this.")


def _returned(signature: inspect.Signature, space: dict[str, Any], refuse: Refuse) -> str:
    if signature.return_annotation is signature.empty:
        raise refuse("No return type annotation was provided. Please add one.")
    annotation = _evaluated(signature.return_annotation, space, refuse)
    if annotation is None:
        return "()"
    if typing.get_origin(annotation) is not tuple:
        return _of_return(annotation, refuse, annotation)
    found = [_of_return(each, refuse, annotation) for each in typing.get_args(annotation)]
    return f"(({found[0]}))" if len(found) == 1 else f"({', '.join(found)})"


def _of_return(annotation: Any, refuse: Refuse, whole: Any) -> str:
    kind = schema_type(annotation)
    if kind not in _RETURNED:
        raise refuse(f"Return has unsupported type {whole}. The valid types are: Tensor, list[Tensor], int, float, "
                     "bool, and torch.types.Number.")
    return kind
