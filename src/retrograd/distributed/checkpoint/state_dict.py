"""torch.distributed.checkpoint.state_dict: the states of models and optimizers, whatever wraps or cuts the model.

The names of parameters are those of the bare model. The state of an optimizer has these names in the place of numbers.
With `full_state_dict`, a state has whole tensors in the place of DTensors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...autograd.grad_mode import no_grad
from ...foundations.names import missing
from ...nn.modules.module import Module
from ...nn.modules.module.state_dict import _IncompatibleKeys
from ...nn.parallel.distributed import DistributedDataParallel
from ...optim.optimizer import Optimizer
from ...tensors.functions.creation.creation import zeros_like
from ...tensors.tensor import Tensor
from ...utils._pytree import tree_map
from ..groups import get_rank, is_initialized
from ..objects import broadcast_object_list
from ..tensor.dtensor import DTensor
from ..tensor.making import distribute_tensor

__all__ = ["StateDictOptions", "get_model_state_dict", "get_optimizer_state_dict", "get_state_dict",
           "set_model_state_dict", "set_optimizer_state_dict", "set_state_dict"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

_WRAPPED = ("_checkpoint_wrapped_module",)


@dataclass
class StateDictOptions:
    """How states are taken and given.

    With `full_state_dict`, states have whole tensors. With `cpu_offload` too, process 0 gets the state and all others
    get an empty one. `ignore_frozen_params` leaves out parameters that require no grad. `strict` is as for
    `load_state_dict`. With `broadcast_from_rank0`, process 0 alone has the state to give. With
    `flatten_optimizer_state_dict`, the state of an optimizer is one dictionary with paths as keys.
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def get_model_state_dict(model: Module, *, submodules: Any = None, options: StateDictOptions | None = None,
                         ) -> dict[str, Any]:
    """The state of a model, under the names of the bare model.

    >>> import retrograd as torch
    >>> from retrograd.distributed.checkpoint.state_dict import get_model_state_dict
    >>> [*get_model_state_dict(torch.compile(torch.nn.Linear(2, 1)))]
    ['weight', 'bias']
    """
    chosen = _checked(options, submodules)
    with no_grad():
        state = {_bare(model, key): value for key, value in model.state_dict().items()}
        if chosen.ignore_frozen_params:
            for key, parameter in model.named_parameters():
                if not parameter.requires_grad:
                    state.pop(_bare(model, key))
        return _present(_given(state, chosen), chosen)


def set_model_state_dict(model: Module, model_state_dict: dict[str, Any], *, options: StateDictOptions | None = None,
                         ) -> Any:
    """Give a model a state that `get_model_state_dict` returned. Returns the missing and the unexpected keys.

    Raises RuntimeError for these and for an empty state with `strict`, and ValueError for options that do not fit.
    """
    chosen = _checked(options)
    if not _present(model_state_dict, chosen) and not chosen.broadcast_from_rank0:
        return _IncompatibleKeys({}, {})  # type: ignore[arg-type]
    with no_grad():
        own = dict(model.state_dict())
        keys = {_bare(model, key): key for key in own}
        given = {keys.get(key, key): value for key, value in model_state_dict.items()}
        if chosen.strict and not chosen.broadcast_from_rank0:
            for key, wrapped in keys.items():
                if key != wrapped and wrapped not in given:
                    raise RuntimeError(f"Missing key: {key}.")
        if chosen.full_state_dict:
            absent = {} if chosen.broadcast_from_rank0 and chosen.strict else own
            given = absent | given | _distributed(given, own, chosen.broadcast_from_rank0)
        return model.load_state_dict(given, strict=chosen.strict)


def get_optimizer_state_dict(model: Module, optimizers: Any, *, submodules: Any = None,
                             options: StateDictOptions | None = None) -> dict[str, Any]:
    """The state of optimizers of a model, with the names of parameters. An optimizer without a state gets one of zeros.
    """
    chosen = _checked(options, submodules)
    found: dict[str, Any] = {"state": {}, "param_groups": []}
    with no_grad():
        for optimizer in _several(optimizers):
            state = _named_state(model, optimizer)
            found["state"].update(state["state"])
            found["param_groups"].extend(state["param_groups"])
        return _given(_flat(found) if chosen.flatten_optimizer_state_dict else found, chosen)


