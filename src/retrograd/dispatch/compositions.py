"""Operators that are several operators of PyTorch's core, or one with other results: what handlers receive for them."""

from __future__ import annotations

import math
import sys
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..foundations.devices import CPU
from ..kernels.meta import MetaArray, without_memory
from ..ops.framework import Op
from ..ops.images.resampling import RESIZINGS
from ..ops.networks.activations import gelu_tanh
from ..tensors.arguments.options import contiguous_format, preserve_format
from ..tensors.state.base import TensorBase, plain
from .calls import Parts, handled, replaced, send, tensor_over
from .core import overload
from .here import local
from .rows import REDUCTIONS
from .translation import COMPOSITIONS, Composition, as_values, computed, sent, translate
from .wrapped import strided_like

Args = tuple[Any, ...]
Call = Callable[..., Any]


def begin() -> None:
    """Put the translation in its place."""
    Parts.translate = staticmethod(translate)


def composition(*names: str) -> Callable[[Composition], Composition]:
    """The decorator of what handlers receive for the operators of these names."""
    def put(function: Composition) -> Composition:
        COMPOSITIONS.update(dict.fromkeys(names, function))
        return function

    return put


# Values that operators of the core return and that the operators here do not, by the result that they belong to.
_extras: dict[int, tuple[Any, dict[str, Any]]] = {}


def keep(array: Any, **values: Any) -> None:
    """Keep values beside an array, for the backward pass."""
    key = id(array)
    _extras[key] = weakref.ref(array, lambda gone: _extras.pop(key, None)), values


def kept(array: Any, name: str) -> Any:
    """A value that was kept beside an array; None if there is none."""
    reference, values = _extras.get(id(array), (None, {}))
    return values.get(name) if reference is not None and reference() is array else None


def _named(op: Op, call: Call, args: Args, name: str, *values: Any, **named: Any) -> Any:
    """The results of an operator that is one of the core, with these arguments."""
    return send(overload(name), tuple(as_values(values)), {key: as_values(v) for key, v in named.items()},
                partial(computed, op, call, args, False))


# Geometry

@composition("view", "_unsafe_view")
def _view(op: Op, call: Call, args: Args) -> Any:
    if op.arguments[1] == "dtype":
        return sent(op, call, args)
    return _named(op, call, args, f"{op.name}.default", args[0], _whole(args[0], args[1]))


