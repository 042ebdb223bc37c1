"""The members of a module: parameters, buffers and submodules. How assignment registers them, lists and finds them.

This module must not know how modules are called, saved or converted.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

from ....foundations.errors import noted
from ....foundations.inherited import part_of
from ....foundations.names import instead
from ....tensors.face.conversion import typename
from ....tensors.tensor import Tensor
from ...parameter import Buffer, Parameter

__all__ = ["Member", "Members"]


class Member:
    """Fast access to a member of a fixed name, such as a layer's `weight`. It stands in the class of the module.

    Python asks the class before it calls `__getattr__`, which takes ten times as long. An attribute of the instance
    still comes first. If the module has no such member, `__getattr__` is called after all.
    """

    __slots__ = ("kind", "name")

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = name

    def __get__(self, module: Any, owner: type[Any] | None = None) -> Any:
        if module is None:
            return self
        try:
            return getattr(module, self.kind)[self.name]
        except KeyError:
            raise AttributeError(self.name) from None


@part_of("Module")
class Members:
    """The parameters, buffers and submodules of a module, by name."""

    training: bool
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    # Python's protocol of attributes

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        if "_modules" in own:
            for kind in ("_parameters", "_modules", "_buffers"):
                members = own[kind]
                if name in members:
                    return members[name]
            remedy = instead("torch.nn.Module", name)
        else:
            raise noted(AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'"),
                        instead=f"call super().__init__() first in {type(self).__name__}.__init__()")
        # Python appends a suggestion of its own if the error has the name.
        of_tensors = not name.startswith("_") and hasattr(Tensor, name)
        raise noted(AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'{remedy}",
                                   name=None if remedy or of_tensors else name, obj=self),
                    because="a module is no tensor; a call of it with a tensor returns one" if of_tensors else "")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, Parameter):
            self._require_init("parameters")
            self._forget(name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif name in own.get("_parameters", ()):
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as parameter '{name}' "
                                "(torch.nn.Parameter or None expected)")
            self.register_parameter(name, None)
        elif isinstance(value, Members):
            self._require_init("module")
            self._forget(name, "_buffers")
            self._modules[name] = self._seen("module", name, value)
        elif name in own.get("_modules", ()):
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as child module '{name}' "
                                "(torch.nn.Module or None expected)")
            self._modules[name] = self._seen("module", name, None)
        elif isinstance(value, Buffer):
            buffer: Any = value
            self._assign_buffer(name, buffer, buffer.persistent)
        elif name in own.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"cannot assign '{typename(value)}' as buffer '{name}' "
                                "(torch.nn.Buffer, torch.Tensor or None expected)")
            if type(self).register_buffer is Members.register_buffer:
                self._buffers[name] = self._seen("buffer", name, value)
            else:
                self._assign_buffer(name, value, name not in self._non_persistent_buffers_set)
        else:
            object.__setattr__(self, name, value)

    def _assign_buffer(self, name: str, value: Any, persistent: bool) -> None:
        """Register a buffer by the method of the class, which may be an older one without `persistent`."""
        if (getattr(self.register_buffer, "__func__", None) is Members.register_buffer
                or "persistent" in inspect.signature(self.register_buffer).parameters):
            self.register_buffer(name, value, persistent)
        elif persistent:
            self.register_buffer(name, value)
        else:
            raise RuntimeError("Registering a non-persistent buffer on a Module subclass that implements "
                               "register_buffer() without the persistent argument is not allowed.")

    def __delattr__(self, name: str) -> None:
        for kind in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(kind, ()):
                del self.__dict__[kind][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers}
        return sorted(name for name in names if not name[0].isdigit())

    def _require_init(self, what: str) -> None:
        if "_modules" not in self.__dict__:
            raise noted(
                AttributeError(f"cannot assign {what} before Module.__init__() call"),
                instead=f"call super().__init__() first in {type(self).__name__}.__init__()")

    def _forget(self, name: str, *kinds: str) -> None:
        """Remove other members of a name, for a member that takes the name."""
        own = self.__dict__
        own.pop(name, None)
        for kind in kinds:
            own[kind].pop(name, None)
        if "_buffers" in kinds:
            self._non_persistent_buffers_set.discard(name)

    # Registering

    def _registration_hooks(self, what: str) -> Mapping[int, Callable[..., Any]]:
        """The hooks that see each new parameter, buffer or module of any module."""
        return {}

    def _seen(self, what: str, name: str, value: Any) -> Any:
        """A new member as the hooks leave it."""
        for hook in self._registration_hooks(what).values():
            replaced = hook(self, name, value)
            value = value if replaced is None else replaced
        return value

    def _check_name(self, name: Any, what: str, members: dict[str, Any], shown: str = "") -> None:
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."{shown and f", got: {name}"}')
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        self._check_free(name, members)

    def _check_free(self, name: str, members: dict[str, Any]) -> None:
        if name not in members and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter, which becomes the attribute `name`. None reserves the name.

        Raises KeyError if the name is taken, is empty or has a dot, TypeError if `param` is not a Parameter.
        """
        self._require_init("parameter")
        self._check_name(name, "parameter", self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{typename(param)}' object to parameter '{name}' "
                            "(torch.nn.Parameter or None required)")
        self._parameters[name] = None if param is None else self._seen("parameter", name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the module's state and is not a parameter, such as a running mean.

        If `persistent` is False, `state_dict` leaves the buffer out. Raises the errors of `register_parameter`.
        """
        self._require_init("buffer")
        self._check_name(name, "buffer", self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{typename(tensor)}' object to buffer '{name}' "
                            "(torch Tensor or None required)")
        self._buffers[name] = self._seen("buffer", name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Any) -> None:
        """Add a submodule, which becomes the attribute `name`. Raises the errors of `register_parameter`."""
        if module is not None and not isinstance(module, Members):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        if isinstance(name, str):
            self._check_free(name, self._modules)          # PyTorch says first that a name is taken, here only
        self._check_name(name, "module", self._modules, shown="got")
        self._modules[name] = self._seen("module", name, module)

    def register_module(self, name: str, module: Any) -> None:
        """Another name of `add_module`."""
        self.add_module(name, module)

    # Listing

    def named_modules(self, memo: set[Any] | None = None, prefix: str = "",
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """This module and all modules inside, with their dotted names. Each module comes once."""
        seen = set() if memo is None else memo
        if self in seen:
            return
        if remove_duplicate:
            seen.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                inner = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(seen, inner, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """This module and all modules inside. Each module comes once, unless `remove_duplicate` is False."""
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The direct submodules with their names. Each module comes once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Any]:
        """The direct submodules."""
        return (module for _, module in self.named_children())

    def _named_members(self, get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]], prefix: str = "",
                       recurse: bool = True, remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for module_prefix, module in modules:
            for name, value in get_members_fn(module):
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield f"{module_prefix}.{name}" if module_prefix else name, value

    def named_parameters(self, prefix: str = "", recurse: bool = True,
                         remove_duplicate: bool = True) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their dotted names. `recurse` adds those of all submodules."""
        return self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters. `recurse` adds those of all submodules. Each parameter comes once."""
        for _, parameter in self.named_parameters(recurse=recurse):     # a generator whose frame knows the module
            yield parameter

    def named_buffers(self, prefix: str = "", recurse: bool = True,
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their dotted names. `recurse` adds those of all submodules."""
        return self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers. `recurse` adds those of all submodules. Each buffer comes once."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    # Finding

    def get_submodule(self, target: str) -> Any:
        """The module with a dotted name such as "features.0". Raises AttributeError if there is none."""
        module = self
        for name in target.split(".") if target else ():
            module = module._found(name)
            if not isinstance(module, Members):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Replace the module with a dotted name, or add it. With `strict` there must be such a module.

        Raises ValueError without a name or a module, AttributeError if there is no module to hold the new one.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        if not isinstance(module, Members):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        parent = self.get_submodule(path)
        if (strict or hasattr(parent, name)) and not isinstance(parent._found(name), Members):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def _replicate_for_data_parallel(self) -> Any:
        """A copy without parameters, for programs that fill in parameters of their own."""
        replica: Any = type(self).__new__(type(self))
        replica.__dict__.update(self.__dict__, _parameters={}, _buffers=self._buffers.copy(),
                                _modules=self._modules.copy(), _is_replica=True)
        return replica

    def _found(self, name: str) -> Any:
        try:
            return getattr(self, name)
        except AttributeError:
            raise AttributeError(f"{self._get_name()} has no attribute `{name}`") from None

    def get_parameter(self, target: str) -> Parameter:
        """The parameter with a dotted name such as "features.0.weight". Raises AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        parameter = self.get_submodule(path)._found(name)
        if not isinstance(parameter, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        """The buffer with a dotted name. Raises AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        buffer = owner._found(name)
        if name not in owner._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return cast(Tensor, buffer)

    def _get_name(self) -> str:
        return type(self).__name__
