"""torch.nn.utils.stateless: a module called as a function of its parameters and buffers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...foundations.errors import warn
from ..modules.module import Module
from ..parallel.data_parallel import DataParallel
from ._named_member_accessor import NamedMemberAccessor

__all__ = ["functional_call"]


def _untie_named_tensors_map(module: Module, parameters_and_buffers: dict[str, Any]) -> dict[str, Any]:
    """The tensors by name, with all names of the tensors that the module has under several names.

    Raises ValueError if two names of one tensor have different tensors.
    """
    held = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    if len({id(tensor) for _, tensor in held}) == len(held):         # each tensor has one name
        return parameters_and_buffers
    groups: dict[int, list[str]] = {}
    for name, tensor in held:
        groups.setdefault(id(tensor), []).append(name)
    untied = dict(parameters_and_buffers)
    for names in groups.values():
        if len(names) == 1:
            continue
        given = [name for name in names if name in parameters_and_buffers]
        values = {id(parameters_and_buffers[name]) for name in given}
        if len(values) > 1:
            raise ValueError(f"functional_call got multiple values for keys {sorted(given)}, which are tied. Consider "
                             "using tie_weights=False")
        for name in names if given else ():
            untied[name] = parameters_and_buffers[given[0]]
    return untied


@contextmanager
def _reparametrize_module(module: Module, parameters_and_buffers: dict[str, Any], tie_weights: bool = False,
                          strict: bool = False) -> Iterator[None]:
    """In this context the module has other tensors. Tensors that it gets meanwhile stay in the dictionary."""
    tensors = parameters_and_buffers
    if tie_weights:
        tensors = _untie_named_tensors_map(module, parameters_and_buffers)
    accessor = NamedMemberAccessor(module)
    if strict:
        missing, unexpected = accessor.check_keys(tensors)
        problems = [f"{what} key(s): {', '.join(map(repr, names))}."
                    for what, names in (("Unexpected", unexpected), ("Missing", missing)) if names]
        if problems:
            listed = "\n\t".join(problems)
            raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t{listed}")
    before, _ = accessor.swap_tensors_dict(tensors, allow_missing=True)
    try:
        yield
    finally:
        after, _ = accessor.swap_tensors_dict(before, allow_missing=True)
        parameters_and_buffers.update(
            {name: tensor for name, tensor in after.items() if name in parameters_and_buffers})


def _functional_call(module: Module, parameters_and_buffers: dict[str, Any], args: Any = None,
                     kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True, strict: bool = False) -> Any:
    if isinstance(module, DataParallel):
        raise RuntimeError("The stateless API can't be used with nn.DataParallel module")
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights=tie_weights, strict=strict):
        call: Any = module
        return call(*args, **(kwargs or {}))


def functional_call(module: Module, parameters_and_buffers: dict[str, Any], args: Any = None,
                    kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True, strict: bool = False) -> Any:
    """Call a module with other tensors in place of its parameters and buffers.

    `parameters_and_buffers` maps dotted names to tensors. If the module has one tensor under several names, a tensor
    for one name stands for all, unless `tie_weights` is False. With `strict` every name must be given, and no other.
    If the call gives the module another buffer, the dictionary gets the new one.

    >>> import warnings
    >>> import retrograd as torch
    >>> layer = torch.nn.Linear(1, 1)
    >>> given = {"weight": torch.tensor([[2.]]), "bias": torch.tensor([1.])}
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.nn.utils.stateless.functional_call(layer, given, torch.ones(1))
    tensor([3.])

    A call warns that `torch.func.functional_call` replaces this function in PyTorch. Raises ValueError for different
    values of one tensor, RuntimeError for names that `strict` forbids.
    """
    warn("`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
         "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
         FutureWarning)
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
