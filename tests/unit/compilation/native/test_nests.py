"""Machine code for loops of any shape, strides and reductions, for large loops in parts, and for matrix products."""

from __future__ import annotations

import itertools
import random
import re
from typing import Any

import numpy as np
import pytest

from needing import absent, needs
from retrograd.compilation.native import machine, writing
from retrograd.compilation.native.host import host
from retrograd.compilation.native.machine import Builder, Native, Placed, build
from retrograd.compilation.native.products import Product
from retrograd.compilation.program.lines import Ref
from retrograd.compilation.program.loops import Loop, Operand, Output, Reduction, Step
from retrograd.kernels.native import threads
from retrograd.ops import basic
from retrograd.ops.elementwise import arithmetic, comparison, elementary
from retrograd.ops.framework import Op

pytestmark = needs("llvmlite")

if missing := absent("llvmlite"):
    pytest.skip(missing, allow_module_level=True)

F32, F64, I32, I64, BOOL = map(np.dtype, ("f4", "f8", "i4", "i8", "?"))
# Narrow vectors, as on other processors, and this machine's own.
TARGETS = [host(), host()._replace(bits=128, letters=host().letters[-1:])]
GUARD = 64
Array = np.ndarray[Any, Any]


class Memory:
    """Arrays with a frame around their memory that nobody may write to."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self.frames: list[Array] = []

    def new(self, shape: tuple[int, ...], dtype: np.dtype[Any], order: tuple[int, ...] | None = None) -> Array:
        """An array of a shape, whose axes lie in the given order in memory."""
        order = tuple(range(len(shape))) if order is None else order
        size = int(np.prod(shape)) * dtype.itemsize
        frame = np.full(size + 2 * GUARD, 0xAB, np.uint8)
        inner = frame[GUARD:GUARD + size].view(dtype).reshape([shape[axis] for axis in order])
        array = inner.transpose(np.argsort(order))
        self.frames.append(frame)
        self.arrays.append(array)
        return array

    def table(self) -> Array:
        return np.array([array.__array_interface__["data"][0] for array in self.arrays], np.uintp)

    def intact(self) -> bool:
        return all([(frame[:GUARD] == 0xAB).all() and (frame[len(frame) - GUARD:] == 0xAB).all()
                    for frame in self.frames])


def numbers(rng: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    if dtype.kind == "f":
        return np.asarray(rng.standard_normal(shape), dtype)
    return np.asarray(rng.integers(-9, 9, shape)).astype(dtype)


def input_for(memory: Memory, rng: Any, shape: tuple[int, ...], dtype: np.dtype[Any], sort: str) -> Array:
    """An input, broadcast to the shape: dense, turned, with gaps, backwards, one for some dims, or one number."""
    ndim = len(shape)
    if sort == "turned":
        array = memory.new(shape, dtype, tuple(reversed(range(ndim))))
    elif sort in ("gaps", "backwards"):
        array = memory.new((*shape[:-1], 2 * shape[-1]) if ndim else (), dtype)
        if ndim:
            array = memory.arrays[-1] = array[..., ::2 if sort == "gaps" else -2]
    elif sort == "broadcast":
        array = memory.new(tuple([n if rng.integers(2) else 1 for n in shape]), dtype)
    elif sort == "number":
        array = memory.new((), dtype)
    else:
        array = memory.new(shape, dtype)
    array[...] = numbers(rng, array.shape, dtype)
    return np.broadcast_to(array, shape)


def random_loop(seed: int) -> tuple[Loop, Memory, list[Array]]:
    """A loop of some steps, its memory, and what its results must be."""
    rng, pick = np.random.default_rng(seed), random.Random(seed)
    ndim = pick.choice([0, 1, 1, 2, 2, 3])
    shape = tuple([pick.choice([1, 2, 3, 5, 8, 16, 17, 33, 70]) for _ in range(ndim)])
    if seed % 17 == 0 and ndim:
        shape = (0, *shape[1:])
    memory, dtype = Memory(), pick.choice([F32, F32, F64, I32, I64])
    inputs = [input_for(memory, rng, shape, pick.choice([dtype, dtype, dtype, F64, BOOL]), pick.choice(
        ["dense", "dense", "turned", "gaps", "backwards", "broadcast", "number"])) for _ in range(pick.randint(1, 4))]
    values, steps = list(inputs), []
    for _ in range(pick.randint(1, 7)):
        op: Op = pick.choice([arithmetic.add, arithmetic.mul, comparison.maximum, comparison.lt, basic.cast])
        at = [pick.randrange(len(values)) for _ in range(2)]
        args = (values[at[0]], F32) if op is basic.cast else (values[at[0]], values[at[1]])
        values.append(np.asarray(op.compute(*args)))
        steps.append(Step(op, (Ref(at[0]), F32 if op is basic.cast else Ref(at[1])), values[-1].dtype))
    outputs, expected = [], []
    for number in sorted({pick.randrange(len(inputs), len(values)) for _ in range(pick.randint(1, 2))}):
        order = list(range(ndim))
        if pick.random() < 0.3:
            pick.shuffle(order)
        array = memory.new(shape, values[number].dtype, tuple(order))
        outputs.append(Output(number, Operand(array.dtype, array.strides)))
        expected.append(values[number])
    reductions = []
    for _ in range(pick.randint(0, 2) if ndim else 0):
        number, dims = pick.randrange(len(inputs), len(values)), pick.sample(range(ndim), pick.randint(1, ndim))
        kind, value = pick.choice(["sum", "amax", "amin"]), values[number]
        if value.dtype.kind == "b" or 0 in shape:
            kind = "sum"
        own = I64 if value.dtype.kind == "b" else value.dtype
        made = {"sum": np.add, "amax": np.maximum, "amin": np.minimum}[kind].reduce(value, axis=tuple(dims), dtype=own)
        reductions.append(Reduction(kind, number, tuple(sorted(dims)), own))
        expected.append(made)
        memory.new(made.shape, own)
    return Loop(shape, tuple([Operand(a.dtype, a.strides) for a in inputs]), tuple(steps), tuple(outputs),
                tuple(reductions)), memory, expected


@pytest.mark.parametrize("seed", range(150))
@pytest.mark.sampled(3)
def test_any_loop_gives_what_numpy_gives(seed: int) -> None:
    loop, memory, expected = random_loop(seed)
    native = build([Placed(loop, tuple(range(len(memory.arrays))))], len(memory.arrays), TARGETS[seed % 2])
    native(memory.table())
    assert memory.intact()
    for found, wanted in zip(memory.arrays[len(loop.inputs):], expected):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-5 if found.dtype == F32 else 1e-13, atol=1e-4)
    for found, output, wanted in zip(memory.arrays[len(loop.inputs):], loop.outputs, expected):
        np.testing.assert_array_equal(found, wanted, err_msg=str(output))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(60))
def test_sums_over_some_rows_at_a_time(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_ADDED", 1 + seed % 2)
    test_any_loop_gives_what_numpy_gives(seed)


def unit(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Operand:
    return Operand(dtype, np.empty(shape, dtype).strides)


LARGE: list[tuple[tuple[int, ...], list[tuple[int, ...]]]] = [
    ((200_003,), [(0,)]), ((300, 701), [(0,), (1,), (0, 1)]), ((3, 70_001), [(0,), (1,)]),
    ((7, 100, 211), [(0, 2), (1,)]), ((1 << 17,), [])]


@pytest.mark.parametrize(("shape", "dims"), LARGE, ids=str)
@pytest.mark.parametrize("count", [1, 3])
def test_a_large_loop_runs_in_parts(shape: tuple[int, ...], dims: Any, count: int,
                                    monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "ENOUGH", 100)             # or the parts would be too short
    monkeypatch.setattr(threads._Crew, "count", count)
    x = np.random.default_rng(0).standard_normal(shape).astype(F32)
    out = np.empty_like(x)
    square = Step(arithmetic.mul, (Ref(0), Ref(0)), F32)
    loop = Loop(shape, (unit(shape, F32),), (square,), (Output(1, unit(shape, F32)),),
                tuple([Reduction(kind, 1, d, F32) for d in dims for kind in ("sum", "amax")]))
    results = [np.empty([n for dim, n in enumerate(shape) if dim not in r.dims], F32) for r in loop.reductions]
    arrays = [x, out, *results]
    native = build([Placed(loop, tuple(range(len(arrays))))], len(arrays))
    table = np.array([array.__array_interface__["data"][0] for array in arrays], np.uintp)
    for _ in range(2):                                      # a second call begins anew
        native(table)
    np.testing.assert_array_equal(out, x * x)
    for found, reduction in zip(results, loop.reductions):
        made = {"sum": np.add, "amax": np.maximum}[reduction.kind].reduce(x.astype(F64) ** 2, axis=reduction.dims)
        np.testing.assert_allclose(found, made, rtol=3e-6)


def test_a_sum_of_many_numbers_keeps_its_digits() -> None:
    n = 3_000_000
    x, total = np.full(n, 0.1, F32), np.empty((), F32)
    loop = Loop((n,), (unit((n,), F32),), (Step(arithmetic.positive, (Ref(0),), F32),), (), (
        Reduction("sum", 1, (0,), F32),))
    native = build([Placed(loop, (0, 1))], 2)
    native(np.array([x.ctypes.data, total.ctypes.data], np.uintp))
    exact = float(np.sum(x, dtype=F64))
    assert abs(float(total) - exact) / exact < 40 * np.finfo(F32).eps


@pytest.mark.parametrize("shape", [(1_200_000, 2), (300_001, 5), (40_000, 33), (3, 150_000, 2), (2000, 400)], ids=str)
def test_sums_of_columns_keep_their_digits(shape: tuple[int, ...]) -> None:
    x, dim = np.random.default_rng(0).random(shape, F32), len(shape) - 2
    sums = np.empty([n for i, n in enumerate(shape) if i != dim], F32)
    loop = Loop(shape, (unit(shape, F32),), (Step(arithmetic.positive, (Ref(0),), F32),), (), (
        Reduction("sum", 1, (dim,), F32),))
    build([Placed(loop, (0, 1))], 2)(np.array([x.ctypes.data, sums.ctypes.data], np.uintp))
    np.testing.assert_allclose(sums, np.sum(x, dim, F64), rtol=4 * np.finfo(F32).eps)


def test_reductions_see_nan_and_begin_with_a_positive_zero() -> None:
    for kind, numbers_, wanted in (("amax", [1, np.nan, 2], np.nan), ("amin", [np.nan, 1, 2], np.nan),
                                   ("sum", [-0.0, -0.0, -0.0], 0.0), ("amax", [-np.inf] * 3, -np.inf)):
        x, result = np.array(numbers_, F32), np.empty((), F32)
        loop = Loop((3,), (unit((3,), F32),), (Step(arithmetic.positive, (Ref(0),), F32),), (),
                    (Reduction(kind, 1, (0,), F32),))
        build([Placed(loop, (0, 1))], 2)(np.array([x.ctypes.data, result.ctypes.data], np.uintp))
        np.testing.assert_array_equal(result, np.asarray(wanted, F32))
        assert np.signbit(result) == (wanted < 0)


def test_loops_run_in_order_and_an_output_may_lie_on_an_input() -> None:
    x, total = np.arange(100, dtype=F64), np.empty((), F64)
    twice = Loop((100,), (unit((100,), F64),), (Step(arithmetic.add, (Ref(0), Ref(0)), F64),), (
        Output(1, unit((100,), F64)),), ())
    whole = Loop((100,), (unit((100,), F64), Operand(F64, (0,))), (Step(arithmetic.mul, (Ref(0), Ref(0)), F64),), (), (
        Reduction("sum", 2, (0,), F64),))
    minus = Loop((100,), (unit((100,), F64), Operand(F64, (0,))), (Step(arithmetic.sub, (Ref(0), Ref(1)), F64),), (
        Output(2, unit((100,), F64)),), ())
    native = build([Placed(twice, (0, 0)), Placed(whole, (0, 1, 1)), Placed(minus, (0, 1, 0))], 2)
    native(np.array([x.ctypes.data, total.ctypes.data], np.uintp))
    expected = 2 * np.arange(100, dtype=F64)
    assert total == (expected ** 2).sum()
    np.testing.assert_array_equal(x, expected - total)


def test_small_and_large_loops_mix_and_the_table_may_change() -> None:
    n = 1 << 17
    small = Loop((5,), (unit((5,), F32),), (Step(arithmetic.add, (Ref(0), Ref(0)), F32),), (
        Output(1, unit((5,), F32)),), ())
    large = Loop((n,), (Operand(F32, (0,)),), (Step(arithmetic.mul, (Ref(0), Ref(0)), F32),), (
        Output(1, unit((n,), F32)),), ())
    native = build([Placed(small, (0, 1)), Placed(large, (1, 2)), Placed(small, (2, 3))], 4)
    for start in (1.0, 3.0):
        arrays = [np.full(5, start, F32), np.empty(5, F32), np.empty(n, F32), np.empty(5, F32)]
        native(np.array([array.ctypes.data for array in arrays], np.uintp))
        np.testing.assert_array_equal(arrays[2], np.full(n, 4 * start * start, F32))
        np.testing.assert_array_equal(arrays[3], np.full(5, 8 * start * start, F32))
    with pytest.raises(ValueError, match="a table of 4 addresses"):
        native(np.zeros(3, np.uintp))


def test_a_call_after_an_interrupted_one_runs_each_loop_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(source: str, thorough: bool) -> Any:
        raise KeyboardInterrupt

    own = unit((5,), F32)
    loop = Loop((5,), (own,), (Step(arithmetic.add, (Ref(0), Ref(0)), F32),), (Output(1, own),), ())
    native, x = build([Placed(loop, (0, 0))], 1), np.ones(5, F32)
    table = np.array([x.ctypes.data], np.uintp)
    monkeypatch.setattr(machine, "compiled", interrupted)
    with pytest.raises(KeyboardInterrupt):
        native(table)
    monkeypatch.undo()
    native(table)
    np.testing.assert_array_equal(x, np.full(5, 2, F32))


def test_the_texts_are_there_on_request() -> None:
    loop = Loop((9,), (unit((9,), F32),), (Step(elementary.exp, (Ref(0),), F32),), (Output(1, unit((9,), F32)),), ())
    native = build([Placed(loop, (0, 1))], 2)
    assert isinstance(native, Native)
    assert "define" in native.llvm
    assert "ret" in native.assembly
    assert "loop0" in native.source


PRODUCTS = [(1, 1, 1), (2, 3, 4), (5, 17, 3), (7, 2, 31), (4, 8, 16), (20, 30, 40), (64, 10, 32), (10, 32, 64),
            (13, 70, 50), (33, 129, 37), (3, 5, 700), (9, 1, 513), (1, 21, 256), (40, 65, 600)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: str(target.bits))
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("transposes", [*itertools.product((False, True), repeat=2)], ids=str)
def test_products(transposes: tuple[bool, bool], dtype: np.dtype[Any], target: Any) -> None:
    rng, memory, items, expected = np.random.default_rng(0), Memory(), [], []
    arrays = memory.arrays
    for m, n, k in PRODUCTS:
        a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
        items.append(Product((len(arrays), len(arrays) + 1, len(arrays) + 2), m, n, k, transposes, dtype))
        for x, turned in zip((a, b), transposes):
            memory.new(x.T.shape if turned else x.shape, dtype)[...] = x.T if turned else x
        memory.new((m, n), dtype)
        expected.append(a.astype(F64) @ b.astype(F64))
    build(items, len(arrays), target)(memory.table())
    assert memory.intact()
    for (_, _, k), found, wanted in zip(PRODUCTS, arrays[2::3], expected):
        off = k * np.finfo(dtype).eps
        np.testing.assert_allclose(found, wanted, rtol=off, atol=off)


def test_a_product_adds_one_term_after_the_other_in_blocks() -> None:
    if not host().fma:
        pytest.skip("a machine without fused multiplication")
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((3, 600)).astype(F32), rng.standard_normal((600, 5)).astype(F32)
    out, expected = np.empty((3, 5), F32), np.zeros((3, 5), F32)
    for start in range(0, 600, 256):
        block = np.zeros((3, 5), F32)
        for p in range(start, min(start + 256, 600)):
            exact = np.multiply.outer(a[:, p].astype(np.longdouble), b[p].astype(np.longdouble)) + block
            block = exact.astype(F32)                        # one rounding, since 64 bits hold the sum
        expected = expected + block
    build([Product((0, 1, 2), 3, 5, 600, (False, False), F32)], 3)(
        np.array([array.ctypes.data for array in (a, b, out)], np.uintp))
    np.testing.assert_array_equal(out, expected)


def test_the_same_loops_compile_once() -> None:
    loop = Loop((9,), (unit((9,), F32),), (Step(arithmetic.neg, (Ref(0),), F32),), (Output(1, unit((9,), F32)),), ())
    first, second = [build([Placed(loop, (0, 1))], 2) for _ in range(2)]
    assert first.builder.codes() == second.builder.codes()
    x, out = np.arange(9, dtype=F32), np.empty(9, F32)
    second(np.array([x.ctypes.data, out.ctypes.data], np.uintp))
    np.testing.assert_array_equal(out, -x)


def test_plans_of_one_builder_compile_together() -> None:
    builder, x, out = Builder(), np.arange(9, dtype=F32), np.empty(9, F32)
    plans = []
    for op in (arithmetic.neg, arithmetic.square, elementary.sqrt):
        loop = Loop((9,), (unit((9,), F32),), (Step(op, (Ref(0),), F32),), (Output(1, unit((9,), F32)),), ())
        plans.append(builder.add([Placed(loop, (0, 1))], 2))
    assert len(builder.codes()) == 1
    with pytest.raises(RuntimeError, match="compiled already"):
        builder.add([], 0)
    for native, wanted in zip(plans, (-x, x * x, np.sqrt(x)), strict=True):
        native(np.array([x.ctypes.data, out.ctypes.data], np.uintp))
        np.testing.assert_array_equal(out, wanted)


def test_the_stack_is_aligned_to_vectors() -> None:
    """What must survive a call lies on the stack, and crosses no line of the cache."""
    if not host().letters:
        pytest.skip("a machine without a library of vector functions")
    powers = [Step(arithmetic.mul, (Ref(i), Ref(0)), F32) for i in range(4)]
    sums = [Step(arithmetic.add, (Ref(5 + i), Ref(4 - i)), F32) for i in range(4)]
    own = unit((64,), F32)
    loop = Loop((64,), (own,), (*powers, Step(elementary.log, (Ref(4),), F32), *sums), (Output(9, own),), ())
    native = build([Placed(loop, (0, 1))], 2)
    x, out = np.arange(1, 65, dtype=F32) / 8, np.empty(64, F32)
    native(np.array([x.ctypes.data, out.ctypes.data], np.uintp))
    exact = x.astype(F64)
    np.testing.assert_allclose(out, np.log(exact**5) + exact**5 + exact**4 + exact**3 + exact**2, rtol=1e-6)
    assert re.search(r"mov\S+\s.*[xyz]mm\d+, .*\(%r[sb]p\)", native.assembly)
    assert not re.search(r"mov(ups|dqu)\S*\s.*[xyz]mm\d+, .*\(%r[sb]p\)", native.assembly)
