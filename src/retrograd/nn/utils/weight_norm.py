"""torch.nn.utils.weight_norm: a weight as the product of its norms and its directions, by a hook. The old way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...foundations.errors import warn
from ...tensors.functions.linalg.norms import _weight_norm, norm_except_dim
from ...tensors.tensor import Tensor
from ..modules.module import Module
from ..parameter import Parameter, is_lazy
from .registered_hooks import hook_of, refuse_second

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """The hook that computes a weight before each call, from its norms `name_g` and its directions `name_v`."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Any:
        """The weight."""
        return _weight_norm(getattr(module, f"{self.name}_v"), getattr(module, f"{self.name}_g"), self.dim)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Register the hook, and split the weight. Raises RuntimeError if the weight has such a hook."""
        warn("`torch.nn.utils.weight_norm` is deprecated in favor of "
             "`torch.nn.utils.parametrizations.weight_norm`.", FutureWarning)
        refuse_second(module, WeightNorm, "weight_norm", name)
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ValueError("The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run "
                             "the dummy forward before applying weight normalization")
        del module._parameters[name]
        module.register_parameter(f"{name}_g", Parameter(norm_except_dim(weight, 2, hook.dim).data))
        module.register_parameter(f"{name}_v", Parameter(weight.data))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Module) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[f"{self.name}_g"], module._parameters[f"{self.name}_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs: Sequence[Tensor]) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Replace a weight by two parameters: `name_g`, its norms along `dim`, and `name_v`, its directions.

    With `dim=None` there is one norm. `torch.nn.utils.parametrizations.weight_norm` replaces this function, and a call
    warns of that. Returns the module. Raises RuntimeError if the weight is normalized already.
    """
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Undo `weight_norm`. Returns the module. Raises ValueError if the weight is not normalized."""
    key, hook = hook_of(module, WeightNorm, "weight_norm", name)
    hook.remove(module)
    del module._forward_pre_hooks[key]
    return module
