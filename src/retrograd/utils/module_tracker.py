"""Which modules a computation is in, forward and backward."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..autograd.graph.edges import register_multi_grad_hook
from ..foundations.modes import local
from ..nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from ..tensors.recording.gradients import queue_callback
from ..tensors.state.base import TensorBase
from ._pytree import tree_leaves

if TYPE_CHECKING:
    from ..nn.modules.module import Module

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """While the block runs, `parents` is the set of names of the modules that compute, with "Global".

    The name of the outermost module is that of its class. `is_bw` says whether a backward pass runs.

    >>> import retrograd as torch
    >>> from retrograd.utils.module_tracker import ModuleTracker
    >>> model = torch.nn.Sequential(torch.nn.Linear(1, 1))
    >>> _ = model[0].register_forward_pre_hook(lambda *call: print(sorted(tracker.parents)))
    >>> with ModuleTracker() as tracker:
    ...     _ = model(torch.ones(1))
    ['Global', 'Sequential', 'Sequential.0']
    """

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._awaits_end = False
        self._handles: list[Any] = []

    def __enter__(self) -> ModuleTracker:
        self._handles = [register_module_forward_pre_hook(self._before), register_module_forward_hook(self._after)]
        return self

    def __exit__(self, *error: object) -> None:
        for handle in self._handles:
            handle.remove()

    @property
    def is_bw(self) -> bool:
        """Whether a backward pass runs."""
        return local.thread.walk is not None

    def _name(self, module: Module) -> str:
        """The name of a module. The modules inside it get theirs from it."""
        name = self._names.setdefault(module, type(module).__name__)
        for inner, child in module.named_children():
            self._names.setdefault(child, f"{name}.{inner}")
        return name

    def _before(self, module: Module, args: tuple[Any, ...]) -> None:
        name = self._name(module)
        self._enter(name, in_backward=False)
        self._on_gradient(args, lambda: self.parents.discard(name))

    def _after(self, module: Module, args: tuple[Any, ...], output: Any) -> None:
        name = self._name(module)
        self.parents.discard(name)
        self._on_gradient(output, lambda: self._enter(name, in_backward=True))

    def _enter(self, name: str, in_backward: bool) -> None:
        if in_backward and not self._awaits_end:
            self._awaits_end = True
            queue_callback(self._end)
        self.parents.add(name)

    def _end(self) -> None:
        """Leave all modules at the end of a backward pass."""
        self.parents, self._awaits_end = {"Global"}, False

    def _on_gradient(self, values: Any, call: Callable[[], Any]) -> None:
        """Call a function when all gradients of these values have come."""
        tensors = [value for value in tree_leaves(values) if isinstance(value, TensorBase) and value.requires_grad]
        if local.thread.grad and tensors:
            register_multi_grad_hook(tensors, lambda gradients: call())
