"""Functions that round tensors to the numbers that quantized tensors could hold, for training with such numbers.

No tensor is quantized: the results are floating-point tensors, and gradients pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....foundations.dtypes import F32, Array, dtype as torch_dtype, float32, int32, int64, letter, require
from ....foundations.errors import noted
from ....foundations.modes import local
from ....kernels.networks import fake_quantization as kernels
from ....ops.basic import check_values
from ....ops.framework import Op
from ....ops.networks import fake_quantization as ops
from ....tensors.state.base import TensorBase
from ...arguments.dims import axis_of
from ...recording.calls import recorded
from ...recording.not_differentiable import refuse_gradient
from ...recording.public import public
from ...state.base import plain
from ...state.inside import NO_WRITE, refuse_samples

_per_tensor, _per_tensor_of_tensors = recorded(ops.per_tensor), recorded(ops.per_tensor_of_tensors)
_per_channel, _observed = recorded(ops.per_channel), recorded(ops.observed)


def _check_ends(least: int, largest: int) -> None:
    if least > largest:
        raise noted(
            RuntimeError("`quant_min` should be less than or         equal to `quant_max`."),
            because=f"they are {least} and {largest}")


def _check(x: TensorBase, kernel: str, op: Op, *constants: Any) -> None:
    """Raise NotImplementedError unless x has a floating-point type, RuntimeError if a constant requires grad."""
    require(letter(x._array.dtype) == "f" and x._array.dtype.itemsize > 1, kernel, x._array.dtype)
    for name, constant in zip(("scale", "zero_point"), constants):
        refuse_gradient(op.name, name, constant)


def _one(x: TensorBase, dtype: torch_dtype) -> Any:
    """The only number of a tensor, as a 0-d array."""
    if x._array.size != 1:
        raise RuntimeError(f"a Tensor with {x._array.size} elements cannot be converted to Scalar")
    return _shaped(x, dtype, ())


def _shaped(x: TensorBase, dtype: torch_dtype | None, shape: tuple[int, ...]) -> Any:
    """The numbers of a tensor in another shape, and in another dtype if that is given."""
    return x.detach().to(x.dtype if dtype is None else dtype).reshape(shape)._array


def _refuse_outside(zeros: Array, least: int, largest: int) -> None:
    if zeros.size and (zeros.min() < least or zeros.max() > largest):
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")


@public("fake_quantize_per_tensor_affine(Tensor input, Tensor scale, Tensor zero_point, int quant_min, int quant_max)",
        "fake_quantize_per_tensor_affine(Tensor input, float scale, int zero_point, int quant_min, int quant_max)",
        strict=True)
def fake_quantize_per_tensor_affine(input: TensorBase, scale: Any, zero_point: Any, quant_min: int,
                                    quant_max: int) -> Any:
    """The numbers that a quantized tensor would hold: multiples of `scale`, cut off at both ends.

    The number 0 has the integer `zero_point`, and the ends are the integers `quant_min` and `quant_max`. The gradient
    passes where nothing is cut off. Raises RuntimeError if `quant_min` exceeds `quant_max`, NotImplementedError unless
    the input is a floating-point tensor.

    >>> import retrograd as torch
    >>> torch.fake_quantize_per_tensor_affine(torch.tensor([0.24, 0.26, 9.]), 0.1, 0, 0, 5)
    tensor([0.2000, 0.3000, 0.5000])
    """
    _check_ends(quant_min, quant_max)
    kernel = "fake_quantize_tensor_cachemask_kernel_type_handling"
    if isinstance(scale, (int, float)):
        if not quant_min <= zero_point <= quant_max:
            _refuse_outside(np.asarray(zero_point), quant_min, quant_max)
        _check(input, kernel, ops.per_tensor)
        zero = np.array(zero_point) if isinstance(zero_point, int) else _one(zero_point, int64)
        return _per_tensor(input, np.float32(scale).reshape(()), zero, quant_min, quant_max)[0]
    _check(input, kernel, ops.per_tensor_of_tensors, scale, zero_point)
    return _per_tensor_of_tensors(input, _one(scale, float32), _one(zero_point, int64), quant_min, quant_max)[0]


@public("fake_quantize_per_channel_affine(Tensor input, Tensor scale, Tensor zero_point, int axis, int quant_min, "
        "int quant_max)", strict=True)
def fake_quantize_per_channel_affine(input: TensorBase, scale: TensorBase, zero_point: TensorBase, axis: int,
                                     quant_min: int, quant_max: int) -> Any:
    """Like `fake_quantize_per_tensor_affine`, with a scale and a zero for each index along the dimension `axis`.

    `scale` is float32, and `zero_point` is int32, float32 or float16. Raises RuntimeError if their sizes do not fit.

    >>> import retrograd as torch
    >>> x = torch.tensor([[0.24, 0.26], [0.24, 0.26]])
    >>> torch.fake_quantize_per_channel_affine(x, torch.tensor([0.1, 0.5]), torch.zeros(2), 0, 0, 255)
    tensor([[0.2000, 0.3000],
            [0.0000, 0.5000]])
    """
    x, scales, zeros = input._array, scale._array, zero_point._array
    if scales.dtype != F32 and torch_dtype.of[scales.dtype].name != "bfloat16":
        raise RuntimeError(f"Scale must be Float or BFloat16, found {torch_dtype.of[scales.dtype].legacy}")
    if zeros.dtype.name not in ("int32", "float32", "float16"):
        raise RuntimeError(f"Zero-point must be Int32, Float or Half, found {torch_dtype.of[zeros.dtype].legacy}")
    if scales.ndim != 1 or zeros.ndim != 1:
        raise RuntimeError(f"{'scale' if scales.ndim != 1 else 'zero point'} should be a 1-D tensor")
    if scales.size != zeros.size:
        raise RuntimeError("scale and zero-point need to have the same dimensions")
    if axis >= x.ndim or axis < -x.ndim:
        axis_of("fake_quantize_per_channel_affine", axis, x.ndim)
    if axis < 0 or scales.size != x.shape[axis]:
        raise noted(
            RuntimeError("dimensions of scale and zero-point are not consistent with input tensor"),
            because=f"the axis has {x.shape[axis]} channels, counted from the first dimension")
    _check_ends(quant_min, quant_max)
    if zeros.dtype.kind == "i":
        check_values(zeros, _refuse_outside, quant_min, quant_max)
    _check(input, "fake_quantize_channel_cachemask_cpu_type_handling", ops.per_channel, scale, zero_point)
    along = (-1, *[1] * (x.ndim - axis - 1))
    return _per_channel(input, _shaped(scale, float32, along), _shaped(zero_point, None, along), quant_min,
                        quant_max)[0]


def _observe(x: Array, low: TensorBase, high: TensorBase, weight: float) -> None:
    """Move the running ends towards those of x: all the way if they are infinite, as before the first call."""
    for running, found in ((low, x.min(axis=-1)), (high, x.max(axis=-1))):
        before = running._array
        _write(running, local.thread.quietly(kernels.moved, before, found, np.float32(weight)))


def _write(into: TensorBase, numbers: Any) -> None:
    into.detach().copy_(plain(np.asarray(numbers).reshape(into._array.shape)))


@public("fused_moving_avg_obs_fake_quant(Tensor input, Tensor observer_on, Tensor fake_quant_on, Tensor running_min, "
        "Tensor running_max, Tensor scale, Tensor zero_point, float averaging_const, int quant_min, int quant_max, "
        "int ch_axis, bool per_row_fake_quant=False, bool symmetric_quant=False)", strict=True)
def fused_moving_avg_obs_fake_quant(input: TensorBase, observer_on: TensorBase, fake_quant_on: TensorBase,
                                    running_min: TensorBase, running_max: TensorBase, scale: TensorBase,
                                    zero_point: TensorBase, averaging_const: float, quant_min: int, quant_max: int,
                                    ch_axis: int, per_row_fake_quant: bool = False,
                                    symmetric_quant: bool = False) -> Any:
    """Observe the smallest and the largest number, choose `scale` and `zero_point`, and round like fake quantization.

    If `observer_on` holds 1, the call moves `running_min` and `running_max` by `averaging_const` towards the numbers
    of the input. If `fake_quant_on` holds 1, the call writes the scale and the zero that fit them, and the result is
    rounded; otherwise the result is a copy. With `per_row_fake_quant` each row along dimension 0 has its own. Raises
    RuntimeError unless the input is float32.
    """
    refuse_samples("fused_moving_avg_obs_fake_quant", input, observer_on, fake_quant_on, running_min, running_max,
                   scale, zero_point, said=NO_WRITE)
    x = input._array
    if ch_axis >= x.ndim:
        raise RuntimeError("Error in fused_moving_avg_obs_fake_quant_cpu: ch_axis must be < self.dim()")
    if per_row_fake_quant and ch_axis:
        raise RuntimeError("Per-channel FakeQuant in fused_moving_avg_obs_fake_quant is only supported on axis == 0")
    if x.dtype != F32:
        raise RuntimeError(f"expected scalar type Float but found {torch_dtype.of[x.dtype].legacy}")
    _check_ends(quant_min, quant_max)
    if observer_on.item() and x.size:
        rows = x.reshape(x.shape[0] if per_row_fake_quant else 1, -1)
        if per_row_fake_quant and not running_min._array.size:
            _begin(len(rows), running_min, running_max, scale, zero_point)
        _observe(rows, running_min, running_max, averaging_const)
    on = bool(fake_quant_on.item())
    if on and x.size:
        found = [kernels.chosen(low, high, quant_min, quant_max, symmetric_quant) for low, high in zip(
            running_min._array.ravel().tolist(), running_max._array.ravel().tolist())]
        _write(scale, [one.scale for one in found])
        _write(zero_point, [one.zero for one in found])
        if per_row_fake_quant:
            _refuse_outside(zero_point._array, quant_min, quant_max)
    along = (-1, *[1] * (x.ndim - 1)) if per_row_fake_quant else ()
    return _observed(input, _shaped(scale, None, along), _shaped(zero_point, int32, along), quant_min, quant_max, on)[0]


def _begin(rows: int, low: Any, high: Any, scale: Any, zero: Any) -> None:
    """Give statistics without elements one for each row."""
    for tensor, value in ((low, np.inf), (high, -np.inf), (scale, 1), (zero, 0)):
        tensor.resize_(rows)
        _write(tensor, np.full(rows, value))


@public("fbgemm_linear_quantize_weight(Tensor input) -> (Tensor, Tensor, float, int)", strict=True)
def fbgemm_linear_quantize_weight(input: TensorBase) -> tuple[Any, Any, float, int]:
    """A matrix as int8, the sum of each row less the zero's share, the scale and the zero. The input is float32."""
    refuse_samples("fbgemm_linear_quantize_weight", input)
    x = input._array
    if x.ndim != 2:
        axis_of("fbgemm_linear_quantize_weight", 1, x.ndim)
    if x.dtype != F32:
        raise RuntimeError(f"expected scalar type Float but found {torch_dtype.of[x.dtype].legacy}")
    scale, zero = kernels.chosen(float(x.min()), float(x.max()), -128, 127)
    scale = float(np.float32(scale))
    numbers = np.clip(np.round(x * (np.float32(1) / np.float32(scale)) + np.float32(zero)), -128, 127).astype(np.int8)
    sums = numbers.sum(axis=1, dtype=np.int32) - np.int32(x.shape[1] * zero)
    return plain(numbers), plain(sums), scale, zero
