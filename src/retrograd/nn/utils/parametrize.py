"""torch.nn.utils.parametrize: a parameter or buffer of a module as a function of other tensors.

A parametrized tensor `name` becomes a property that computes the tensor from `parametrizations.name`. The module gets a
class of its own, which is derived from the module's class.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...autograd.grad_mode import no_grad
from ...graph.locks import moment
from ...tensors.tensor import Tensor
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]

_cache_enabled = 0
_cache: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """In this context each parametrized tensor is computed once, at its first use.

    >>> import retrograd as torch
    >>> from retrograd.nn.utils import parametrize
    >>> layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(2, 2))
    >>> with parametrize.cached():
    ...     layer.weight is layer.weight
    True
    """
    global _cache_enabled
    with moment:
        _cache_enabled += 1
    try:
        yield
    finally:
        with moment:
            _cache_enabled -= 1
            if not _cache_enabled:
                _cache.clear()


def _register_parameter_or_buffer(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _require_same(what: str, before: Tensor, after: Any, message: str, labels: tuple[str, str]) -> None:
    """Raises ValueError if two tensors differ in their dtype or shape. The message may have `{what}` in it."""
    first, second = getattr(before, what), getattr(after, what)
    if first != second:
        told = message.format(what=what)
        raise ValueError(f"{told}\n{labels[0].format(what=what)}: {first}\n{labels[1].format(what=what)}: {second}")


def _inverted(parametrization: Module, value: Any) -> Any:
    """What `right_inverse` makes of a value; the value itself if there is no such function."""
    if not hasattr(parametrization, "right_inverse"):
        return value
    try:
        return parametrization.right_inverse(value)
    except NotImplementedError:
        return value


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and the tensors `original` or `original0`, … that it is computed from.

    `modules` are called in order. `original` is the tensor before: if a module has a `right_inverse`, it says which
    tensors to start from. Raises ValueError if the result has another dtype or shape, unless `unsafe` is set.
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape_and_dtype = original.detach()
        start: Any = original
        with no_grad():
            for module in [*self][::-1]:
                start = _inverted(module, start)
        if not isinstance(start, (Tensor, Sequence)):
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                             f"{type(start).__name__}")
        self.is_tensor = isinstance(start, Tensor)
        self.ntensors = 1 if self.is_tensor else len(start)
        if self.is_tensor:
            _require_same("dtype", original, start, "When `right_inverse` outputs one tensor, it may not change the "
                          "{what}.", ("original.{what}", "right_inverse(original).{what}"))
            with no_grad():
                original.set_(start)
            _register_parameter_or_buffer(self, "original", original)
        else:
            self._register_several(original, start)
        if not unsafe:
            self._check(shape_and_dtype)

    def _register_several(self, original: Any, tensors: Any) -> None:
        for number, tensor in enumerate(tensors):
            if not isinstance(tensor, Tensor):
                raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                                 f"element {number} of the sequence with type {type(tensor).__name__}.")
            if isinstance(original, Parameter):
                tensor = Parameter(tensor, original.requires_grad)
            tensor.requires_grad_(original.requires_grad)
            _register_parameter_or_buffer(self, f"original{number}", tensor)

    def _check(self, before: Tensor) -> None:
        """Raises ValueError if the parametrized tensor differs from the one before in more than its values."""
        result = self()
        if not isinstance(result, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
        for what in ("dtype", "shape"):
            _require_same(what, before, result, "Registering a parametrization may not change the {what} of the "
                          "tensor, unless `unsafe` flag is enabled.", ("unparametrized {what}", "parametrized {what}"))

    def _originals(self) -> list[Any]:
        return [self.original] if self.is_tensor else [getattr(self, f"original{n}") for n in range(self.ntensors)]

    def right_inverse(self, value: Any) -> None:
        """Set the original tensors so that the parametrized tensor becomes `value`, as far as that is possible.

        Raises RuntimeError if a module has no `right_inverse`.
        """
        with no_grad():
            for module in [*self][::-1]:
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, Tensor):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
            elif not isinstance(value, Sequence):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
            elif len(value) != self.ntensors:
                raise ValueError("'right_inverse' must return a sequence of tensors of length "
                                 f"{self.ntensors}. Got a sequence of length {len(value)}.")
            for number, (original, tensor) in enumerate(zip(self._originals(), [value] if self.is_tensor else value)):
                name = "`original`" if self.is_tensor else f"`original{number}`"
                returned = "The tensor" if self.is_tensor else f"Tensor {number}"
                if not isinstance(tensor, Tensor):
                    raise ValueError(f"`right_inverse` must return a sequence of tensors. Got element {number} of type "
                                     f"{type(tensor).__name__}")
                if original.dtype != tensor.dtype:
                    raise ValueError(f"{returned} returned by `right_inverse` has dtype {tensor.dtype} while {name} "
                                     f"has dtype {original.dtype}")
                original.set_(tensor)

    def forward(self) -> Any:
        """The parametrized tensor."""
        first, *others = self
        value = first(*self._originals())
        for module in others:
            value = module(value)
        return value


def _deepcopy(self: Module, memo: dict[int, Any]) -> Any:
    if id(self) not in memo:
        cls: Any = type(self)
        replica = memo[id(self)] = cls.__new__(cls)
        replica.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return memo[id(self)]


def _getstate(self: Any) -> Any:
    raise RuntimeError("Serialization of parametrized modules is only supported through state_dict(). See:\n"
                       "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
                       "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training")


def _inject_new_class(module: Module) -> None:
    """Give a module a class of its own, which can hold properties."""
    cls = type(module)
    attributes: dict[str, Any] = {"__getstate__": _getstate, "__module__": __name__}
    if not hasattr(cls, "__deepcopy__"):
        attributes["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), attributes)


def _inject_property(module: Module, tensor_name: str) -> None:
    """Add the property that computes the tensor to the class of the module."""
    def compute(self: Module) -> Any:
        if not _cache_enabled:
            return self.parametrizations[tensor_name]()
        key = id(self), tensor_name
        if key not in _cache:
            _cache[key] = self.parametrizations[tensor_name]()
        return _cache[key]

    def assign(self: Module, value: Tensor) -> None:
        self.parametrizations[tensor_name].right_inverse(value)

    setattr(type(module), tensor_name, property(compute, assign))


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Any:
    """Compute a parameter or buffer of a module by a module `parametrization`. Several are called one after another.

    `parametrization.right_inverse(tensor)`, if it exists, says which tensor, or tensors, to start from. An assignment
    to the attribute calls `right_inverse`, too.

    >>> import retrograd as torch
    >>> class Symmetric(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).mT
    >>> layer = torch.nn.Linear(3, 3)
    >>> layer = torch.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    >>> torch.equal(layer.weight, layer.weight.mT), [*layer.state_dict()]
    (True, ['bias', 'parametrizations.weight.original'])

    Returns the module. Raises ValueError if the module has no such tensor, or if the parametrization changes its shape
    or dtype and `unsafe` is not set.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_further(module, tensor_name, parametrization)
        known = module.parametrizations[tensor_name]
        known.append(parametrization)
        known.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
                         f"'{tensor_name}'")
    return module


