"""Writes down which public names PyTorch has, for what retrograd says about names that it lacks.

Needs PyTorch. Run it to bring the table up to date; a parity test holds the table to what it makes.
"""

from __future__ import annotations

import pkgutil
import textwrap
import types
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

TABLE = Path(__file__).parents[2] / "src" / "retrograd" / "foundations" / "pytorch_names.txt"
BOUND_CLASSES = Path(__file__).with_name("bound_classes.txt")

# Each namespace that retrograd has too. The name of a missing namespace stands in the list of its parent.
MODULES = (
    "torch", "torch._dynamo", "torch.accelerator", "torch.amp", "torch.ao", "torch.ao.quantization", "torch.autograd",
    "torch.autograd.functional", "torch.autograd.graph", "torch.autograd.profiler", "torch.backends",
    "torch.compiler", "torch.cpu", "torch.cuda", "torch.distributed", "torch.distributed.tensor", "torch.distributions",
    "torch.distributions.constraints", "torch.distributions.transforms", "torch.distributions.utils",
    "torch.fft", "torch.func",
    "torch.functional", "torch.fx", "torch.jit", "torch.library", "torch.linalg", "torch.masked",
    "torch.mps", "torch.nn", "torch.nn.functional",
    "torch.nn.init", "torch.nn.modules", "torch.nn.utils", "torch.onnx", "torch.optim",
    "torch.optim.lr_scheduler", "torch.optim.swa_utils", "torch.overrides", "torch.package", "torch.random",
    "torch.serialization",
    "torch.sparse", "torch.special", "torch.storage", "torch.testing", "torch.types", "torch.utils",
    "torch.utils.checkpoint", "torch.utils.data", "torch.xpu",
)
CLASSES = ("torch.Tensor", "torch.nn.Module")


def names_of_module(path: str) -> set[str]:
    """What a module offers. What it imported for its own use is left out; a slash follows the names of submodules."""
    module = import_module(path)
    offered = set(getattr(module, "__all__", ())) if path != "torch" else set()
    offered = offered or {name for name in dir(module) if _is_own(getattr(module, name))}
    below = {found.name for found in pkgutil.iter_modules(getattr(module, "__path__", ()))}
    below |= {name for name, value in vars(module).items() if isinstance(value, types.ModuleType)
              and value.__name__ == f"{path}.{name}"}
    return {name for name in offered - below | {f"{name}/" for name in below} if not name.startswith("_")}


def _is_own(value: Any) -> bool:
    """Whether PyTorch made this value: no module, nothing of Python's library, no class of Python's."""
    home = getattr(value, "__module__", None)
    if isinstance(value, types.ModuleType) or value is True or value is False:
        return False
    return not isinstance(home, str) or home.startswith("torch") or (home == "builtins" and not isinstance(value, type))


def names_of_class(path: str) -> set[str]:
    """The public attributes of a class."""
    module, _, name = path.rpartition(".")
    return {name for name in dir(getattr(import_module(module), name)) if not name.startswith("_")}


def table() -> str:
    """The whole table: a line with the namespace and a colon, and below it the names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                         # deprecated names warn when they are read
        found = {path: names_of_module(path) for path in MODULES} | {path: names_of_class(path) for path in CLASSES}
    release = torch.__version__.partition("+")[0]
    lines = [f"# The public names of PyTorch {release}, made by tests/comparing/pytorch_names.py"]
    for path, names in found.items():
        lines += [f"{path}:", *textwrap.wrap(" ".join(sorted(names)), 118, break_on_hyphens=False)]
    return "\n".join(lines) + "\n"


def bound_classes() -> str:
    """The classes of `torch` that are not PyTorch's own Python or C types, but C++ classes bound in `torch._C`.

    pybind11 binds them, and gives each the metaclass `pybind11_type`. They belong to the compiler of scripts and to the
    dispatcher.
    """
    found = [name for name in sorted(vars(torch)) if not name.startswith("_")
             and type(getattr(torch, name)).__name__ == "pybind11_type" and hasattr(torch._C, name)]
    release = torch.__version__.partition("+")[0]
    head = f"# Classes of PyTorch {release} that pybind11 binds in torch._C, made by tests/comparing/pytorch_names.py"
    return "\n".join([head, *textwrap.wrap(" ".join(found), 118)]) + "\n"


if __name__ == "__main__":
    BOUND_CLASSES.write_text(bound_classes(), encoding="utf-8")
    TABLE.write_text(table(), encoding="utf-8")