def set_optimizer_state_dict(model: Module, optimizers: Any, optim_state_dict: dict[str, Any], *,
                             options: StateDictOptions | None = None) -> None:
    """Give optimizers of a model the state that `get_optimizer_state_dict` returned.

    Raises RuntimeError for an empty state, and if the state of a parameter is missing unless `strict` is False.
    """
    chosen = _checked(options)
    if not optim_state_dict and not (chosen.cpu_offload and chosen.full_state_dict) and not chosen.broadcast_from_rank0:
        raise RuntimeError("The option indicates that model state_dict is required to save, or load but optim "
                           f"state_dict is empty. {optim_state_dict}")
    with no_grad():
        for optimizer in _several(optimizers):
            own, names = _named_state(model, optimizer), _names(model)
            needed = {names[id(parameter)] for group in optimizer.param_groups for parameter in group["params"]
                      if parameter.requires_grad}
            given = optim_state_dict
            if chosen.broadcast_from_rank0:
                given = _broadcast(given if get_rank() == 0 else {})
            if "state" not in given:
                given = _nested(given, own)
            state = _part_of(given, own, needed, chosen.strict)
            if chosen.full_state_dict:
                state["state"] = {name: _distributed(state["state"].get(name, {}), own["state"].get(name, {}), False)
                                  for name in own["state"]}
            optimizer.load_state_dict(state)


