"""torch.nn.utils.prune: parts of a module's parameters set to zero by a mask.

A pruned parameter `name` becomes the parameter `name_orig` and the buffer `name_mask`. A hook before each call sets the
attribute `name` to their product.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ...foundations.inherited import name_inherited
from ...tensors.functions.creation.creation import ones_like
from ...tensors.functions.creation.random import rand, rand_like
from ...tensors.functions.indexing.sorting import kthvalue, topk
from ...tensors.tensor import Tensor
from ..modules.module import Module
from . import pruning_amounts as amounts
from .convert_parameters import parameters_to_vector
from .pruning_amounts import (
    _compute_norm,
    _compute_nparams_toprune as _compute_nparams_toprune,
    _validate_pruning_amount as _validate_pruning_amount,
    _validate_pruning_amount_init,
    _validate_pruning_dim as _validate_pruning_dim,
    _validate_structured_pruning as _validate_structured_pruning,
)

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]


class BasePruningMethod(ABC):
    """A way to prune. A subclass sets `PRUNING_TYPE` to "unstructured", "structured" or "global".

    It defines `compute_mask(t, default_mask)`, which returns the new mask. If a parameter is pruned again, `t` holds
    only the elements that are not pruned yet (for "structured", only the slices that are not).
    """

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Module, inputs: Sequence[Tensor]) -> None:
        """The hook before a call of the module."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Any) -> Any:
        """The mask for the importance scores `t`, which prunes at least what `default_mask` prunes."""

    def apply_mask(self, module: Module) -> Any:
        """The product of mask and original parameter."""
        name = self._tensor_name
        mask, original = getattr(module, f"{name}_mask"), getattr(module, f"{name}_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None,
              **kwargs: Any) -> Any:
        """Prune the parameter `name` of a module. The other arguments are those of the class.

        `importance_scores` has the shape of the parameter, and takes its place where elements are compared. Returns the
        method, or a `PruningContainer` if the parameter was pruned before.
        """
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        before = _hook_of(module, name)
        original = getattr(module, name)
        if importance_scores is not None and importance_scores.shape != original.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}, got "
                                 f"{importance_scores.shape} vs {original.shape}")
        scores = original if importance_scores is None else importance_scores
        if before is None:
            module.register_parameter(f"{name}_orig", original)
            del module._parameters[name]
            mask = ones_like(original)
        else:
            key, earlier = before
            del module._forward_pre_hooks[key]
            container = earlier if isinstance(earlier, PruningContainer) else PruningContainer(earlier)
            container.add_pruning_method(method)
            method = container
            mask = getattr(module, f"{name}_mask").detach().clone()
        try:
            module.register_buffer(f"{name}_mask", method.compute_mask(scores, default_mask=mask))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if before is None:
                setattr(module, name, module._parameters.pop(f"{name}_orig"))
            raise
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Any = None) -> Any:
        """A pruned version of a tensor, without a module."""
        if importance_scores is not None and importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t, got "
                                 f"{importance_scores.shape} vs {t.shape}")
        scores = t if importance_scores is None else importance_scores
        return t * self.compute_mask(scores, default_mask=ones_like(t) if default_mask is None else default_mask)

    def remove(self, module: Module) -> None:
        """Make the pruned values the parameter of the module again, for good."""
        name = self._tensor_name
        pruned = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(f"{name}_orig")
        original.data = pruned.data
        del module._buffers[f"{name}_mask"]
        setattr(module, name, original)