def _whole(x: Any, shape: Any) -> list[int]:
    """A shape with the number that stands for -1."""
    known = math.prod([n for n in shape if n != -1])
    return [x.size // known if n == -1 and known else n for n in shape]


@composition("_reshape_alias")
def _reshape_alias(op: Op, call: Call, args: Args) -> Any:
    """Raises what the operator raises if there is no such view. Then the caller makes a copy."""
    call(strided_like(args[0]), *args[1:])
    return _named(op, call, args, "view.default", args[0], _whole(args[0], args[1]))


@composition("clone")
def _clone(op: Op, call: Call, args: Args) -> Any:
    named = {"memory_format": contiguous_format} if args[1] == "C" and not args[0].flags.c_contiguous else {}
    return _named(op, call, args, "clone.default", args[0], **named)


@composition("expand")
def _expand(op: Op, call: Call, args: Args) -> Any:
    """The gradient of a sum: the dims that the sum has taken away come back one by one."""
    if len(args) == 2:
        return _named(op, call, args, "expand.default", args[0], list(args[1]))
    x, shape, axes, keepdim = args
    if not keepdim and x.ndim:
        for axis in sorted([axis % len(shape) for axis in axes]):
            x = send(overload("unsqueeze.default"), tuple(as_values([x, axis])), {}, partial(_unsqueezed, x, axis))
    return send(overload("expand.default"), tuple(as_values([x, list(shape)])), {}, partial(_expanded, x, shape))


def _unsqueezed(x: Any, axis: int, by: dict[int, Any]) -> Any:
    return tensor_over(by.get(id(x), x)).unsqueeze(axis)


def _expanded(x: Any, shape: Any, by: dict[int, Any]) -> Any:
    return tensor_over(by.get(id(x), x)).expand(shape)


@composition("slice")
def _slice(op: Op, call: Call, args: Args) -> Any:
    x, dim, start, stop, step = args
    return _named(op, call, args, "slice.Tensor", x, dim, start, sys.maxsize if stop >= x.shape[dim] else stop, step)


@composition("slice_backward")
def _slice_backward(op: Op, call: Call, args: Args) -> Any:
    g, shape, dim, start, stop, step = args
    return _named(op, call, args, "slice_backward.default", g, list(shape), dim, start,
                  sys.maxsize if stop >= shape[dim] else stop, step)


@composition("split")
def _split(op: Op, call: Call, args: Args) -> Any:
    x, sizes, dim = args
    return tuple(_named(op, call, args, "split.Tensor", x, sizes[0], dim))


@composition("new_full")
def _new_full(op: Op, call: Call, args: Args) -> Any:
    x, shape, dtype, value = args
    alike = tuple(shape) == tuple(x.shape) and dtype == x.dtype
    if alike and value in (0, 1):
        name = "ones_like.default" if value else "zeros_like.default"
        return _named(op, call, args, name, x, pin_memory=False, memory_format=preserve_format)
    return _named(op, call, args, "new_full.default", x, list(shape), value, dtype=dtype)


# Reductions and losses

@composition("all", "any")
def _all(op: Op, call: Call, args: Args) -> Any:
    x, axes, keepdim = args
    if not keepdim and (axes is None or len(axes) == x.ndim != 1):
        return _named(op, call, args, f"{op.name}.default", x)
    if len(axes) == 1:
        return _named(op, call, args, f"{op.name}.dim", x, axes[0], keepdim)
    return _named(op, call, args, f"{op.name}.dims", x, list(axes), keepdim)


@composition("nll_loss", "nll_loss2d")
def _nll_loss(op: Op, call: Call, args: Args) -> Any:
    """The core also returns the sum of the weights."""
    x, target, weight, reduction, ignore_index = args

    def run(by: dict[int, Any]) -> Any:
        out = computed(op, call, args, False, by)
        classes, weights = replaced([target, weight], by)
        return out, tensor_over(_total(classes, weights, ignore_index, out._array, reduction))

    out, total = send(overload(f"{op.name}_forward.default"), tuple(as_values([
        x, target, weight, REDUCTIONS[reduction], ignore_index])), {}, run)
    keep(out, total_weight=local.here.tensor_of(total))
    return out


def _total(target: Any, weight: Any, ignore_index: int, out: Any, reduction: str) -> Any:
    """The sum of the weights of the targets."""
    if isinstance(out, MetaArray):
        return without_memory((), out.dtype)
    if reduction == "none":
        return np.zeros((), out.dtype)
    counted = target[target != ignore_index]
    return np.asarray(counted.size if weight is None else weight[counted].sum(), out.dtype)


@composition("log_sigmoid")
def _log_sigmoid(op: Op, call: Call, args: Args) -> Any:
    """The core also returns memory for the backward pass, which nothing needs here."""
    def run(by: dict[int, Any]) -> Any:
        out = computed(op, call, args, False, by)
        return out, out.new_zeros(out.shape)

    out, memory = send(overload("log_sigmoid_forward.default"), tuple(as_values([args[0]])), {}, run)
    keep(out, memory=local.here.tensor_of(memory))
    return out


@composition("gelu")
def _gelu(op: Op, call: Call, args: Args) -> Any:
    named = {"approximate": "tanh"} if op is gelu_tanh or op is gelu_tanh.written else {}
    return _named(op, call, args, "gelu.default", args[0], **named)


# Layers

@composition("batch_norm", "batch_norm_by")
def _batch_norm(op: Op, call: Call, args: Args) -> Any:
    """The core has one operator for both, which also writes the running means; here, `blend` writes them."""
    mean, variance, momentum = local.here.norm or (None, None, 0.1)
    training = op.name == "batch_norm"
    x, weight, bias, *running, eps = args
    if not training:
        mean, variance = [local.here.tensor_of(each) for each in running]
    of_kernel: list[Any] = []

    def run(by: dict[int, Any]) -> Any:
        found = computed(op, call, args, False, by)
        of_kernel[:] = found[3:] if training else ()
        return found[:3] if training else (found, *[plain(np.zeros(0, x.dtype)) for _ in range(2)])

    out, center, rstd = send(overload("native_batch_norm.default"), (
        *as_values([x, weight, bias]), mean, variance, training, momentum, eps), {}, run)
    keep(out, norm_mean=mean, norm_var=variance, norm_saved=[local.here.tensor_of(each) for each in (center, rstd)])
    if not training:
        return out
    return out, center, rstd, of_kernel[0]._array if of_kernel else rstd


@composition("attention")
def _attention(op: Op, call: Call, args: Args) -> Any:
    """The core keeps the logarithms of sums, in the place of the weights of attention."""
    q, k, v, mask, causal, scale = args
    weights: list[Any] = []

    def run(by: dict[int, Any]) -> Any:
        out, found = computed(op, call, args, False, by)
        weights[:] = [found]
        sums: Any = without_memory(q.shape[:-1], q.dtype) if isinstance(out._array, MetaArray) else (
            np.zeros(q.shape[:-1], q.dtype))
        return out, tensor_over(sums)

    out, sums = send(overload("_scaled_dot_product_flash_attention_for_cpu.default"), (
        *as_values([q, k, v]), 0.0, causal), as_values_of(attn_mask=mask, scale=scale), run)
    keep(out, logsumexp=local.here.tensor_of(sums))
    return out, weights[0]._array if weights else sums


def as_values_of(**named: Any) -> dict[str, Any]:
    """Arguments by name as handlers get them, without those that are None."""
    return {name: as_values(value) for name, value in named.items() if value is not None}



@composition("where")
def _where(op: Op, call: Call, args: Args) -> Any:
    """A number becomes a tensor first."""
    condition, *values = as_values(args)
    dtype = next((v.dtype for v in values if isinstance(v, TensorBase)), None)
    found = [v if isinstance(v, TensorBase) else handled(overload("scalar_tensor.default"), (v,), {
        "dtype": dtype, "device": CPU}) for v in values]
    return send(overload("where.self"), (condition, *found), {}, partial(computed, op, call, args, False))


@composition("linalg_lu", "lu_unpack")
def _lu(op: Op, call: Call, args: Args) -> Any:
    """The core returns the permutation first."""
    def run(by: dict[int, Any]) -> Any:
        lower, upper, p = computed(op, call, args, False, by)
        return p, lower, upper

    p, lower, upper = send(overload(f"{op.name}.default"), tuple(as_values(args)), {}, run)
    return lower, upper, p


@composition("linalg_solve_ex")
def _solve(op: Op, call: Call, args: Args) -> Any:
    """The core returns the factors before the info. The backward pass uses those that the kernel has kept, if any."""
    a, b, left, _ = args
    of_kernel: list[Any] = []

    def run(by: dict[int, Any]) -> Any:
        x, info, lu, pivots = computed(op, call, args, False, by)
        of_kernel[:] = x._array, lu._array, pivots._array
        return x, lu, pivots, info

    x, _, _, info = send(overload("_linalg_solve_ex.default"), tuple(as_values([a, b])), {"left": left}, run)
    if of_kernel and of_kernel[0] is x:
        return x, info, *of_kernel[1:]
    return x, info, np.empty((0, 0), a.dtype), np.empty(0, np.int32)


# Resampling of images

def _resampled(op: Op, call: Call, args: Args) -> Any:
    """The core has an operator for each mode and number of dims, which is given sizes and factors."""
    x, axes = args
    name = op.name.removesuffix("_backward")
    smooth = "Nearest" not in name
    aliasing, exact = name.endswith("Aa"), "Exact" in name
    word = name.removeprefix("Upsample").removesuffix("Aa").removesuffix("Exact").lower()
    if exact:
        word = f"nearest_exact{name[-2].lower()}d"
    word = f"{'_' if exact or aliasing else ''}upsample_{word}{'_aa' if aliasing else ''}"
    new, factors, corners = [a[2] for a in axes], [a[4] for a in axes], [axes[0][5]] * smooth
    if op.name.endswith("_backward"):
        old = [*x.shape[:2], *[a[1] for a in axes]]
        return _named(op, call, args, f"{word}_backward.default", x, new, old, *corners, *factors)
    return _named(op, call, args, f"{word}.default", x, new, *corners, *factors)


composition(*[each.name for each in RESIZINGS if "Lanczos" not in each.name and each.name.startswith("Upsample")])(
    _resampled)
