"""The signatures of an entry: from the schemas of a function, else as its definition states them."""

from __future__ import annotations

import inspect
import re
from typing import Any, NamedTuple

from reference.namespaces import Member
from reference.statements import plain
from retrograd.tensors.arguments.checking import ALIASES
from showing.stub_ways import Way, ways_of

_STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


class Parameter(NamedTuple):
    """One parameter as text: a mark such as `*` has no type."""

    name: str
    kind: str = ""
    default: str | None = None


class Signature(NamedTuple):
    """One way to call a function."""

    parameters: tuple[Parameter, ...]
    result: str


def signatures(member: Member) -> list[Signature]:
    """The ways to call a function or a class. Empty for what cannot be called, or has no signature."""
    facts = getattr(member.found, "public", None)
    if facts is not None and facts.schemas:
        ways = ways_of(member.found, member.kind == "method")
        usual = [way for way in ways if not _named_as_in_numpy(way)]
        return [*dict.fromkeys(map(_of_way, usual or ways))]
    function = member.found if isinstance(member.found, type) else plain(member.found)
    try:
        return [_of_function(inspect.signature(function), member.kind == "method")]
    except (ValueError, TypeError):
        return []


def _named_as_in_numpy(way: Way) -> bool:
    """Whether a way has NumPy's name in place of PyTorch's, which another way has."""
    names = {each.name for each in way.given}
    return "axis" in names and "dim" not in names


def _of_way(way: Way) -> Signature:
    found: list[Parameter] = []
    texts = way.texts()
    given = {each.text: each for each in way.given}
    for text in texts:
        each = given.get(text)
        if each is None:
            found.append(Parameter(text))
        elif each.name not in ALIASES:
            found.append(Parameter(_STARS.get(each.how, "") + each.name, shown(each.kind), each.default))
    while found and found[-1].name == "*":
        found.pop()
    return Signature(tuple(found), shown(way.result))


def _of_function(signature: inspect.Signature, method: bool) -> Signature:
    found: list[Parameter] = []
    given = [*signature.parameters.values()][1 if method else 0:]
    starred = False
    for i, each in enumerate(given):
        if each.kind is each.KEYWORD_ONLY and not starred:
            found.append(Parameter("*"))
        starred = starred or each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        default = None if each.default is each.empty else _value(each.default)
        found.append(Parameter(_STARS.get(each.kind, "") + each.name, _annotation(each.annotation), default))
        if each.kind is each.POSITIONAL_ONLY and (i + 1 == len(given) or given[i + 1].kind is not each.kind):
            found.append(Parameter("/"))
    return Signature(tuple(found), _annotation(signature.return_annotation))


def _annotation(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    return shown(annotation if isinstance(annotation, str) else inspect.formatannotation(annotation))


def _value(value: Any) -> str:
    """A default as text. The text of a function or an object is its name."""
    text = repr(value)
    return text if " at 0x" not in text else getattr(value, "__name__", type(value).__name__)


def shown(annotation: str) -> str:
    """A type as a reader knows it: without the names that only stubs and modules have."""
    text = re.sub(r"\b(?:retrograd|typing|collections\.abc)\.(?:\w+\.)*", "", annotation)
    text = re.sub(r"\b_(?=[A-Za-z])", "", text).replace("TensorBase", "Tensor").replace("return_types.", "")
    return "" if text == "Any" else text
