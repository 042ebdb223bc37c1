"""The words for a difference that a guard has found."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from ...foundations.dtypes import dtype as torch_dtype
from ...tensors.state.base import TensorBase
from ..program.constants import Missing
from ..reach.items import ARRAY, TENSOR, Facts, facts_of, shown


class Gone(Missing):
    """What a guard found where it could not read a place at all."""


GONE = Gone()


class Check(NamedTuple):
    """What a line of a guard compares. `words` name the place, and `former` is what stood there.

    `what` is 'value', 'same' (the same object), 'alias' (the same object as in the place `former`), 'distinct',
    'attributes', 'container', 'content', 'tensor', 'memory' or 'sizes'. `kind` is the kind of the item.
    """

    words: str
    what: str
    kind: str
    former: Any


def said(check: Check, present: Any) -> str:
    """What has changed, in a sentence without a full stop."""
    if isinstance(present, Missing):
        return f"{check.words} is missing, or is another kind of thing"
    if check.what == "value":
        return f"{check.words} was {shown(check.former)} and is {shown(present)}"
    if check.what == "container":
        return _container(check, present)
    if check.what == "tensor":
        return _tensor(check, present)
    if check.what == "alias":
        return f"{check.words} and {check.former} were the same object, and are not"
    if check.what == "distinct":
        return f"{check.words} were different things, and two of them are the same now"
    if check.what == "memory":
        return f"{check.words} share other memory with each other or with captured tensors than before"
    if check.what == "sizes":
        return f"{check.words} are such that the program may do something else"
    if check.what == "attributes":
        return f"{check.words} has another class, or other attributes"
    if check.kind == ARRAY and check.what == "content":
        return f"{check.words} has other numbers"
    if isinstance(present, TensorBase) != (check.kind == TENSOR):
        return f"{check.words} was {_a(check.kind)} and is {_a(type(present).__name__)}"
    return f"{check.words} is another object"


def _a(noun: str) -> str:
    return f"an {noun}" if noun[:1] in "aeio" else f"a {noun}"


def _container(check: Check, present: Any) -> str:
    cls, keys = check.former
    if type(present) is not cls:
        return f"{check.words} was {_a(cls.__name__)} and is {_a(type(present).__name__)}"
    size = len(keys) if isinstance(keys, list) else keys
    if size is not None and len(present) != size:
        entries = "entry" if len(present) == 1 else "entries"
        return f"{check.words} has {len(present)} {entries}, and had {size}"
    if isinstance(present, deque):
        return f"{check.words} has another limit"
    return f"{check.words} has other keys, or has them in another order"


def _tensor(check: Check, present: Any) -> str:
    former, array = check.former
    words = check.words
    if not isinstance(present, TensorBase):
        return f"{words} was a tensor and is {_a(type(present).__name__)}"
    if type(present) is not former.cls:
        return f"{words} is {_a(type(present).__name__)}, and was {_a(former.cls.__name__)}"
    facts: Facts = facts_of(present)
    if facts.shape != former.shape:
        return f"{words} has the shape {facts.shape}, and had {former.shape}"
    if facts.dtype != former.dtype:
        return f"{words} has the dtype {_name(facts.dtype)}, and had {_name(former.dtype)}"
    if facts.strides != former.strides:
        return f"{words} has the strides {_elements(facts)}, and had {_elements(former)}"
    if facts.requires_grad != former.requires_grad:
        return f"{words} requires grad, and did not" if facts.requires_grad else f"{words} required grad, and does not"
    if facts.leaf != former.leaf:
        return f"{words} is a leaf, and was none" if facts.leaf else f"{words} was a leaf, and is none"
    if array is not None and present._array is not array:
        return f"{words} has other memory"
    if (present._grad_meta is not None and present._grad_meta.grad is not None) is former.plain:
        return f"{words}.grad is a tensor, and was None"
    return f"{words} has other hooks, or another base"


def _name(dtype: Any) -> str:
    return str(torch_dtype.of.get(dtype, dtype))


def _elements(facts: Facts) -> tuple[int, ...]:
    """Strides as programs know them, in elements."""
    return tuple([stride // facts.dtype.itemsize for stride in facts.strides])

