"""What the reference describes: the namespaces, their public names, and the families of the two that are large."""

from __future__ import annotations

import ast
import importlib
import inspect
import warnings
from collections.abc import Iterator
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import retrograd
from retrograd.tensors.recording.public_facts import definition

PACKAGE = Path(retrograd.__file__).parent

# In the order in which a function that has several names is looked for: the first name has the whole entry.
NAMESPACES = (
    "torch", "torch.Tensor", "torch.linalg", "torch.fft", "torch.special", "torch.signal.windows",
    "torch.nn.functional", "torch.nn", "torch.nn.init", "torch.nn.parameter", "torch.nn.utils", "torch.nn.utils.rnn",
    "torch.nn.utils.parametrize", "torch.nn.utils.parametrizations", "torch.nn.utils.prune",
    "torch.nn.utils.stateless", "torch.nn.attention",
    "torch.autograd", "torch.autograd.functional", "torch.autograd.forward_ad", "torch.autograd.graph",
    "torch.autograd.profiler", "torch.func", "torch.optim", "torch.optim.lr_scheduler", "torch.optim.swa_utils",
    "torch.utils", "torch.utils.data", "torch.utils.checkpoint", "torch.utils.dlpack", "torch.utils.flop_counter",
    "torch.utils.benchmark", "torch.utils.tensorboard", "torch.distributions", "torch.distributions.constraints",
    "torch.sparse", "torch.amp", "torch.compiler", "torch.library", "torch.overrides", "torch.random",
    "torch.serialization", "torch.testing", "torch.hub", "torch.jit", "torch.masked", "torch.multiprocessing",
    "torch.profiler", "torch.export", "torch.distributed", "torch.futures",
    "retrograd", "retrograd.op", "retrograd.viz")
# What the package adds to PyTorch's names.
OWN = {"retrograd": ("as_torch", "compile")}
# The families of `torch` and `torch.Tensor`, by where a function or its operator stands in the source. The first family
# with a place that fits is taken, and "other" if none does.
FAMILIES = {
    "types": ("tensors.face.conversion", "foundations.dtypes"),
    "creation": ("creation", "tensors.face.memory"),
    "arithmetic": ("elementwise.arithmetic", "elementwise.blending", "elementwise.number_parts"),
    "comparison": ("elementwise.comparison",),
    "elementwise": ("elementwise",),
    "reductions": ("reductions", "sums", "scans", "quantiles", "differences"),
    "sorting": ("indexing.sorting", "indexing.histograms", "indexing.uniques"),
    "shapes": ("shapes", "shape", "joining", "view_copies"),
    "indexing": ("indexing", "data_dependent"),
    "matrices": ("linalg", "deprecated"),
    "networks": ("networks", "images", "nn"),
    "sparse": ("sparse", "other_backends", "tensors.sparse"),
    "settings": ("amp", "autograd", "tensors.face.settings", "tensors.face.threading", "tensors.face.printing",
                 "foundations.errors", "tensors.arguments.generator"),
    "other": (),
}
# Functions that stand beside others in the source, and that people look for in another family.
_LOOKED_FOR = {
    "reductions": "max min amax amin aminmax median nanmedian mode logsumexp cumsum cumprod cummax cummin logcumsumexp",
    "comparison": "maximum minimum fmax fmin logical_and logical_or logical_xor",
    "indexing": "nonzero argwhere",
}
_MOVED = {name: part for part, names in _LOOKED_FOR.items() for name in names.split()}


class Member(NamedTuple):
    """A public name of a namespace: what it stands for, and which kind of thing this is."""

    namespace: str
    name: str
    found: Any
    kind: str

    @property
    def path(self) -> str:
        return f"{self.namespace}.{self.name}"


def namespace(path: str) -> Any:
    """The module or class of a namespace."""
    inside = path.partition(".")[2]
    module = f"retrograd.{inside}".rstrip(".")
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise                                          # the module is there, and needs an absent package
        return attrgetter(inside)(retrograd)               # a class, or a module under another name


def kind_of(found: Any, home: Any) -> str:
    """The kind of an entry, by the words of Sphinx."""
    if inspect.ismodule(found):
        return "module"
    if isinstance(found, type):
        return "exception" if issubclass(found, BaseException) else "class"
    if isinstance(found, property):
        return "property"
    if inspect.isroutine(found) or hasattr(found, "public"):
        return "method" if isinstance(home, type) else "function"
    return "data"


@cache
def members(path: str) -> tuple[Member, ...]:
    """The public names of a namespace, sorted."""
    home = namespace(path)
    names = OWN.get(path) or getattr(home, "__all__", None) or _written_in(home)
    found = []
    for name in sorted({*names}, key=lambda name: (name.lower(), name)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            here = not name.startswith("_") and hasattr(home, name)
        if here:
            value = inspect.getattr_static(home, name) if isinstance(home, type) else getattr(home, name)
            value = getattr(home, name) if isinstance(value, (classmethod, staticmethod)) else value
            found.append(Member(path, name, value, kind_of(value, home)))
    return tuple(found)


def _written_in(home: Any) -> list[str]:
    """The names of a class, or the names that a module without `__all__` defines itself."""
    if isinstance(home, type):
        return dir(home)
    return [name for name in dir(home) if getattr(getattr(home, name), "__module__", None) == home.__name__]


@cache
def first_paths() -> dict[int, str]:
    """The path under which each function and class has its whole entry, by the identity of what it is defined by: the
    first path that ends with the name of the definition, else the first path."""
    found: dict[int, str] = {}
    known = [member for path in NAMESPACES for member in members(path) if member.kind not in ("data", "module")]
    for own in (True, False):
        for member in known:
            if not own or getattr(definition(member.found), "__name__", "") == member.name:
                found.setdefault(id(definition(member.found)), member.path)
    return found


def first_path(found: Any) -> str | None:
    """The path under which a function or class has its whole entry."""
    return first_paths().get(id(definition(found)))


@cache
def _imported_from() -> dict[str, str]:
    """For each name of `torch`, the module that it is imported from."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    return {alias.asname or alias.name: node.module for node in tree.body if isinstance(node, ast.ImportFrom)
            and node.module for alias in node.names}


def family(member: Member, home: str) -> str:
    """The family of a member of `torch` or `torch.Tensor`; `home` is the module of its function or operator."""
    function = member.name.removesuffix("_") if member.name.endswith("_") else member.name
    if member.namespace == "torch" and member.kind not in ("function", "module"):
        return "types"
    if function in _MOVED:
        return _MOVED[function]
    home = _imported_from().get(member.name) or _imported_from().get(function) or home
    place = home.removeprefix("retrograd.").removeprefix("tensors.functions.").removeprefix("ops.")
    return next((name for name, places in FAMILIES.items() for start in places
                 if f"{place}.".startswith(f"{start}.")), "other")


def public_names() -> Iterator[Member]:
    """Every member of every namespace."""
    for path in NAMESPACES:
        yield from members(path)
