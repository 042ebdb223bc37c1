"""The facts about a public function, and what its unusual calls do beside the computation.

Arguments that do not fit raise PyTorch's error, modes and subclasses handle the call, the result goes to `out`, and
NumPy's names of parameters are replaced by PyTorch's.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from ...foundations.devices import Meta, on_meta
from ...foundations.errors import ENTRIES, OWN, PACKAGE
from ...foundations.modes import local
from ...foundations.names import reached
from ..arguments import checking
from ..arguments.dims import of_no_tensor
from ..arguments.layouts import check_layout
from ..arguments.reordering import reordered
from ..arguments.schemas import of_methods
from ..state.base import TensorBase
from ..state.dispatch import DISPATCH, UNHANDLED
from . import out as _out, overriding
from .overriding import answered, answers, handled

# The files whose frames may stand between a program and the public function that it calls.
_PASSED = (ENTRIES, overriding.__file__, _out.__file__, *[os.path.join(PACKAGE, *path.split("/")) for path in (
    "tensors/recording/calls.py", "tensors/recording/unusual.py", "tensors/state/dispatch.py", "tensors/sparse/face.py",
    "tensors/meta/face.py", "tensors/face/numpy_protocol.py", "tensors/face/subclassing.py", "dispatch/handler.py",
    "nn/", "distributions/")])
_NOTHING: set[tuple[Any, ...]] = set()
# A rule for `out=`, or a function that chooses one by the arguments.
OutRule = Any


class Inside(Exception):
    """Stands for the error of a call that can be made again, since now kernels may run inside of a kernel."""


class Public:
    """The facts about a public function.

    `schemas` are the texts of its schemas. `body` is the function that computes, and `entry` the function that programs
    call. `out` is the rule for `out`. `event` is the profiler's name of a call; "" if calls are no events. `strict`
    says that arguments are compared with the schemas before the call, not only after an error. `for_modes` says that
    only modes handle its calls, not arguments. `bound` is for methods: PyTorch's messages do not count the
    tensor among the arguments. `operator` is for Python's operators: modes and subclasses are given the
    method of this name, and if all return NotImplemented, Python tries the other operand. `bind` makes the method
    of a given name from a recorded call; None for other functions.
    """

    __slots__ = ("bind", "body", "bound", "entry", "event", "for_modes", "known", "operator", "out", "schemas",
                 "strict")

    def __init__(self, body: Callable[..., Any], schemas: tuple[str, ...], out: OutRule = None, event: str = "",
                 strict: bool = False, for_modes: bool = False, operator: str = "", bound: bool = False) -> None:
        self.body, self.schemas, self.out, self.event = body, schemas, out, event
        self.strict, self.for_modes, self.operator, self.bound = strict, for_modes, operator, bound
        self.entry: Any = None
        self.bind: Callable[[str], Any] | None = None
        self.known: set[tuple[Any, ...]] = set() if strict else _NOTHING      # types of arguments that fitted

    def refused(self, args: tuple[Any, ...], kwargs: dict[str, Any],
                failed: Exception | None = None) -> Exception | None:
        """PyTorch's error for the arguments of a call that failed; None if they fit, and none of them handles calls.

        Also None for calls from within the package, which may pass arguments that programs cannot pass. If the call
        failed only since it came inside of a kernel, the result is `Inside`.
        """
        if failed is not None and local.thread.renewed(failed):
            return Inside()
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(_PASSED):
            frame = frame.f_back
        if frame is not None and frame.f_code.co_filename.startswith(OWN):
            return None
        if args and not isinstance(args[0], TensorBase) and (self.bound or self._is_method_alone()):
            return of_no_tensor(self.entry.__name__, args[0])
        if not self.schemas:
            error: Exception | None = reached("tensors.arguments.asked").asked(self.entry, self.body, args, kwargs)
            return error
        if self.bound:
            return self._refused_method(args, kwargs)
        error = checking.refusal(self.schemas, args, kwargs)
        if error is None and not self.for_modes and answers(args, kwargs):
            return TypeError(f"{self.entry.__name__}(): an argument handles the call")
        return error

    def _refused_method(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception | None:
        """The error for the arguments of a method. Python has one for methods without their tensor, or no parameter."""
        name, schemas = f"TensorBase.{self.entry.__name__}()", of_methods(self.schemas)
        if not args:
            return TypeError(f"unbound method {name} needs an argument")
        if len(schemas) == 1 and schemas[0].partition("(")[2].startswith(")"):
            if kwargs:
                return TypeError(f"{name} takes no keyword arguments")
            return TypeError(f"{name} takes no arguments ({len(args) - 1} given)") if len(args) > 1 else None
        return checking.refusal(schemas, args[1:], kwargs)

    def _is_method_alone(self) -> bool:
        """Whether the function is a method of tensors, and the package has no function of this name."""
        name, package = self.entry.__name__, sys.modules[__name__.partition(".")[0]]
        return getattr(DISPATCH.tensor, name, None) is self.entry and name not in package.__all__

    def instead(self, wrong: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result for arguments that handle the call, or in an order that PyTorch gave up and still takes, or of a
        call that came inside of a kernel.

        Raises `wrong` for others.
        """
        if type(wrong) is Inside:
            return self.entry(*args, **kwargs)
        answer = UNHANDLED if self.for_modes else answered(self.entry, args, kwargs)
        if answer is not UNHANDLED:
            return answer
        order = reordered(self.schemas, args, kwargs)
        if order is None:
            raise wrong from None
        return self.entry(*order[0], **order[1])

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raise PyTorch's error if the arguments of a strict function do not fit.

        Types that fitted are remembered, and not checked again. If a 0-d tensor may stand for a number, they are not
        remembered, since other tensors do not fit there.
        """
        key = (*map(type, args), *kwargs, *map(type, kwargs.values()))
        if key not in self.known:
            error = self.refused(args, kwargs)
            if error is not None:
                raise error
            if not any(isinstance(x, TensorBase) and not x._array.ndim for x in (*args, *kwargs.values())):
                self.known.add(key)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run an unusual call: a mode or subclass may handle it, or it is profiled, or has `out` or wrong arguments."""
        function = getattr(DISPATCH.tensor, self.operator) if self.operator else self.entry
        try:
            result = handled(function, args, kwargs, for_modes=self.for_modes)
        except TypeError:
            if self.operator and len(args) > 1:
                return NotImplemented
            raise
        if result is not UNHANDLED:
            return result
        if "device" in kwargs and on_meta(kwargs["device"]):
            return Meta.tools().create(function, args, kwargs)
        observer = local.thread.observer
        if observer is None or not self.event:
            return self.compute(args, kwargs)
        return observer.call(self.event, args, self.compute, args, kwargs)

    def compute(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result, written to `out` if that is given. Raises PyTorch's error for arguments that do not fit."""
        try:
            if self.strict:
                self.check(args, kwargs)
            named = self.named(kwargs)
            if "layout" in named:
                check_layout(self.entry.__name__, named["layout"])
            if self.out is None or "out" not in named:
                return self.body(*args, **named)
            out = named.pop("out")
            if out is None:
                return self.body(*args, **named)
            return _out.into(out, self.entry.__name__, self.out, self.body, args, named)
        except Exception as error:
            wrong = self.refused(args, kwargs, error)
            if wrong is None:
                raise
        return self.instead(wrong, args, kwargs)

    def named(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments given by name, with NumPy's names replaced by those of the body's parameters."""
        if not kwargs:
            return {}
        code = getattr(getattr(self.body, "func", self.body), "__code__", None)
        if code is None:
            return {**kwargs}
        own = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
        named = {}
        for name, value in kwargs.items():
            other = checking.ALIASES.get(name)
            if other is None or name in own or other not in own or other in kwargs:
                named[name] = value
            elif value is not None:
                named[other] = value
        return named


def definition(function: Any) -> Any:
    """The function that computes. A function, its method and its other names are entries of one definition."""
    facts = getattr(function, "public", None)
    return function if facts is None else facts.body


def facts_of(function: Any) -> Public:
    """The facts about a public function."""
    facts: Public = function.public
    return facts


def recorded_as(call: Any, schemas: tuple[str, ...], out: OutRule, body: Any, bind: Callable[[str], Any]) -> None:
    """Note the schemas of a recorded call. It is its own entry, since it looks at the types of its operands itself."""
    call.public = facts = Public(body, schemas, out, bound=body is not call)
    facts.entry, facts.bind = call, bind
