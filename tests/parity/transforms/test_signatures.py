"""The transforms, gradcheck and torch.library have the parameters of PyTorch: names, kinds and defaults.

Each name that PyTorch's namespace lists is there, and has a docstring.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import pytest

import retrograd  # noqa: F401  # imported first, as programs do

# Namespaces that list their names, and the names of others that programs use.
NAMESPACES: dict[str, str] = {
    "func": "", "autograd": "", "autograd.functional": "", "autograd.forward_ad": "", "library": "",
    "autograd.grad_mode": "", "autograd.anomaly_mode": "", "autograd.graph": "",
    "autograd.gradcheck": "gradcheck gradgradcheck GradcheckError",
    "autograd.function": "Function FunctionCtx FunctionMeta BackwardCFunction once_differentiable InplaceFunction",
    "library:": "opcheck register_autograd register_kernel CustomOpDef",
    "_functorch.apis": "vmap grad grad_and_value",
    "_functorch.eager_transforms":
        "vjp jvp jacrev jacfwd hessian linearize functionalize",
    "_functorch.functional_call": "functional_call stack_module_state",
    "_functorch.batch_norm_replacement": "replace_all_batch_norm_modules_ batch_norm_without_running_stats",
}
MISSING = {"autograd.NestedIOFunction": "derived from long before static methods; PyTorch warns of it",
           "autograd.variable": "the module of Variable; PyTorch's function only says that it is deprecated"}
# Parameters that retrograd has besides those of PyTorch.
MORE = {"vmap": {"fallback"}}


def namespace(root: str, name: str) -> Any:
    return importlib.import_module(f"{root}.{name.rstrip(':')}")


def names() -> list[str]:
    found = []
    for space, listed in NAMESPACES.items():
        theirs = namespace("torch", space)
        for name in listed.split() or theirs.__all__:
            path = f"{space.rstrip(':')}.{name}"
            if path not in MISSING and not inspect.ismodule(getattr(theirs, name)):
                found.append(path)
    return found


def at(root: str, path: str) -> Any:
    space, _, name = path.rpartition(".")
    return getattr(namespace(root, space), name)


def parameters(function: Any) -> list[tuple[str, str, str]] | None:
    """The parameters; None for what has no signature."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    return [(p.name, p.kind.name, repr(p.default).replace("retrograd", "torch"))
            for p in signature.parameters.values() if p.name not in MORE.get(getattr(function, "__name__", ""), ())]


@pytest.mark.parametrize("path", names())
def test_a_name_has_the_parameters_of_pytorch(path: str) -> None:
    theirs, ours = at("torch", path), at("retrograd", path)
    if not callable(theirs):
        return
    assert inspect.isclass(ours) == inspect.isclass(theirs)
    wanted = parameters(theirs)
    if wanted is not None and not (inspect.isclass(theirs) and wanted in ANYTHING):
        assert parameters(ours) == wanted
    assert ours.__doc__


# What a class without a constructor of its own shows.
NO_DEFAULT = repr(inspect.Parameter.empty)
ANYTHING = ([("args", "VAR_POSITIONAL", NO_DEFAULT), ("kwargs", "VAR_KEYWORD", NO_DEFAULT)], [])
CLASSES = [path for path in names() if inspect.isclass(at("torch", path))]
METHODS = [f"{path}.{name}" for path in CLASSES for name in vars(at("torch", path))
           if not name.startswith("_") and inspect.isroutine(getattr(at("torch", path), name))]
# Methods that only other devices need, and one that is a property of all real nodes, in PyTorch too.
NO_METHOD = {"library.Library.register_symm_mem_args", "autograd.graph.Node.metadata"}


@pytest.mark.parametrize("path", [path for path in METHODS if path not in NO_METHOD])
def test_a_method_has_the_parameters_of_pytorch(path: str) -> None:
    space, _, name = path.rpartition(".")
    theirs, ours = (getattr(at(root, space), name) for root in ("torch", "retrograd"))
    wanted = parameters(theirs)
    if wanted is not None and wanted not in ANYTHING:
        assert parameters(ours) == wanted
    assert ours.__doc__
