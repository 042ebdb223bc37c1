"""Programs that use a state which is no argument, with changes of the state between their calls."""

from __future__ import annotations

import abc
import array
import collections
import contextvars
import ctypes
import decimal
import functools
import io
import itertools
import operator
import os
import queue
import threading
import warnings
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import retrograd as torch

FACTOR = 1.0


class Program(NamedTuple):
    """`function` is what is compiled, and `change(i)` what happens before the call number i. `left` looks at what calls
    have left. `given(function, x)` makes the call, if it is not `function(x)`.
    """

    function: Callable[[Any], Any]
    change: Callable[[int], object] = lambda i: None
    left: Callable[[], Any] = lambda: None
    given: Callable[[Callable[[Any], Any], Any], Any] = lambda function, x: function(x)


class Holder:
    """An object of the program with an attribute."""

    def __init__(self) -> None:
        self.k = 1.0


PROGRAMS: dict[str, Callable[[], Program]] = {}


def program(make: Callable[[], Program]) -> Callable[[], Program]:
    PROGRAMS[make.__name__.replace("_", " ").strip()] = make
    return make


@program
def attribute_of_the_function() -> Program:
    def step(x: Any) -> Any:
        return x * step.k                                    # type: ignore[attr-defined]

    return Program(step, lambda i: setattr(step, "k", float(i)))


@program
def attribute_of_another_function() -> Program:
    def helper() -> None: ...

    return Program(lambda x: x * helper.k, lambda i: setattr(helper, "k", float(i)))      # type: ignore[attr-defined]


@program
def calls_that_the_function_counts() -> Program:
    def step(x: Any) -> Any:
        step.calls += 1                                      # type: ignore[attr-defined]
        return x * step.calls                                # type: ignore[attr-defined]

    step.calls = 0                                           # type: ignore[attr-defined]
    return Program(step, left=lambda: step.calls)            # type: ignore[attr-defined]


@program
def seeded_generator() -> Program:
    seed = [0]
    return Program(lambda x: x * np.random.default_rng(seed[0]).random(), lambda i: seed.__setitem__(0, i))


@program
def initial_seed() -> Program:
    return Program(lambda x: x * (torch.initial_seed() % 97), lambda i: torch.manual_seed(i * 31))


@program
def environment() -> Program:
    return Program(lambda x: x * float(os.environ.get("RETROGRAD_TESTED", "1")),
                   lambda i: os.environ.__setitem__("RETROGRAD_TESTED", str(i)))


@program
def environment_by_a_function() -> Program:
    return Program(lambda x: x * float(os.getenv("RETROGRAD_TESTED", "1")),
                   lambda i: os.environ.__setitem__("RETROGRAD_TESTED", str(i)))


@program
def a_text_stream() -> Program:
    stream = io.StringIO()
    return Program(lambda x: (stream.write("a"), x * 2)[1], left=lambda: len(stream.getvalue()))


@program
def a_queue() -> Program:
    waiting: queue.Queue[int] = queue.Queue()
    return Program(lambda x: (waiting.put(1), x * 2)[1], left=waiting.qsize)


@program
def a_simple_queue() -> Program:
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    return Program(lambda x: (waiting.put(1), x * 2)[1], left=waiting.qsize)


@program
def an_event() -> Program:
    event = threading.Event()
    return Program(lambda x: (event.set(), x * 2)[1], lambda i: event.clear(), event.is_set)


@program
def a_lock() -> Program:
    lock = threading.Lock()
    return Program(lambda x: x * (2.0 if lock.locked() else 3.0),
                   lambda i: lock.acquire(False) if i % 2 else lock.locked() and lock.release())


@program
def user_dict() -> Program:
    kept = collections.UserDict(a=1.0)
    return Program(lambda x: x * kept["a"], lambda i: kept.__setitem__("a", float(i)))


@program
def user_list() -> Program:
    kept = collections.UserList([1.0])
    return Program(lambda x: x * kept[0], lambda i: kept.__setitem__(0, float(i)))


@program
def chain_map() -> Program:
    kept = collections.ChainMap({"a": 1.0})
    return Program(lambda x: x * kept["a"], lambda i: kept.__setitem__("a", float(i)))


@program
def an_array() -> Program:
    kept = array.array("d", [1.0])
    return Program(lambda x: x * kept[0], lambda i: kept.__setitem__(0, float(i)))


@program
def a_bytearray() -> Program:
    kept = bytearray(b"a")
    return Program(lambda x: x * kept[0], lambda i: kept.__setitem__(0, i + 1))


@program
def a_tensor_over_a_bytearray() -> Program:
    kept = bytearray(np.ones(3, np.float32).tobytes())
    return Program(lambda x: x * torch.frombuffer(kept, dtype=torch.float32),
                   lambda i: kept.__setitem__(3, 64 if i % 2 else 63))


