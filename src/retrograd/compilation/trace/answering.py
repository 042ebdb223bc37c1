"""What a traced array answers to whoever takes it for a NumPy array: the numbers, and the trace is given up.

That is a program that looks at numbers, or another thread: while a call is traced, traced arrays stand behind tensors
that all threads share. So kernels of the other threads meet them, and write to them, too. If the program may hand on a
number or branch on it (`numbers`), the trace goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import methodcaller
from threading import get_ident
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...kernels.kinds import Geometry


class Answering(np.lib.mixins.NDArrayOperatorsMixin, Geometry):
    """An array that answers with its numbers. `seen` gives the trace up, and returns them."""

    __slots__ = ()
    tape: Any

    def seen(self) -> Array:
        """The numbers."""
        raise NotImplementedError

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Any:
        """For the thread that traces, an array equals itself, as a key of a dict or an element of a list must."""
        return self is other if self.tape.thread == get_ident() else np.equal(self.seen(), _plain(other))

    def __ne__(self, other: object) -> Any:
        return self is not other if self.tape.thread == get_ident() else np.not_equal(self.seen(), _plain(other))

    @property
    def __array_interface__(self) -> Any:
        return self.seen().__array_interface__

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.array(self.seen(), dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.get("out", (...,))
        if "out" in options:
            options["out"] = out[0] if len(out) == 1 else out
        found = getattr(ufunc, method)(*map(_plain, inputs), **_all_plain(options))
        return found if any([part is ... or part is None for part in out]) else out[0] if len(out) == 1 else out

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, options: Any) -> Any:
        return function(*map(_plain, args), **_all_plain(options))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(name)
        return getattr(self.seen(), name)

    def __getitem__(self, index: Any) -> Any:
        return self.seen()[_plain(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.seen()[_plain(index)] = _plain(value)

    def __len__(self) -> int:
        return len(self.seen())

    def view(self, *how: Any) -> Any:
        """An array over the same memory, which the program may hand on."""
        numbers = None if how else self.tape.numbers
        return self.seen().view(*how) if numbers is None else numbers.handed(self)

    def item(self, *index: Any) -> Any:
        """The number as one of Python's, which the program may hand on."""
        return self._read(methodcaller("item", *index))

    def tolist(self) -> Any:
        """The numbers as Python's, which the program may hand on."""
        return self._read(methodcaller("tolist"))

    def _read(self, whole: Callable[[Any], Any]) -> Any:
        numbers = self.tape.numbers
        return whole(self.seen()) if numbers is None else numbers.read(self, whole)

    def __bool__(self) -> bool:
        """On which the program may branch."""
        numbers = self.tape.numbers
        return bool(self.seen()) if numbers is None else bool(numbers.branch(self))

    def __int__(self) -> int:
        return int(self.seen())

    def __float__(self) -> float:
        return float(self.seen())

    def __complex__(self) -> complex:
        return complex(self.seen())

    def __index__(self) -> int:
        return self.seen().__index__()


def _plain(value: Any) -> Any:
    """A value with the numbers of the traced arrays in it, also inside of lists and tuples."""
    if isinstance(value, Answering):
        return value.seen()
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _all_plain(options: dict[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in options.items()}
