"""Finding the hook before the calls of a module that computes one of its weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...nn.modules.module import Module

__all__ = ["hook_of", "refuse_second"]


def refuse_second(module: Module, kind: type[Any], said: str, name: str) -> None:
    """Raises RuntimeError if the weight `name` has a hook of this kind."""
    if any([isinstance(hook, kind) and hook.name == name for hook in module._forward_pre_hooks.values()]):
        raise RuntimeError(f"Cannot register two {said} hooks on the same parameter {name}")


def hook_of(module: Module, kind: type[Any], said: str, name: str) -> tuple[int, Any]:
    """The key and the hook of this kind for the weight `name`. Raises ValueError if there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            return key, hook
    raise ValueError(f"{said} of '{name}' not found in {module}")