@program
def an_array_over_a_bytearray() -> Program:
    kept = bytearray(np.ones(3, np.float32).tobytes())
    seen = np.frombuffer(kept, np.float32)
    return Program(lambda x: x * torch.from_numpy(seen), lambda i: kept.__setitem__(3, 64 if i % 2 else 63))


@program
def a_memoryview() -> Program:
    kept = bytearray(b"a")
    view = memoryview(kept)
    return Program(lambda x: x * view[0], lambda i: kept.__setitem__(0, i + 1))


@program
def a_number_of_c() -> Program:
    kept = ctypes.c_double(1.0)
    return Program(lambda x: x * kept.value, lambda i: setattr(kept, "value", float(i)))


@program
def a_local_of_threads() -> Program:
    kept = threading.local()
    return Program(lambda x: x * kept.k, lambda i: setattr(kept, "k", float(i)))


@program
def a_context_variable() -> Program:
    kept = contextvars.ContextVar("kept", default=1.0)
    return Program(lambda x: x * kept.get(), lambda i: kept.set(float(i)))


@program
def a_weak_reference() -> Program:
    kept = Holder()
    reference = weakref.ref(kept)
    return Program(lambda x: x * reference().k, lambda i: setattr(kept, "k", float(i)))   # type: ignore[union-attr]


@program
def a_weak_dictionary() -> Program:
    key, kept = Holder(), weakref.WeakKeyDictionary[Any, float]()
    return Program(lambda x: x * kept[key], lambda i: kept.__setitem__(key, float(i)))


@program
def an_attribute_getter() -> Program:
    kept, get = Holder(), operator.attrgetter("k")
    return Program(lambda x: x * get(kept), lambda i: setattr(kept, "k", float(i)))


@program
def a_method_caller() -> Program:
    class Getting(Holder):
        def get(self) -> float:
            return self.k

    kept, get = Getting(), operator.methodcaller("get")
    return Program(lambda x: x * get(kept), lambda i: setattr(kept, "k", float(i)))


@program
def globals_by_name() -> Program:
    return Program(lambda x: x * globals()["FACTOR"], lambda i: globals().__setitem__("FACTOR", float(i)))


@program
def evaluated() -> Program:
    return Program(lambda x: x * eval("FACTOR"), lambda i: globals().__setitem__("FACTOR", float(i)))


@program
def formatted() -> Program:
    kept = Holder()
    return Program(lambda x: x * float(f"{kept.k}"), lambda i: setattr(kept, "k", float(i)))


@program
def formatted_by_a_method() -> Program:
    class Formatted(Holder):
        def __format__(self, how: str) -> str:
            return str(self.k)

    kept = Formatted()
    return Program(lambda x: x * float(f"{kept}"), lambda i: setattr(kept, "k", float(i)))


@program
def the_context_of_decimals() -> Program:
    return Program(lambda x: x * float(decimal.Decimal(1) / decimal.Decimal(3)),
                   lambda i: setattr(decimal.getcontext(), "prec", i + 1))


@program
def a_function_by_type() -> Program:
    @functools.singledispatch
    def chosen(value: Any) -> float:
        return 1.0

    return Program(lambda x: x * chosen(3), lambda i: chosen.register(int)(lambda value, i=i: float(i)))


@program
def a_metaclass() -> Program:
    class Meta(type):
        n = 1.0

    class Made(metaclass=Meta): ...

    return Program(lambda x: x * Made.n, lambda i: setattr(Meta, "n", float(i)))


@program
def an_abstract_class() -> Program:
    class Abstract(abc.ABC): ...                             # noqa: B024

    class Other: ...

    kept = Other()
    return Program(lambda x: x * (2.0 if isinstance(kept, Abstract) else 1.0),
                   lambda i: Abstract.register(Other) if i == 2 else None)


@program
def the_grad_mode() -> Program:
    return Program(lambda x: (torch.set_grad_enabled(False), x * 2)[1], lambda i: torch.set_grad_enabled(True),
                   torch.is_grad_enabled)


@program
def the_default_dtype() -> Program:
    return Program(lambda x: (torch.set_default_dtype(torch.float64), x * 2)[1],
                   lambda i: torch.set_default_dtype(torch.float32), torch.get_default_dtype)


@program
def the_threads() -> Program:
    return Program(lambda x: (torch.set_num_threads(1), x * 2)[1], lambda i: torch.set_num_threads(2),
                   torch.get_num_threads)


@program
def a_counter() -> Program:
    count = itertools.count()
    return Program(lambda x: x * next(count))


@program
def a_warning() -> Program:
    said: list[str] = []

    def call(function: Callable[[Any], Any], x: Any) -> Any:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            result = function(x)
        said.extend([str(each.message) for each in found if str(each.message) == "again"])
        return result

    return Program(lambda x: (warnings.warn("again", stacklevel=1), x * 2)[1], left=lambda: len(said), given=call)