def get_state_dict(model: Module, optimizers: Any, *, submodules: Any = None,
                   options: StateDictOptions | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The states of a model and of its optimizers."""
    state = get_model_state_dict(model, submodules=submodules, options=options)
    several = _several(optimizers)
    return state, get_optimizer_state_dict(model, several, options=options) if several else {}


def set_state_dict(model: Module, optimizers: Any, *, model_state_dict: dict[str, Any],
                   optim_state_dict: dict[str, Any], options: StateDictOptions | None = None) -> Any:
    """Give a model and its optimizers their states. Returns the missing and the unexpected keys of the model."""
    if _several(optimizers):
        set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return set_model_state_dict(model, model_state_dict, options=options)


# Options and names


def _checked(options: StateDictOptions | None, submodules: Any = None) -> StateDictOptions:
    """The options. Raises ValueError for some that do not fit, and NotImplementedError for parts of a model."""
    chosen = options or StateDictOptions()
    if submodules:
        raise NotImplementedError("submodules=...: take the state of the model, and of it the keys that begin with the "
                                  "name of the module")
    if chosen.broadcast_from_rank0 and not chosen.full_state_dict:
        raise ValueError("full_state_dict must be True when broadcast_from_rank0 is True.")
    return chosen


def _present(state: dict[str, Any], options: StateDictOptions) -> dict[str, Any]:
    """The state of a model. Raises RuntimeError if it is empty, and no option allows this."""
    if (not state and not options.ignore_frozen_params and not (options.cpu_offload and options.full_state_dict)
            and options.strict and not options.broadcast_from_rank0):
        raise RuntimeError("The option indicates that model state_dict is required to save or load, but model "
                           f"state_dict is empty.rank = dist.get_rank()={get_rank() if is_initialized() else 0}.")
    return state


def _several(optimizers: Any) -> tuple[Any, ...]:
    return (optimizers,) if isinstance(optimizers, Optimizer) else tuple(optimizers)


def _bare(model: Module, key: str) -> str:
    """The name of a parameter in the model without what wraps it and its parts."""
    owner: Any = model
    kept: list[str] = []
    for name in key.split("."):
        wraps = name in _WRAPPED or name == "_orig_mod" or (
            name == "module" and isinstance(owner, DistributedDataParallel))
        if not wraps:
            kept.append(name)
        owner = getattr(owner, name, None)
    return ".".join(kept)


def _names(model: Module) -> dict[int, str]:
    """The names of parameters by their identity. A parameter with several names has the first."""
    return {id(parameter): _bare(model, key) for key, parameter in model.named_parameters()}


# Whole tensors and parts


def _given(state: dict[str, Any], options: StateDictOptions) -> dict[str, Any]:
    """A state as the options ask for it."""
    if not options.full_state_dict:
        return state
    whole: dict[str, Any] = tree_map(lambda x: x.full_tensor() if isinstance(x, DTensor) else x, state)
    return {} if options.cpu_offload and is_initialized() and get_rank() != 0 else whole


def _distributed(given: dict[str, Any], own: dict[str, Any], from_first: bool) -> dict[str, Any]:
    """The given values as those of the same names lie. Values of dims that nobody has a name for are left out."""
    found = _broadcast(given if get_rank() == 0 else {}) if from_first else given
    return {key: _as(own[key], value) if key in own else value for key, value in found.items()
            if key in own or not isinstance(value, Tensor) or not value.dim()}


def _as(own: Any, value: Any) -> Any:
    """A whole tensor as a DTensor, if another value is one."""
    if not isinstance(own, DTensor) or not isinstance(value, Tensor) or isinstance(value, DTensor) or not value.dim():
        return value
    return distribute_tensor(value.detach(), own.device_mesh, own.placements)


def _broadcast(state: Any) -> Any:
    """The state that process 0 has, in all processes."""
    sent = [state]
    if is_initialized():
        broadcast_object_list(sent, 0)
    return sent[0]


# The states of optimizers


def _named_state(model: Module, optimizer: Optimizer) -> dict[str, Any]:
    """The state of an optimizer with names in the place of numbers."""
    _begin(optimizer)
    names = _names(model)
    listed = [names[id(parameter)] for group in optimizer.param_groups for parameter in group["params"]]
    state = optimizer.state_dict()
    return {"state": {listed[number]: value for number, value in state["state"].items()},
            "param_groups": [{**group, "params": [listed[number] for number in group["params"]]}
                             for group in state["param_groups"]]}


def _begin(optimizer: Optimizer) -> None:
    """Have an optimizer make its state, by a step that changes nothing."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    if optimizer.state or any([parameter.grad is not None for parameter in parameters]):
        return
    rates = [group.get("lr") for group in optimizer.param_groups]
    for parameter in parameters:
        if parameter.requires_grad:
            parameter.grad = zeros_like(parameter)
    for group, rate in zip(optimizer.param_groups, rates):
        if rate is not None:
            group["lr"] = zeros_like(rate) if isinstance(rate, Tensor) else 0.0
    optimizer.step()
    for group, rate in zip(optimizer.param_groups, rates):
        if rate is not None:
            group["lr"] = rate
    optimizer.zero_grad()


def _flat(state: dict[str, Any]) -> dict[str, Any]:
    """The state of optimizers with paths as keys."""
    found = {f"state.{name}.{key}": value for name, values in state["state"].items() for key, value in values.items()}
    for group in state["param_groups"]:
        for name in group["params"]:
            found.update({f"param_groups.{name}.{key}": value for key, value in group.items() if key != "params"})
    return found


def _nested(flat: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """The state of optimizers from one with paths as keys."""
    state = {name: {key: flat[f"state.{name}.{key}"] for key in values} for name, values in own["state"].items()}
    groups = [{key: flat[f"param_groups.{group['params'][0]}.{key}"] if key != "params" else value
               for key, value in group.items()} for group in own["param_groups"]]
    return {"state": state, "param_groups": groups}


def _part_of(given: dict[str, Any], own: dict[str, Any], needed: set[str], strict: bool) -> dict[str, Any]:
    """The part of a state that belongs to an optimizer, whose state is `own`, in its order."""
    if all([isinstance(key, int) for key in given["state"]]):
        return given
    groups: list[dict[str, Any]] = []
    for group in own["param_groups"]:
        found: dict[str, Any] = {}
        for other in given["param_groups"]:
            if {*other["params"]} & {*group["params"]}:
                found.update(other)
        groups.append({**found, "params": group["params"]})
    names = [name for group in groups for name in group["params"]]
    for name in names:
        if strict and name in needed and name not in given["state"]:
            raise RuntimeError(f"Missing optimizer state for parameter '{name}' in checkpoint. The parameter requires "
                               "gradients but has no saved optimizer state. To load anyway, use "
                               "StateDictOptions(strict=False).")
    return {"state": {name: given["state"][name] for name in names if name in given["state"]}, "param_groups": groups}
