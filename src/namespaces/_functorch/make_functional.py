"""torch._functorch.make_functional: a module as a function of its parameters and buffers, as functorch had it.

`torch.func.functional_call` is the way of today. Programs for functorch use the functions of this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from ..foundations.names import missing
from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from ..nn.utils.stateless import _functional_call
from ..tensors.functions.shapes.joining import stack
from ..tensors.tensor import Tensor

__all__ = ["FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "make_functional",
           "make_functional_with_buffers"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class FunctionalModuleWithBuffers(Module):
    """A module without state, which is called with parameters, buffers and the inputs."""

    stateless_model: Module

    def __init__(self, stateless_model: Module, param_names: tuple[str, ...], buffer_names: tuple[str, ...],
                 param_names_map: dict[str, list[str]], buffer_names_map: dict[str, list[str]]) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names, self.buffer_names = param_names, buffer_names
        self.all_names_map = dict(param_names_map) | buffer_names_map

    def forward(self, params: Sequence[Tensor], buffers: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        """The output of the module with these parameters and buffers, which stand in the order of their names."""
        tensors = zip((*self.param_names, *self.buffer_names), (*params, *buffers))
        return _called(self.stateless_model, self.all_names_map, tensors, args, kwargs)


class FunctionalModule(Module):
    """A module without state, which is called with parameters and the inputs."""

    stateless_model: Module

    def __init__(self, stateless_model: Module, param_names: tuple[str, ...], names_map: dict[str, list[str]]) -> None:
        super().__init__()
        self.stateless_model, self.param_names, self.names_map = stateless_model, param_names, names_map

    def forward(self, params: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        """The output of the module with these parameters, which stand in the order of their names."""
        return _called(self.stateless_model, self.names_map, zip(self.param_names, params), args, kwargs)


def _called(model: Module, names: dict[str, list[str]], tensors: Iterable[tuple[str, Tensor]], args: tuple[Any, ...],
            kwargs: dict[str, Any]) -> Any:
    """The output of a module with these tensors. A module inside that has several names gets its tensors once."""
    given = {}
    for first, tensor in tensors:
        places: dict[tuple[Module, str], str] = {}
        for name in names[first]:
            path, _, last = name.rpartition(".")
            places.setdefault((model.get_submodule(path), last), name)
        given.update(dict.fromkeys(places.values(), tensor))
    return _functional_call(model, given, args, kwargs, tie_weights=False)


def make_functional(model: Module, disable_autograd_tracking: bool = False) \
        -> tuple[FunctionalModule, tuple[Tensor, ...]]:
    """A copy of a module as a function of parameters and inputs, and the parameters of the copy.

    With `disable_autograd_tracking`, the parameters do not require grad.

    >>> import retrograd as torch
    >>> from retrograd._functorch.make_functional import make_functional
    >>> function, parameters = make_functional(torch.nn.Linear(2, 1))
    >>> function([torch.ones_like(parameter) for parameter in parameters], torch.ones(2))
    tensor([3.])

    Raises RuntimeError for a module with buffers.
    """
    if any(True for _ in model.buffers()):
        raise RuntimeError("make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model)"
                           " instead.")
    emptied, parameters, names, _ = _emptied(model, disable_autograd_tracking)
    return FunctionalModule(emptied, tuple(parameters), names), tuple(parameters.values())


def make_functional_with_buffers(model: Module, disable_autograd_tracking: bool = False) \
        -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """A copy of a module as a function of parameters, buffers and inputs; the parameters and the buffers of the copy.

    With `disable_autograd_tracking`, the parameters do not require grad.
    """
    emptied, parameters, names, buffers = _emptied(model, disable_autograd_tracking)
    made = FunctionalModuleWithBuffers(emptied, tuple(parameters), tuple(buffers), names, {n: [n] for n in buffers})
    return made, tuple(parameters.values()), tuple(buffers.values())


def combine_state_for_ensemble(models: Sequence[Module]) \
        -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """The function of modules of one class, and their parameters and buffers, each stacked along a new first dim.

    Raises RuntimeError for no modules, and for modules of different classes or modes.
    """
    if not models:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if any(model.training != models[0].training for model in models):
        raise RuntimeError("combine_state_for_ensemble: Expected all models to have the same training/eval mode.")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same class.")
    functions, parameters, buffers = zip(*[make_functional_with_buffers(model) for model in models])
    return (functions[0], tuple([stack(column).detach() for column in zip(*parameters)]),
            tuple([stack(column).detach() for column in zip(*buffers)]))


def _emptied(model: Module, untracked: bool) -> tuple[Module, dict[str, Tensor], dict[str, list[str]],
                                                      dict[str, Tensor]]:
    """A copy of a module whose state is on the device 'meta'; its parameters, all names of each, and its buffers."""
    copied = deepcopy(model)
    parameters: dict[str, Tensor] = dict(copied.named_parameters())
    buffers = dict(copied.named_buffers())
    first = {id(parameter): name for name, parameter in parameters.items()}
    names: dict[str, list[str]] = {name: [] for name in parameters}
    empty = {name: Parameter(parameter.detach().to("meta"), parameter.requires_grad)
             for name, parameter in parameters.items()}
    for name, each in [*copied.named_parameters(remove_duplicate=False)]:
        names[first[id(each)]].append(name)
        _put(copied, name, empty[first[id(each)]])
    for name, buffer in buffers.items():
        _put(copied, name, buffer.to("meta"))
    if untracked:
        for parameter in parameters.values():
            parameter.requires_grad_(False)
    return copied, parameters, names, buffers


def _put(module: Module, name: str, value: Tensor) -> None:
    path, _, last = name.rpartition(".")
    setattr(module.get_submodule(path), last, value)
