"""Makes `import torch` mean the package under test, with our `torch.testing` in the place of its own.

A test file imports much that only few of its tests need. So what is missing becomes a placeholder, with which the file
loads, and which raises AttributeError when a test touches it. This module must not know how tests are run.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

_STAND_INS = f"{__package__}.stand_ins"
# What stands in for modules of `torch.testing`, and for modules that PyTorch has no more.
_OURS = {
    "torch.testing": "values",
    "torch.testing._creation": "values",
    "torch.testing._comparison": "values",
    "torch.testing._internal": "empty",
    "torch.testing._internal.common_utils": "utils",
    "torch.testing._internal.common_device_type": "device_types",
    "torch.testing._internal.common_dtype": "dtypes",
    "torch.testing._internal.common_cuda": "cuda",
    "torch.testing._internal.common_nn": "modules",
    "torch.testing._internal.common_methods_invocations": "op_infos",
    "torch._six": "six",
    "torch._vmap_internals": "former_vmap",
    "common_utils": "batches",
    "functorch_additional_op_db": "op_infos",
}

# What tests ask `torch._C` for, if a package has not the name.
_SWITCHES = {
    "has_lapack": True, "has_mkldnn": False,
    "_debug_only_are_vmap_fallback_warnings_enabled": lambda: False,
    "_debug_only_display_vmap_fallback_warnings": lambda on: None,
}


# The dictionary of a module as it is: `vars` would import what retrograd imports late.
_dictionary = vars(types.ModuleType)["__dict__"].__get__


class _State:
    loading = False                     # whether a test file is being imported


class Placeholder:
    """Stands for a missing name. While files load, it may be called, and be a base class or a decorator."""

    def __init__(self, name: str) -> None:
        self._name, self.__name__ = name, name.rpartition(".")[2]

    def refuse(self) -> NoReturn:
        """Raise the error of the missing name."""
        raise AttributeError(f"the package has no attribute {self._name}")

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return Placeholder(f"{self._name}.{attribute}") if _State.loading else self.refuse()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not _State.loading:
            self.refuse()
        if len(args) == 1 and not kwargs and isinstance(args[0], types.FunctionType | type):
            def refused(*args: Any, **kwargs: Any) -> NoReturn:       # of what it decorates, nothing can run
                self.refuse()

            refused.__name__ = args[0].__name__
            return refused
        return Placeholder(f"{self._name}()")

    def __iter__(self) -> Any:
        return iter(()) if _State.loading else self.refuse()

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (type(self.__name__, (), {"__new__": lambda cls, *args, **kwargs: self.refuse()}),)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds our modules before all others, and placeholders for modules that nobody else finds."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        ours = fullname in _OURS or (_State.loading and fullname.startswith("torch.testing."))
        if not ours and _State.loading and fullname.partition(".")[0] in ("torch", "functorch"):
            others = [finder for finder in sys.meta_path if finder is not self]
            try:
                ours = all(finder.find_spec(fullname, path, target) is None for finder in others)
            except ModuleNotFoundError:                    # the parent is a placeholder
                ours = True
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True) if ours else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        if spec.name in _OURS:
            ours = importlib.import_module(f"{_STAND_INS}.{_OURS[spec.name]}")
            vars(module).update({name: value for name, value in vars(ours).items()
                                 if name == "__getattr__" or not name.startswith("__")})
            return module
        module.__getattr__ = Placeholder(spec.name).__getattr__  # type: ignore[method-assign]
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """The module has run, or it is a placeholder."""


def serve(package: str, former: bool = True) -> Any:
    """Let `import torch` mean a package, and return it. With `former`, three things are as PyTorch 1.13 had them."""
    if package == "torch":
        torch: Any = importlib.import_module("torch")
        importlib.import_module("torch.autograd.forward_ad")
    else:
        importlib.import_module(package).as_torch()
        torch = importlib.import_module("torch")
    for name in [name for name in sys.modules if name.startswith("torch.testing")]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Finder())
    torch.testing = importlib.import_module("torch.testing")
    for name, value in _SWITCHES.items():
        if not hasattr(torch._C, name):
            setattr(torch._C, name, value)
    if former:
        _as_before(torch)
    return torch


def _as_before(torch: Any) -> None:
    """Three changes of PyTorch since 1.13 are none of what the tests are about: they pass either way."""
    schedules = importlib.import_module("torch.optim.lr_scheduler")
    schedules._LRScheduler = schedules.LRScheduler                     # the base class had this name
    load, backward = torch.optim.Optimizer.load_state_dict, torch.Tensor.backward

    def load_state_dict(self: Any, state_dict: Any) -> Any:            # what is loaded was copied
        return load(self, importlib.import_module("copy").deepcopy(state_dict))

    def backward_of_any(self: Any, gradient: Any = None, *args: Any, **kwargs: Any) -> Any:
        if gradient is None and self.numel() == 1 and self.is_complex():      # a complex scalar could begin a pass
            gradient = torch.ones_like(self)
        return backward(self, gradient, *args, **kwargs)

    torch.optim.Optimizer.load_state_dict, torch.Tensor.backward = load_state_dict, backward_of_any


def load(path: Path, name: str) -> types.ModuleType:
    """A test file as a module. Names that it imports and that are missing become placeholders."""
    source = path.read_text(encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    _State.loading = True
    before = _forgiving()
    try:
        _fill_in(source)
        exec(compile(source, str(path), "exec"), vars(module))
    finally:
        _State.loading = False
        for namespace, getter in before:
            namespace["__getattr__"] = getter
    return module


def _forgiving() -> list[tuple[dict[str, Any], Any]]:
    """Let modules that test files ask while they load give placeholders. Returns what looked names up before."""
    asked = [importlib.import_module(name) for name in ("torch", "torch._C", "torch.profiler", "torch.backends")]
    modules = {id(module): module for module in asked if "__getattr__" in _dictionary(module)}
    before = [(_dictionary(module), _dictionary(module)["__getattr__"]) for module in modules.values()]
    for namespace, getter in before:
        namespace["__getattr__"] = partial(_found, namespace["__name__"], getter)
    return before


def _found(module: str, getter: Callable[[str], Any], name: str) -> Any:
    try:
        return getter(name)
    except AttributeError:
        if name.startswith("__"):
            raise
        return Placeholder(f"{module}.{name}")


def _fill_in(source: str) -> None:
    """Put placeholders into modules where a test file will look for names that are missing."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ImportFrom) or (node.module or "").partition(".")[0] not in ("torch", "functorch"):
            continue
        module = importlib.import_module(node.module or "")
        for alias in node.names:
            if not hasattr(module, alias.name):
                setattr(module, alias.name, Placeholder(f"{node.module}.{alias.name}"))
