"""What a call has changed: effects, which a replay can do again, and changes that it cannot.

Two walks, before and after the call, are compared thing by thing. Tensors are compared by identity, never by numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from copy import copy
from typing import Any, NamedTuple

from ...optim.optimizer import Optimizer
from ..program import constants
from ..program.constants import MISSING
from ..program.expressions import Expression
from ..program.origins import is_type
from ..program.stand_in_numbers import STAND_INS, is_traced
from . import kinds
from .counters import place_of
from .items import ARRAY, CONSTANT, CONTAINER, GROWN, OBJECT, OPAQUE, SET, TENSOR, Defined, Item, State, shown
from .places import Step

_DEPTH = 50                                                  # of lists in lists that a replay builds again
Make = Callable[[Any], Any]
# Constants that a place may get instead of another one: there are few of them, so traces do not become many.
_FLAGS = (bool, str, bytes)
# What the facts say of things of some kinds, and cannot be repeated.
_BY_FACTS = {ARRAY: "numbers", SET: "elements", OPAQUE: "state"}


class Whole(NamedTuple):
    """How a new value is built again: a tensor by `make`, a list or dict from its parts, anything else as it is.

    `fresh` says that the value is a tensor that is another in each call: the call has computed it, or it is an
    argument, or it stood in a place that gets another tensor in each call. `parts` are those of a container, by key.
    """

    value: Any
    fresh: bool = False
    parts: dict[Any, Whole] | None = None

    def build(self, make: Make) -> Any:
        """The value for this replay."""
        if self.fresh:
            return make(self.value)
        if self.parts is None:
            return self.value
        parts = {key: part.build(make) for key, part in self.parts.items()}
        if isinstance(self.value, dict):
            result = copy(self.value)
            result.clear()
            result.update(parts)
            return result
        if isinstance(self.value, tuple):
            return tuple.__new__(type(self.value), parts.values())
        return deque(parts.values(), self.value.maxlen) if isinstance(self.value, deque) else [*parts.values()]

    def without(self, others: set[int]) -> Whole:
        """The same, but for tensors that are others in each call."""
        parts = None if self.parts is None else {key: part.without(others) for key, part in self.parts.items()}
        return Whole(self.value, self.fresh or id(self.value) in others, parts)

    def counts(self) -> bool:
        """Whether there is a number in it that is another one in each call."""
        return type(self.value) is Expression or any([part.counts() for part in (self.parts or {}).values()])

    def tensors(self) -> Iterator[Any]:
        """The tensors that a replay has to make, or has to find among the arguments."""
        if self.fresh and type(self.value) is not Expression:
            yield self.value
        for part in (self.parts or {}).values():
            yield from part.tensors()


class Effect(NamedTuple):
    """A place that gets another value in each call.

    `words` name the place. `anchor` is a thing that the guard knows by identity; it is None if the place is in the
    arguments. `steps` lead from the anchor, or from the arguments, to the thing that holds the value, and `step` to the
    value. `whole` is the new value; None if the value is removed.
    """

    words: str
    anchor: Any
    steps: tuple[Step, ...]
    step: Step
    whole: Whole | None

    @property
    def is_gradient(self) -> bool:
        """Whether the value is a new gradient of a leaf that is always the same."""
        return self.anchor is not None and not self.steps and self.step == Step("meta", "grad") and (
            self.whole is not None and self.whole.fresh)

    def holder(self, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        """The thing that holds the value, in a call with these arguments."""
        thing, steps = self.anchor, self.steps
        if thing is None:
            thing, steps = args if steps[0].kind == "args" else kwargs, steps[1:]
        for step in steps:
            thing = step.read(thing)
        return thing

    def apply(self, make: Make, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None) -> None:
        """Do it again. `make(tensor)` gives the tensor of this replay for a tensor of the traced call (`tensors`)."""
        value = MISSING if self.whole is None else self.whole.build(make)
        self.step.write(self.holder(args, kwargs), value)


class Changes(NamedTuple):
    """What a call has changed.

    `unrepeatable` has sentences about changes that a replay cannot repeat. `replaced` are the items of the state before
    that other tensors stand for in every call; a guard compares their geometry only.
    """

    effects: list[Effect]
    unrepeatable: list[str]
    replaced: list[Item]


def changes(before: State, after: State) -> Changes:
    """Compare two walks from the same function and arguments, before and after a call."""
    found = Changes([], [], [])
    comparison = _Comparison(before, after, found)
    for item in before.items:
        later = after.known.get(id(item.value))
        if later is not None and before.known.get(id(item.value)) is item:
            comparison.thing(item, later)
    others = {id(item.value) for item in found.replaced}
    found.effects[:] = [effect if effect.whole is None else effect._replace(whole=effect.whole.without(others))
                        for effect in found.effects]
    return found


class _Comparison:
    def __init__(self, before: State, after: State, found: Changes) -> None:
        self.before, self.after, self.found = before, after, found
        self.new_names = after.mentioned - before.mentioned
        self.built: dict[int, Hashable] = {}                 # the place of each new container

    def thing(self, item: Item, later: Item) -> None:
        """Compare a thing with itself after the call."""
        if item.kind == GROWN:
            self.grown(item, later)
            return
        if item.kind == TENSOR:
            self.tensor(item, later)
        elif item.kind in _BY_FACTS and _other_facts(item, later):
            verb = "was" if item.kind == OPAQUE else "were"
            self.found.unrepeatable.append(f"the {_BY_FACTS[item.kind]} of {item.words} {verb} changed")
        elif isinstance(item.facts, Defined):
            if item.facts.made_of is not later.facts.made_of:
                self.found.unrepeatable.append(f"the code or the bases of {item.words} were changed")
        elif item.kind == OBJECT and isinstance(item.facts, tuple) and item.facts[2] is not later.facts[2]:
            self.found.unrepeatable.append(f"the class of {item.words} was changed")
        elif item.kind == CONTAINER and isinstance(item.facts, int) and item.facts != later.facts:
            kind, how = type(item.value).__name__, "grew" if later.facts > item.facts else "shrank"
            self.found.unrepeatable.append(f"the {kind} {item.words} {how} from {item.facts} to {later.facts} entries")
            return
        elif item.kind == CONTAINER and isinstance(item.facts, list) and _moved(item.facts, later.facts):
            self.found.unrepeatable.append(f"the keys of {item.words} were put in another order")
        for step in [*item.entries, *[step for step in later.entries if step not in item.entries]]:
            if step.kind != "fixed" and not (step.kind in ("attribute", "variable") and step not in item.entries
                                             and step.key in self.new_names):
                self.place(item, step, item.entries.get(step), later.entries.get(step))

    def grown(self, item: Item, later: Item) -> None:
        """Note what was appended to a list."""
        for step, part in later.entries.items():
            whole = self.whole(part, place_of(item, step))
            if whole is None:
                self.found.unrepeatable.append(f"something was appended to {item.words} that no repetition makes")
            else:
                self.effect(item, Step("append", step.key), whole)

    def tensor(self, item: Item, later: Item) -> None:
        """Compare the geometry of a tensor, the memory of an argument, and whether a tensor requires grad.

        The guard compares the memory of other tensors before each call.
        """
        old, new = item.facts, later.facts
        if item.role == "argument" and not any([
                array is item.array for array in (later.array, getattr(later.array, "like", None))]):
            self.found.unrepeatable.append(f"the tensor {item.words} was given other memory")
            return
        for what in ("cls", "shape", "strides", "dtype", "requires_grad", "leaf"):
            if getattr(old, what) != getattr(new, what):
                name = {"cls": "class", "leaf": "history"}.get(what, what)
                self.found.unrepeatable.append(f"the {name} of the tensor {item.words} was changed")
                return

    def place(self, holder: Item, step: Step, old: Item | None, new: Item | None) -> None:
        """Compare what stands in a place."""
        # In a part of a tensor stands None if nothing else does.
        nothing = (None, MISSING) if step.kind == "meta" else (MISSING,)
        old = None if old is not None and any(old.value is value for value in nothing) else old
        new = None if new is not None and any(new.value is value for value in nothing) else new
        same = old is new or (old is not None and new is not None and _same(old, new))
        if same and (old is None or new is None or not _is_another(old, new)):
            return
        whole = None if new is None or not self.stays(holder, step) else self.whole(new, place_of(holder, step))
        had_tensor = old is not None and _has_tensor(old)
        if old is not None and (same or old.role in ("number", "guarded")) and whole is not None:
            self.effect(holder, step, whole)
            return
        if old is not None and old.kind == CONSTANT and not _is_none(old) and whole is not None and whole.counts():
            whole = None                                     # the guard asks for the number that was there
        if new is None or _is_none(new):
            if had_tensor or (new is not None and _is_settled(old)):
                self.effect(holder, step, whole)
                return
        elif whole is not None and (old is None or _has_tensor(new) or _is_none(old) or (
                _is_settled(old) and type(new.value) in _FLAGS)):
            self.effect(holder, step, whole)
            if old is not None and new.kind in (TENSOR, CONTAINER):
                self.found.replaced.extend(_captured_in(old))
            return
        self.found.unrepeatable.append(_sentence(holder, step, old, new))

    def effect(self, holder: Item, step: Step, whole: Whole | None) -> None:
        """Note that a place gets another value."""
        item, steps = holder.anchored()
        anchor = None if item is None else item.value
        self.found.effects.append(Effect(self.words(holder, step), anchor, tuple(steps), step, whole))

    def words(self, holder: Item, step: Step) -> str:
        """How a user writes a place."""
        key = self.before.known.get(id(step.key)) if step.kind == "item" else None
        return step.words(holder.words, None if key is None else key.words)

    def stays(self, holder: Item, step: Step) -> bool:
        """Whether each repetition has the key of a place. Keys in an optimizer are tensors that it has."""
        known, top = self.before.known.get(id(step.key)), holder.anchored()[0]
        return not is_traced(step.key) and (
            constants.is_constant(step.key) or (known is not None and known.fixed)
            or (top is not None and isinstance(top.value, Optimizer)))

    def whole(self, item: Item, place: Hashable, outer: frozenset[int] = frozenset()) -> Whole | None:
        """How a value is built again; None if it has parts that a replay cannot make.

        `outer` are the numbers of the containers that the value stands in. A value in itself is not built again, and
        neither is a list or dict that also stands in another place.
        """
        known = self.before.known.get(id(item.value))
        if _is_number(item):
            return Whole(item.value.expression, fresh=True)
        if item.kind == TENSOR:
            return Whole(item.value, fresh=known is None or not known.fixed)
        if item.kind == CONSTANT or (known is not None and known.fixed):
            return Whole(item.value)
        if (item.kind != CONTAINER or known is not None or type(item.value) in kinds.PARTS or item.number in outer
                or len(outer) > _DEPTH):
            return None
        if not all([self.stays(item, step) for step in item.entries]):
            return None
        if type(item.value) is not tuple and self.built.setdefault(item.number, place) != place:
            return None
        inner = outer | {item.number}
        parts = {step.key: self.whole(part, place_of(item, step), inner)
                 for step, part in item.entries.items() if step.kind == "item"}
        whole = {key: part for key, part in parts.items() if part is not None}
        return Whole(item.value, False, whole) if len(whole) == len(parts) else None


def _is_none(item: Item | None) -> bool:
    return item is not None and item.value is None


def _is_settled(item: Item | None) -> bool:
    """Whether the guard asks for the constant in a place. So a repetition finds this constant there."""
    return item is not None and item.kind == CONSTANT and not item.role


def _same(old: Item, new: Item) -> bool:
    """Whether the same thing stands in a place, or another list or tuple with the same parts."""
    pairs, seen = [(old, new)], set[tuple[int, int]]()
    while pairs:
        old, new = pairs.pop()
        if (old.number, new.number) in seen or (old.value is new.value and old.kind != CONSTANT):
            continue
        seen.add((old.number, new.number))
        if old.role and _is_number(new) and new.value.expression is old.array:
            continue
        if old.role == "number":                             # which the guard does not ask for
            return False
        if CONSTANT in (old.kind, new.kind):
            if old.kind != new.kind or constants.differ(new.value, old.value):
                return False
        elif (old.kind not in (SET, CONTAINER) or type(old.value) is not type(new.value)
              or _other_facts(old, new) or old.entries.keys() != new.entries.keys()):
            return False
        else:
            pairs += [(part, new.entries[step]) for step, part in old.entries.items()]
    return True


def _other_facts(old: Item, new: Item) -> bool:
    """Whether two things of one kind have other numbers, elements or keys, or another length."""
    if old.kind == SET or isinstance(old.facts, list):
        return constants.others(new.facts, old.facts)
    if isinstance(old.value, deque) and old.value.maxlen != new.value.maxlen:
        return True
    return bool(old.facts != new.facts)


def _is_number(item: Item | None) -> bool:
    """Whether a value is a number that is another one in each call."""
    return item is not None and type(item.value) in STAND_INS


def _is_another(old: Item, new: Item) -> bool:
    """Whether a list or dict is another one with the same parts. Who holds the old one sees no later change."""
    return old.value is not new.value and isinstance(new.value, (list, dict, deque, set))


def _has_tensor(item: Item) -> bool:
    """Whether a value is a tensor or a number of the trace, or a list, tuple or dict that holds one."""
    waiting, seen = [item], set[int]()
    while waiting:
        part = waiting.pop()
        if part.kind == TENSOR or _is_number(part):
            return True
        if part.kind == CONTAINER and part.number not in seen:
            seen.add(part.number)
            waiting += part.entries.values()
    return False


def _captured_in(item: Item) -> Iterator[Item]:
    """The captured tensors in a value, if the walk has found them there first."""
    waiting = [item]
    while waiting:
        part = waiting.pop()
        if part.kind == TENSOR and part.role == "captured":
            yield part
        elif part.kind == CONTAINER:
            waiting += [inner for inner in part.entries.values() if inner.parent is part]


def _moved(old: list[Any], new: list[Any]) -> bool:
    """Whether the keys that stand in both lists have another order."""
    both = {id(key) for key in old} & {id(key) for key in new}
    return [id(key) for key in old if id(key) in both] != [id(key) for key in new if id(key) in both]


def _sentence(holder: Item, step: Step, old: Item | None, new: Item | None) -> str:
    """What was changed in a place."""
    owner = holder.value.__name__ if is_type(holder.value) else type(holder.value).__name__
    if step.kind in ("attribute", "slot", "variable"):
        place = f"the attribute {step.key} of {owner}"
    elif step.kind == "item":
        place = f"the entry {step.key!r} of {holder.words}"
    else:
        place = {"cell": "the variable", "global": "the global variable"}.get(step.kind, "the value")
        place += f" {step.words(holder.words)}"
    if old is None:
        return f"{place} was added"
    if new is None:
        return f"{place} was removed"
    if old.kind == CONSTANT and new.kind == CONSTANT:
        return f"{place} was changed from {shown(old.value)} to {shown(new.value)}"
    return f"{place} was replaced by another object"
