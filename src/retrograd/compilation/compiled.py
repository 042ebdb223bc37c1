"""A compiled function: traced calls that can be repeated, each with the guard that says when."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from threading import get_ident
from typing import Any, ClassVar
from weakref import WeakSet

from ..foundations.errors import warn
from ..foundations.forks import forgotten
from ..foundations.modes import local
from ..foundations.names import reached
from ..graph import versions
from ..tensors.state.base import TensorBase
from ..tensors.state.dispatch import DISPATCH
from .execution.plan import native
from .program.interrupts import interrupts
from .reach.changing_sizes import Sizes
from .repeat.recipe import DECLINED
from .trace.reasons import GivenUp, Reason
from .trace.run_once import FirstRun
from .turns import Tracing as Tracing, Turn

# If there are more traced calls than this, the traced calls with the shapes of the arguments are tried first.
FEW = 2
# A new trace is compared with at most TRIED earlier ones. After MOST_REFUSALS comparisons that have not shown how calls
# depend on sizes, no more traces are compared.
TRIED, MOST_REFUSALS = 6, 12
# After this many traces that other threads have spoiled, no call is traced any more.
MOST_DISTURBED = 100
# After this many calls in a row that no plan serves, and that are traced no more, the plans are let go.
MOST_UNSERVED = 64
# After this many runs of plans with branches, the function runs as it is if three in four runs met other outcomes.
MOST_TRIED = 50


class Compiled:
    """What `compile` makes of a function. `entries` are (guard, recipe) pairs; `reason` says why none can be made.

    `shaped` has the entries by the shapes of the arguments of the traced call. It is asked first if there are several
    entries or if one of them serves many shapes, so that a shape with a plan of its own runs this plan.
    """

    every: ClassVar[WeakSet[Compiled]] = WeakSet()

    def __init__(self, function: Callable[..., Any], whole: bool, backend: Any, limit: int,
                 dynamic: bool | None) -> None:
        Compiled.every.add(self)
        self.function, self.whole, self.native, self.limit = function, whole, native(backend), limit
        self.sizes = None if dynamic is False else Sizes(bool(dynamic))    # unless each shape has a plan of its own
        self.few = FEW                                     # so many entries are tried in turn
        self.calls: list[Any] = []                         # the last traced calls that noted the uses of sizes
        self.waiting: Any = None                           # the last one, until it is compared with the others
        self.refused: list[str] = []                       # why two of them do not show how the call depends on a size
        self.entries: list[tuple[Any, Any]] = []
        self.shaped: dict[Any, list[tuple[Any, Any]]] = {}
        self.reason: Reason | None = None
        self.full = False                                  # whether no further calls are traced
        self.unserved = 0                                  # the calls since then that no plan has served, in a row
        self.disturbed = 0                                 # how many traces other threads have spoiled
        self.tried = self.declined = 0                     # runs of plans with branches, and those for another outcome

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Repeat a traced call if its guard holds. Otherwise trace this call."""
        function, thread = self.function, local.thread
        if (self.reason is not None or thread.transform is not None or thread.levels or thread.watchers
                or thread.functions > 1                    # for second derivatives, which plans do not have
                or thread.anomalies is not None or DISPATCH.plain is not DISPATCH.tensor):
            return function(*args, **kwargs)
        if Tracing.thread is not None and Tracing.thread != get_ident():
            turn = Turn()
            with turn, turn:
                turn.wait()
        entries = self.entries
        declined: list[Any] = []                           # whose branches turn out differently
        if len(entries) > self.few:
            entries = [*self.shaped.get(_shapes(args), ()), *entries]
        for entry in entries:
            guard, recipe = entry
            inputs = guard.check(function, args, kwargs)
            if type(inputs) is list:
                if entry is not entries[0]:                # the next call will probably be alike
                    self.entries = [entry, *[other for other in self.entries if other is not entry]]
                try:
                    free = recipe.lock.acquire(blocking=False)             # or another thread uses the buffers
                    if free:
                        result = recipe.repeat(inputs, args, kwargs)
                        recipe.lock.release()
                except BaseException as error:
                    if interrupts(error):                  # such as KeyboardInterrupt
                        self._drop(recipe)
                        raise
                    recipe.lock.release()
                    if not recipe.may_start_again or recipe.schedules:
                        raise
                    return self._again(error, args, kwargs)
                self.tried += recipe.way_back is not None
                if not free or result is not DECLINED:
                    self.unserved = 0
                    return recipe.stepped(result, inputs) if free else function(*args, **kwargs)
                self.declined += 1
                declined.append(recipe)
        return self._traced(args, kwargs, declined)

    def _again(self, error: BaseException, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call whose plan has raised an error and changed nothing: the program raises it where it arises."""
        result = self.function(*args, **kwargs)
        self._run_as_it_is(Reason(f"its plan raises {type(error).__name__}: {error}", None))
        return result

    def _traced(self, args: tuple[Any, ...], kwargs: dict[str, Any], declined: list[Any]) -> Any:
        """A call that no plan serves. `declined` are the recipes that did not serve it."""
        function, turn = self.function, Turn()
        if self.full:
            self.unserved += 1
            if self.unserved > MOST_UNSERVED:
                self._let_go()
            return function(*args, **kwargs)
        with turn, turn:
            if not turn.take() or any([guard(function, args, kwargs)
                                       for guard, recipe in self.entries if recipe not in declined]):
                return function(*args, **kwargs)           # another thread traces too long, or has traced such a call
            if self.tried > MOST_TRIED and self.declined * 4 > self.tried * 3:
                self._run_as_it_is(Reason("its branches on numbers turn out otherwise in most calls", None))
                return function(*args, **kwargs)
            return self(*args, **kwargs) if self._follows(args, kwargs) else self._first(args, kwargs)

    def knows(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a call needs no trace."""
        if self.reason is not None or self.full:
            return True
        if any([guard(self.function, args, kwargs) for guard, _ in self.entries]):
            return True
        with Tracing.lock:
            return self._follows(args, kwargs)

    def _first(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Trace a call."""
        if len(self.entries) >= self.limit:
            why = self.entries[-1][0].why(self.function, args, kwargs) or "its branches on numbers turn out otherwise"
            more = f"; there is no plan for all sizes, since {self.refused[-1]}" if self.refused else ""
            self.full, self.calls, self.waiting = True, [], None
            warn(f"torch.compile traces {name_of(self.function)} no more, since it was traced {self.limit} times, and "
                 f"changes in each call: {why}{more}. Calls that no trace serves run as they are. The results are the "
                 "same.")
            return self.function(*args, **kwargs)
        try:
            with versions.noting_writers() as writers:
                run = FirstRun(self.function, args, kwargs, self.whole, self.native, self.sizes)
                if run.reason is not None:
                    self._run_as_it_is(run.reason)
                    return self.function(*args, **kwargs)
                run.tape.writers = writers
                result = run.run()
        except TypeError:
            if not run.found_by_itself:
                raise
            self.sizes, self.calls = None, []              # the program may have asked for an int of Python's own
            if not run.is_undone:                          # or it raises the error itself, after changes
                raise
            return self._first(args, kwargs)
        except GivenUp as error:
            raise RuntimeError(f"torch.compile with fullgraph=True found that {name_of(self.function)} cannot be "
                               f"compiled: {error}.") from None
        if run.recipe is not None:
            entry = run.guard, run.recipe
            self.entries.append(entry)
            self.shaped.setdefault(_shapes(args), []).insert(0, entry)
            self.waiting = run.traced_call
        else:
            self.disturbed += run.was_disturbed
            if not run.was_disturbed or self.disturbed == MOST_DISTURBED:
                self._run_as_it_is(run.reason)
        return result

    def _follows(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a plan for all sizes that follows from the traced calls serves this call. No plan has served it.

        So traced calls are compared only when a call comes with sizes that no trace had.
        """
        call, self.waiting = self.waiting, None
        if any([recipe.is_differentiated_twice for _, recipe in self.entries]):
            self.sizes, self.calls, call = None, [], None  # no plan for all sizes has gradients of gradients
        return call is not None and self._pair(call) and bool(self.entries[0][0](self.function, args, kwargs))

    def _pair(self, call: Any) -> bool:
        """Make a recipe for all sizes of this traced call and earlier ones, if they show it: pairs for one size that
        changes, three calls for two sizes that change independently, and so on.
        """
        sized, earlier, refused = reached("compilation.sized.recipes"), self.calls, len(self.refused)
        self.calls = [*earlier, call][-TRIED:]
        for count in range(1, len(earlier) + 1):
            for others in combinations(reversed(earlier), count):
                try:
                    guard, recipe = sized.paired([*others, call], self.native)
                except sized.Unlike:
                    continue
                except sized.Refused as reason:
                    self.refused.append(str(reason))
                    continue
                self._serve(guard, recipe, [each.recipe for each in (*others, call)])
                return True
            if len(self.refused) > refused:                # more calls would show the same
                break
        if len(self.refused) >= MOST_REFUSALS:
            self.sizes, self.calls = None, []
        return False

    def _serve(self, guard: Any, recipe: Any, traced: list[Any]) -> None:
        """Have one plan serve all sizes, besides those of the traced calls that have been repeated."""
        idle = [each for each in traced if each.ready is None]
        self.few = 0
        self.entries = [(guard, recipe), *[entry for entry in self.entries if entry[1] not in idle]]
        self.shaped = {shapes: [entry for entry in entries if entry[1] not in idle]
                       for shapes, entries in self.shaped.items()}

    def _let_go(self) -> None:
        """Run the function as it is from now on."""
        self.reason = Reason(f"it was traced {self.limit} times, and changes in each call", None)
        self.entries, self.shaped = [], {}

    def _drop(self, recipe: Any) -> None:
        """Let go of a recipe that was interrupted, whose lock and memory are in an unknown state."""
        self.entries = [entry for entry in self.entries if entry[1] is not recipe]
        self.shaped = {shapes: [entry for entry in entries if entry[1] is not recipe]
                       for shapes, entries in self.shaped.items()}

    @classmethod
    def forget(cls) -> None:
        """Let go of the recipes that other threads were using, in a forked process, which lacks these threads."""
        for each in [*cls.every]:
            for _, recipe in each.entries:
                if recipe.lock.locked():
                    each._drop(recipe)

    def _run_as_it_is(self, reason: Reason | None) -> None:
        """Give up compiling the function, and say so."""
        self.reason = reason
        warn(f"torch.compile runs {name_of(self.function)} as it is, since {reason}. The results are the same.")


forgotten(Compiled.forget)


def _shapes(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The shapes of the tensors among the arguments."""
    return tuple([arg._array.shape for arg in args if isinstance(arg, TensorBase)])


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function, or of the class of a callable object."""
    return str(getattr(function, "__name__", type(function).__name__))
