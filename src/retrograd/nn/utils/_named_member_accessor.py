"""torch.nn.utils._named_member_accessor: the tensors of a module by their dotted names, to read and to exchange."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...tensors.tensor import Tensor

if TYPE_CHECKING:
    from ...nn.modules.module import Module

__all__ = ["NamedMemberAccessor", "set_tensor", "swap_submodule", "swap_tensor"]

_MISSING: Any = object()


def _check(name: str, tensor: Any) -> None:
    if "." in name:
        raise KeyError('tensor name can\'t contain "."')
    if name == "":
        raise KeyError('tensor name can\'t be empty string ""')
    if not isinstance(tensor, Tensor) and tensor is not None and tensor is not _MISSING:
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")


def _holder(module: Module, name: str) -> Any:
    """The dictionary of the module that holds the tensor; None if it is another attribute."""
    return module._parameters if name in module._parameters else module._buffers if name in module._buffers else None


def set_tensor(module: Module, name: str, tensor: Tensor) -> None:
    """Replace a parameter, a buffer or an attribute of this name by a tensor."""
    _check(name, tensor)
    held = _holder(module, name)
    if held is None:
        setattr(module, name, tensor)
    else:
        held[name] = tensor


def swap_tensor(module: Module, name: str, tensor: Tensor, allow_missing: bool = False) -> Any:
    """As `set_tensor`. Returns the tensor that was there.

    Raises AttributeError if there was none, unless `allow_missing` is set.
    """
    _check(name, tensor)
    held = _holder(module, name)
    if held is not None:
        before = held.pop(name) if tensor is _MISSING else held[name]
        if tensor is not _MISSING:
            held[name] = tensor
        return before
    before = getattr(module, name, _MISSING)
    if before is _MISSING and not allow_missing:
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    if before is not _MISSING and before is not None and not isinstance(before, Tensor):
        raise TypeError(f"attribute `{name}`: {before} is not an instance of torch.Tensor")
    if tensor is not _MISSING:
        setattr(module, name, tensor)
    elif before is not _MISSING:
        delattr(module, name)
    return before


def swap_submodule(module: Module, name: str, submodule: Any) -> Any:
    """Replace a submodule by a module. Returns the old submodule. Raises KeyError for a bad name."""
    if "." in name:
        raise KeyError('submodule name can\'t contain "."')
    if name == "":
        raise KeyError('submodule name can\'t be empty string ""')
    if name not in module._modules:
        raise KeyError(f"submodule {name} does not exist")
    before = module._modules[name]
    module._modules[name] = submodule
    return before


def _paired(names: Iterable[str], values: Iterable[Any]) -> list[tuple[str, Any]]:
    known, tensors = [*names], [*values]
    if len(known) != len(tensors):
        raise AssertionError(f"names and values must have the same length, got {len(known)} names and {len(tensors)} "
                             "values")
    return [*zip(known, tensors)]


class NamedMemberAccessor:
    """The tensors and submodules of a module, by dotted names such as "0.weight"."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.memo: dict[str, Any] = {}

    def get_submodule(self, name: str) -> Any:
        """The submodule of this name. Raises AttributeError if there is none."""
        if name not in self.memo:
            self.memo[name] = self.module.get_submodule(name)
        return self.memo[name]

    def _place(self, name: str) -> tuple[Any, str]:
        path, _, attribute = name.rpartition(".")
        module = self.memo.get(path)
        return self.get_submodule(path) if module is None else module, attribute

    def swap_submodule(self, path: str, value: Any) -> Any:
        """Exchange a submodule. Returns the one that was there."""
        module, attribute = self._place(path)
        return swap_submodule(module, attribute, value)

    def get_tensor(self, name: str) -> Any:
        """The tensor of this name. Raises AttributeError if there is none, TypeError if it is no tensor."""
        module, attribute = self._place(name)
        if not hasattr(module, attribute):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        tensor = getattr(module, attribute)
        if not isinstance(tensor, Tensor) and tensor is not None:
            raise TypeError(f"{tensor} is not an instance of torch.Tensor")
        return tensor

    def set_tensor(self, name: str, value: Any) -> None:
        """Put a tensor in this place."""
        module, attribute = self._place(name)
        set_tensor(module, attribute, value)

    def del_tensor(self, name: str) -> None:
        """Remove the tensor of this name."""
        module, attribute = self._place(name)
        swap_tensor(module, attribute, _MISSING)

    def swap_tensor(self, name: str, value: Any, allow_missing: bool = False) -> Any:
        """Exchange a tensor. Returns the one that was there."""
        module, attribute = self._place(name)
        return swap_tensor(module, attribute, value, allow_missing=allow_missing)

    def get_tensors(self, names: Iterable[str]) -> list[Any]:
        """The tensors of these names."""
        return [self.get_tensor(name) for name in names]

    def set_tensors(self, names: Iterable[str], values: Iterable[Any]) -> None:
        """Put tensors in these places."""
        for name, value in _paired(names, values):
            self.set_tensor(name, value)

    def set_tensors_dict(self, named_tensors: Mapping[str, Any]) -> None:
        """Give the names these tensors."""
        for name, value in named_tensors.items():
            self.set_tensor(name, value)

    def del_tensors(self, names: Iterable[str]) -> None:
        """Remove the tensors of these names."""
        for name in names:
            self.del_tensor(name)

    def swap_tensors(self, names: Iterable[str], values: Iterable[Any], allow_missing: bool = False) -> list[Any]:
        """Exchange tensors. Returns the tensors that were there."""
        return [self.swap_tensor(name, value, allow_missing) for name, value in _paired(names, values)]

    def swap_tensors_dict(self, named_tensors: Mapping[str, Any],
                          allow_missing: bool = False) -> tuple[dict[str, Any], list[str]]:
        """Exchange tensors. Returns the old tensors by name, and the names where there was none.

        After an error everything is as before.
        """
        before: dict[str, Any] = {}
        try:
            for name, tensor in named_tensors.items():
                module, attribute = self._place(name)
                before[name] = swap_tensor(module, attribute, tensor, allow_missing=True)
            missing = [name for name, tensor in before.items() if tensor is _MISSING]
            if missing and not allow_missing:
                raise RuntimeError(f"Missing key(s): {', '.join(map(repr, missing))}.")
        except Exception:
            for name, tensor in before.items():
                self.swap_tensor(name, tensor, allow_missing=True)
            raise
        return before, missing

    def check_keys(self, keys: Iterable[str]) -> tuple[list[str], list[str]]:
        """Which names of tensors are missing in `keys`, and which keys are no such names."""
        given = {*keys}
        valid = {name for name, _ in self.named_tensors(remove_duplicate=False)}
        return sorted(valid - given), sorted(given - valid)

    def named_parameters(self, remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """All parameters with their names."""
        yield from self.module.named_parameters(remove_duplicate=remove_duplicate)

    def named_buffers(self, remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """All buffers with their names."""
        yield from self.module.named_buffers(remove_duplicate=remove_duplicate)

    def named_tensors(self, remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """All parameters and buffers with their names."""
        yield from self.named_parameters(remove_duplicate)
        yield from self.named_buffers(remove_duplicate)

    def named_modules(self, remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """The module and all modules inside, with their names."""
        yield from self.module.named_modules(remove_duplicate=remove_duplicate)
