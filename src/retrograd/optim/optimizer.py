"""The base class of optimizers: groups of parameters with options, a state for each parameter, saving, loading, hooks.

This module must not know how a step is computed.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from itertools import chain
from types import GeneratorType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from ..autograd.grad_mode import enable_grad
from ..foundations.errors import noted, warn
from ..foundations.modes import local
from ..foundations.names import missing, public, reached
from ..graph.hooks import HookDict, RemovableHandle, present, register
from ..graph.locks import moment
from ..nn.parameter import clear_grad
from ..tensors.state.base import TensorBase
from .saved_numbers import bring_up_to_date

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

_PARAMETERS = "pass its parameters: model.parameters()"
Closure = Callable[[], Any]
Hook = Callable[..., Any]
ParamsT: TypeAlias = Iterable[TensorBase] | Iterable[dict[str, Any]] | Iterable[tuple[str, TensorBase]]
# The hooks of every optimizer.
_global_optimizer_pre_hooks: HookDict = OrderedDict()
_global_optimizer_post_hooks: HookDict = OrderedDict()


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before every step of every optimizer, before the optimizer's own hooks."""
    return register(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after every step of every optimizer, after the optimizer's own hooks."""
    return register(_global_optimizer_post_hooks, hook)


class _Required:
    """Stands for an option that has no default."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def _hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """A `step` with the optimizer's hooks around it. It also notes for schedulers that it was called."""

    @functools.wraps(step)
    def wrapped(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        observer = local.thread.observer
        if observer is None:
            return run(self, *args, **kwargs)
        return observer.call(f"Optimizer.step#{type(self).__name__}.step", (self, *args), run, self, *args, **kwargs)

    def run(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        self._opt_called = True
        if not (self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks or _global_optimizer_pre_hooks
                or _global_optimizer_post_hooks) or self._stepping:
            return step(self, *args, **kwargs)
        self._stepping = True                        # the step of a subclass may call that of its base
        try:
            return _between_hooks(step, self, args, kwargs)
        finally:
            del self._stepping

    return wrapped


def _between_hooks(step: Callable[..., Any], self: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    arguments: tuple[Any, ...] = (self, *args)
    for hook in [*present(_global_optimizer_pre_hooks), *present(self._optimizer_step_pre_hooks)]:
        changed = hook(self, arguments, kwargs)
        if changed is not None:
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise noted(
                    RuntimeError(f"<function {type(self).__name__}.step at {id(step):#x}> must return None or a "
                                 f"tuple of (new_args, new_kwargs), but got {changed}."),
                    because="a step pre-hook returned this")
            arguments, kwargs = changed
    loss = step(*arguments, **kwargs)
    for hook in [*present(self._optimizer_step_post_hooks), *present(_global_optimizer_post_hooks)]:
        hook(self, arguments, kwargs)
    return loss


# The attributes that hold an optimizer's hooks.
_HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks", "_optimizer_state_dict_pre_hooks",
          "_optimizer_state_dict_post_hooks", "_optimizer_load_state_dict_pre_hooks",
          "_optimizer_load_state_dict_post_hooks")


class Optimizer:
    """The base class of optimizers.

    `params` are tensors, pairs of name and tensor, or dictionaries. A dictionary is a group of parameters, under
    "params", with options of its own; `defaults` are the options of groups that do not give them. A subclass defines
    `step`.

    Raises ValueError for an empty list and for a tensor that is not a leaf, TypeError for other values than tensors.
    """

    OptimizerPreHook: TypeAlias = Callable[["Optimizer", tuple[Any, ...], dict[str, Any]],
                                           tuple[tuple[Any, ...], dict[str, Any]] | None]
    OptimizerPostHook: TypeAlias = Callable[["Optimizer", tuple[Any, ...], dict[str, Any]], None]

    _opt_called = False
    _stepping = False                                        # whether a step runs between its hooks
    _followed = False                                        # whether a schedule was made for this optimizer
    # The function by which a program had replaced `step` when the last schedule was made.
    _followed_step: Callable[..., Any] | None = None
    # What saved states of older releases lack, and have as floats (see `saved_numbers`).
    _later: ClassVar[Mapping[str, Any]] = {}
    _were_floats: ClassVar[Sequence[str]] = ()
    # A subclass that does not call `__init__` has no hooks, and its steps work.
    _optimizer_step_pre_hooks: Any = ()
    _optimizer_step_post_hooks: Any = ()
    _optimizer_state_dict_pre_hooks: HookDict
    _optimizer_state_dict_post_hooks: HookDict
    _optimizer_load_state_dict_pre_hooks: HookDict
    _optimizer_load_state_dict_post_hooks: HookDict

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _hooked(cls.__dict__["step"])                    # type: ignore[method-assign]

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if isinstance(params, TensorBase):
            raise noted(
                TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                          f"{params.type()}"), instead="pass a list: [tensor]")
        self.defaults = defaults
        self._make_hooks()
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        frame = params.gi_frame if isinstance(params, GeneratorType) else None
        model = None if frame is None else frame.f_locals.get("self")       # whose parameters() it is
        groups = _listed(params)
        if not groups:
            raise noted(ValueError("optimizer got an empty parameter list"),
                        **_about_none(model, used_up=isinstance(params, GeneratorType) and frame is None))
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _patch_step_function(self) -> None:
        """Optimizers that do not call the constructor call this method. Each `step` runs the hooks without it."""

    def _make_hooks(self) -> None:
        """Make the dictionaries of hooks that do not exist."""
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own: `{"params": [...], "lr": 0.01}`. The dictionary becomes the group.

        Raises the errors of the constructor.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group = param_group
        params = group["params"]
        if isinstance(params, TensorBase):
            params = [params]
        elif isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of "
                            "tensors in sets will change between runs. Please use a list instead.")
        names, tensors = _unzipped(_listed(params))
        for tensor in tensors:
            _check_parameter(tensor, bool(self.defaults.get("differentiable")))
        group["params"] = tensors
        if names:
            group["param_names"] = names
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            group.setdefault(name, default)
        if len({id(tensor) for tensor in tensors}) != len(tensors):
            warn("optimizer contains a parameter group with duplicate parameters; in future, this will cause "
                 "an error; see github.com/pytorch/pytorch/issues/40967 for more information")
        for other in self.param_groups:
            if ("param_names" in group) != ("param_names" in other):
                raise ValueError("all optimizer param groups should be with/without names. cannot add param group "
                                 f"{'with' if 'param_names' in group else 'without'} names to the optimizer")
        known = {id(tensor) for other in self.param_groups for tensor in other["params"]}
        if not known.isdisjoint(map(id, tensors)):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def step(self, closure: Closure | None = None) -> Any:
        """Change the parameters by their gradients. A subclass overrides this method."""
        raise NotImplementedError

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Remove the gradients of all parameters. If `set_to_none` is False, fill them with zeros instead."""
        observer = local.thread.observer
        if observer is not None:
            name = f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"
            observer.call(name, (self,), self._clear, set_to_none)
        else:
            self._clear(set_to_none)

    def _clear(self, set_to_none: bool) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                if not set_to_none:
                    clear_grad(parameter, False)
                elif parameter._grad_meta is not None:
                    parameter._grad_meta.grad = None

    def _evaluated(self, closure: Closure | None) -> Any:
        """The loss that the closure computes, with grad mode on; None without a closure."""
        if closure is None:
            return None
        with enable_grad():
            return closure()

    # Hooks

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before every step. The hook may return new arguments."""
        return register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after every step."""
        return register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict`. With `prepend`, the hook is the first."""
        return _register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` after `state_dict`. The hook may return another dictionary."""
        return _register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` with a copy of the state to load. The hook may return another state."""
        return _register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` after a state was loaded."""
        return _register(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # Saving and loading

    def state_dict(self) -> dict[str, Any]:
        """The options of all groups and the state of all parameters. Numbers stand for the parameters."""
        for hook in present(self._optimizer_state_dict_pre_hooks):
            hook(self)
        numbers: dict[int, int] = {}
        groups: list[dict[str, Any]] = []
        for group in self.param_groups:
            start = sum([len(each["params"]) for each in groups])
            # A parameter that stands in a group twice has its last number.
            numbers |= {id(parameter): i for i, parameter in enumerate(group["params"], start)
                        if id(parameter) not in numbers}
            packed = {key: value for key, value in group.items() if key != "params"}
            groups.append({**packed, "params": [numbers[id(parameter)] for parameter in group["params"]]})
        state = {numbers[id(key)] if isinstance(key, TensorBase) else key: value for key, value in self.state.items()}
        return _passed(self._optimizer_state_dict_post_hooks, self, {"state": state, "param_groups": groups})

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` returned, for parameters in the same order. Tensors of the right dtype are shared.

        Raises ValueError if the groups or their sizes differ.
        """
        state_dict = _passed(self._optimizer_load_state_dict_pre_hooks, self, state_dict.copy())
        groups, saved_groups = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(group["params"]) != len(saved["params"]) for group, saved in zip(groups, saved_groups)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's "
                             "group")
        parameters = dict(zip(chain.from_iterable(saved["params"] for saved in saved_groups),
                              chain.from_iterable(group["params"] for group in groups)))
        state: defaultdict[Any, Any] = defaultdict(dict)
        in_single = {key for saved in saved_groups if saved.get("fused") or saved.get("capturable")
                     for key in saved["params"]}
        for key, value in state_dict["state"].items():
            if key in parameters:
                state[parameters[key]] = _fitted(parameters[key], value, "", key in in_single)
            else:
                state[key] = value
        for group, saved in zip(groups, saved_groups):
            saved["params"] = group["params"]
            if "param_names" in group:
                saved.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved_groups})
        for hook in present(self._optimizer_load_state_dict_post_hooks):
            hook(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_hooks()
        self.defaults.setdefault("differentiable", False)
        bring_up_to_date(self.param_groups, self.state, self._later, self._were_floats)

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            lines = [f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params"]
            text += f"\nParameter Group {i}\n{''.join(lines)}"
        return f"{text})"


def _register(hooks: HookDict, hook: Hook, first: bool) -> RemovableHandle:
    with moment:
        handle = register(hooks, hook)
        if first:
            hooks.move_to_end(handle.id, last=False)
    return handle


def _passed(hooks: HookDict, optimizer: Optimizer, state_dict: dict[str, Any]) -> dict[str, Any]:
    """A state after hooks have seen it. A hook may replace the state."""
    for hook in present(hooks):
        changed = hook(optimizer, state_dict)
        state_dict = state_dict if changed is None else changed
    return state_dict


def _unzipped(params: list[Any]) -> tuple[list[str], list[Any]]:
    """The names and the tensors of `params`, which are tensors or pairs of name and tensor."""
    named = [isinstance(p, tuple) for p in params]
    if not any(named):
        return [], params
    if not all(named):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    return [pair[0] for pair in params], [pair[1] for pair in params]


def _listed(params: Any) -> list[Any]:
    """The parameters or groups as a list. Python's error about a module gets a note."""
    try:
        return list(params)
    except TypeError as error:
        if hasattr(params, "parameters"):
            noted(error, instead=_PARAMETERS)
        raise


def _about_none(model: Any, used_up: bool) -> dict[str, str]:
    """The facts about a list of parameters that is empty. `model` is the module whose `parameters()` gave it."""
    if used_up:
        return {"because": "this generator was used up before", "instead": "call parameters() again for each use"}
    if hasattr(model, "parameters"):
        hidden: dict[str, str] = reached("nn.modules.module.unregistered").about_unregistered(model)
        return hidden or {"because": f"{type(model).__name__} has no parameters"}
    return {}


def _check_parameter(tensor: Any, differentiable: bool) -> None:
    if not isinstance(tensor, TensorBase):
        kind, module = type(tensor).__name__, type(tensor).__module__
        name = kind if module == "builtins" else f"{public(module)}.{kind}"
        raise noted(TypeError(f"optimizer can only optimize Tensors, but one of the params is {name}"),
                    instead=_PARAMETERS if hasattr(tensor, "parameters") else "")
    if not differentiable and not tensor.is_leaf and not tensor.retains_grad:
        raise noted(
            ValueError("can't optimize a non-leaf Tensor"), "tensors#non-leaf-in-optimizer",
            because=f"this tensor was computed by {tensor.grad_fn.name()}",
            instead="call detach() on it, or optimize the tensors it was computed from")


def _fitted(parameter: TensorBase, value: Any, key: str, in_single: bool) -> Any:
    """A loaded state with its tensors in the dtype of the parameter. Those that count steps are float32 or as saved."""
    if isinstance(value, TensorBase):
        if key == "step":
            return value.float() if in_single else value
        return value.to(parameter.dtype) if parameter.is_floating_point() else value
    if isinstance(value, dict):
        return {k: _fitted(parameter, v, k, in_single) for k, v in value.items()}
    if isinstance(value, Iterable):
        return type(value)(_fitted(parameter, v, "", in_single) for v in value)  # type: ignore[call-arg]
    return value
