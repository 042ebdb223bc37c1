"""Random arrays in PyTorch's order and with PyTorch's bits: the real-valued distributions, bernoulli and dropout.

A generator, a shape and a dtype give a new array in C order. ``sampling`` draws integers, permutations and multinomial
samples. PyTorch 2.13 on a CPU, and this module, work as follows:

- Draws are serial, whatever the size and the number of threads.
- A uniform float32 or float16 takes one 32-bit word and uses its low 24 bits (float16 is rounded afterwards). A float64
  takes two words and uses 53 bits. A complex number is a pair of reals.
- Normal samples come in two ways. A contiguous array of 16 elements or more takes blocks of 16 uniform numbers
  (``box_muller``). Any other array takes pairs in float64, for every dtype. If the second number of the last pair is
  left over, it waits in the generator for the next draw of this kind.
- The other distributions (exponential, geometric, Cauchy, log-normal, and bernoulli with a number for p) are computed
  in float64 for every dtype, and rounded at the end. Rounding to float16 goes through float32.
- A draw in place fills memory in the order of its addresses: see ``layout.slowest_first``.

On other kinds of CPU, PyTorch draws other numbers. Without AVX2 (old x86, ARM, ATEN_CPU_CAPABILITY=default) the last
bits differ for float32 and float16 normal samples in blocks, and for all samples that are scaled and shifted, which is
one fused step here: uniform numbers between bounds, normal numbers with a mean, Cauchy and log-normal numbers. The
logarithms, sines and exponentials of doubles come from the C library, in PyTorch and here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations import dtypes
from ...foundations.dtypes import Shape, is_half, letter, require
from ...foundations.limits import finfo
from ..narrow import wide
from ..native import libm
from ..native.fma import multiply_add
from ..thresholds import COMPARED_DRAWS
from .box_muller import BLOCK, box_muller
from .drawing import LOW_53_BITS, rounded, unit32, unit64
from .twister import Twister

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray  # numpy.typing takes a while to import

Array = np.ndarray[Any, np.dtype[Any]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]



def uniform(generator: Twister, shape: Shape, dtype: DTypeLike, low: float = 0.0, high: float = 1.0) -> Array:
    """Numbers from [low, high): ``rand`` and ``uniform_``."""
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        return uniform(generator, (*shape, 2), _real(dtype), low, high).view(dtype)[..., 0]
    require(letter(dtype) == "f" and dtype.itemsize > 1, "check_uniform_bounds", dtype)
    between_bounds = low != 0 or high != 1
    if between_bounds:
        _check_bounds(dtype, low, high)
    values: Array = (unit64 if dtype == np.float64 else unit32)(generator, math.prod(shape))
    if between_bounds:
        wide = values.dtype.type
        values = multiply_add(values, wide(high) - wide(low), low)
    values = rounded(values, dtype)
    if between_bounds or is_half(dtype):
        # Rounding may have produced the upper bound, which is excluded.
        ends = rounded(np.array([low, high]), dtype)
        values[values == ends[1]] = ends[0]
    return values.reshape(shape)


def normal(generator: Twister, shape: Shape, dtype: DTypeLike, mean: float = 0.0, std: float = 1.0, *,
           contiguous: bool = True) -> Array:
    """Normal samples: ``randn`` and ``normal_``. Each part of a complex sample has half the variance of `std`.

    Use ``contiguous=False`` for a draw into memory that is not in C order: PyTorch then draws other numbers.
    """
    dtype = np.dtype(dtype)
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if dtype.kind == "c":
        parts = normal(generator, (*shape, 2), _real(dtype), mean, std / math.sqrt(2), contiguous=contiguous)
        return parts.view(dtype)[..., 0]
    count = math.prod(shape)
    require(letter(dtype) == "f" or not count, "normal_kernel_cpu", dtype)
    draw_blocks = count >= BLOCK and contiguous
    samples: Array = _blocks_of_normals(generator, count, dtype) if draw_blocks else _pairs_of_normals(generator, count)
    if std == 1 and mean == 0:
        samples += 0.0                                      # as in `multiply_add`, this turns -0 into 0
    else:
        samples = multiply_add(samples, std, mean)
    return rounded(samples, dtype).reshape(shape)


def normal_around(generator: Twister, mean: Array | float, std: Array | float) -> Array:
    """Normal samples with a distribution each: ``torch.normal`` with an array for `mean`, for `std` or for both."""
    if isinstance(std, np.ndarray):
        if std.dtype.kind == "c":
            raise RuntimeError("normal expects standard deviation to be non-complex")
        if std.size and not std.min() >= 0:
            raise RuntimeError("normal expects all elements of std >= 0.0")
    dtype = mean.dtype if isinstance(mean, np.ndarray) else np.asarray(std).dtype
    shape = np.broadcast_shapes(np.shape(mean), np.shape(std))
    with np.errstate(all="ignore"):
        if isinstance(std, np.ndarray):
            samples = normal(generator, shape, dtype)
            samples = rounded(samples * _weak(std, samples), dtype)
        else:
            samples = normal(generator, shape, dtype, 0.0, std)
        return rounded(samples + _weak(mean, samples), dtype)


def log_normal(generator: Twister, shape: Shape, dtype: DTypeLike, mean: float = 1.0, std: float = 2.0) -> Array:
    """Exponentials of normal samples: ``log_normal_``."""
    dtype = np.dtype(dtype)
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    require(letter(dtype) == "f", "log_normal_cpu", dtype)
    samples = multiply_add(_pairs_of_normals(generator, math.prod(shape)), std, mean)
    return rounded(libm.exp(samples), dtype).reshape(shape)


def exponential(generator: Twister, shape: Shape, dtype: DTypeLike, rate: float = 1.0) -> Array:
    """Exponentially distributed numbers with mean 1 / rate: ``exponential_``."""
    dtype = np.dtype(dtype)
    if not rate > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    if letter(dtype) != "f":
        raise _not_continuous("Exponential", dtypes.dtype.of[dtype].legacy)
    samples = libm.log1p(-unit64(generator, math.prod(shape)))
    samples *= -1 / rate
    return rounded(samples, dtype).reshape(shape)


def cauchy(generator: Twister, shape: Shape, dtype: DTypeLike, median: float = 0.0, sigma: float = 1.0) -> Array:
    """Cauchy-distributed numbers: ``cauchy_``."""
    dtype = np.dtype(dtype)
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    if letter(dtype) != "f":
        raise _not_continuous("Cauchy", dtypes.C_NAMES[dtype.name])
    angles = math.pi * (unit64(generator, math.prod(shape)) - 0.5)
    return rounded(multiply_add(libm.tan(angles), sigma, median), dtype).reshape(shape)


def _not_continuous(name: str, given: str) -> RuntimeError:
    """The error for a dtype that is not floating."""
    return RuntimeError(f"{name} distribution is a continuous probability distribution. dtype must be a floating point "
                        f"but you specified {given}")


def geometric(generator: Twister, shape: Shape, dtype: DTypeLike, p: float) -> Array:
    """The number of trials of probability `p` until the first success: ``geometric_``."""
    dtype = np.dtype(dtype)
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    require(letter(dtype) in "iuf", "geometric_cpu", dtype)
    trials = libm.log(unit64(generator, math.prod(shape)))
    trials /= math.log1p(-p)
    return rounded(np.ceil(trials), dtype).reshape(shape)


def bernoulli(generator: Twister, shape: Shape, dtype: DTypeLike, p: Array | float) -> Array:
    """Ones with probability `p`, else zeros: ``bernoulli_``, or ``torch.bernoulli(p)`` if `p` is an array of `dtype`.

    An array `p` is broadcast to `shape`. Its dtype decides how many words a draw takes: two for float64, else one. A
    number counts as float64.
    """
    dtype = np.dtype(dtype)
    count = math.prod(shape)
    if not isinstance(p, np.ndarray):
        if not 0 <= p <= 1:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
        require(dtype.kind != "c" or not count, "bernoulli_scalar_cpu_", dtype)
        return _below(generator, count, p).reshape(shape).astype(dtype, copy=False)
    require(dtype.kind != "c", "bernoulli_tensor_cpu_self_", dtype)
    require(letter(p.dtype) == "f", "bernoulli_tensor_cpu_p_", p.dtype)
    if count and not (np.minimum.reduce(p, axis=None) >= 0 and np.maximum.reduce(p, axis=None) <= 1):   # or a nan
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be "
                           "improved?  If so, please report an enhancement request to PyTorch.)")
    unit = unit64(generator, count) if p.dtype == np.float64 else unit32(generator, count)
    ones: Array = (unit.reshape(shape) < wide(p)).astype(dtype, order="C")
    return ones


def _below(generator: Twister, count: int, p: float) -> NDArray[np.bool]:
    """Whether the next numbers of `unit64` are below `p`. They are compared as ints, which are `unit64` times 2**53."""
    found, limit = np.empty(count, np.bool), np.uint64(math.ceil(p * 2.0**53))
    with generator.lock:
        for start in range(0, count, COMPARED_DRAWS):
            part = found[start : start + COMPARED_DRAWS]
            words = generator.random64(part.size)
            words &= LOW_53_BITS
            np.less(words, limit, out=part)
    return found


def dropout_mask(generator: Twister, shape: Shape, dtype: DTypeLike, p: float) -> Array:
    """The factors of dropout: 1 / (1 - p) with probability 1 - p, else 0. If p is 0 or 1, nothing is drawn."""
    dtype = np.dtype(dtype)
    if p in (0, 1):
        return np.full(shape, 1 - p, dtype)
    # PyTorch divides float16 and bfloat16 in float32. Factors for ints are made, too: the product with them is refused.
    exact: Any = np.float32 if is_half(dtype) else dtype.type if dtype.kind in "fc" else np.float64
    mask = bernoulli(generator, shape, dtype, 1 - p)
    mask *= (exact(1) / exact(1 - p)).astype(dtype)
    return mask


def _blocks_of_normals(generator: Twister, count: int, dtype: np.dtype[Any]) -> Array:
    """Standard normals, float64 or float32. If `count` is not a multiple of 16, the last 16 are drawn again."""
    draw = unit64 if dtype == np.float64 else unit32
    tail = count % BLOCK
    if not tail:
        return box_muller(draw(generator, count))
    # The numbers before the last draw of 16 fill the array to its end; for float16 only to the end of the last full
    # block.
    before_tail = count - tail
    drawn: Array = draw(generator, (before_tail if is_half(dtype) else count) + BLOCK)
    samples = box_muller(np.concatenate((drawn[:before_tail], drawn[-BLOCK:])))
    return np.concatenate((samples[: count - BLOCK], samples[-BLOCK:]))


def _few_normals(generator: Twister, count: int) -> Doubles:
    """`_pairs_of_normals` with Python's numbers. For a few samples NumPy's calls take longer than the work."""
    with generator.lock:
        kept = generator.next_double_normal
        samples = [] if kept is None else [kept]
        missing = count - len(samples)
        words = generator.random32(2 * (missing + missing % 2)).tolist()
        for at in range(0, len(words), 4):
            first, second = ((words[i] << 32 | words[i + 1]) % 2**53 * 2.0**-53 for i in (at, at + 2))
            radius, angle = math.sqrt(-2 * math.log1p(-second)), 2 * math.pi * first
            samples += (radius * math.cos(angle), radius * math.sin(angle))
        generator.next_double_normal = samples.pop() if missing % 2 else None
    return np.array(samples)


def _pairs_of_normals(generator: Twister, count: int) -> Doubles:
    """Standard normals. A number left over from the last draw comes first."""
    if not count:
        return np.empty(0)
    if count < BLOCK:
        return _few_normals(generator, count)
    with generator.lock:
        kept = generator.next_double_normal
        missing = count if kept is None else count - 1
        unit = unit64(generator, missing + missing % 2)
        radius, angle = np.sqrt(-2 * libm.log1p(-unit[1::2])), 2 * math.pi * unit[::2]
        samples = np.empty(1 + unit.size)
        samples[0] = 0 if kept is None else kept
        np.multiply(radius, libm.cos(angle), out=samples[1::2])
        np.multiply(radius, libm.sin(angle), out=samples[2::2])
        generator.next_double_normal = float(samples[-1]) if missing % 2 else None
    first = 1 if kept is None else 0
    return samples[first : first + count]


def _weak(operand: Array | float, samples: Array) -> Array:
    """An operand as PyTorch's arithmetic treats it.

    A number takes the dtype of the samples. So does a 0-d array if the samples have dimensions; for float16 samples it
    becomes float32 and is not rounded first.
    """
    if not isinstance(operand, np.ndarray):
        return np.asarray(operand, samples.dtype)
    if operand.ndim or not samples.ndim:
        return operand
    return operand.astype(np.float32 if is_half(samples.dtype) else samples.dtype)


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.float32 if dtype == np.complex64 else np.float64)


def _check_bounds(dtype: np.dtype[Any], low: float, high: float) -> None:
    largest = finfo(dtypes.dtype.of[dtype]).max
    for name, bound in (("from", low), ("to", high)):
        if not abs(bound) <= largest:
            raise RuntimeError(f"{name} is out of bounds for {dtypes.C_NAMES[dtype.name]}")
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    if high - low > largest:
        raise RuntimeError(f"uniform_ expects to-from <= std::numeric_limits<{dtypes.dtype.of[dtype].legacy}>::max(), "
                           f"but found to={high:g} and from={low:g} which result in to-from to exceed the limit")
