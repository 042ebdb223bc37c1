"""The state of a module as a dictionary of tensors by dotted name: saving and loading.

This module must not know how modules run.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from ....autograd.grad_mode import no_grad
from ....errors import warn
from ....tensors.tensor import Tensor
from ...parameter import Parameter

__all__ = ["StateDict"]


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


class StateDict:
    """The methods of a module that save and load its state."""

    _version = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    def get_extra_state(self) -> Any:
        """What else to save. A subclass overrides this method together with `set_extra_state`."""
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called: override it "
                           "to save something under '_extra_state'.")

    def set_extra_state(self, state: Any) -> None:
        """Load what `get_extra_state` returned. A subclass overrides this method."""
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called: override it "
                           "to load what get_extra_state() saved.")

    def _own_state(self) -> dict[str, Any]:
        """The parameters and the persistent buffers of this module by name, without those of its submodules."""
        persistent = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        return {k: v for k, v in (*self._parameters.items(), *persistent.items()) if v is not None}

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Put the state of this module, without that of its submodules, into `destination`."""
        for name, value in self._own_state().items():
            destination[prefix + name] = value if keep_vars else value.detach()
        if type(self).get_extra_state is not StateDict.get_extra_state:
            destination[f"{prefix}_extra_state"] = self.get_extra_state()

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Parameters and persistent buffers by dotted name. The tensors share the module's memory.

        With `keep_vars` the parameters themselves are returned, otherwise detached tensors. Options by position are
        deprecated, and give a warning.
        """
        if args:
            warn("Positional args are being deprecated, use kwargs instead. Write state_dict(destination=..., "
                 "prefix=..., keep_vars=...).", FutureWarning)
            by_name: tuple[Any, ...] = (destination, prefix, keep_vars)
            destination, prefix, keep_vars = (args + by_name[len(args):])[:3]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = getattr(destination, "_metadata", None)
        if metadata is not None:
            metadata[prefix[:-1]] = {"version": self._version}
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return destination

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copy tensors into the parameters and buffers of the same names. With `assign`, take the tensors themselves.

        Returns the names that are missing and the names that are not expected. Raises RuntimeError if there are any and
        `strict` is true, and for every shape that does not fit.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", None) or {}
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []

        def load(module: Any, state: Mapping[str, Any], prefix: str) -> None:
            local_metadata = {**metadata.get(prefix[:-1], {}), **({"assign_to_params_buffers": True} if assign else {})}
            module._load_from_state_dict(state, prefix, local_metadata, True, missing, unexpected, errors)
            for name, child in module._modules.items():
                if child is not None:
                    inner = f"{prefix}{name}."
                    load(child, {k: v for k, v in state.items() if k.startswith(inner)}, inner)

        load(self, OrderedDict(state_dict), "")
        if strict:
            for what, names in (("Missing", missing), ("Unexpected", unexpected)):
                if names:
                    listed = ", ".join(f'"{name}"' for name in names)
                    errors.insert(what == "Unexpected" and bool(missing), f"{what} key(s) in state_dict: {listed}. ")
        if errors:
            listed = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return _IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(self, state_dict: Mapping[str, Any], prefix: str, local_metadata: Mapping[str, Any],
                              strict: bool, missing_keys: list[str], unexpected_keys: list[str],
                              error_msgs: list[str]) -> None:
        """Load the state of this module, without that of its submodules, and note what does not fit."""
        own = self._own_state()
        for name, value in own.items():
            key = prefix + name
            if key not in state_dict:
                missing_keys.append(key)
            elif problem := self._load_one(name, key, value, state_dict[key], local_metadata):
                error_msgs.append(problem)
        extra = f"{prefix}_extra_state"
        has_extra = type(self).set_extra_state is not StateDict.set_extra_state
        if has_extra and extra in state_dict:
            self.set_extra_state(state_dict[extra])
        elif has_extra:
            missing_keys.append(extra)
        for key in state_dict:
            if not key.startswith(prefix) or (key == extra and has_extra):
                continue
            name, _, rest = key[len(prefix):].partition(".")
            if name not in own and not (rest and name in self._modules):
                unexpected_keys.append(key)

    def _load_one(self, name: str, key: str, value: Any, saved: Any, metadata: Mapping[str, Any]) -> str:
        """Load one tensor. Returns the reason if the tensor does not fit, otherwise ''."""
        if not isinstance(saved, Tensor):
            return (f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                    f"checkpoint but received {type(saved)}")
        if value.ndim == 0 and saved.shape == (1,):
            saved = saved[0]
        if saved.shape != value.shape:
            return (f"size mismatch for {key}: copying a param with shape {saved.shape} from checkpoint, the shape in "
                    f"current model is {value.shape}.")
        if not metadata.get("assign_to_params_buffers"):
            with no_grad():
                value.copy_(saved)
        elif isinstance(value, Parameter):
            self._parameters[name] = Parameter(saved, value.requires_grad)
        else:
            self._buffers[name] = saved
        return ""
