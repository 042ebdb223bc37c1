"""torch.nn.modules.lazy: modules that learn the sizes of their parameters from the first input.

This module must not know any layer.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from ...autograd.grad_mode import no_grad
from ..borrowed import borrowing
from ..parameter import is_lazy
from .module import Module

__all__ = ["LazyModuleMixin"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


class LazyModuleMixin(Module):
    """The base of a class of modules with uninitialized parameters or buffers. It stands before the module's class.

    `initialize_parameters` takes what `forward` takes, and calls `materialize` of all of them. The first call of the
    module calls `initialize_parameters`, and turns the module into one of the class `cls_to_become`, if there is one.
    """

    cls_to_become: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook: Any = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook: Any = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give all uninitialized parameters and buffers their shapes. Every subclass overrides this method."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer of this module has no shape yet."""
        return any([is_lazy(tensor) for tensor in chain(self._parameters.values(), self._buffers.values())])

    def _infer_parameters(self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> None:
        """The hook before the first call."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _lazy_load_hook(self, state_dict: Mapping[str, Any], prefix: str, local_metadata: Any, strict: bool,
                        missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str]) -> None:
        """Give the parameters the shapes of those in a state that is loaded."""
        for name, tensor in chain(self._parameters.items(), self._buffers.items()):
            saved = state_dict.get(prefix + name)
            if is_lazy(tensor) and saved is not None and not is_lazy(saved):
                with no_grad():
                    tensor.materialize(saved.shape)

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Tensors without a shape are saved themselves, since nothing can be detached from them."""
        for name, tensor in self._own_state().items():
            destination[prefix + name] = tensor if is_lazy(tensor) or keep_vars else tensor.detach()

    def _replicate_for_data_parallel(self) -> Any:
        raise RuntimeError("Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy "
                           "forward pass to correctly initialize the modules")
