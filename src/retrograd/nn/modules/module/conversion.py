"""The conversion of a module: of all its parameters and buffers, to another dtype, device or memory.

This module must not know how modules are called or saved.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, TypeVar

from .... import __future__ as ways
from ....autograd.grad_mode import no_grad
from ....foundations.devices import DeviceLike, checked, device as torch_device, on_meta
from ....foundations.dtypes import FLOATING, bfloat16, dtype as torch_dtype, float16, float32, float64
from ....foundations.errors import warn
from ....foundations.inherited import part_of
from ....tensors.arguments.checking import refusal
from ....tensors.arguments.schemas import of_methods
from ....tensors.face.conversion import WAYS_TO_CONVERT, positional
from ....tensors.face.swapping import swap_tensors
from ....tensors.functions.creation.creation import empty_like
from ....tensors.tensor import Tensor
from ...parameter import Parameter
from .members import Members

__all__ = ["Conversion"]

T = TypeVar("T", bound="Conversion")


_COMPLEX = (
    "Complex modules are a new feature under active development whose design may change, and some modules might not "
    "work as expected when using complex tensors as parameters or buffers. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a complex module does not work as "
    "expected.")
# The signatures of `to`.
_WAYS = of_methods(WAYS_TO_CONVERT)


def target(*args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
    """The device, the dtype and the memory format that the arguments of `to` name.

    Raises TypeError if the arguments fit none of its signatures, RuntimeError for `copy`.
    """
    error = refusal(_WAYS, args, kwargs)
    if error is not None:
        raise error
    return _named(*args, **kwargs)


def _named(*args: Any, tensor: Tensor | None = None, device: DeviceLike | None = None, dtype: torch_dtype | None = None,
           non_blocking: bool = False, copy: bool = False, memory_format: Any = None) -> tuple[Any, Any, Any]:
    given = args or (() if tensor is None else (tensor,))
    if given:
        dtype, device, _, copy = positional(given, dtype, device, non_blocking, copy)
    if copy:
        raise RuntimeError(".to() does not accept copy argument")
    return device, dtype, memory_format


@part_of("Module")
class Conversion(Members):
    """The methods of a module that convert it."""

    def _apply(self: T, fn: Callable[[Any], Any], recurse: bool = True) -> T:
        """Replace each parameter, gradient and buffer by what `fn` makes of it. Parameters keep their identity, unless
        `torch.__future__` says otherwise.
        """
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = _converted(parameter, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self: T, *args: Any, **kwargs: Any) -> T:
        """Convert the module in place: `to(dtype)`, `to(device)`, `to(device, dtype)` or `to(tensor)`. Returns the
        module.

        A dtype applies to floating and complex tensors only. `memory_format` applies to tensors of 4 or 5 dimensions.
        Raises TypeError for any other dtype.
        """
        device, dtype, memory_format = target(*args, **kwargs)
        held = [*chain(self.parameters(), self.buffers())] if device is not None else []
        moved = on_meta(device) or any([tensor.is_meta for tensor in held])
        if held and not on_meta(device):
            checked(device)
        elif device is not None:
            torch_device(device)                          # a module without tensors is on every device that has a name
        if dtype is not None and dtype.category < FLOATING:
            raise TypeError("nn.Module.to only accepts floating point or complex dtypes, but got desired "
                            f"dtype={dtype!r}")
        if dtype is not None and dtype.is_complex:
            warn(_COMPLEX, UserWarning)

        def convert(tensor: Tensor) -> Any:
            wanted = dtype if tensor.is_floating_point() or tensor.is_complex() else None
            order = memory_format if memory_format is not None and tensor.dim() in (4, 5) else None
            if moved:
                return _moved(tensor, device, wanted, order)
            return tensor if wanted is None and order is None else tensor.to(dtype=wanted, memory_format=order)

        return self if dtype is None and memory_format is None and not moved else self._apply(convert)

    def to_empty(self: T, *, device: DeviceLike | None, recurse: bool = True) -> T:
        """Give all parameters and buffers new memory on a device, without values. Returns the module.

        `recurse` says whether submodules get new memory, too.
        """
        return self._apply(lambda t: empty_like(t, device=device), recurse)

    def share_memory(self: T) -> T:
        """Call `share_memory_` of all parameters and buffers. Returns the module."""
        return self._apply(lambda t: t.share_memory_())

    def type(self: T, dst_type: Any) -> T:
        """Convert all parameters and buffers to a dtype, in place. Returns the module."""
        return self._apply(lambda t: t.type(dst_type))

    def _floating(self: T, dtype: torch_dtype) -> T:
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self: T) -> T:
        """Convert floating parameters and buffers to float32, in place. Returns the module."""
        return self._floating(float32)

    def double(self: T) -> T:
        """Convert floating parameters and buffers to float64, in place. Returns the module."""
        return self._floating(float64)

    def half(self: T) -> T:
        """Convert floating parameters and buffers to float16, in place. Returns the module."""
        return self._floating(float16)

    def bfloat16(self: T) -> T:
        """Convert floating parameters and buffers to bfloat16, in place. Returns the module."""
        return self._floating(bfloat16)

    def cpu(self: T) -> T:
        """Returns the module: all memory is the CPU's already. Raises NotImplementedError for a parameter without
        memory.
        """
        return self._apply(lambda t: t.cpu())

    def cuda(self: T, device: DeviceLike | None = None) -> T:
        """Returns the module if it has no parameter and no buffer, or if `device` is the CPU. Otherwise raises
        AssertionError, since there is no GPU here.
        """
        return self._apply(lambda t: t.cuda(device))

    def xpu(self: T, device: DeviceLike | None = None) -> T:
        """As `cuda`, for Intel's GPUs."""
        return self._apply(lambda t: t.xpu(device))

    def ipu(self: T, device: DeviceLike | None = None) -> T:
        """As `cuda`, for Graphcore's processors. Raises RuntimeError for one."""
        return self._apply(lambda t: t.ipu(device))

    def mtia(self: T, device: DeviceLike | None = None) -> T:
        """As `cuda`, for Meta's accelerators. Raises RuntimeError for one."""
        return self._apply(lambda t: t.mtia(device))


