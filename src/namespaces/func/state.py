"""Modules as functions of their state: a module called with other tensors, and states of modules stacked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from ..nn.modules.batchnorm import _BatchNorm
from ..nn.modules.module import Module
from ..nn.utils.stateless import _functional_call
from ..tensors.functions.shapes.joining import stack
from ..tensors.tensor import Tensor


def functional_call(module: Module, parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
                    args: Any = None, kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True,
                    strict: bool = False) -> Any:
    """Call a module with other tensors in place of its parameters and buffers.

    `parameter_and_buffer_dicts` is a dictionary from dotted names to tensors, or a list or tuple of such dictionaries
    without common names. If the module has one tensor under several names, a tensor for one name stands for all, unless
    `tie_weights` is False. With `strict` every name must be given, and no other. If one dictionary is given and the
    call gives the module another buffer, the dictionary gets the new one.

    >>> import retrograd as torch
    >>> layer = torch.nn.Linear(1, 1)
    >>> given = {"weight": torch.tensor([[2.]])}, {"bias": torch.tensor([1.])}
    >>> torch.func.functional_call(layer, given, torch.ones(1))
    tensor([3.])

    Raises ValueError for a name in two dictionaries, for different values of one tensor, and for what is no dictionary;
    RuntimeError for names that `strict` forbids.
    """
    if not isinstance(parameter_and_buffer_dicts, dict | list | tuple):
        raise ValueError("Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
                         f"{type(parameter_and_buffer_dicts)}")
    if isinstance(parameter_and_buffer_dicts, dict):
        tensors = parameter_and_buffer_dicts
    else:
        tensors = _joined(parameter_and_buffer_dicts)
    return _functional_call(module, tensors, args, kwargs, tie_weights=tie_weights, strict=strict)


def _joined(dictionaries: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    if not all(isinstance(dictionary, dict) for dictionary in dictionaries):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    names = list(chain.from_iterable(dictionaries))
    repeated = list(dict.fromkeys(name for name in names if names.count(name) > 1))
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {name: tensor for dictionary in dictionaries for name, tensor in dictionary.items()}


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Stack the parameters of modules of one class, and their buffers, along a new first dimension.

    Returns two dictionaries from names to tensors. The stacked parameters are new leaves, which require grad as the
    parameters do.

    >>> import retrograd as torch
    >>> parameters, buffers = torch.func.stack_module_state([torch.nn.Linear(2, 1) for _ in range(3)])
    >>> {name: tuple(tensor.shape) for name, tensor in parameters.items()}, buffers
    ({'weight': (3, 1, 2), 'bias': (3, 1)}, {})

    Raises RuntimeError for no modules, modules of different classes or modes, and tensors that do not fit each other.
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    first = models[0]
    if any(model.training != first.training for model in models):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(model) is not type(first) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    return ({name: _stacked(name, [of[name] for of in parameters]) for name in parameters[0]},
            {name: _stacked(name, [of[name] for of in buffers]) for name in buffers[0]})


def _stacked(name: str, tensors: list[Tensor]) -> Tensor:
    requires_grad = tensors[0].requires_grad
    if any(tensor.requires_grad != requires_grad for tensor in tensors):
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    return stack(tensors).detach().requires_grad_(requires_grad)


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Turn off the running statistics of all batch norms of a module, in place. Returns the module.

    >>> import retrograd as torch
    >>> list(torch.func.replace_all_batch_norm_modules_(torch.nn.BatchNorm1d(2)).state_dict())
    ['weight', 'bias']
    """
    for module in root.modules():
        batch_norm_without_running_stats(module)
    return root


def batch_norm_without_running_stats(module: Module) -> None:
    """Turn off the running statistics of a module, in place, if the module is a batch norm."""
    if isinstance(module, _BatchNorm):
        module.running_mean = module.running_var = module.num_batches_tracked = None
        module.track_running_stats = False