def _check_further(module: Any, name: str, parametrization: Any) -> None:
    """Raises ValueError if one more parametrization would change the shape or dtype, forwards or backwards."""
    before = getattr(module, name)
    after = parametrization(before)
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    for what in ("dtype", "shape"):
        _require_same(what, before, after, "Registering a parametrization may not change the {what} of the tensor, "
                      "unless the `unsafe` flag is enabled.",
                      (f"module.{name}.{{what}}", f"parametrization(module.{name}).{{what}}"))
    back = _inverted(parametrization, after)
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for what in ("dtype", "shape"):
        _require_same(what, before, back, "The tensor returned by parametrization.right_inverse must have the same "
                      f"{{what}} as module.{name}, unless the `unsafe` flag is enabled.",
                      (f"module.{name}.{{what}}", "returned {what}"))


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a tensor of the module is parametrized. Without a name: whether any of its tensors is."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make a parametrized tensor an ordinary parameter or buffer again. Returns the module.

    With `leave_parametrized` the tensor keeps its present values, otherwise it gets those of the original tensor.
    Raises ValueError if the tensor is not parametrized, or if there are several original tensors to choose from.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            with no_grad():
                original.set_(getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in "
                         "terms of a sequence of tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register_parameter_or_buffer(module, tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had before its first parametrization."""
    cls = type(module)
    return cls.__bases__[0] if is_parametrized(module) else cls


def transfer_parametrizations_and_params(from_module: Module, to_module: Module, tensor_name: str | None = None) -> Any:
    """Parametrize another module in the same way, with the same original tensors. Returns the other module.

    Without a name all parametrized tensors are transferred.
    """
    if not is_parametrized(from_module):
        return to_module
    for name in [*from_module.parametrizations] if tensor_name is None else [tensor_name]:
        given = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for parametrization in given:
            register_parametrization(to_module, name, parametrization)
        taken = to_module.parametrizations[name]
        for number, original in enumerate(given._originals()):
            setattr(taken, "original" if given.is_tensor else f"original{number}", original)
    return to_module
