"""torch.nn.utils.spectral_norm: a weight divided by its largest singular value, by a hook. The old way.

The singular value is estimated by power iterations. The vectors that they improve are buffers of the module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...autograd.grad_mode import no_grad
from ...tensors.functions.linalg.determinants import pinverse
from ...tensors.functions.linalg.matrix import dot, mv
from ...tensors.tensor import Tensor
from ..functional.distance import normalize
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from ..parameter import Parameter, is_lazy
from .registered_hooks import hook_of, refuse_second

__all__ = [
    "SpectralNorm", "SpectralNormLoadStateDictPreHook", "SpectralNormStateDictHook", "remove_spectral_norm",
    "spectral_norm",
]


def output_dim(module: Module) -> int:
    """The dimension of a module's weight that counts its outputs."""
    return int(isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)))


def as_matrix(weight: Tensor, dim: int) -> Any:
    """A weight as a matrix whose rows are its slices along a dimension."""
    if dim != 0:
        weight = weight.permute(dim, *[d for d in range(weight.dim()) if d != dim])
    return weight.reshape(weight.size(0), -1)


def check_iterations(n_power_iterations: int) -> None:
    """Raises ValueError for a number of iterations that is not positive."""
    if n_power_iterations <= 0:
        raise ValueError("Expected n_power_iterations to be positive, but got n_power_iterations="
                         f"{n_power_iterations}")


class SpectralNorm:
    """The hook that computes a weight before each call, from the parameter `name_orig`."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        self.name, self.dim, self.eps = name, dim, eps
        check_iterations(n_power_iterations)
        self.n_power_iterations = n_power_iterations

    def reshape_weight_to_matrix(self, weight: Tensor) -> Any:
        """The weight as a matrix, with a row for each output."""
        return as_matrix(weight, self.dim)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Any:
        """The weight. A power iteration improves the vectors `name_u` and `name_v` first, in place."""
        weight, u, v = [getattr(module, f"{self.name}_{kind}") for kind in ("orig", "u", "v")]
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(normalize(mv(matrix, v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()
        return weight / dot(u, mv(matrix, v))

    def remove(self, module: Module) -> None:
        """Make the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for name in (self.name, *(f"{self.name}_{kind}" for kind in ("u", "v", "orig"))):
            delattr(module, name)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Sequence[Tensor]) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def _solve_v_and_rescale(self, weight_mat: Any, u: Any, target_sigma: Any) -> Any:
        """The vector v for which `u @ weight_mat @ v` is `target_sigma`."""
        transposed = weight_mat.t()
        v = (pinverse(transposed @ weight_mat) @ (transposed @ u.unsqueeze(1))).squeeze(1)
        return v.mul_(target_sigma / dot(u, mv(weight_mat, v)))

    @staticmethod
    def apply(module: Module, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Register the hook, and set up its buffers. Raises RuntimeError if the weight has such a hook."""
        refuse_second(module, SpectralNorm, "spectral_norm", name)
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError("The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to "
                             "run the dummy forward before applying spectral normalization")
        with no_grad():
            height, width = hook.reshape_weight_to_matrix(weight).size()
            u, v = [normalize(weight.new_empty(size).normal_(0, 1), dim=0, eps=eps) for size in (height, width)]
        delattr(module, name)
        module.register_parameter(f"{name}_orig", weight)
        setattr(module, name, weight.data)       # the hook computes the attribute before a call
        module.register_buffer(f"{name}_u", u)
        module.register_buffer(f"{name}_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook


class SpectralNormLoadStateDictPreHook:
    """Adds the vector v to a state that was saved before there was one."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str],
                 unexpected_keys: list[str], error_msgs: list[str]) -> None:
        fn, key = self.fn, prefix + self.fn.name
        version = local_metadata.get("spectral_norm", {}).get(f"{fn.name}.version")
        if version is not None and version >= 1:
            return
        if version is None and key not in state_dict and all(
                f"{key}_{kind}" in state_dict for kind in ("orig", "u", "v")):
            return                               # the present form, without metadata
        missing = [name for name in (f"{key}_orig", key, f"{key}_u") if name not in state_dict]
        if missing:
            missing_keys += missing if strict else []
            return
        with no_grad():
            original, weight = state_dict[f"{key}_orig"], state_dict.pop(key)
            state_dict[f"{key}_v"] = fn._solve_v_and_rescale(
                fn.reshape_weight_to_matrix(original), state_dict[f"{key}_u"], (original / weight).mean())


class SpectralNormStateDictHook:
    """Notes the version of the hook in the metadata of a state."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Module, state_dict: Any, prefix: str, local_metadata: Any) -> None:
        noted, key = local_metadata.setdefault("spectral_norm", {}), f"{self.fn.name}.version"
        if key in noted:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        noted[key] = self.fn._version


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
                  dim: int | None = None) -> Module:
    """Divide a weight by its largest singular value before each call.

    In training, `n_power_iterations` improve the estimate of the singular value at each call. `dim` is the dimension
    of the outputs. `torch.nn.utils.parametrizations.spectral_norm` is the newer form. Returns the module. Raises
    RuntimeError if the weight is normalized already.
    """
    SpectralNorm.apply(module, name, n_power_iterations, output_dim(module) if dim is None else dim, eps)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Undo `spectral_norm`. Returns the module. Raises ValueError if the weight is not normalized."""
    key, hook = hook_of(module, SpectralNorm, "spectral_norm", name)
    hook.remove(module)
    del module._forward_pre_hooks[key]
    for hooks in (module._state_dict_hooks, module._load_state_dict_pre_hooks):
        for other, entry in [*hooks.items()]:
            if getattr(getattr(entry, "hook", entry), "fn", None) is hook:
                del hooks[other]
    return module
