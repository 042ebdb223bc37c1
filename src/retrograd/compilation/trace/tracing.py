"""Running a function once on traced arrays, and writing down what it computes.

A `Traced` array stands behind a tensor in place of its NumPy array, and carries the real numbers. So a traced run is
also an ordinary run. While a `Tape` stands on the seam, each call of an operator and each write is noted as a line. The
tape keeps the geometry of what lines make, and no numbers: memory is free when the run itself no longer needs it.

If the program looks at numbers (`.item()`, a branch on data, printing), the array answers, and the tape is *given up*:
the run goes on, but nothing can be repeated without the program's own Python.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Iterable
from operator import attrgetter
from threading import get_ident
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import Site, user_site
from ...foundations.modes import local
from ...graph.versions import new_lineage
from ...kernels.kinds import OtherArray, replaced
from ...kernels.layout import in_common_order, steps
from ...ops.basic import copy
from ...ops.framework import Op
from ...ops.shape import alias
from ...tensors.recording.operands import kept_scalars
from ...tensors.state.base import TensorBase
from ..numbers.operands import WHOLE
from ..program.lines import STEP, Line, Value, refs
from ..program.sizes import Uses, plain as plain_sizes
from ..reach.communicating import Needless
from .cleaning import clean_holders
from .deferred import Deferred
from .memories import Former, Memories
from .reasons import GivenUp, Reason
from .shaped_by_numbers import is_shaped_by_numbers
from .traced import Traced, give_arrays

_numbers, _ref = attrgetter("like"), attrgetter("ref")


class Tape:
    """The calls of one run, in order. `record` stands on the seam."""

    def __init__(self, whole: bool = False, native: bool = False, uses: Uses | None = None) -> None:
        self.whole = whole                                 # whether giving up is an error
        self.numbers: Any = None                           # that the program has read, if it hands them on
        self.uses = uses                                   # of sizes that may be others in later calls
        self.rehearses = False                             # whether the compiler alone runs this part
        self.communicates = False                          # whether messages have left or come
        self.captured: set[int] = set()                    # the identities of arrays whose sizes stay the same
        self.warnings: list[Callable[[], None]] = []       # of the package, each of which each call gives
        self.thread = get_ident()
        self.writers: set[int] = set()                     # the threads that have written during the run
        self.native = native                               # whether loops become machine code
        self.values: list[Value] = []
        self.lines: list[Line] = []
        self.inputs: list[int] = []
        self.reason: Reason | None = None
        self._known: dict[int, Traced] = {}                # arrays from outside, by identity
        self._made: list[weakref.ref[Traced]] = []
        self._known_calls: dict[Any, Any] = {}             # and places in programs: equal ones are the same
        self._constants: list[Array] = []                  # arrays that nobody found before, presumably constants
        self.deferred = Deferred(self.values)
        self.memories, self.former = Memories(self.values, self.deferred), Former(self.values, whole)

    def keeps(self, op: Op) -> bool:
        """Whether a line calls the kernel of a composed operator. Machine code joins simple compositions to loops."""
        return not self.native or op.arity > 3

    def notes_sizes(self, array: Traced) -> bool:
        """Whether the sizes of an array may be others in later calls."""
        return self.uses is not None and id(array.like) not in self.captured

    def give_up(self, words: str, of_changes: bool = False, site: Site | None = None, passing: bool = False) -> None:
        """Note that the run cannot be repeated. Only the first reason is kept. `site` is its line if not this one.

        Another thread that looks at a tensor of the run takes nothing away that this thread works with. `of_changes`
        says that the reason is a change of a tensor, which another thread may have made, and `passing` that the next
        call may be traced.
        """
        if self.reason is None:
            foreign = self.thread != get_ident()
            passing = passing or foreign or (of_changes and bool(self.writers - {self.thread}))
            self.reason = Reason(words, site or user_site(), passing)
            self.deferred.make()
            if not foreign:
                for held in (self.values, self.lines, self._constants, self.memories.spans):
                    held.clear()                           # so that no memory is held that the program gives up
                self.check()
                if self.rehearses:
                    raise Needless(words)

    def hear(self, give: Callable[[], None] | None) -> None:
        """Note a warning of the package, which `give` gives again. It is None if the warning was raised as an error."""
        if self.thread == get_ident():
            if give is None:
                self.give_up("a warning is raised as an error")
            else:
                self.warnings.append(give)

    @property
    def stopped(self) -> bool:
        """Whether this thread has given up."""
        return self.reason is not None and not self.values

    def check(self) -> None:
        """Raise GivenUp if the run cannot be repeated and this is an error."""
        if self.reason is not None and self.whole and not self.reason.passing:
            raise GivenUp(self.reason)

    def leave(self, words: str) -> None:
        """Give up, and put NumPy arrays in place of all traced ones."""
        self.give_up(words)
        take_away(self, ())

    def communicate(self, words: str) -> None:
        """Give up before the program sends something, receives something or waits for it.

        Nothing is sent if giving up is an error, or in a pass that the program itself does not run.
        """
        self.give_up(words)
        self.check()
        if self.rehearses:
            raise Needless(words)
        self.communicates = True
        take_away(self, ())

    def outside(self, array: Array) -> Traced:
        """The value that stands for memory which exists outside of the run: of an argument or a captured tensor."""
        found = self._known.get(id(array))
        if found is None:
            found = self._known[id(array)] = self._value(array, "outside")
            self.inputs.append(found.number)
        return found

    def apart(self, array: Traced) -> Traced:
        """The value of memory whose writes are counted apart from here on, as those to `.data`."""
        self.deferred.make_for(array.like)                 # while its owner is known
        like = new_lineage(array.like)
        if self.reason is not None:
            return Traced(self, like, array.number)
        self.memories.own_as(like, array.like)
        found = self._value(like, "line")
        self.values[found.number].memory = self.values[array.number].memory
        self.lines.append(Line(alias, alias.compute, (array.ref,), (found.number,), False, False, user_site()))
        return found

    def alive(self) -> list[Traced]:
        """The traced arrays that something holds."""
        return [array for array in [reference() for reference in self._made] if array is not None]

    def forget(self) -> list[Traced]:
        """The traced arrays that something other than the tape still holds."""
        self._known = {}
        self.memories.forget()
        return self.alive()

    def _value(self, array: Array, source: Any) -> Traced:
        number = len(self.values)
        like, first = self.memories.locate(array, source == "line", number)
        self.values.append(Value(number, like, first, source))
        traced = Traced(self, array, number)
        self._made.append(weakref.ref(traced))
        return traced

    def record(self, op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
        """Make a call, and write it down."""
        if self.uses is not None:
            args = plain_sizes(args)
        if self.numbers is not None:
            parts = self.numbers.taken_apart(op, call, args, write)
            if parts is not WHOLE:
                return parts
            args = self.numbers.plain(args)
        if self.reason is None and is_shaped_by_numbers(op, args):
            self.give_up(f"the shape of the result of {op.name} depends on numbers")
        if self.reason is not None:
            self.deferred.make()                           # what another thread has not, which gave the tape up
            plain_args = replaced(args, Traced, _numbers)
            return self._unnoted(op, call(*plain_args), plain_args, write)
        noted, real = self._noted(args)
        for ref in [*refs(noted)][:None if op.name.startswith(STEP) else 1] if write else ():
            self.former.keep(ref.number)
        promised = self.deferred.begin(op, real, write) if self.deferred.active else None
        found = call(*real) if promised is None else promised
        self.check_result(op, found)
        if self.stopped:                                   # since the kernel has looked at a number
            return self._unnoted(op, found, real, write)
        call, site = self._known_calls.setdefault(call, call), user_site(2)
        if site is not None:
            site = self._known_calls.setdefault((id(site.code), site.offset), site)
        if write:
            self.lines.append(Line(op, call, noted, (), False, True, site))
            return None
        several = type(found) is tuple
        if op.layout == "elementwise" and not several and promised is None and not self._in_rule():
            return self._ordered(op, call, noted, found, site)
        results = tuple([self._value(np.asarray(part), "line") for part in (found if several else (found,))])
        line = Line(op, call, noted, tuple([r.number for r in results]), several, False, site)
        self.lines.append(line)
        if promised is not None or (op.view and self.deferred.active):
            self.deferred.note(line, real, promised)
        return results if several else results[0]

    def check_result(self, op: Op, found: Any) -> None:
        """Give up if a result is no array of NumPy."""
        if isinstance(found, OtherArray) or (type(found) is tuple and any([isinstance(x, OtherArray) for x in found])):
            self.give_up(f"the result of {op.name} is a sparse tensor, which the compiler does not know")

    def _unnoted(self, op: Op, found: Any, args: Iterable[Any], write: bool) -> Any:
        """The result of a call that no line says, in the layout that PyTorch gives it."""
        if write or op.layout != "elementwise" or isinstance(found, tuple | OtherArray) or self._in_rule():
            return found
        return in_common_order(np.asarray(found), [arg for arg in args if type(arg) is np.ndarray])

    def _noted(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[Any]]:
        """The arguments of a call as a line has them, and as the call takes them."""
        noted, real = [], []
        for arg in args:
            kind = type(arg)
            if kind is Traced:
                noted.append(arg.ref)
                real.append(arg.like)
            elif kind is np.ndarray:
                noted.append(self._constant(arg).ref)
                real.append(arg)
            elif kind is list or kind is tuple:
                noted.append(replaced(replaced(arg, np.ndarray, self._constant), Traced, _ref))
                real.append(replaced(arg, Traced, _numbers))
            else:
                noted.append(arg)
                real.append(arg)
        return tuple(noted), real

    def _in_rule(self) -> bool:
        """Whether a rule computes a gradient that is not recorded. Its results lie as the kernels make them."""
        thread = local.thread
        return (bool(thread.passes) and not thread.grad) or (thread.below is not None and thread.below.by_rule)

    def _ordered(self, op: Op, call: Callable[..., Any], noted: tuple[Any, ...], found: Array,
                 site: Site | None) -> Traced:
        """The result of an elementwise call in the layout that PyTorch gives it: if need be, by another line."""
        found = np.asarray(found)
        ordered = in_common_order(found, [self.values[ref.number].like for ref in refs(noted)])
        result = self._value(found, "line")
        self.lines.append(Line(op, call, noted, (result.number,), False, False, site))
        if ordered is found:
            return result
        laid_out = self._value(ordered, "line")
        args = (result.ref, steps(ordered))
        self.lines.append(Line(copy, copy.compute, args, (laid_out.number,), False, False, site))
        return laid_out

    def _constant(self, array: Array) -> Traced:
        """The value of an array that the search before the run did not find: a number of the program, or a table."""
        found = self._known.get(id(array))
        if found is None:
            self._constants.append(array)
            found = self._known[id(array)] = self._value(array, "constant")
        return found

    def missed(self) -> bool:
        """Whether a presumed constant is the memory of a tensor of the program, which the search did not find.

        A tensor holds its array itself. So an array that has no more holders than an array that only a tape holds
        belongs to no tensor. Both are counted in the same way, whatever an interpreter counts. For the other arrays
        Python's garbage collector looks at all objects, which takes long. The collector knows each tensor from its
        making on, but for those that `gc.freeze` has hidden from it. So these are shown again. To freeze all objects
        after the look would hide what the run has made.
        """
        kept, apart = kept_scalars(), Tape()
        apart._constant(np.zeros(1))
        arrays = apart._constants + [array for array in self._constants if id(array) not in kept]
        alone, *counts = [sys.getrefcount(array) for array in arrays]
        found = [array for array, count in zip(arrays[1:], counts, strict=True) if count > alone]
        if found and gc.get_freeze_count():
            gc.unfreeze()
        holders = gc.get_referrers(*found) if found else []
        return any(isinstance(holder, TensorBase) for holder in holders)


def take_away(tape: Tape, tensors: Iterable[Any]) -> None:
    """Give the tensors their NumPy arrays, and everything else that still has a traced array, such as a node.

    Nothing depends on what `gc.get_referrers` finds: a traced array that stays somewhere, such as in an object that
    `gc.freeze` has hidden, answers with the numbers of the program's own memory, and takes writes to it (`Answering`).
    But it is slower than an array of NumPy, and shows another type.
    """
    give_arrays(tensors)
    left = tape.forget()
    if left:
        clean_holders(left, Traced)
