"""Work that threads share: each part runs once, sums do not depend on the threads, and several callers do not meet."""

from __future__ import annotations

import ctypes
import os
import random
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from needing import absent, needs
from retrograd.compilation.native import machine, products, team
from retrograd.compilation.native.compiling import compiled
from retrograd.compilation.native.host import host
from retrograd.compilation.native.lowered import product
from retrograd.compilation.native.machine import Native, Placed, build
from retrograd.compilation.native.modules import Module
from retrograd.compilation.native.sharing import shared
from retrograd.compilation.native.words import CLAIM, DONE, PRESENT, WORDS, WORK
from retrograd.compilation.program.lines import Line, Ref, Value
from retrograd.compilation.program.loops import Loop, Operand, Output, Reduction, Step
from retrograd.kernels.layout import address
from retrograd.kernels.native import threads
from retrograd.ops.elementwise import arithmetic
from retrograd.ops.linalg.matrix import bmm

pytestmark = needs("llvmlite")

if missing := absent("llvmlite"):
    pytest.skip(missing, allow_module_level=True)

F32, F64 = np.dtype("f4"), np.dtype("f8")
Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def helped(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Three threads, for whatever little work."""
    monkeypatch.setattr(machine, "ENOUGH", 0)
    monkeypatch.setattr(machine, "_PART", 1)
    monkeypatch.setattr(products, "_ENOUGH", 1)
    before = threads.available()
    threads.use(3)
    yield
    threads.use(before)


def counting(shape: tuple[int, int], reduced: tuple[int, ...], kind: str = "sum") -> tuple[Native, list[Array]]:
    """A plan that adds 1 to an array in its place, and reduces what was there."""
    x, left = np.zeros((shape[0], shape[1] + 3), F64)[:, 3:], [n for dim, n in enumerate(shape) if dim not in reduced]
    own = Operand(F64, x.strides)
    loop = Loop(shape, (own,), (Step(arithmetic.add, (Ref(0), 1.0), F64),), (Output(1, own),),
                (Reduction(kind, 0, reduced, F64),) if reduced else ())
    arrays = [x, x, *([np.empty(left, F64)] if reduced else [])]
    return build([Placed(loop, tuple(range(len(arrays))))], len(arrays)), arrays


def table_of(arrays: list[Array]) -> Array:
    return np.array([address(array) for array in arrays], np.uintp)


@pytest.mark.parametrize("reduced", [(), (0,), (1,), (0, 1)], ids=str)
@pytest.mark.parametrize("kind", ["sum", "amax", "amin"])
def test_each_part_runs_once(reduced: tuple[int, ...], kind: str) -> None:
    native, arrays = counting((64, 48), reduced, kind)
    size, table = np.prod([(64, 48)[dim] for dim in reduced]) if kind == "sum" else 1, table_of(arrays)
    for count in range(500):
        native(table)
        assert (arrays[0] == count + 1).all()
        if reduced:
            assert (arrays[2] == count * size).all()


@pytest.mark.parametrize(("count", "parts"), [(1, [6, 5, 4, 3, 2]), (2, [3, 4, 5, 6, 2]), (3, [2, 3, 6, 5, 4]),
                                              (9, [6, 5, 4, 3, 2])])
def test_a_helper_takes_parts_of_its_own_share_and_then_those_that_are_left(count: int, parts: list[int]) -> None:
    """The helper is the second of so many threads."""
    taken: list[tuple[int, int, int]] = []
    note = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(lambda *part: taken.append(part))
    memory, number = np.zeros(WORDS, np.int64), 9 << 32
    memory[WORK:WORK + 5] = ctypes.cast(note, ctypes.c_void_p).value, 5, 103, 7, count
    memory[CLAIM] = number + (0xFFFFFFFF << 7 & 0xFFFFFFFF) + 0b11           # the first two parts are taken
    team._helping()[0](address(memory))
    assert taken == [(5, 103 * part // 7, 103 * (part + 1) // 7) for part in parts]
    assert (memory[CLAIM], memory[DONE], memory[PRESENT]) == (number + 0xFFFFFFFF, 5, 0)


@pytest.mark.parametrize("earlier", [0, 7, 2 ** 31 - 1, 2 ** 32 - 2, 2 ** 32 - 1])
@pytest.mark.parametrize("parts", [1, 2, 31, 32, 33, 1000])
def test_any_number_of_parts_covers_the_range_once(parts: int, earlier: int) -> None:
    """After so many `earlier` works: their number begins anew after 2 ** 32."""
    module, taken = Module(host()), list[tuple[int, int]]()
    shared(module, "work", 1, 2)
    module.functions["go"] = (
        "define void @go(ptr %work, ptr %team, i64 %parts) {\n"
        "  call void @share(ptr %team, ptr %work, ptr null, i64 2000, i64 %parts)\n  ret void\n}")
    code = compiled(module.text(), True)
    note = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
        lambda _, begin, end: taken.append((begin, end)))
    go = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(code.addresses["go"])
    memory = np.zeros(WORDS, np.int64)
    memory.view(np.uint64)[0] = earlier << 32 | 2 ** 32 - 1 if earlier else 0
    for _ in range(3):
        taken.clear()
        go(ctypes.cast(note, ctypes.c_void_p), address(memory), parts)
        assert len(taken) == min(parts, 32)
        assert [begin for begin, _ in taken] == [0, *[end for _, end in taken[:-1]]]
        assert taken[-1][1] == 2000


def test_a_thread_waits_for_the_parts_that_a_helper_has_taken() -> None:
    module, ended, taken, main = Module(host()), list[int](), threading.Event(), threading.get_ident()
    shared(module, "work", 1, 2)
    module.functions["go"] = (
        "define void @go(ptr %work, ptr %team) {\n  call void @share(ptr %team, ptr %work, ptr null, i64 50, i64 5)\n"
        "  ret void\n}")
    code = compiled(module.text(), True)

    def work(table: Any, begin: int, end: int) -> None:
        if threading.get_ident() == main:
            taken.wait(60)
        else:
            taken.set()
            time.sleep(0.05)
        ended.append(begin)

    note = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(work)
    go = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code.addresses["go"])
    memory, over = np.zeros(WORDS, np.int64), threading.Event()

    def helping() -> None:
        while not over.is_set():
            team._helping()[0](address(memory))

    helper = threading.Thread(target=helping)
    helper.start()
    for _ in range(3):
        ended.clear()
        taken.clear()
        go(ctypes.cast(note, ctypes.c_void_p), address(memory))
        assert sorted(ended) == [0, 10, 20, 30, 40]
    over.set()
    helper.join()


@pytest.mark.parametrize("seed", range(6))
def test_sums_do_not_depend_on_the_threads(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(2, 400)), int(rng.integers(1, 90)))
    x = rng.standard_normal(shape).astype(F32)
    loop = Loop(shape, (Operand(F32, x.strides),), (Step(arithmetic.square, (Ref(0),), F32),), (),
                (Reduction("sum", 1, (0,), F32), Reduction("amax", 0, (0, 1), F32), Reduction("sum", 0, (1,), F32)))
    found = [np.empty(shape[1], F32), np.empty((), F32), np.empty(shape[0], F32)]
    native, table = build([Placed(loop, (0, 1, 2, 3))], 4), table_of([x, *found])
    threads.use(1)
    native(table)
    alone = [array.copy() for array in found]
    np.testing.assert_allclose(alone[0], np.square(x, dtype=F64).sum(0), rtol=1e-4)
    threads.use(3)
    for _ in range(200):
        native(table)
        for one, other in zip(found, alone, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("together", [0.4, 2.5])
def test_a_function_has_helpers_only_if_it_takes_less_time_with_them(together: float,
                                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    """The times are those of a clock that only the function moves. In the third round, the other way is quicker."""
    now, ways, cost = [0.0], list[bool](), {True: together, False: 1.0}

    def function(table: int, helpers: int | None) -> None:
        assert table == 7
        ways.append(helpers is not None)
        now[0] += cost[ways[-1]]

    monkeypatch.setattr(team, "clock", lambda: now[0])
    monkeypatch.setattr(team, "with_team", lambda function, table: function(table, 1))
    chooser, tried = team.Chooser(function), [True] * team.TRIES + [False] * team.TRIES
    for quicker in (together < 1, together < 1, together > 1):
        ways.clear()
        if quicker != (together < 1):
            cost = {way: 3.0 - number for way, number in cost.items()}
        for _ in range(team.ROUND + 1):
            chooser(7)
        assert ways == tried + [quicker] * (team.ROUND + 1 - len(tried))


def test_a_function_that_raises_is_called_as_before() -> None:
    def function(table: int, helpers: int | None) -> None:
        raise KeyboardInterrupt

    chooser = team.Chooser(function)
    for _ in range(20):
        with pytest.raises(KeyboardInterrupt):
            chooser(7)
        assert not team._Team.lock.locked()


def test_several_callers_have_one_team() -> None:
    plans, errors = [counting((40, 40 + i), (0,)) for i in range(4)], []

    def work(native: Native, arrays: list[Array]) -> None:
        table = table_of(arrays)
        for count in range(300):
            native(table)
            if not ((arrays[0] == count + 1).all() and (arrays[2] == 40 * count).all()):
                errors.append(count)

    running = [threading.Thread(target=work, args=plan) for plan in plans]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_has_a_team_of_its_own() -> None:
    native, arrays = counting((64, 48), (0,))
    table = table_of(arrays)
    native(table)
    child = os.fork()
    if not child:
        for _ in range(50):
            native(table)
        os._exit(0 if (arrays[0] == 51).all() and (arrays[2] == 64 * 50).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert (arrays[0] == 1).all()


def strided(rng: random.Random, shape: tuple[int, ...], dtype: np.dtype[Any], unit: int) -> Array:
    """Random numbers in memory of a random layout, in which the numbers of one dim lie side by side."""
    order = rng.sample(range(len(shape)), len(shape))
    order.append(order.pop(order.index(unit % len(shape))))
    gaps = [1 if dim == order[-1] else rng.choice((1, 1, 2)) for dim in range(len(shape))]
    numbers = np.random.default_rng(rng.randrange(1000))
    whole = numbers.standard_normal([shape[dim] * gaps[dim] for dim in order]).astype(dtype)
    found = whole.transpose(np.argsort(order))[tuple([slice(None, None, gap) for gap in gaps])]
    found = found[tuple([slice(None, None, -1 if dim != order[-1] and rng.random() < 0.1 else None)
                         for dim in range(len(shape))])]
    return np.broadcast_to(found[:1], shape) if len(shape) > 2 and rng.random() < 0.1 else found


@pytest.mark.sampled(8)
@pytest.mark.parametrize("bits", [host().bits, 128])
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("seed", range(20))
def test_products_of_stacks_that_lie_anywhere(seed: int, dtype: np.dtype[Any], bits: int) -> None:
    rng = random.Random(seed)
    around = tuple([rng.choice((1, 2, 3, 5)) for _ in range(rng.randint(0, 3))])
    m, n, k = [rng.choice((1, 2, 7, 16, 33, 67, 130, 211, 300)) for _ in range(3)]
    x = strided(rng, (*around, m, k), dtype, rng.randrange(len(around) + 2))
    y = strided(rng, (*around, k, n), dtype, rng.choice((-1, -2)))
    frame = np.full(m * n * int(np.prod(around)) + 32, 7, dtype)
    out = frame[16:-16].reshape(*around, m, n)
    values = [Value(number, like, number, "line") for number, like in enumerate((x, y, out))]
    found = product(Line(bmm, bmm.compute, (Ref(0), Ref(1)), (2,), False, False, None), values, (0, 1, 2))
    assert found is not None
    native = build([found], 3, host()._replace(bits=bits, letters=host().letters if bits == host().bits else ()))
    for _ in range(5):
        out.fill(np.nan)
        native(table_of([x, y, out]))
        np.testing.assert_allclose(out, np.matmul(x.astype(F64), y.astype(F64)), rtol=k * np.finfo(dtype).eps * 4,
                                   atol=k * np.finfo(dtype).eps * 4)
        assert (frame[:16] == 7).all()
        assert (frame[-16:] == 7).all()
