"""The numbers of one trace: the numbers that the program reads from tensors, and the counters in its state.

A look at a number that was read from a tensor ends the trace. A look at a number of the state has the guard ask for
this number; a comparison of such numbers has the guard ask for the outcome.
"""

from __future__ import annotations

import sys
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterable
from threading import get_ident
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.basic import clone
from ..program import constants
from ..program.constants import MISSING
from ..program.expressions import FIXED, FUNCTIONS, Expression, in_order, of_size
from ..program.formulas import Formulas, Leaf, fixed, formulas
from ..program.origins import OWN, RUN, whose
from ..program.sizes import note_sizes
from ..program.stand_in_numbers import KINDS, STAND_INS, Handed, looked
from ..reach.appended import Grown
from ..reach.counters import counters, is_users
from ..reach.items import CONSTANT, CONTAINER, GROWN, OBJECT, Item, State
from ..reach.places import Step
from ..reach.strict import may_be_strict
from .leaving_code import only_leaves
from .operands import WHOLE, Operands, taken_apart
from .settling import settle

if TYPE_CHECKING:
    from ...ops.framework import Op

# So many outcomes a guard asks for. From then on, it asks for the numbers.
_MOST_OUTCOMES = 1024
# So many branches on numbers of tensors may be in a trace.
_MOST_BRANCHES = 256
# Of larger tensors, `tolist` looks at the numbers.
_MOST_ELEMENTS = 64
# Functions of the package between a program and the array that it asks for a number.
_FACE = ("tensors.face.interop", "tensors.recording.public", "tensors.recording.overriding", "compilation.")
# Parts of the package that do nothing with a number but to branch on it.
_BRANCHING = ("amp.grad_scaler",)


