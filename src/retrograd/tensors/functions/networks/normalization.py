"""Normalization over the last dimensions, over groups of channels, or over the batch, as functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ....foundations.dtypes import F32, Array, dtype as torch_dtype, is_half, refuse
from ....foundations.errors import kind_of, noted, unsaid
from ....foundations.limits import finfo
from ....foundations.modes import local
from ....kernels.layout import channels_last
from ....kernels.networks import normalization as kernels
from ....ops.elementwise import arithmetic
from ....ops.networks import normalization as ops
from ....tensors.state.base import TensorBase
from ...arguments.checking import is_int
from ...arguments.dims import array_of, axis_of
from ...arguments.options import check_flag, check_optional, number
from ...recording.calls import recorded
from ...recording.not_differentiable import refuse_gradient
from ...recording.out_rules import FREE, rule
from ...recording.public import public
from ...state.base import constant, moves, plain

_add_number = recorded(arithmetic.add_number)
_layer_norm, _group_norm = recorded(ops.layer_norm), recorded(ops.group_norm)
_native_group_norm = recorded(ops.native_group_norm)
_batch_norm, _batch_norm_by = recorded(ops.batch_norm), recorded(ops.batch_norm_by)


def _check_types(x: Array, *others: Any) -> None:
    """Raise RuntimeError unless the parameters have the dtype of x. float32 is allowed beside a half-precision x.

    The first parameter decides which dtype the others must have.
    """
    if all([a is None or a._array.dtype is x.dtype for a in others]):
        return
    kinds = [a._array.dtype for a in others if a is not None]
    if kinds[0] != x.dtype and not (is_half(x.dtype) and kinds[0] == F32):
        said = "expect parameter to have scalar type of Float"
        if kinds[0] == F32:
            said = "all inputs must share same datatype."
        raise noted(
            RuntimeError(f"mixed dtype (CPU): {said}"),
            given=f"{', '.join(sorted(str(k) for k in {*kinds, x.dtype}))}")
    for kind in kinds:
        if kind != kinds[0]:
            names = [torch_dtype.of[k].legacy for k in (kinds[0], kind)]
            raise noted(
                RuntimeError(f"expected scalar type {names[0]} but found {names[1]}"), instead="convert one parameter")


def _normalized_shape(name: str, x: Any, shape: Any, parameters: dict[str, Any], star: str) -> tuple[int, ...]:
    """The sizes of the last dims. Raises TypeError or RuntimeError if the sizes or the parameters do not fit."""
    if not isinstance(shape, Sequence) or isinstance(shape, str):
        raise TypeError(f"{name}(): argument 'normalized_shape' (position 2) must be tuple of ints, not "
                        f"{type(shape).__name__}")
    sizes: tuple[int, ...] = tuple(shape)
    if not sizes:
        raise RuntimeError("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
                           "element, but got normalized_shape = []")
    for argument, parameter in parameters.items():
        if parameter is not None and parameter._array.shape != sizes:
            raise RuntimeError(f"Expected {argument} to be of same shape as normalized_shape, but got {argument} of "
                               f"shape {[*parameter._array.shape]} and normalized_shape = {[*sizes]}")
    if x.shape[max(x.ndim - len(sizes), 0):] != sizes or x.ndim < len(sizes):
        raise RuntimeError(f"Given normalized_shape={[*sizes]}, expected input with shape [*{star}"
                           f"{', '.join(map(str, sizes))}], but got input of size{[*x.shape]}")
    return sizes


@public()
def native_layer_norm(input: TensorBase, normalized_shape: Sequence[int], weight: TensorBase | None,
                      bias: TensorBase | None, eps: float) -> tuple[Any, Any, Any]:
    """The result of `layer_norm`, the means, and 1 / the deviations. The last two are constants."""
    return _by_layer(input, normalized_shape, weight, bias, eps)


def _by_layer(input: TensorBase, normalized_shape: Sequence[int], weight: TensorBase | None, bias: TensorBase | None,
              eps: float) -> tuple[Any, Any, Any]:
    x = array_of("layer_norm", input)
    check_optional("layer_norm", 3, weight=weight, bias=bias)
    shape = _normalized_shape("layer_norm", x, normalized_shape, {"weight": weight, "bias": bias}, ", ")
    _check_types(x, weight, bias)
    refuse(x.dtype, "LayerNormKernelImpl", "biuc")
    eps = float(number("layer_norm", "eps", 5, eps, "float"))
    return _layer_norm(input, weight, bias, len(shape), eps)  # type: ignore[no-any-return]


@public(
    "layer_norm(Tensor input, ints normalized_shape, Tensor weight=None, Tensor bias=None, float eps=1e-05, bool "
    "cudnn_enable=True)")
def layer_norm(input: TensorBase, normalized_shape: Sequence[int], weight: TensorBase | None = None,
               bias: TensorBase | None = None, eps: float = 1e-5, cudnn_enable: bool = True) -> Any:
    """(input - mean) / deviation * weight + bias. The deviation is sqrt(variance + eps).

    The mean and the variance are over the last dims, whose sizes are `normalized_shape`. `weight` and `bias` have this
    shape.

    >>> import retrograd as torch
    >>> torch.layer_norm(torch.tensor([[1., 3.], [0., 4.]]), [2])
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])

    Raises RuntimeError if sizes or dtypes do not fit, NotImplementedError for ints and complex numbers.
    """
    return _by_layer(input, normalized_shape, weight, bias, eps)[0]


@public()
def rms_norm(input: TensorBase, normalized_shape: Sequence[int], weight: TensorBase | None = None,
             eps: float | None = None) -> Any:
    """input / sqrt(mean(input ** 2) + eps) * weight. The mean is over the last dims, of sizes `normalized_shape`.

    The default of `eps` is the distance from 1 to the next number of the dtype. The errors are those of `layer_norm`.
    """
    x = array_of("rms_norm", input)
    check_optional("rms_norm", 3, weight=weight)
    shape = _normalized_shape("rms_norm", x, normalized_shape, {"weight": weight}, "")
    refuse(x.dtype, "rms_norm", "biu")
    exact = input.float() if is_half(x.dtype) else input
    eps = finfo(exact.dtype).eps if eps is None else float(number("rms_norm", "eps", 4, eps, "float"))
    squares = exact.pow(2).mean([*range(-len(shape), 0)], True)
    result = exact * _add_number(squares, eps).rsqrt()
    if weight is not None:
        result = result * weight
    if not channels_last(x):
        result = result.contiguous()
    return result.to(input.dtype) if is_half(x.dtype) else result


def _check_groups(x: Array, channels: int, groups: int, weight: TensorBase | None, bias: TensorBase | None) -> None:
    if groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {groups}")
    if channels % groups:
        raise RuntimeError("Expected number of channels in input to be divisible by num_groups, but got input of shape "
                           f"{[*x.shape]} and num_groups={groups}")
    for argument, value in (("weight", weight), ("bias", bias)):
        if value is not None and value._array.shape != (channels,):
            raise RuntimeError(f"Expected {argument} to be a vector of size equal to the number of channels in input, "
                               f"but got {argument} of shape {[*value._array.shape]} and input of shape {[*x.shape]}")
    _check_types(x, weight, bias)
    refuse(x.dtype, "GroupNormKernelImpl", "biuc")


@public()
def native_group_norm(input: TensorBase, weight: TensorBase | None, bias: TensorBase | None, N: int, C: int, HxW: int,
                      group: int, eps: float) -> tuple[Any, Any, Any]:
    """The result of `group_norm` for N * C channels of HxW elements, the means, and 1 / the deviations.

    The last two require grad and have tangents. Their gradients count only together.
    """
    x = array_of("native_group_norm", input)
    check_optional("native_group_norm", 2, weight=weight, bias=bias)
    _check_groups(x, C, group, weight, bias)
    if x.size != N * C * HxW:
        raise noted(RuntimeError(unsaid("Expected X.numel() == N * C * HxW to be true")),
                    given=f"{x.size} elements, and N * C * HxW is {N * C * HxW}")
    eps = float(number("native_group_norm", "eps", 8, eps))
    return _native_group_norm(input, weight, bias, group, eps)  # type: ignore[no-any-return]


@public()
def group_norm(input: TensorBase, num_groups: int, weight: TensorBase | None = None, bias: TensorBase | None = None,
               eps: float = 1e-5, cudnn_enabled: bool = True) -> Any:
    """(input - mean) / deviation * weight + bias. The deviation is sqrt(variance + eps).

    `input` has the shape (N, C, …), `weight` and `bias` have (C). Each of the `num_groups` groups of channels has its
    own mean. Raises RuntimeError if sizes or dtypes do not fit, NotImplementedError for ints and complex numbers.
    """
    x = array_of("group_norm", input)
    if not is_int(num_groups):
        raise TypeError(f"group_norm(): argument 'num_groups' (position 2) must be int, not {kind_of(num_groups)}")
    check_optional("group_norm", 3, weight=weight, bias=bias)
    if x.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {x.ndim}")
    _check_groups(x, x.shape[1], int(num_groups), weight, bias)
    return _group_norm(input, weight, bias, int(num_groups), float(number("group_norm", "eps", 5, eps, "float")))[0]


def _check_batch(x: Array, channels: int, **parameters: Any) -> None:
    """Raise RuntimeError if a parameter does not have one number per channel, or a running statistic requires grad."""
    for argument in ("running_mean", "running_var", "weight", "bias"):
        value = parameters[argument]
        if value is None:
            continue
        if value._array.size != channels:
            raise noted(RuntimeError(f"{argument} should contain {channels} elements not {value._array.size}"),
                        given=f"an input with {channels} channels, which dimension 1 counts")
        if argument[:3] == "run":
            refuse_gradient("native_batch_norm", argument, value)
    if x.size:
        refuse(x.dtype, "batch_norm", "biuc")
        _check_types(x, *parameters.values())


def _blend(running: TensorBase | None, found: TensorBase, momentum: float, scale: float) -> None:
    """Move a running statistic towards that of a batch. As in PyTorch, its version and its tangent stay the same."""
    if running is not None:
        ops.blend.write(kernels.blend, constant(running._array), constant(found._array), momentum, scale)


def _any_moves(*tensors: TensorBase | None) -> bool:
    return any([tensor is not None and moves(tensor) for tensor in tensors])


@public(out=rule(exact="expected scalar type {result} but found {out}", overlap=FREE))
def native_batch_norm(input: TensorBase, weight: TensorBase | None, bias: TensorBase | None, running_mean: Any,
                      running_var: Any, training: bool, momentum: float, eps: float) -> tuple[Any, Any, Any]:
    """The result of `batch_norm`, the means of the batch, and 1 / its deviations. The last two are constants.

    In evaluation they are empty.
    """
    x = array_of("batch_norm", input)
    check_flag("batch_norm", "training", 6, training)
    check_optional("batch_norm", 2, weight=weight, bias=bias, running_mean=running_mean, running_var=running_var)
    momentum = float(_float("batch_norm", "momentum", 7, momentum))
    eps = float(_float("batch_norm", "eps", 8, eps))
    if not training:
        for argument, value in (("running_mean", running_mean), ("running_var", running_var)):
            if value is None:
                raise RuntimeError(f"{argument} must be defined in evaluation mode")
    _check_batch(x, x.shape[1] if x.ndim > 1 else 0, weight=weight, bias=bias, running_mean=running_mean,
                 running_var=running_var)
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    if not training:
        if local.thread.levels and _any_moves(input, weight, bias) and _any_moves(running_mean, running_var):
            raise RuntimeError("batch_norm is not differentiable wrt running_mean and running_var, they cannot have "
                               "forward grad defined")
        result = _batch_norm_by(input, weight, bias, running_mean.detach(), running_var.detach(), eps)
        return result, *[plain(np.empty(0, x.dtype)) for _ in range(2)]
    count = math.prod(x.shape) // max(x.shape[axis_of("batch_norm", 1, x.ndim)], 1)
    freedom = count / (count - 1) if count > 1 else math.nan

    def move(mean: Any, variance: Any) -> None:
        _blend(running_mean, mean, momentum, 1.0)
        _blend(running_var, variance, momentum, freedom)

    return _moving(partial(_batch_norm, input, weight, bias, eps), move)


def _moving(call: Callable[[], Any], move: Callable[[Any, Any], None]) -> tuple[Any, Any, Any]:
    """The first three results of a batch norm in training, which moves the running statistics.

    The statistics move before watchers hear of the node, since a pack hook may end the call with an error. The hook of
    `checkpoint` does so when all is computed again, and in PyTorch the statistics have moved then.
    """
    thread = local.thread
    watchers = thread.watchers
    if not watchers:
        result, mean, rstd, variance = call()
        move(mean, variance)
        return result, mean, rstd
    thread.watchers = (lambda node, results, operands: move(results[1], results[3]), *watchers)
    try:
        result, mean, rstd, variance = call()
    finally:
        thread.watchers = watchers
    if result._edge is None:                               # no node, so nobody has been told
        move(mean, variance)
    return result, mean, rstd


def _float(name: str, argument: str, position: int, value: Any) -> Any:
    if value is None:
        raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be float, not NoneType")
    return number(name, argument, position, value, "float")


@public()
def verify_batch_size(size: Sequence[int], shown: Any = None) -> None:
    """Raises ValueError for a batch with one value for each channel: its deviation is 0."""
    if math.prod((size[0], *size[2:])) == 1:
        raise noted(
            ValueError("Expected more than 1 value per channel when training, got input "
                       f"size {(size if shown is None else shown)}"), "shapes#one-value-per-channel")


def batch_norm(input: TensorBase, weight: TensorBase | None, bias: TensorBase | None, running_mean: TensorBase | None,
               running_var: TensorBase | None, training: bool, momentum: float, eps: float,
               cudnn_enabled: bool = True) -> Any:
    """(input - mean) / deviation * weight + bias, for each channel. The deviation is sqrt(variance + eps).

    `input` has the shape (N, C, …), all others have (C). In training the mean and the variance are those of the batch,
    and the running statistics move towards them by the fraction `momentum`, in place. Otherwise the running statistics
    are used. The errors are those of `group_norm`.
    """
    x = array_of("batch_norm", input)
    if x.size or not x.ndim:
        return native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]
    if x.ndim > 1:
        _check_batch(x, x.shape[1], weight=weight, bias=bias, running_mean=running_mean, running_var=running_var)
    result = input.clone()
    if weight is not None:
        result = result * weight[0]
    return result if bias is None else result + bias[0]


@public()
def instance_norm(input: TensorBase, weight: TensorBase | None, bias: TensorBase | None,
                  running_mean: TensorBase | None, running_var: TensorBase | None, use_input_stats: bool,
                  momentum: float, eps: float, cudnn_enabled: bool = True) -> Any:
    """`batch_norm` for each element of the batch alone. The running statistics get the means over the batch.

    Raises RuntimeError if `use_input_stats` is False and a running statistic is missing.
    """
    x = array_of("instance_norm", input)
    check_optional("instance_norm", 2, weight=weight, bias=bias, running_mean=running_mean, running_var=running_var)
    _float("instance_norm", "momentum", 7, momentum)
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    count, channels = x.shape[:2]
    check_flag("instance_norm", "use_input_stats", 6, use_input_stats)
    refuse(x.dtype, "batch_norm", "biuc")
    _check_types(x, weight, bias)
    if (running_mean is not None and running_var is not None and running_mean.dtype is input.dtype
            and running_var.dtype is not input.dtype):
        raise RuntimeError(f"expected scalar type {input.dtype.legacy} but found {running_var.dtype.legacy}")

    def repeated(value: TensorBase | None) -> Any:
        return None if value is None else value.to(input.dtype).repeat(count)

    mean, variance = repeated(running_mean), repeated(running_var)
    result = batch_norm(input.contiguous().view(1, count * channels, *x.shape[2:]), repeated(weight), repeated(bias),
                        mean, variance, use_input_stats, momentum, eps)
    for running, moved in ((running_mean, mean), (running_var, variance)):
        if running is not None:
            running.detach().copy_(moved.view(count, channels).mean(0))
    return result.view(x.shape)
