"""Hooks of modules: before and after `forward`, and on the gradients. They are for one module or for all modules.

This module must not know what a module holds.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ....foundations.errors import noted, warn
from ....foundations.inherited import part_of
from ....graph.hooks import HookDict, RemovableHandle, present, register
from ....graph.locks import moment
from ....tensors.tensor import Tensor
from .backward_hooks import BackwardHook

if TYPE_CHECKING:
    from ....graph.node import Node

__all__ = ["GLOBALLY", "Everywhere", "Flags", "ModuleHooks", "_WrappedHook", "kind", "registered"]

Flags = OrderedDict[int, bool]
_NO_FLAGS: Flags = OrderedDict()

ALONE, GLOBALLY = "on a single Module", "as a global Module hook"


class Everywhere(NamedTuple):
    """The hooks on all modules, as they are when a module is called. They run before the hooks of the module."""

    forward_pre: HookDict
    forward: HookDict
    forward_with_kwargs: Flags
    forward_always_called: Flags
    backward_pre: HookDict
    backward: HookDict
    backward_full: bool | None                   # whether `backward` holds full hooks; None if it is empty


def kind(before: bool | None, full: bool, where: str) -> bool:
    """Raises RuntimeError if full backward hooks would meet hooks of the old kind."""
    if before is (not full):
        raise noted(
            RuntimeError(f"Cannot use both regular backward hooks and full backward hooks {where}. Please use only "
                         "one of them."), "hooks#both-kinds-of-hooks")
    return full


def registered(hooks: HookDict, hook: Callable[..., Any], *flags: tuple[Flags, bool],
                prepend: bool = False) -> RemovableHandle:
    """Register a hook, before the others if `prepend` is true, and note the hook in the flags that are chosen."""
    with moment:                                           # other threads see the hook with its flags, in its place
        handle = register(hooks, hook, *[entries for entries, _ in flags])
        for entries, chosen in flags:
            if chosen:
                entries[handle.id] = True
        if prepend:
            hooks.move_to_end(handle.id, last=False)
    return handle


def _flagged(hooks: HookDict, flags: Flags) -> list[tuple[int, Callable[..., Any], bool]]:
    """The hooks of a table that other threads may change: their keys, and whether they are in the flags."""
    with moment:
        return [(key, hook, key in flags) for key, hook in hooks.items()]


@part_of("Module")
class ModuleHooks:
    """The registration of hooks, and the call of a module that has hooks. A plain call does not come here."""

    forward: Callable[..., Any]
    _forward_hooks: HookDict
    _forward_hooks_with_kwargs: Flags
    _forward_hooks_always_called: Flags
    _forward_pre_hooks: HookDict
    _forward_pre_hooks_with_kwargs: Flags
    _backward_hooks: HookDict
    _backward_pre_hooks: HookDict
    _is_full_backward_hook: bool | None

    def register_forward_pre_hook(self, hook: Callable[..., Any], *, prepend: bool = False,
                                  with_kwargs: bool = False) -> RemovableHandle:
        """Call `hook(module, args)` before `forward`. The hook's result replaces the arguments, unless it is None.

        With `with_kwargs` the call is `hook(module, args, kwargs)`, and the hook returns both or None. With `prepend`
        the hook runs before the module's other hooks of this kind.
        """
        return registered(self._forward_pre_hooks, hook, (self._forward_pre_hooks_with_kwargs, with_kwargs),
                           prepend=prepend)

    def register_forward_hook(self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False,
                              always_call: bool = False) -> RemovableHandle:
        """Call `hook(module, args, output)` after `forward`. The hook's result replaces the output, unless it is None.

        With `with_kwargs` the call is `hook(module, args, kwargs, output)`. With `always_call` the hook runs even if
        `forward` raises; its output is then None, or the output that exists already.
        """
        return registered(self._forward_hooks, hook, (self._forward_hooks_with_kwargs, with_kwargs),
                           (self._forward_hooks_always_called, always_call), prepend=prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` with the gradients of the outputs, before the module's backward.

        `grad_output` is a tuple. The hook's result replaces it, unless it is None.
        """
        return registered(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the module's inputs are complete.

        Both are tuples, with None for each value that is not a tensor. The hook's result replaces `grad_input`,
        unless it is None. Raises RuntimeError if the module has a backward hook of the old kind.
        """
        self._is_full_backward_hook = kind(self._is_full_backward_hook, True, ALONE)
        return registered(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Register a backward hook of the old kind, on the node of the module's last operation.

        `register_full_backward_hook` replaces it. Raises RuntimeError if the module has a full backward hook.
        """
        self._is_full_backward_hook = kind(self._is_full_backward_hook, False, ALONE)
        return register(self._backward_hooks, hook)

    def _call_with_hooks(self, everywhere: Everywhere, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call `forward` with all hooks around it."""
        call = _Call(self, everywhere, args, kwargs)
        try:
            return call.run()
        except Exception:
            call.always_called()
            raise


class _Call:
    """One call of a module that has hooks."""

    def __init__(self, module: Any, everywhere: Everywhere, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module, self.everywhere, self.args, self.kwargs = module, everywhere, args, kwargs
        self.result: Any = None
        self.called: set[int] = set()

    def run(self) -> Any:
        module, everywhere = self.module, self.everywhere
        full, old = _backward_hooks_of(module, everywhere)
        before = [*present(everywhere.backward_pre), *present(module._backward_pre_hooks)]
        self._before()
        around = BackwardHook(module, full, before) if full or before else None
        if around is not None:
            self.args = around.before(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        for key, hook, with_kwargs in [*_flagged(everywhere.forward, everywhere.forward_with_kwargs),
                                       *_flagged(module._forward_hooks, module._forward_hooks_with_kwargs)]:
            self.called.add(key)
            self._after(hook, with_kwargs)
        if around is not None:
            self.result = around.after(self.result)
        if old:
            self._on_last_node(old)
        return self.result

    def _before(self) -> None:
        """The hooks before `forward`."""
        module = self.module
        for _, hook, with_kwargs in [*_flagged(self.everywhere.forward_pre, _NO_FLAGS),
                                     *_flagged(module._forward_pre_hooks, module._forward_pre_hooks_with_kwargs)]:
            if with_kwargs:
                changed = hook(module, self.args, self.kwargs)
                if changed is not None:
                    if not isinstance(changed, tuple) or len(changed) != 2:
                        raise noted(
                            RuntimeError("forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                                         f"but got {changed}."), "hooks#result-of-pre-hook")
                    self.args, self.kwargs = changed
                continue
            changed = hook(module, self.args)
            if changed is not None:
                self.args = changed if isinstance(changed, tuple) else (changed,)

    def _after(self, hook: Callable[..., Any], with_kwargs: bool) -> None:
        """One hook after `forward`."""
        changed = hook(self.module, self.args, *((self.kwargs,) if with_kwargs else ()), self.result)
        if changed is not None:
            self.result = changed

    def always_called(self) -> None:
        """The hooks that run after an error too. An error of such a hook becomes a warning."""
        module, everywhere = self.module, self.everywhere
        for whose, hooks, always, with_kwargs in (
                ("global module", everywhere.forward, everywhere.forward_always_called, _NO_FLAGS),
                ("module", module._forward_hooks, module._forward_hooks_always_called,
                 module._forward_hooks_with_kwargs)):
            with moment:
                called = [(hook, key in with_kwargs) for key, hook in hooks.items()
                          if key in always and key not in self.called]
            for hook, flag in called:
                try:
                    self._after(hook, flag)
                except Exception as error:
                    warn(f"{whose} forward hook with ``always_call=True`` raised an exception that was silenced as "
                         f"another error was raised in forward: {error}")

    def _on_last_node(self, hooks: list[Callable[..., Any]]) -> None:
        """Put backward hooks of the old kind on the node that made the first tensor of the result."""
        first = self.result
        while not isinstance(first, Tensor):
            first = next(v for v in first.values() if isinstance(v, Tensor)) if isinstance(first, dict) else first[0]
        if first.grad_fn is None:
            return
        for hook in hooks:
            first.grad_fn.register_hook(_WrappedHook(hook, self.module))
        missed = _missed(self.args, self.result, first.grad_fn)
        if missed:
            warn(f"{missed}", FutureWarning)


class _WrappedHook:
    """A hook that is called with a module first, without keeping the module alive. No module: the hook as it is."""

    __module__ = "retrograd.nn.modules.module"

    def __init__(self, hook: Callable[..., Any], module: Any = None) -> None:
        self.hook, self.module = hook, None if module is None else weakref.ref(module)
        self.with_module = module is not None
        self.__name__ = getattr(hook, "__name__", "<unknown>")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.module is None:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise noted(RuntimeError("You are trying to call the hook of a dead Module!"), "hooks#hook-of-dead-module")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        """The copy of a module has hooks that know the copy, so the module itself is part of the state."""
        state = {"hook": self.hook, "with_module": self.with_module}
        return state if self.module is None else state | {"module": self.module()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        _WrappedHook.__init__(self, state["hook"], state.get("module"))


def _backward_hooks_of(module: Any,
                       everywhere: Everywhere) -> tuple[list[Callable[..., Any]], list[Callable[..., Any]]]:
    """The full backward hooks for a module, and the backward hooks of the old kind."""
    kinds: dict[bool | None, list[Callable[..., Any]]] = {True: [], False: [], None: []}
    kinds[everywhere.backward_full] += present(everywhere.backward)
    kinds[module._is_full_backward_hook] += present(module._backward_hooks)
    return kinds[True], kinds[False]


def _missed(args: tuple[Any, ...], result: Any, node: Node) -> str:
    """What a backward hook of the old kind does not see; '' if it sees everything."""
    for values, side, verb in ((result, "output", "return"), (args, "input", "take as input")):
        if not isinstance(values, Tensor) and not (
                isinstance(values, tuple) and all(isinstance(value, Tensor) for value in values)):
            return (f"Using non-full backward hooks on a Module that does not {verb} a single Tensor or a tuple of "
                    "Tensors is deprecated and will be removed in future versions. This hook will be missing some of "
                    f"the grad_{side}. Please use register_full_backward_hook to get the documented behavior.")
    results = (result,) if isinstance(result, Tensor) else result
    made_by = {r.grad_fn for r in results if r.grad_fn is not None}
    if made_by - {node}:
        return ("Using a non-full backward hook when outputs are generated by different autograd Nodes is deprecated "
                "and will be removed in future versions. This hook will be missing some grad_output. Please use "
                "register_full_backward_hook to get the documented behavior.")
    # The hook sees the gradients of the outputs. Does it also see those of the inputs?
    if {i.grad_fn for i in args if i.grad_fn is not None} != {following for following, _ in node.next_functions}:
        return ("Using a non-full backward hook when the forward contains multiple autograd Nodes is deprecated and "
                "will be removed in future versions. This hook will be missing some grad_input. Please use "
                "register_full_backward_hook to get the documented behavior.")
    return ""