def _with_data(grad: Tensor, after: Tensor) -> Any:
    """The gradient itself, with other memory."""
    grad.data = after
    return grad


def _moved(tensor: Tensor, device: DeviceLike | None, dtype: Any, memory_format: Any) -> Any:
    """A tensor on another device. Raises NotImplementedError if a meta tensor is to get numbers."""
    if tensor.is_meta and not on_meta(device):
        raise NotImplementedError("Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() "
                                  "instead of torch.nn.Module.to() when moving module from meta to a different device.")
    return tensor.to(device=device, dtype=dtype, memory_format=memory_format)


def _of_other_kind(after: Tensor, before: Tensor) -> bool:
    """Whether a tensor cannot get the numbers of the other, since one alone is sparse or without memory."""
    return bool(after.is_meta != before.is_meta or after.layout != before.layout)


def _converted(parameter: Tensor, fn: Callable[[Any], Any]) -> Any:
    """What stands for a parameter after its conversion: the parameter itself, or a new one."""
    grad: Any = parameter.grad
    with no_grad():
        after: Any = fn(parameter)
        grad_after: Any = None if grad is None else fn(grad)
    if ways.get_swap_module_params_on_conversion():
        parameter.grad = None
        swap_tensors(parameter, Parameter(after, parameter.requires_grad))
    elif ways.get_overwrite_module_params_on_conversion() or _of_other_kind(after, parameter):
        parameter = Parameter(after, parameter.requires_grad)
    else:
        parameter.data = after
    if grad is None:
        return parameter
    if ways.get_overwrite_module_params_on_conversion() or ways.get_swap_module_params_on_conversion():
        parameter.grad = grad_after.requires_grad_(grad.requires_grad)
    else:
        parameter.grad = grad_after if _of_other_kind(grad_after, grad) else _with_data(grad, grad_after)
    return parameter
