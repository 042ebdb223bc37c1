"""Module, the base class of layers and models: how a module is called, converted and printed.

This module must not know any layer.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from ....autograd.grad_mode import no_grad
from ....compiling import compile
from ....devices import checked, device as torch_device
from ....dtypes import FLOATING, bfloat16, dtype as torch_dtype, float16, float32, float64
from ....tensors.tensor import Tensor
from ...parameter import clear_grad
from .hooks import ModuleHooks, everywhere
from .members import Members
from .state_dict import StateDict

__all__ = ["Module"]

T = TypeVar("T", bound="Module")

if TYPE_CHECKING:                                            # a call takes and returns what `forward` does
    P = ParamSpec("P")
    R = TypeVar("R", covariant=True)

    class _Computing(Protocol[P, R]):
        @property
        def forward(self) -> Callable[P, R]: ...


def _forward_unimplemented(self: Any, *input: Any) -> None:
    """Define the computation of every call. Every subclass overrides this method."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function: define '
                              "forward(self, ...) in it; calling the module calls that.")


class Module(Members, ModuleHooks, StateDict):
    """The base class of layers and models.

    A subclass calls `super().__init__()` first, assigns parameters and submodules to attributes, and defines `forward`.
    A call of the module calls `forward`, with the module's hooks around it.

    >>> import retrograd as torch
    >>> class Net(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.hidden = torch.nn.Linear(2, 3)
    ...         self.scale = torch.nn.Parameter(torch.ones(1))
    ...     def forward(self, x):
    ...         return self.scale * self.hidden(x).relu()
    >>> net = Net()
    >>> [name for name, _ in net.named_parameters()]
    ['scale', 'hidden.weight', 'hidden.bias']
    >>> net(torch.zeros(5, 2)).shape
    torch.Size([5, 3])
    """

    __module__ = "retrograd.nn.modules.module"               # where programs know it from
    training: bool

    def __init__(self) -> None:
        # Written into the instance directly: an assignment would look for members, which do not exist yet.
        self.__dict__.update(
            training=True, _parameters={}, _buffers={}, _non_persistent_buffers_set=set(),
            _backward_pre_hooks=OrderedDict(), _backward_hooks=OrderedDict(), _is_full_backward_hook=None,
            _forward_hooks=OrderedDict(), _forward_hooks_with_kwargs=OrderedDict(),
            _forward_hooks_always_called=OrderedDict(), _forward_pre_hooks=OrderedDict(),
            _forward_pre_hooks_with_kwargs=OrderedDict(), _modules={})

    forward: Callable[..., Any] = _forward_unimplemented

    if TYPE_CHECKING:
        def __call__(self: _Computing[P, R], *args: P.args, **kwargs: P.kwargs) -> R: ...
    else:
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            if (self._backward_hooks or self._forward_hooks or self._forward_pre_hooks or self._backward_pre_hooks
                    or everywhere.present):
                return self._call_with_hooks(args, kwargs)
            return self.forward(*args, **kwargs)

    # Modes and gradients

    def train(self: T, mode: bool = True) -> T:
        """Set this module and its submodules to training. Some layers, such as dropout, behave otherwise in training.

        Returns the module. Raises ValueError if `mode` is not a bool.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        for module in self.modules():
            module.training = mode
        return self

    def eval(self: T) -> T:
        """Set this module and its submodules to evaluation. Returns the module."""
        return self.train(False)

    def requires_grad_(self: T, requires_grad: bool = True) -> T:
        """Set `requires_grad` of all parameters. Returns the module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Remove the gradients of all parameters. If `set_to_none` is False, fill them with zeros instead."""
        for parameter in self.parameters():
            clear_grad(parameter, set_to_none)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile calls of this module in place, with the arguments of `torch.compile`. Nothing is compiled: calls run
        as they are.
        """
        compile(self.forward, *args, **kwargs)

    # Conversion

    def apply(self: T, fn: Callable[[Module], Any]) -> T:
        """Call `fn` with every submodule, inner ones first, and with the module itself. Returns the module."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self: T, fn: Callable[[Tensor], Any], recurse: bool = True) -> T:
        """Replace the data of each parameter, gradient and buffer by what `fn` makes of it. Parameters keep their
        identity.
        """
        if recurse:
            for module in self.children():
                module._apply(fn)
        with no_grad():
            for parameter in self._parameters.values():
                if parameter is None:
                    continue
                parameter.data = fn(parameter.data)
                if parameter.grad is not None:
                    parameter.grad.data = fn(parameter.grad.data)
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    self._buffers[name] = fn(buffer)
        return self

    def to(self: T, *args: Any, **kwargs: Any) -> T:
        """Convert the module in place: `to(dtype)`, `to(device)`, `to(device, dtype)` or `to(tensor)`. Returns the
        module.

        A dtype applies to floating and complex tensors only. Raises TypeError for any other dtype.
        """
        kwargs.pop("non_blocking", None)
        place, dtype = kwargs.pop("device", None), kwargs.pop("dtype", None)
        for value in (*args, *kwargs.values()):
            if isinstance(value, torch_dtype):
                dtype = value
            elif isinstance(value, Tensor):
                place, dtype = value.device, value.dtype
            elif isinstance(value, (str, int, torch_device)) and not isinstance(value, bool):
                place = value
        checked(place)
        if dtype is None:
            return self
        if dtype.category < FLOATING:
            raise TypeError("nn.Module.to only accepts floating point or complex dtypes, but got desired "
                            f"dtype={dtype!r}")
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() or t.is_complex() else t)

    def type(self: T, dst_type: torch_dtype) -> T:
        """Convert all parameters and buffers to a dtype, in place. Returns the module."""
        return self._apply(lambda t: t.to(dst_type))

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
        """Returns the module: all memory is the CPU's already."""
        return self

    def cuda(self: T, device: Any = None) -> T:
        """Returns the module if `device` is the CPU. Raises AssertionError for a GPU, since there is none here."""
        checked("cuda" if device is None else device)
        return self

    # Printing

    def extra_repr(self) -> str:
        """What the text of the module says besides its submodules. A subclass overrides this method."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {indented(repr(module))}" for name, module in self._modules.items()]
        return framed(self._get_name(), lines, children)


def indented(text: str) -> str:
    """A text whose lines after the first stand two columns further to the right."""
    return text.replace("\n", "\n  ")


def framed(name: str, extra: list[str], children: list[str]) -> str:
    """A name, and in parentheses its contents: on one line if there is one entry and no child."""
    lines = extra + children
    if not lines:
        return f"{name}()"
    if len(extra) == 1 and not children:
        return f"{name}({extra[0]})"
    inner = "\n  ".join(lines)
    return f"{name}(\n  {inner}\n)"