class Numbers:
    """The numbers of one traced call. After the run, `counted` are the items of the state that the guard need not ask
    for, and `outcomes` are the expressions whose numbers it asks for.
    """

    def __init__(self, state: State, tape: Any, rates: Iterable[Item] = ()) -> None:
        self.tape, self.thread = tape, get_ident()
        self.allowed = not may_be_strict(state)
        self.groups = [*counters(state), *[[item] for item in rates]] if self.allowed else []
        grown = [item.value for item in state.items if item.kind == GROWN]
        self._grown = [each for each in grown if type(each) is list]
        self._deques = [(each, [*each]) for each in grown if type(each) is deque]
        self.appended = Counter[int]()                     # how often the program has appended to deques
        self._lengths, self._names = state.grown.lengths, state.grown.names
        first = state.items[0].value
        self._code: CodeType | None = getattr(getattr(first, "__func__", first), "__code__", None)
        self.outcomes: list[tuple[Expression, Any]] = []   # that the guard asks for
        self.branches: list[tuple[Expression, Any]] = []   # that depend on numbers of tensors
        self.pinned: set[int] = set()                      # the numbers of items that the guard asks for
        self.wanted: list[Expression] = []                 # what a repetition makes, in its order
        self.operands = Operands(tape)                     # the numbers that operators take
        self.left: list[tuple[Any, Step]] = []             # things, and places in them that hold numbers
        self.changes_others = False                        # whether it changes things that may be others in each call
        self._made: list[weakref.ref[Any]] = []            # numbers that the program may hold
        self._reads = False                                # whether it has read any number
        self._ended = self._over = False                   # the run of the program, and the trace
        tape.numbers = self

    @property
    def follows(self) -> bool:
        """Whether the program is being traced, and this thread runs it."""
        return not self._ended and self.tape.reason is None and self.thread == get_ident()

    @property
    def used(self) -> bool:
        """Whether any number was handed out."""
        return bool(self._made) or self._reads

    def put_in_place(self) -> None:
        """Put stand-ins into the places in which the program counts."""
        for group in self.groups:
            first = group[0]
            expression = Expression("place", (), first.value, 63, item=first)
            number = self.stand_in(expression)
            for item in group:
                item.role, item.array = "number", expression
            assert first.parent is not None
            first.step.write(first.parent.value, number)

    def put_back(self) -> None:
        """Give the places in which the program counts, and the lists that grow, what they had before."""
        for group in self.groups:
            first = group[0]
            assert first.parent is not None
            if first.step.read(first.parent.value) is not MISSING:
                first.step.write(first.parent.value, first.value)
            for item in group:
                item.role = ""                             # no stand-in is there any more
        for each in self._grown:
            del each[self._lengths[id(each)]:]
        for filled, former in self._deques:
            filled.clear()
            filled.extend(former)

    def grown(self, state: State) -> Grown:
        """The lists and deques that grow, with the number of elements from before the call. A deque with a limit drops
        elements. Of other changes, `lost` tells.
        """
        kept = {id(each): max(0, len(each) - self.appended[id(each)]) for each, _ in self._deques}
        found: Grown = state.grown
        return found._replace(lengths=found.lengths | kept)

    def stand_in(self, expression: Expression) -> Any:
        """A number for the program."""
        number = KINDS[type(expression.value)](self, expression)
        self._made.append(weakref.ref(number))
        return number

    def of_size(self, value: int) -> Any:
        """A number for a size that the program leaves."""
        return self.stand_in(of_size(value)) if self.allowed and self.tape.reason is None else value

    def read(self, array: Any, whole: Callable[[Any], Any]) -> Any:
        """What `whole` (`item` or `tolist`) makes of a traced array: stand-ins, if the program can have them."""
        if not (self.follows and self.allowed and array.like.size <= _MOST_ELEMENTS and _asking() is not None):
            return whole(array.seen())
        self.tape.deferred.make_for(array.like)
        found = whole(array.like)
        if type(found) is bool:
            return self.branch(array)
        if not _is_simple(found):
            return whole(array.seen())
        if type(found) is list:
            note_sizes(array.like.shape)
        kept = self.tape.record(clone, clone.compute, (array, "C"), False)
        return self._stand_ins(kept, found, ())

    def handed(self, array: Any) -> Any:
        """A view of a traced array: a stand-in, if the program only hands it on."""
        frame = _asking() if self.follows and self.allowed else None
        if frame is None or type(array.like) is not np.ndarray or not only_leaves(
                frame.f_code, frame.f_lasti, self._names, self._is_outermost(frame)):
            return array.seen().view()
        self.tape.deferred.make_for(array.like)
        number = Handed(self, Expression("array", (), array.like.view(), array=array))
        self._made.append(weakref.ref(number))
        return number

    def _is_outermost(self, frame: FrameType) -> bool:
        """Whether a frame is that of the compiled function. The function may call itself: then its code has others."""
        caller = frame.f_back
        return frame.f_code is self._code and caller is not None and caller.f_globals.get("__name__") == RUN

    def branch(self, array: Any) -> bool:
        """Whether the only element of a traced array is not zero, on which the program may branch."""
        if not self.follows or array.like.size != 1 or array.like.dtype.kind not in "biuf":
            return bool(array.seen())
        self.tape.deferred.make_for(array.like)
        kept = self.tape.record(clone, clone.compute, (array, "C"), False)
        read = Expression("read", (0,) * array.like.ndim, array.like.item(), 64, array=kept)
        self._reads = True
        return bool(self.decided("bool", (read,)))

    def _stand_ins(self, kept: Any, found: Any, index: tuple[int, ...]) -> Any:
        if type(found) is list:
            return [self._stand_ins(kept, part, (*index, place)) for place, part in enumerate(found)]
        if len(index) < kept.like.ndim:                    # `item` of an array with dims
            index = (0,) * kept.like.ndim
        return self.stand_in(Expression("read", index, found, 64, array=kept))

    def operand(self, expression: Expression, dtype: np.dtype[Any]) -> Any:
        """An array of a dtype that holds a number in each repetition; None if there is none. A backward pass that runs
        after the program has those alone that the program had.
        """
        if self._over or self.tape.reason is not None or self.thread != get_ident():
            return None
        return self.operands.find(expression, dtype, self.follows)

    def taken_apart(self, op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
        """The result of a call that takes numbers of the state as options, if it is made of calls that take arrays."""
        return taken_apart(self.tape, op, call, args, write) if self._made and self.tape.reason is None else WHOLE

    def plain(self, args: tuple[Any, ...]) -> Any:
        """The arguments of an operator, with plain numbers."""
        return looked(args) if self._made else args

    def looked_at(self, expression: Expression) -> None:
        """Note that the program uses a number in a way that nobody can follow."""
        if self._over or self.tape.reason is not None or self.thread != get_ident():
            return
        if expression.is_late:
            self.tape.give_up("the program looks at a learning rate after the step of its schedule")
        elif expression.of_tape or self._ended:            # then the traced backward pass looks at it
            self.tape.give_up("the program looks at the numbers of a tensor")
        else:
            self.pinned |= {part.item.number for part in in_order([expression]) if part.item is not None}

    def decided(self, what: str, parts: tuple[Expression, ...]) -> Any:
        """The outcome of a comparison, on which the program may branch."""
        outcome = FUNCTIONS[what](*[part.value for part in parts])
        expression = Expression(what, parts, outcome)
        found, most = (self.branches, _MOST_BRANCHES) if expression.of_tape else (self.outcomes, _MOST_OUTCOMES)
        if not self.follows or len(found) >= most or expression.is_late:
            self.looked_at(expression)
        else:
            found.append((expression, outcome))
        return outcome

    def divides(self, expression: Expression) -> bool:
        """Whether a number is zero in no repetition."""
        if expression.what in FIXED:
            return bool(expression.value != 0)
        return bool(self.decided("bool", (expression,)))

    def is_sure(self, expression: Expression) -> bool:
        """Whether each repetition can compute a number without an error, and the number is of the same type."""
        return not expression.of_tape and bool(
            self.decided("is_float" if type(expression.value) is float else "is_int", (expression,)))

    def let_go(self) -> None:
        """Let go of the traced arrays, which nothing needs any more."""
        alive = [number for number in [made() for made in self._made] if number is not None]
        for each in in_order([*self._all_wanted(), *[number.expression for number in alive]]):
            each.array = None
        self.operands.let_go()

    def give_back(self, run: Any) -> None:
        """Put numbers of Python's own wherever stand-ins are, also in the `result` of the run."""
        self._ended = self._over = True
        self.tape.numbers = None                           # so that they do not hold each other
        places = [(group[0].parent.value, group[0].step) for group in self.groups if group[0].parent is not None]
        if self._made:
            settle([*places, *self.left, (run, Step("attribute", "result"))], self._made)

    # What the guard and the recipe need

    def end(self) -> None:
        """The program has run: have the guard ask for the numbers that it has looked at.

        A number that was only added to will not come again. If the guard asked for it, each call would need a trace.
        """
        self._ended = True
        for group in self.groups:
            if any([item.number in self.pinned for item in group]):
                for item in group:
                    item.role = "looked at" if _has_grown(group[0]) else "guarded"

    def note(self, effects: Iterable[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note what the call has changed."""
        for effect in effects:
            self.changes_others = self.changes_others or bool(effect.steps)
            if effect.whole is not None and effect.whole.counts():
                step = effect.step._replace(kind="item") if effect.step.kind == "append" else effect.step
                self.left.append((effect.holder(args, kwargs), step))

    def lost(self, before: State, after: State) -> str | None:
        """Why changes of places are not seen by a walk after the call; None if all of them are.

        Nobody else holds what objects of the package drop.
        """
        for item in before.items:
            if item.kind in (CONTAINER, OBJECT) and id(item.value) not in after.known and (
                    is_users(item) and _has_changed(item)):
                return f"{item.words} was changed, and then the program replaced it"
        for filled, former in self._deques:
            added = self.appended[id(filled)]
            wanted = deque([*former, *[MISSING] * added], filled.maxlen)
            if len(filled) != len(wanted) or any([old is not new and old is not MISSING
                                                  for old, new in zip(wanted, filled, strict=True)]):
                return "the program changes a deque in a way that nobody has seen"
        if any([number not in after.known for number in after.grown.lengths]):
            return "the program replaces a list that it appends to"
        return None

    def counted(self) -> list[Item]:
        """The items whose numbers a guard returns behind the tensors."""
        return [group[0] for group in self.groups if group[0].role == "number"]

    def place(self, expression: Expression) -> int:
        """The place of a number among the numbers that a repetition makes."""
        for place, each in enumerate(self.wanted):
            if each is expression:
                return place
        self.wanted.append(expression)
        return len(self.wanted) - 1

    def arrays(self) -> list[Any]:
        """The traced arrays whose numbers a repetition reads."""
        reads = [each.array for each in in_order(self._all_wanted()) if each.what == "read"]
        return [*{array.number: array for array in reads}.values()]

    def _all_wanted(self) -> list[Expression]:
        return [*self.wanted, *[each for each, _ in self.branches]]

    def formulas(self, first: int, given: int) -> Formulas | None:
        """What makes the numbers of a repetition, from the arrays of a run and from what the guard returned; None if
        there are no numbers. `first` is the place of the first of `arrays()` among the outputs. `given` is the place of
        the first counted number.
        """
        if not self.wanted and not self.branches:
            return None
        outputs = {array.number: first + i for i, array in enumerate(self.arrays())}

        def leaf(each: Expression) -> Leaf:
            if each.what == "read":
                return "output", outputs[each.array.number], each.parts
            return ("late",) if each.what == "late" else self._place(each, given)

        return formulas(self.branches, self.wanted, leaf)

    def early(self, wanted: list[Expression], given: int) -> Formulas:
        """What makes numbers before the run of a plan, from what the guard has returned."""
        return formulas((), wanted, lambda each: self._place(each, given))

    def _place(self, each: Expression, given: int) -> Leaf:
        """How a repetition reads a number of the state."""
        assert each.item is not None
        places = [item.number for item in self.counted()]
        if each.item.number in places:
            return "input", given + places.index(each.item.number)
        return fixed("constant", each.value)               # the guard asks for it


def _has_changed(item: Item) -> bool:
    """Whether another thing is in a place of a thing, or whether a list or dict has other entries."""
    if item.kind == CONTAINER and isinstance(item.facts, (int, list)) and (
            len(item.value) != (item.facts if isinstance(item.facts, int) else len(item.facts))):
        return True
    for step, part in item.entries.items():
        present = step.read(item.value) if step.kind in ("item", "attribute", "slot") else part.value
        if present is part.value or (type(present) in STAND_INS and present.expression is part.array):
            continue
        if part.kind != CONSTANT or part.role == "number" or constants.differ(present, part.value):
            return True
    return False


def _has_grown(item: Item) -> bool:
    """Whether something was added to a number in its place."""
    assert item.parent is not None
    present = item.step.read(item.parent.value)
    return type(present) in STAND_INS and present.expression.what in ("add", "sub")


def _asking() -> FrameType | None:
    """The code of the program that asks for a number; None if the package asks."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        name = frame.f_globals.get("__name__")
        own = str(name).partition(".")[2]
        if whose(name) != OWN or own in _BRANCHING:
            return frame
        if not own.startswith(_FACE):
            return None
        frame = frame.f_back
    return None


def _is_simple(found: Any) -> bool:
    return all(map(_is_simple, found)) if type(found) is list else type(found) in KINDS
