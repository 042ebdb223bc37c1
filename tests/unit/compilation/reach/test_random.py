"""Guards and changes of random structures: a guard sees each other value in each place, and so do changes."""

import random
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from compiled.cases import Holder
from retrograd.compilation.guards.guard import make
from retrograd.compilation.reach.state import changes, walk

Place = tuple[Any, str, Any]


class Slotted:
    __slots__ = ("x", "y")
    x: Any


def leaf(r: random.Random) -> Any:
    makers: list[Callable[[], Any]] = [
        lambda: r.randint(-5, 1000), r.random, lambda: r.choice("abcdef"), lambda: None, lambda: r.random() < 0.5,
        lambda: torch.ones(r.randint(1, 3)), lambda: torch.ones(2, requires_grad=True), lambda: float("nan"),
        lambda: torch.nn.Linear(2, 2), lambda: (1, "a", None)]
    return r.choice(makers)()


def structure(r: random.Random, depth: int) -> Any:
    if not depth or r.random() < 0.2:
        return leaf(r)
    parts = [structure(r, depth - 1) for _ in range(r.randint(0, 4))]
    named = {f"k{i}": part for i, part in enumerate(parts)}
    kind = r.choice([list, tuple, dict, OrderedDict, deque, Holder, Slotted, defaultdict])
    if kind is Slotted:
        slotted = Slotted()
        slotted.x = parts
        return slotted
    if kind is Holder:
        return Holder(**named)
    if kind is defaultdict:
        return defaultdict(list, named)
    return kind(named if kind in (dict, OrderedDict) else parts)


def places(value: Any, found: list[Place]) -> list[Place]:
    """The places in a value that can be written to, and some that are not there yet."""
    inner: list[Any] = []
    if isinstance(value, (list, deque)):
        inner = [*value]
        found += [(value, "item", i) for i in range(len(value))]
    elif isinstance(value, dict):
        inner = [*value.values()]
        found += [(value, "item", key) for key in (*value, "new")]
    elif isinstance(value, tuple):
        inner = [*value]
    elif isinstance(value, Holder):
        inner = [*vars(value).values()]
        found += [(vars(value), "item", key) for key in (*vars(value), "new")]
    elif isinstance(value, Slotted):
        inner = [value.x]
        found += [(value, "slot", "x"), (value, "slot", "y")]
    for part in inner:
        places(part, found)
    return found


def read(thing: Any, kind: str, key: Any) -> list[Any]:
    """What stands in a place: a list of the value, or an empty list."""
    try:
        return [thing[key] if kind == "item" and (not isinstance(thing, dict) or key in thing) else getattr(thing, key)]
    except (AttributeError, TypeError):
        return []


def write(thing: Any, kind: str, key: Any, value: list[Any]) -> None:
    if kind == "item" and value:
        thing[key] = value[0]
    elif kind == "item":
        del thing[key]
    elif value:
        setattr(thing, key, value[0])
    else:
        delattr(thing, key)


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.sampled(3)
def test_a_guard_sees_another_value_in_each_place(seed: int) -> None:
    r = random.Random(seed)
    box = [structure(r, 4)]
    function = lambda: (box, getattr)                        # noqa: E731      `getattr`: any attribute may be used
    guard = make(walk(function, (), {}))
    for place in r.sample(found := places(box, []), min(len(found), 5)):
        before, old, new = walk(function, (), {}), read(*place), [leaf(r)]
        if old and ((repr(new) == repr(old) and not torch.is_tensor(new[0])) or old[0] is new[0]):
            continue
        write(*place, new)
        assert not guard(function, (), {}), place
        assert guard.why(function, (), {}), place
        after = changes(before, walk(function, (), {}, before.mentioned))
        assert after.effects or after.unrepeatable, place
        write(*place, old)
        assert guard(function, (), {}), guard.why(function, (), {})
