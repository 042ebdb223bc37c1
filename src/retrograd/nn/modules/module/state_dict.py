"""The state of a module as a dictionary of tensors by dotted name: saving and loading.

This module must not know how modules run.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from .... import __future__ as ways
from ....autograd.grad_mode import no_grad
from ....foundations.errors import noted, warn
from ....foundations.inherited import part_of
from ....foundations.names import reached
from ....graph.hooks import HookDict, RemovableHandle, present
from ....tensors.face.swapping import swap_tensors
from ....tensors.tensor import Tensor
from ...parameter import Parameter, is_lazy
from .hooks import _WrappedHook, registered

__all__ = ["StateDict"]

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"

_REPORT = ("Please file an issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report "
           "this bug.")


_PREFIX = "module."                                      # of the names in the state of a DataParallel


class IncompatibleKeys(NamedTuple):
    """The names that `load_state_dict` missed, and the names that it did not expect."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class _IncompatibleKeys(IncompatibleKeys):
    """The same, with a text of its own if all names match."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


@part_of("Module")
class StateDict:
    """The methods of a module that save and load its state."""

    _version = 1
    T_destination = TypeVar("T_destination", bound=dict[str, Any])
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: HookDict
    _state_dict_pre_hooks: HookDict
    _load_state_dict_pre_hooks: HookDict
    _load_state_dict_post_hooks: HookDict

    def get_extra_state(self) -> Any:
        """What else to save. A subclass overrides this method together with `set_extra_state`."""
        raise RuntimeError(f"Reached a code path in Module.get_extra_state() that should never be called. {_REPORT}")

    def set_extra_state(self, state: Any) -> None:
        """Load what `get_extra_state` returned. A subclass overrides this method."""
        raise RuntimeError(f"Reached a code path in Module.set_extra_state() that should never be called. {_REPORT}")

    # Hooks

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict` saves this module."""
        return registered(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after `state_dict` has saved this module.

        The hook may change the dictionary, and returns None. `state_dict` raises RuntimeError if the hook returns
        something else.
        """
        hook._from_public_api = True                                        # type: ignore[attr-defined]
        return registered(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """As `register_state_dict_post_hook`, but the hook may return another dictionary."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError("Cannot register the same function as the state dict post hook that was previously "
                               "registered via register_state_dict_post_hook")
        return registered(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call a hook before `load_state_dict` loads this module. The hook may change its arguments in place.

        The arguments are (module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
        error_msgs).
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., Any],
                                           with_module: bool = False) -> RemovableHandle:
        """As `register_load_state_dict_pre_hook`. Without `with_module` the hook is called without the module."""
        return registered(self._load_state_dict_pre_hooks, _WrappedHook(hook, self if with_module else None))

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after `load_state_dict` has loaded this module and its submodules.

        The hook may change the lists `incompatible_keys.missing_keys` and `.unexpected_keys`, and returns None.
        """
        return registered(self._load_state_dict_post_hooks, hook)

    # Saving

    def _own_state(self) -> dict[str, Any]:
        """The parameters and the persistent buffers of this module by name, without those of its submodules."""
        persistent = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        return {k: v for k, v in (*self._parameters.items(), *persistent.items()) if v is not None}

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Put the state of this module, without that of its submodules, into `destination`."""
        for name, value in self._own_state().items():
            destination[prefix + name] = value if keep_vars else value.detach()
        if type(self).get_extra_state is not StateDict.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "",
                   keep_vars: bool = False) -> dict[str, Any]:
        """Parameters and persistent buffers by dotted name. The tensors share the module's memory.

        With `keep_vars` the parameters themselves are returned, otherwise detached tensors. Options by position are
        deprecated, and give a warning.
        """
        if args:
            warn("Positional args are being deprecated, use kwargs instead. Refer to "
                 "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                 FutureWarning)
            by_name: tuple[Any, ...] = (destination, prefix, keep_vars)
            destination, prefix, keep_vars = (args + by_name[len(args):])[:3]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in present(self._state_dict_pre_hooks):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in present(self._state_dict_hooks):
            replaced = hook(self, destination, prefix, local_metadata)
            if replaced is not None:
                if getattr(hook, "_from_public_api", False):
                    raise RuntimeError("state_dict post-hook must return None")
                destination = replaced
        return destination

    # Loading

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copy tensors into the parameters and buffers of the same names. With `assign`, take the tensors themselves.

        Returns the names that are missing and the names that are not expected. Raises RuntimeError if there are any and
        `strict` is true, and for every shape that does not fit.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        found = _Loading(getattr(state_dict, "_metadata", None) or {}, assign)
        found.load(self, OrderedDict(state_dict), "")
        errors = [*found.errors]
        if strict:
            for what, names in (("Unexpected", found.keys.unexpected_keys), ("Missing", found.keys.missing_keys)):
                if names:
                    listed = ", ".join(f'"{name}"' for name in names)
                    errors.insert(0, f"{what} key(s) in state_dict: {listed}. ")
        if errors:
            listed = "\n\t".join(errors)
            raise noted(
                RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n	{listed}"),
                "shapes#keys-of-state-dict", **_about_keys(self, found.keys))
        return found.keys

    def _load_from_state_dict(self, state_dict: Mapping[str, Any], prefix: str, local_metadata: Mapping[str, Any],
                              strict: bool, missing_keys: list[str], unexpected_keys: list[str],
                              error_msgs: list[str]) -> None:
        """Load the state of this module, without that of its submodules, and note what does not fit."""
        for hook in present(self._load_state_dict_pre_hooks):
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = self._own_state()
        for name, value in own.items():
            key = prefix + name
            if key in state_dict:
                error_msgs += self._load_one(name, key, value, state_dict[key], local_metadata)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA_STATE_KEY_SUFFIX
        if type(self).set_extra_state is not StateDict.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        for key in state_dict if strict else ():
            name, dot, _ = key.removeprefix(prefix).partition(".")
            if key.startswith(prefix) and key != extra and name not in (self._modules if dot else own):
                unexpected_keys.append(key)

    def _load_one(self, name: str, key: str, value: Tensor, saved: Any, metadata: Mapping[str, Any]) -> list[str]:
        """Load one tensor. Returns the reason if the tensor does not fit."""
        assign = bool(metadata.get("assign_to_params_buffers"))
        if not isinstance(saved, Tensor):
            return [f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                    f"checkpoint but received {type(saved)}"]
        if not is_lazy(value):
            if value.ndim == 0 and saved.shape == (1,):
                saved = saved[0]
            if value.is_meta and not saved.is_meta and not assign:
                warn(f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the "
                     "current model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the "
                     "state dictionary to their corresponding key in the module instead of copying them in place?)")
            if saved.shape != value.shape:
                return [f"size mismatch for {key}: copying a param with shape {saved.shape} from checkpoint, the shape "
                        f"in current model is {value.shape}."]
        try:
            with no_grad():
                if ways.get_swap_module_params_on_conversion():
                    self._swap(value, saved, assign)
                elif assign:
                    self._assign(name, value, saved)
                else:
                    value.copy_(saved)
        except Exception as error:
            return [f'While copying the parameter named "{key}", whose dimensions in the model are {value.size()} and '
                    f"whose dimensions in the checkpoint are {saved.size()}, an exception occurred : {error.args}."]
        return []

    def _assign(self, name: str, value: Tensor, saved: Tensor) -> None:
        """Take a tensor itself as the parameter or buffer of this name."""
        if isinstance(value, Parameter):
            if isinstance(saved, Parameter):
                saved.requires_grad_(value.requires_grad)
            else:
                saved = Parameter(saved, value.requires_grad)
        setattr(self, name, saved)

    def _swap(self, value: Tensor, saved: Tensor, assign: bool) -> None:
        """Swap a parameter or buffer with a new one, as the parameter's `module_load` makes it."""
        loaded = value.module_load(saved, assign=assign)
        if id(loaded) in (id(value), id(saved)):
            raise RuntimeError("module_load returned one of self or other, please .detach() the result if returning "
                               "one of the inputs in module_load")
        if isinstance(value, Parameter) and not isinstance(loaded, Parameter):
            loaded = Parameter(loaded, value.requires_grad)
        swap_tensors(value, loaded)


class _Loading:
    """One call of `load_state_dict`: what it found so far."""

    def __init__(self, metadata: Mapping[str, Any], assign: bool) -> None:
        self.metadata, self.assign = metadata, assign
        self.keys = _IncompatibleKeys([], [])
        self.errors: list[str] = []

    def load(self, module: Any, state: Mapping[str, Any], prefix: str) -> None:
        """Load a module and its submodules from those entries of the state that begin with the prefix."""
        local_metadata = {**self.metadata.get(prefix[:-1], {})}
        if self.assign:
            local_metadata["assign_to_params_buffers"] = True
        module._load_from_state_dict(state, prefix, local_metadata, True, *self.keys, self.errors)
        for name, child in module._modules.items():
            if child is not None:
                inner = f"{prefix}{name}."
                self.load(child, {k: v for k, v in state.items() if k.startswith(inner)}, inner)
        for hook in present(module._load_state_dict_post_hooks):
            if hook(module, self.keys) is not None:
                raise AssertionError("Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                                     "return new values, if incompatible_keys need to be modified, it should be done "
                                     "inplace.")


def _about_keys(module: Any, keys: Any) -> dict[str, str]:
    """The facts about names that do not fit: a prefix, or modules that stand in a list that is no ModuleList."""
    prefixed = [name for name in keys.unexpected_keys if name.startswith(_PREFIX)]
    if prefixed and {name.removeprefix(_PREFIX) for name in prefixed} == {*keys.missing_keys}:
        return {"because": f"the state is that of a DataParallel, whose names begin with {_PREFIX!r}",
                "instead": f"{{name.removeprefix({_PREFIX!r}): value for name, value in state.items()}}"}
    hidden: dict[str, str] = reached("nn.modules.module.unregistered").about_unregistered(module)
    return hidden if keys.unexpected_keys or keys.missing_keys else {}
