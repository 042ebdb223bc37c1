"""Hooks of modules: before and after `forward`, and on the gradients of a module's inputs and outputs.

The gradients are caught by a Function that hands its inputs on: one stands before the module and one behind it. This
module must not know what a module holds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..autograd.function import Function
from ..graph.hooks import RemovableHandle, register
from ..modes import local
from ..tensor.tensor import Tensor

__all__ = ["ModuleHooks"]


class BackwardHookFunction(Function):
    """Hands its tensors on; in the backward pass `on_backward(grads)` sees the gradients and may replace them."""

    @staticmethod
    def forward(ctx: Any, on_backward: Callable[..., Any], *tensors: Any) -> Any:
        ctx.on_backward = on_backward
        ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
        ctx.set_materialize_grads(False)
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, *ctx.on_backward(grads)


class _Backward:
    """The backward hooks of one call of a module."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.hooks = [*module._backward_hooks.values()]
        self.pre_hooks = [*module._backward_pre_hooks.values()]
        self.inputs_seen = False
        self.input_count = 0
        self.input_places: list[int] = []
        self.output_places: list[int] = []
        self.output_count = 0
        self.grad_outputs: tuple[Any, ...] | None = None

    def before(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The inputs of the module, by way of a node that calls the hooks."""
        self.input_count = len(args)
        values, self.input_places, self.inputs_seen = _through(args, self._on_inputs)
        return values

    def after(self, result: Any) -> Any:
        """The outputs of the module, by way of a node that catches their gradients."""
        outputs = result if isinstance(result, tuple) else (result,)
        if not all(isinstance(output, Tensor) for output in outputs):
            warnings.warn("For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                          f"received {type(result)}", stacklevel=4)
        self.output_count = len(outputs)
        values, self.output_places, _ = _through(outputs, self._on_outputs)
        return values if isinstance(result, tuple) else values[0]

    def _on_outputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        full = _spread(grads, self.output_places, self.output_count)
        for hook in self.pre_hooks:
            full = _replaced(full, hook(self.module, full), "grad_output")
        if self.inputs_seen:
            self.grad_outputs = full
        elif self.hooks:
            warnings.warn("Full backward hook is firing when gradients are computed with respect to module outputs "
                          "since no inputs require gradients. See https://docs.pytorch.org/docs/main/generated/"
                          "torch.nn.Module.html#torch.nn.Module.register_full_backward_hook for more details.",
                          stacklevel=2)
            for hook in self.hooks:
                if hook(self.module, (None,) * self.input_count, full) is not None:
                    raise RuntimeError("Backward hook for Modules where no input requires gradient should always "
                                       "return None or None for all gradients.")
        return tuple(full[i] for i in self.output_places)

    def _on_inputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        if self.grad_outputs is None:
            return grads                        # no gradient came through the module's outputs
        full = _spread(grads, self.input_places, self.input_count)
        for hook in self.hooks:
            full = _replaced(full, hook(self.module, full, self.grad_outputs), "grad_input")
        self.grad_outputs = None
        return tuple(full[i] for i in self.input_places)


def _through(values: tuple[Any, ...], on_backward: Callable[..., Any]) -> tuple[tuple[Any, ...], list[int], bool]:
    """`values` with the tensors among them handed through a node, their places, and whether there is such a node."""
    places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    if not local.here.grad or not any(values[i].requires_grad for i in places):
        return values, places, False
    passed = dict(zip(places, BackwardHookFunction.apply(on_backward, *[values[i] for i in places])))
    return tuple(passed.get(i, value) for i, value in enumerate(values)), places, True


def _spread(grads: tuple[Any, ...], places: list[int], count: int) -> tuple[Any, ...]:
    """The gradients at the places of their tensors, None at all others."""
    found = dict(zip(places, grads))
    return tuple(found.get(i) for i in range(count))


def _replaced(before: tuple[Any, ...], after: Any, what: str) -> tuple[Any, ...]:
    """What a hook returned in the place of the gradients it saw."""
    if after is None:
        return before
    replaced = after if isinstance(after, tuple) else (after,)
    if len(replaced) != len(before):
        raise RuntimeError(f"Backward hook returned an invalid number of {what}, got {len(replaced)}, but expected "
                           f"{len(before)}")
    return replaced


class ModuleHooks:
    """Registering hooks, and the call of a module that has some. A plain call does not come here."""

    forward: Callable[..., Any]
    _forward_hooks: dict[int, Callable[..., Any]]
    _forward_hooks_with_kwargs: set[int]
    _forward_hooks_always_called: set[int]
    _forward_pre_hooks: dict[int, Callable[..., Any]]
    _forward_pre_hooks_with_kwargs: set[int]
    _backward_hooks: dict[int, Callable[..., Any]]
    _backward_pre_hooks: dict[int, Callable[..., Any]]

    def register_forward_pre_hook(self, hook: Callable[..., Any], *, prepend: bool = False,
                                  with_kwargs: bool = False) -> RemovableHandle:
        """Call `hook(module, args)` before `forward`; what it returns replaces the arguments.

        With `with_kwargs` it is `hook(module, args, kwargs)`, and it returns both or None.
        """
        handle = _added(self._forward_pre_hooks, hook, prepend)
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs.add(handle.id)
        return handle

    def register_forward_hook(self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False,
                              always_call: bool = False) -> RemovableHandle:
        """Call `hook(module, args, output)` after `forward`; what it returns replaces the output.

        With `with_kwargs` it is `hook(module, args, kwargs, output)`. With `always_call` it runs even where `forward`
        raised, with None for the output.
        """
        handle = _added(self._forward_hooks, hook, prepend)
        if with_kwargs:
            self._forward_hooks_with_kwargs.add(handle.id)
        if always_call:
            self._forward_hooks_always_called.add(handle.id)
        return handle

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` with the gradients of the outputs before the module's backward.

        `grad_output` is a tuple; what the hook returns replaces it.
        """
        return _added(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` once the gradients of the module's inputs are there.

        Both are tuples, with None for what is no tensor or has no gradient; what the hook returns replaces
        `grad_input`.
        """
        return _added(self._backward_hooks, hook, prepend)

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call `forward` with all hooks around it."""
        called: set[int] = set()
        try:
            return self._run_hooks(args, kwargs, called)
        except Exception:
            for key, hook in [*self._forward_hooks.items()]:
                if key in self._forward_hooks_always_called and key not in called:
                    extra = (kwargs,) if key in self._forward_hooks_with_kwargs else ()
                    hook(self, args, *extra, None)
            raise

    def _run_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any], called: set[int]) -> Any:
        for key, hook in [*self._forward_pre_hooks.items()]:
            if key in self._forward_pre_hooks_with_kwargs:
                args, kwargs = _new_arguments(hook(self, args, kwargs), args, kwargs)
                continue
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        backward = _Backward(self) if self._backward_hooks or self._backward_pre_hooks else None
        if backward is not None and backward.hooks:
            args = backward.before(args)
        result = self.forward(*args, **kwargs)
        for key, hook in [*self._forward_hooks.items()]:
            called.add(key)
            extra = (kwargs,) if key in self._forward_hooks_with_kwargs else ()
            changed = hook(self, args, *extra, result)
            if changed is not None:
                result = changed
        return result if backward is None else backward.after(result)


def _added(hooks: dict[int, Callable[..., Any]], hook: Callable[..., Any], prepend: bool) -> RemovableHandle:
    """Add a hook, as the last or as the first."""
    others = dict(hooks)
    handle = register(hooks, hook)
    if prepend:
        for key in others:
            hooks[key] = hooks.pop(key)
    return handle


def _new_arguments(changed: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """What a forward pre-hook that sees keywords made of the arguments."""
    if changed is None:
        return args, kwargs
    if isinstance(changed, tuple) and len(changed) == 2:
        return changed
    raise RuntimeError("forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got " f"{changed}.")
