"""Python's own errors about arguments that do not bind name the function and the parameters that PyTorch's errors name.

Each public class and function is called without arguments, with too many, and with an unknown keyword: the bodies do
not run.
"""

from __future__ import annotations

import importlib
import inspect
import re
import types
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import retrograd
from retrograd.nn.modules.layer import _OF_PRIVATE_CLASSES

SPACES = (
    "torch", "torch.amp", "torch.autograd", "torch.autograd.function", "torch.autograd.functional",
    "torch.autograd.graph", "torch.distributions", "torch.distributions.constraints", "torch.distributions.transforms",
    "torch.distributions.kl", "torch.distributions.utils", "torch.func", "torch.nn", "torch.nn.functional",
    "torch.nn.init", "torch.nn.parallel", "torch.nn.parameter", "torch.nn.utils", "torch.nn.utils.parametrizations",
    "torch.nn.utils.parametrize", "torch.nn.utils.prune", "torch.nn.utils.rnn", "torch.nn.utils.stateless",
    "torch.optim", "torch.optim.lr_scheduler", "torch.optim.swa_utils", "torch.overrides", "torch.profiler",
    "torch.quasirandom", "torch.testing", "torch.utils.checkpoint", "torch.utils.data",
    "torch.utils.hooks", "torch.distributed.tensor")
CALLS: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (((), {}), ((object(),) * 60, {}), ((), {"unknown_": 1}))
# What PyTorch's functions say, or do not say, that hand their arguments to another function.
OTHER = re.compile(
    r"^(TypeError: _|TypeError: \w+\.<locals>|IndexError|AttributeError|TypeError: (define|impl) requires|binds$)")
# PyTorch calls these with more arguments: for the streams of GPUs, for files of its first versions, or for profiles.
MORE_PARAMETERS = {
    "torch.nn.parallel.DistributedDataParallel.__init__", "torch.profiler.profile.export_chrome_trace", "torch.save"}
CALLED_WITHOUT_ARGUMENTS = {"extra_repr", "reset_parameters", "clone"}
CLASS = re.compile(r"(?<=^TypeError: )\w+\.(?=\w+\(\))")


def of_space(space: str) -> Iterator[tuple[str, Any, Any]]:
    """The functions of a namespace and the methods of its classes, of PyTorch and of retrograd."""
    theirs, ours = importlib.import_module(space), importlib.import_module(space.replace("torch", "retrograd", 1))
    for name in getattr(theirs, "__all__", None) or dir(theirs):
        pair = getattr(theirs, name, None), getattr(ours, name, None)
        if name.startswith("_") or None in pair:
            continue
        if all(inspect.isclass(each) for each in pair):
            if not issubclass(pair[0], (BaseException, torch.Tensor)):
                yield from of_class(f"{space}.{name}", *pair)
        elif all(isinstance(each, types.FunctionType) for each in pair):
            yield f"{space}.{name}", *pair


def of_class(path: str, theirs: type, ours: type) -> Iterator[tuple[str, Any, Any]]:
    for name in dir(theirs):
        if name.startswith("_") and name != "__init__":
            continue
        pair = inspect.getattr_static(theirs, name), inspect.getattr_static(ours, name, None)
        if all(isinstance(each, types.FunctionType) for each in pair):
            yield f"{path}.{name}", *pair


def words(function: Any, call: tuple[tuple[Any, ...], dict[str, Any]]) -> str:
    """The error of a call whose arguments do not bind. "binds" if they do."""
    args, kwargs = call
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        pass
    else:
        return "binds"
    try:
        function(*args, **kwargs)
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("retrograd", "torch")
    return "runs"


@pytest.mark.parametrize("space", SPACES)
def test_errors_about_arguments_are_pytorchs(space: str) -> None:
    different = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path, theirs, ours in of_space(space):
            for call in CALLS:
                expected, found = (CLASS.sub("", words(function, call)) for function in (theirs, ours))
                other = path in MORE_PARAMETERS or path.endswith(".step") or OTHER.search(expected)
                if found != expected and not other:
                    different[path] = expected, found
    assert different == {}


def test_no_error_names_a_private_class() -> None:
    private = set()
    for space in SPACES:
        for _, theirs, ours in of_space(space):
            owner = ours.__qualname__.rpartition(".")[0]
            if owner.startswith("_") and "<locals>" not in owner and theirs.__qualname__ != ours.__qualname__:
                private.add(ours.__qualname__)
    assert retrograd.nn.Module.add_module.__qualname__ == "Module.add_module"
    named = {name for name in private if name.rpartition(".")[2] not in CALLED_WITHOUT_ARGUMENTS}
    assert named - _OF_PRIVATE_CLASSES == set()
