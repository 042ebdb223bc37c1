"""The full backward hooks of modules. A node before the module and a node behind it see the gradients.

This module must not know what a module holds, or how hooks are registered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....autograd.function import Function
from ....foundations.errors import noted, warn
from ....foundations.modes import local
from ....tensors.tensor import Tensor

Hook = Callable[..., Any]


class BackwardHookFunction(Function):
    """Returns its tensors. The hooks on its node see the gradients, also those of transforms."""

    _transformable = True

    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> Any:
        ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """The tangents as they are, as views, since the outputs are views of the inputs."""
        return tuple([None if t is None else t.view_as(t) for t in tangents])


class BackwardHook:
    """The full backward hooks of one call of a module, with one node before the module and one node behind it."""

    def __init__(self, module: Any, hooks: list[Hook], pre_hooks: list[Hook]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.input_count = self.output_count = 0
        self.input_places: list[int] | None = None          # of the tensors; None if no tensor requires grad
        self.output_places: list[int] | None = None

    def before(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The inputs of the module, passed through the node before it."""
        self.input_count = len(args)
        values, self.input_places = _through(args, self._on_inputs)
        return values

    def after(self, result: Any) -> Any:
        """The outputs of the module, passed through the node behind it."""
        if not isinstance(result, Tensor | tuple):
            warn("For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                 f"received {type(result)}")
        outputs = result if isinstance(result, tuple) else (result,)
        self.output_count = len(outputs)
        values, self.output_places = _through(outputs, self._on_outputs)
        return values if isinstance(result, tuple) else values[0]

    def _on_outputs(self, _: Sequence[Tensor], grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """The hook on the node behind the module. The gradients of the outputs are complete."""
        assert self.output_places is not None
        full: Any = _spread(grads, self.output_places, self.output_count)
        for hook in self.pre_hooks:
            full = _replaced(full, hook(self.module, full), "Backward pre hook", "grad_output")
        if self.input_places is None:
            warn("Full backward hook is firing when gradients are computed with respect to module outputs since no "
                 "inputs require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
                 "#torch.nn.Module.register_full_backward_hook for more details.")
            for hook in self.hooks:
                after = hook(self.module, (None,) * self.input_count, full)
                if after is not None and not (isinstance(after, tuple) and all(g is None for g in after)):
                    raise noted(
                        RuntimeError("Backward hook for Modules where no input requires gradient should always "
                                     "return None or None for all gradients."), "hooks#result-of-hook-without-inputs")
        else:
            local.thread.walk.notes[self] = full            # several passes may be on their way
        return tuple([full[i] for i in self.output_places])

    def _on_inputs(self, grads: tuple[Any, ...], _: Any) -> tuple[Any, ...] | None:
        """The hook on the node before the module. The gradients of the inputs are complete."""
        grad_outputs = local.thread.walk.notes.pop(self, None)
        if grad_outputs is None or self.input_places is None:
            return None                         # no gradient reached the module's outputs
        full: Any = _spread(grads, self.input_places, self.input_count)
        for hook in self.hooks:
            full = _replaced(full, hook(self.module, full, grad_outputs), "Backward hook", "grad_input")
        return tuple([full[i] for i in self.input_places])


def _through(values: tuple[Any, ...], called: Hook) -> tuple[Any, list[int] | None]:
    """The values, passed through a node with a hook that calls `called`, and the places of the tensors.

    There are no places if no tensor requires grad.
    """
    def hook(grads: Any, others: Any) -> Any:               # errors name the hook, as in PyTorch
        return called(grads, others)

    places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    if not local.thread.grad or not any(values[i].requires_grad for i in places):
        return values, None
    passed = dict(zip(places, BackwardHookFunction.apply(*[values[i] for i in places])))
    next(t.grad_fn for t in passed.values() if t.grad_fn is not None).register_hook(hook)
    found = [passed.get(i, value) for i, value in enumerate(values)]
    return (tuple(found) if type(values) is tuple else type(values)(*found)), places


def _spread(grads: tuple[Any, ...], places: list[int], count: int) -> tuple[Any, ...]:
    """The gradients in the places of their tensors, and None in all other places."""
    found = dict(zip(places, grads))
    return tuple([found.get(i) for i in range(count)])


def _replaced(before: Any, after: Any, whose: str, what: str) -> Any:
    """What a hook returned in place of the gradients. Raises RuntimeError for another number of gradients."""
    if after is None:
        return before
    if len(after) != len(before):
        raise noted(
            RuntimeError(f"{whose} returned an invalid number of {what}, got {len(after)}, but "
                         f"expected {len(before)}"), "hooks#number-from-module-hook")
    return after
