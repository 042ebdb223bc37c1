"""The ways in which a function can be called, as overloads: from its schemas, else from its own signature."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from keyword import iskeyword
from typing import Any

from retrograd.tensors.arguments.checking import NUMBERS_TOO
from retrograd.tensors.arguments.schemas import OTHER_NAMES, Schema, schemas
from showing.stub_types import FAMILIES, safe, text_of

EMPTY = inspect.Parameter.empty
POSITIONAL, BY_NAME = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
REST = inspect.Parameter.VAR_POSITIONAL
# NumPy's names of parameters that signatures show.
NUMPY = {name: OTHER_NAMES[name][0] for name in ("dim", "keepdim")}
TENSOR_OR_NUMBER = "Tensor | _int | _float | _complex"


@dataclass(frozen=True)
class Given:
    """One parameter of a way: its name, its type, its default as text (None if it has none), and how it is given."""

    name: str
    kind: str
    default: str | None
    how: Any

    @property
    def text(self) -> str:
        stars = {REST: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(self.how, "")
        return f"{stars}{self.name}: {self.kind}" + ("" if self.default is None else f" = {self.default}")


@dataclass(frozen=True)
class Way:
    """One way to call a function."""

    given: tuple[Given, ...]
    result: str

    def texts(self) -> list[str]:
        """The parameters as text, with the marks between the kinds of them."""
        found: list[str] = []
        starred = False
        for i, each in enumerate(self.given):
            if each.how is BY_NAME and not starred:
                found.append("*")
            starred = starred or each.how in (BY_NAME, REST)
            found.append(each.text)
            if each.how is inspect.Parameter.POSITIONAL_ONLY and (
                    i + 1 == len(self.given) or self.given[i + 1].how is not each.how):
                found.append("/")
        return found


def ways_of(function: Any, method: bool = False) -> list[Way]:
    """The ways to call a function; as a method, without its first parameter."""
    facts = getattr(function, "public", None)
    body = getattr(facts, "body", function)
    own = inspect.signature(body)
    result = result_of(own.return_annotation, body)
    if facts is None or not facts.schemas:
        ways = [Way(_own(own, body), result)]
        if facts is not None and facts.out is not None and not method:
            ways = [_with_out(way) for way in ways]
    else:
        stated = [" -> " in text for text in facts.schemas]
        ways = [_of_schema(schema, own, body, result if not any(stated) else safe(schema.result))
                for schema in schemas(facts.schemas)]
        kinds = {each.kind for each in own.parameters.values()}
        if REST in kinds and inspect.Parameter.VAR_KEYWORD not in kinds:          # sizes or dims, not a call passed on
            ways += [spread for way in ways for spread in _spread(way)]
    if method and ways[0].given and ways[0].given[0].how is not REST:
        fitting = [way for way in ways if way.given and ("Tensor" in way.given[0].kind or way.given[0].kind == "Any")]
        ways = [replace(way, given=way.given[1:]) for way in fitting or ways]
        ways = [replace(way, given=tuple(each for each in way.given if each.name != "out")) for way in ways]
    return _named_as_in_numpy(_fewest(ways)) if facts is not None else ways


def result_of(annotation: Any, body: Any) -> str:
    text = "Any" if annotation is EMPTY else text_of(annotation, body)
    unknown = text == "Any" or text.startswith(("tuple[", "Iterator["))
    home = getattr(body, "__globals__", {"__name__": body.__module__})["__name__"]  # where the code stands
    return text.replace("Any", "Tensor") if unknown and home.startswith(FAMILIES) else text


def _default(value: Any) -> str | None:
    if value is EMPTY:
        return None
    plain = value is None or (type(value) in (bool, int, str, float) and repr(value) not in ("inf", "-inf", "nan"))
    return repr(value) if plain else "..."


def _own(own: inspect.Signature, body: Any) -> tuple[Given, ...]:
    """The parameters of a function without schemas."""
    found = []
    for each in own.parameters.values():
        kind = "Any" if each.annotation is EMPTY else text_of(each.annotation, body)
        found.append(Given(each.name, kind, _default(each.default), each.kind))
    return tuple(found)


def _of_schema(schema: Schema, own: inspect.Signature, body: Any, result: str) -> Way:
    """The way that a schema states. Parameters that only the function has are given by name."""
    found = []
    for each in schema.parameters:
        name = "input" if each.name == "self" else each.name
        kind = safe(each.annotation)
        if each.kind == "Tensor" and schema.name.removesuffix("_") in NUMBERS_TOO and each.name not in ("out", "input"):
            kind = TENSOR_OR_NUMBER
        default = each.default
        if default is None and each.by_name and each.none:
            default = "None"
        if iskeyword(name):                                  # can only be given by its place, like those before it
            found = [*(replace(other, how=inspect.Parameter.POSITIONAL_ONLY) for other in found),
                     Given(f"{name}_", kind, _literal(default), inspect.Parameter.POSITIONAL_ONLY)]
            continue
        found.append(Given(name, kind, _literal(default), BY_NAME if each.by_name else POSITIONAL))
    names = {each.name for each in found}
    found += [Given(each.name, text_of(each.annotation, body), _default(each.default), BY_NAME)
              for each in own.parameters.values()
              if each.kind is BY_NAME and each.name not in names and each.name not in ("self", "other", "out")]
    return Way(tuple(found), result)


def _spread(way: Way) -> Iterator[Way]:
    """The same way with the sizes or dims given one by one."""
    for i, each in enumerate(way.given):
        if each.kind == "Sequence[_int]" and each.how is POSITIONAL and each.default is None:
            rest = [replace(other, how=BY_NAME) for other in way.given[i + 1:]]
            yield replace(way, given=(*way.given[:i], Given(each.name, "_int", None, REST), *rest))
            return


def _literal(default: str | None) -> str | None:
    if default is None:
        return None
    try:
        return _default(ast.literal_eval(default))
    except (ValueError, SyntaxError):
        return "..."


def _with_out(way: Way) -> Way:
    if any(each.name == "out" or each.how is inspect.Parameter.VAR_KEYWORD for each in way.given):
        return way
    return replace(way, given=(*way.given, Given("out", "Any", "None", BY_NAME)))


def _fewest(ways: list[Way]) -> list[Way]:
    """The ways without those that others include. Ways that differ in types only become one."""
    merged: list[Way] = []
    for way in ways:
        for i, other in enumerate(merged):
            if other.result == way.result and _shape(way) == _shape(other):
                merged[i] = _joined(other, way)
                break
        else:
            merged.append(way)
    return [way for i, way in enumerate(merged)
            if not any(_includes(other, way) for j, other in enumerate(merged) if j != i and (
                not _includes(way, other) or j < i))]


def _shape(way: Way) -> Any:
    return [(each.name, each.how) for each in way.given if each.how is not BY_NAME], {
        each.name for each in way.given if each.how is BY_NAME and each.default is None}


def _joined(one: Way, two: Way) -> Way:
    other = {each.name: each for each in two.given}
    found = [each if each.name not in other else replace(
        each, kind=_either(each.kind, other[each.name].kind),
        default=each.default if each.default is not None else other[each.name].default) for each in one.given]
    known = {each.name for each in one.given}
    found += [each for each in two.given if each.name not in known]
    # Once one parameter has a default, those behind it have one too.
    seen = False
    for i, each in enumerate(found):
        if each.how is POSITIONAL:
            if seen and each.default is None:
                found[i] = replace(each, default="...")
            seen = seen or each.default is not None
    return replace(one, given=tuple(found))


def _either(*kinds: str) -> str:
    parts = dict.fromkeys(part for kind in kinds for part in kind.split(" | "))
    return " | ".join([part for part in parts if part != "None"] + ["None"] * ("None" in parts))


def _includes(more: Way, less: Way) -> bool:
    """Whether every call that one way takes, another takes too."""
    if more.result != less.result:
        return False
    by_place = [each for each in less.given if each.how is not BY_NAME]
    for one, two in zip(more.given, by_place):
        if (one.name, one.how) != (two.name, two.how) or _either(one.kind, two.kind) != one.kind or (
                two.default is not None and one.default is None):
            return False
    known = {each.name: each for each in more.given}
    return len(more.given) >= len(by_place) and all(each.name in known for each in less.given) and all(
        each.default is not None or any(each.name == other.name and other.default is None for other in less.given)
        for each in more.given)


def _named_as_in_numpy(ways: list[Way]) -> list[Way]:
    """The ways, and those with NumPy's names of parameters."""
    found = []
    for way in ways:
        names = {each.name: each for each in way.given}
        more = [Given(other, names[name].kind, names[name].default, BY_NAME)
                for name, other in NUMPY.items() if name in names and other not in names and (
                    names[name].default is not None)]
        dim = names.get("dim")
        if not any(each.how is inspect.Parameter.VAR_KEYWORD for each in way.given):
            found.append(replace(way, given=(*way.given, *more)))
        if dim is not None and dim.default is None and dim.how is not REST and "axis" not in names:
            at = way.given.index(dim)
            rest = [each if each.how is BY_NAME or i < at else replace(each, how=BY_NAME)
                    for i, each in enumerate(way.given)]
            rest[at] = replace(rest[at], name="axis")
            found.append(replace(way, given=(*rest, *more)))
    return found or ways