def _hook_of(module: Module, name: str) -> tuple[int, Any] | None:
    """The pruning method of a parameter, with its key among the hooks; None if the parameter is not pruned."""
    found = [(key, hook) for key, hook in module._forward_pre_hooks.items()
             if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
    return found[-1] if found else None


class PruningContainer(BasePruningMethod):
    """Several methods that prune one parameter one after the other."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method. Raises TypeError if it is none, ValueError if it prunes a parameter of another name."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError("Can only add pruning methods acting on the parameter named "
                             f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """The mask of the last method, of what `default_mask` has left."""
        method = self._pruning_methods[-1]
        mask = default_mask.clone().to(dtype=t.dtype)
        kind = method.PRUNING_TYPE
        if kind == "unstructured":
            left: Any = mask == 1
        elif kind == "structured":
            if not hasattr(method, "dim"):
                raise AttributeError("Pruning methods of PRUNING_TYPE \"structured\" need to have the attribute `dim` "
                                     "defined.")
            dim = method.dim % t.dim()
            left = (slice(None),) * dim + (mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0,)
        elif kind == "global":
            left = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
        mask[left] = method.compute_mask(t[left], default_mask=mask[left]).to(mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing, but splits the parameter into original and mask."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """The mask as it is."""
        return default_mask

    @classmethod
    def apply(cls, module: Module, name: str) -> Any:                               # type: ignore[override]
        """See `BasePruningMethod.apply`."""
        return super().apply(module, name)


class _Unstructured(BasePruningMethod):
    """Prunes as many elements as `amount` says."""

    PRUNING_TYPE = "unstructured"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name_inherited(cls)

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _without(self, default_mask: Tensor, scores: Callable[[], Any], largest: bool) -> Any:
        """The mask without the elements with the largest, or smallest, scores."""
        count = amounts.count_to_prune(self.amount, default_mask.nelement())
        mask = default_mask.clone()
        if count != 0:
            mask.view(-1)[topk(scores().view(-1), k=count, largest=largest).indices] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes random elements. `amount` is their number, or their fraction if it is a float."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """The mask without the elements that get the largest random numbers."""
        return self._without(default_mask, lambda: rand_like(t), largest=True)

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any) -> Any:                  # type: ignore[override]
        """See `BasePruningMethod.apply`."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Unstructured):
    """Prunes the elements with the smallest magnitudes. `amount` is their number, or their fraction as a float."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """The mask without the elements with the smallest magnitudes."""
        return self._without(default_mask, lambda: abs(t), largest=False)

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any,                          # type: ignore[override]
              importance_scores: Tensor | None = None) -> Any:
        """See `BasePruningMethod.apply`."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class RandomStructured(BasePruningMethod):
    """Prunes random slices along a dimension. `amount` is their number, or their fraction as a float."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """The mask without the slices that get the smallest random numbers."""
        size, count = amounts.slices_to_prune(t, self.dim, self.amount)
        if count == 0:
            return default_mask
        draws = rand(size)
        kept = draws > kthvalue(draws, k=count).values
        return amounts.kept_slices(t, self.dim, kept) * default_mask.to(dtype=t.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any, dim: int = -1) -> Any:   # type: ignore[override]
        """See `BasePruningMethod.apply`."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(BasePruningMethod):
    """Prunes the slices along a dimension with the smallest norms of order `n`."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """The mask without the slices with the smallest norms."""
        size, count = amounts.slices_to_prune(t, self.dim, self.amount)
        if count == 0:
            return default_mask
        kept = topk(_compute_norm(t, self.n, self.dim), k=size - count, largest=True)
        return amounts.kept_slices(t, self.dim, kept.indices) * default_mask.to(dtype=t.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any, n: Any, dim: int,        # type: ignore[override]
              importance_scores: Any = None) -> Any:
        """See `BasePruningMethod.apply`."""
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """The product of both masks."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask shape "
                                 f"{self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor) -> Any:                    # type: ignore[override]
        """See `BasePruningMethod.apply`."""
        return super().apply(module, name, mask=mask)


def identity(module: Module, name: str) -> Module:
    """Split a parameter into original and mask without pruning any element. Returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: Any) -> Module:
    """Prune random elements of a parameter. `amount` is their number, or their fraction if it is a float.

    >>> import retrograd as torch
    >>> import retrograd.nn.utils.prune as prune
    >>> layer = prune.random_unstructured(torch.nn.Linear(4, 2), "weight", amount=3)
    >>> [*layer.state_dict()], int(layer.weight_mask.sum())
    (['bias', 'weight_orig', 'weight_mask'], 5)

    Returns the module. Raises ValueError for an impossible amount.
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: Any, importance_scores: Tensor | None = None) -> Module:
    """Prune the elements of a parameter with the smallest magnitudes, or scores. Returns the module."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: Any, dim: int) -> Module:
    """Prune random slices of a parameter along a dimension. Returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Module, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None) -> Module:
    """Prune the slices of a parameter along a dimension with the smallest norms of order `n`. Returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune the elements of a parameter where the mask is 0. Returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any) -> None:
    """Prune several parameters together, as if they were one vector.

    `parameters` lists pairs of module and name. `pruning_method` is a class with `PRUNING_TYPE = "unstructured"`, and
    `kwargs` are its arguments. `importance_scores` maps some of the pairs to tensors. Raises TypeError for another kind
    of class.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    pairs = [*parameters]
    compared = parameters_to_vector([scores.get(pair, getattr(*pair)) for pair in pairs])
    masks = parameters_to_vector([amounts.mask_of(module, name) for module, name in pairs])
    container, method = PruningContainer(), pruning_method(**kwargs)
    container._tensor_name = method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
                        f"{pruning_method} of type {method.PRUNING_TYPE}")
    mask, start = container.compute_mask(compared, masks), 0
    for module, name in pairs:
        parameter = getattr(module, name)
        end = start + parameter.numel()
        custom_from_mask(module, name, mask=mask[start:end].view_as(parameter))
        start = end


def remove(module: Module, name: str) -> Module:
    """Make the pruned values of a parameter its values for good. Returns the module.

    Raises ValueError if the parameter is not pruned.
    """
    found = _hook_of(module, name)
    if found is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    key, method = found
    method.remove(module)
    del module._forward_pre_hooks[key]
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of this module, or of a module inside, is pruned."""
    return any([isinstance(hook, BasePruningMethod)
                for inner in module.modules() for hook in inner._forward_pre_hooks.values()])
