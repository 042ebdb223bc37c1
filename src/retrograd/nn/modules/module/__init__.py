"""torch.nn.modules.module: Module, the base class of layers and models, and the hooks on all modules.

The dictionaries of the hooks on all modules are attributes of this module. A program may empty them, or put others in
their place. This module must not know any layer.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Protocol, TypeVar

from ....foundations.errors import noted
from ....foundations.modes import Compiler
from ....graph.hooks import HookDict, RemovableHandle
from ...parameter import clear_grad
from .conversion import Conversion
from .hooks import (
    GLOBALLY as _GLOBALLY, Everywhere, Flags, ModuleHooks, _WrappedHook, kind as _kind, registered as _registered)
from .naming import name_module as _name_module
from .printing import _addindent as _addindent, framed as _framed, indented as _indented
from .state_dict import _EXTRA_STATE_KEY_SUFFIX, StateDict, _IncompatibleKeys
from ...borrowed import borrowing

__all__ = [
    "Module", "register_module_backward_hook", "register_module_buffer_registration_hook",
    "register_module_forward_hook", "register_module_forward_pre_hook", "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook", "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)

T = TypeVar("T", bound="Module")

_global_forward_pre_hooks: HookDict = OrderedDict()
_global_forward_hooks: HookDict = OrderedDict()
_global_forward_hooks_with_kwargs: Flags = OrderedDict()
_global_forward_hooks_always_called: Flags = OrderedDict()
_global_backward_pre_hooks: HookDict = OrderedDict()
_global_backward_hooks: HookDict = OrderedDict()
_global_is_full_backward_hook: bool | None = None    # whether `_global_backward_hooks` holds full hooks
_global_parameter_registration_hooks: HookDict = OrderedDict()
_global_buffer_registration_hooks: HookDict = OrderedDict()
_global_module_registration_hooks: HookDict = OrderedDict()


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, args)` before the `forward` of every module. The hook's result replaces the arguments."""
    return _registered(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook: Callable[..., Any], *, with_kwargs: bool = False,
                                 always_call: bool = False) -> RemovableHandle:
    """Call `hook(module, args, output)` after the `forward` of every module. The hook's result replaces the output.

    The options are those of `Module.register_forward_hook`.
    """
    return _registered(_global_forward_hooks, hook, (_global_forward_hooks_with_kwargs, with_kwargs),
                       (_global_forward_hooks_always_called, always_call))


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_output)` before the backward of every module. The result replaces `grad_output`."""
    return _registered(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` when the gradients of a module's inputs are complete, for every
    module.

    Raises RuntimeError if a backward hook of the old kind is registered on all modules.
    """
    global _global_is_full_backward_hook
    _global_is_full_backward_hook = _kind(_global_is_full_backward_hook, True, _GLOBALLY)
    return _registered(_global_backward_hooks, hook)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Register a backward hook of the old kind on every module. It sees the gradients of the last operation only.

    Raises RuntimeError if a full backward hook is registered on all modules.
    """
    global _global_is_full_backward_hook
    _global_is_full_backward_hook = _kind(_global_is_full_backward_hook, False, _GLOBALLY)
    return _registered(_global_backward_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, parameter)` when any module gets a parameter. The hook's result replaces it."""
    return _registered(_global_parameter_registration_hooks, hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, buffer)` when any module gets a buffer. The hook's result replaces the buffer."""
    return _registered(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, submodule)` when any module gets a submodule. The hook's result replaces it."""
    return _registered(_global_module_registration_hooks, hook)


def _has_any_global_hook() -> bool:
    """Whether calls of all modules run hooks."""
    return bool(_global_backward_pre_hooks or _global_backward_hooks or _global_forward_hooks
                or _global_forward_pre_hooks or _global_forward_hooks_always_called
                or _global_forward_hooks_with_kwargs)


if TYPE_CHECKING:                                            # a call takes and returns what `forward` does
    P = ParamSpec("P")
    R = TypeVar("R", covariant=True)

    class _Computing(Protocol[P, R]):
        @property
        def forward(self) -> Callable[P, R]: ...


def _forward_unimplemented(self: Any, *input: Any) -> None:
    """Define the computation of every call. Every subclass overrides this method."""
    raise noted(
        NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function'),
        instead=getattr(self, "_instead_of_calling", "define forward(self, ...) in it; calling the module calls that"))


class Module(Conversion, ModuleHooks, StateDict):
    """The base class of layers and models.

    A subclass calls `super().__init__()` first, assigns parameters and submodules to attributes, and defines `forward`.
    A call of the module calls `forward`, with the module's hooks around it. If a class sets `call_super_init` to True,
    the arguments of `__init__` go to the next class in its order of inheritance.

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

    dump_patches: ClassVar[bool] = False
    call_super_init: ClassVar[bool] = False
    _compiled_call_impl: Callable[..., Any] | None = None    # what `compile` made of the calls of this module
    training: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (args or kwargs) and not self.call_super_init:
            what = (f"got an unexpected keyword argument '{next(iter(kwargs))}'" if kwargs else
                    f"takes 1 positional argument but {len(args) + 1} were given")
            raise TypeError(f"{type(self).__name__}.__init__() {what}")
        # Written into the instance directly: an assignment would look for members, which do not exist yet.
        self.__dict__.update(
            training=True, _parameters={}, _buffers={}, _non_persistent_buffers_set=set(),
            _backward_pre_hooks=OrderedDict(), _backward_hooks=OrderedDict(), _is_full_backward_hook=None,
            _forward_hooks=OrderedDict(), _forward_hooks_with_kwargs=OrderedDict(),
            _forward_hooks_always_called=OrderedDict(), _forward_pre_hooks=OrderedDict(),
            _forward_pre_hooks_with_kwargs=OrderedDict(), _state_dict_hooks=OrderedDict(),
            _state_dict_pre_hooks=OrderedDict(), _load_state_dict_pre_hooks=OrderedDict(),
            _load_state_dict_post_hooks=OrderedDict(), _modules={})
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over a pickled state. A state from an early version lacks some dictionaries of hooks."""
        self.__dict__.update(state)
        for name in ("_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_forward_hooks_with_kwargs",
                     "_forward_hooks_always_called", "_backward_pre_hooks", "_state_dict_hooks",
                     "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks"):
            self.__dict__.setdefault(name, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)

    forward: Callable[..., Any] = _forward_unimplemented

    if TYPE_CHECKING:
        def __call__(self: _Computing[P, R], *args: P.args, **kwargs: P.kwargs) -> R: ...
    else:
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            try:
                if (self._backward_hooks or self._forward_hooks or self._forward_pre_hooks or self._backward_pre_hooks
                        or _global_forward_pre_hooks or _global_forward_hooks or _global_backward_pre_hooks
                        or _global_backward_hooks or self._compiled_call_impl is not None):
                    return (self._compiled_call_impl or self._call_impl)(*args, **kwargs)
                return self.forward(*args, **kwargs)
            except Exception as error:
                _name_module(error)
                raise

        _wrapped_call_impl = __call__

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        """A call with the hooks of this module and of all modules, as it is without `torch.compile`."""
        everywhere = Everywhere(
            _global_forward_pre_hooks, _global_forward_hooks, _global_forward_hooks_with_kwargs,
            _global_forward_hooks_always_called, _global_backward_pre_hooks, _global_backward_hooks,
            _global_is_full_backward_hook)
        return self._call_with_hooks(everywhere, args, kwargs)

    def _slow_forward(self, *input: Any, **kwargs: Any) -> Any:
        """`forward`, by the name under which PyTorch traces the call."""
        return self.forward(*input, **kwargs)

    def _registration_hooks(self, what: str) -> HookDict:
        if what == "parameter":
            return _global_parameter_registration_hooks
        return _global_buffer_registration_hooks if what == "buffer" else _global_module_registration_hooks

    # Modes and gradients

    def train(self: T, mode: bool = True) -> T:
        """Set this module and its submodules to training. Some layers, such as dropout, behave differently in training.

        Returns the module. Raises ValueError if `mode` is not a bool.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
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
        """Compile the calls of this module in place, with the arguments of `torch.compile`.

        A copy of the module and a saved module are not compiled.

        >>> import retrograd as torch
        >>> layer = torch.nn.Linear(2, 3)
        >>> layer.compile()
        >>> layer(torch.zeros(5, 2)).shape
        torch.Size([5, 3])
        """
        self._compiled_call_impl = Compiler.compile(self._call_impl, *args, **kwargs)

    def apply(self: T, fn: Callable[[Module], Any]) -> T:
        """Call `fn` with every submodule, inner ones first, and with the module itself. Returns the module."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # Printing

    def extra_repr(self) -> str:
        """What the text of the module says besides its submodules. A subclass overrides this method."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_indented(repr(module))}" for name, module in self._modules.items()]
        return _framed(self._get_name(), lines, children)
