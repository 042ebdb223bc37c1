"""Every class of torch.nn that is here is called as PyTorch's: the names, kinds and defaults of all parameters."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch

import retrograd
from comparing.same_text import same

MODULES = sorted(name for name in retrograd.nn.__all__ if inspect.isclass(getattr(retrograd.nn, name))
                 and issubclass(getattr(retrograd.nn, name), retrograd.nn.Module))

# What PyTorch takes as (*args, **kwargs), only to refuse it or to hand it on.
SPELLED_OUT = {"Container", "NLLLoss2d", "Softmax2d"}


def parameters(function: Callable[..., Any]) -> list[tuple[str, str, str]]:
    """The names of a function's parameters, how they may be given, and their defaults. A function shows its name."""
    return [(p.name, p.kind.name, getattr(p.default, "__name__", repr(p.default)))
            for p in inspect.signature(function).parameters.values()]


def methods(name: str) -> set[str]:
    """The public methods that PyTorch's class has of its own, not from Module."""
    theirs, base = getattr(torch.nn, name), torch.nn.Module
    names = {n for n in dir(theirs) if not n.startswith("_") and callable(getattr(theirs, n))}
    return {n for n in names if name == "Module" or getattr(theirs, n) is not getattr(base, n, None)}


def test_every_module_is_one_of_pytorch() -> None:
    assert [name for name in MODULES if not hasattr(torch.nn, name)] == []


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_found_in_the_same_file(name: str) -> None:
    ours, theirs = getattr(retrograd.nn, name), getattr(torch.nn, name)
    assert ours.__module__.replace("retrograd", "torch", 1) == theirs.__module__
    assert getattr(importlib.import_module(ours.__module__), name) is ours


BASES = {
    "batchnorm": ["_NormBase", "_BatchNorm"], "conv": ["_ConvNd", "_ConvTransposeNd"],
    "dropout": ["_DropoutNd"], "instancenorm": ["_InstanceNorm"], "loss": ["_Loss", "_WeightedLoss"],
    "padding": ["_ConstantPadNd"], "pooling": [
        "_MaxPoolNd", "_AvgPoolNd", "_LPPoolNd", "_MaxUnpoolNd", "_AdaptiveAvgPoolNd", "_AdaptiveMaxPoolNd"]}


@pytest.mark.parametrize("name", MODULES)
def test_programs_may_ask_for_the_base_classes_of_a_family(name: str) -> None:
    for file, bases in BASES.items():
        ours, theirs = (importlib.import_module(f"{library.__name__}.nn.modules.{file}")
                        for library in (retrograd, torch))
        for base in bases:
            assert issubclass(getattr(retrograd.nn, name), getattr(ours, base)) == issubclass(
                getattr(torch.nn, name), getattr(theirs, base)), base


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_made_alike(name: str) -> None:
    ours, theirs = (parameters(getattr(library.nn, name)) for library in (retrograd, torch))
    if name in SPELLED_OUT:
        # A newer Python looks through the decorator that says that the class is deprecated.
        kinds = [kind for _, kind, _ in theirs]
        assert theirs == ours or kinds in (["VAR_POSITIONAL", "VAR_KEYWORD"], ["VAR_KEYWORD"])
    else:
        assert ours == theirs


@pytest.mark.parametrize("name", MODULES)
def test_methods_are_called_alike(name: str) -> None:
    ours, theirs = getattr(retrograd.nn, name), getattr(torch.nn, name)
    assert {m for m in methods(name) if not hasattr(ours, m)} == set()
    different = {m: (parameters(getattr(ours, m)), parameters(getattr(theirs, m))) for m in methods(name)}
    assert {m: pair for m, pair in different.items() if pair[0] != pair[1]} == {}


# What a class needs to be made, where it is not nothing.
NEEDED: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(["AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
                     "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "BatchNorm1d",
                     "BatchNorm2d", "BatchNorm3d", "ChannelShuffle", "CircularPad1d", "CircularPad2d", "CircularPad3d",
                     "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm", "LocalResponseNorm",
                     "CrossMapLRN2d", "SyncBatchNorm", "MaxPool1d", "MaxPool2d", "MaxPool3d",
                     "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
                     "PixelShuffle", "PixelUnshuffle", "RMSNorm", "ReflectionPad1d", "ReflectionPad2d",
                     "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "Unfold",
                     "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"], (2,)),
    **dict.fromkeys(["ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "Embedding", "EmbeddingBag", "Fold",
                     "FractionalMaxPool2d", "FractionalMaxPool3d", "GroupNorm", "LPPool1d", "LPPool2d", "LPPool3d",
                     "Linear", "MultiheadAttention", "Threshold",
                     "TransformerDecoderLayer", "TransformerEncoderLayer"], (4, 2)),
    **dict.fromkeys(["Bilinear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d",
                     "ConvTranspose3d"], (4, 2, 3)),
    **dict.fromkeys(["LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d",
                     "LazyConvTranspose3d"], (4, 3)),
    "GroupNorm": (2, 4), "LazyLinear": (4,), "Unflatten": (1, (2, 3)), "Transformer": (4, 2, 1, 1, 8),
    "AdaptiveLogSoftmaxWithLoss": (8, 20, [5, 10]),
}


# Attributes that stand elsewhere among the others here; and what some options are set to, of whatever default:
# a bool is no size, and messages list modes in any order.
UNORDERED = {"training", "bias_k", "bias_v"}
SET_TO = {"device": ["cpu"], "dtype": ["float64"], "kdim": [3], "vdim": [3], "padding_mode": ["reflect", "circular"]}


def varied() -> list[Any]:
    """Each class as it is made with no options, and with each option in turn set to something else."""
    cases = []
    for name in MODULES:
        needed = NEEDED.get(name, ())
        cases.append(pytest.param(name, needed, {}, id=name))
        options = [*inspect.signature(getattr(torch.nn, name)).parameters.values()][len(needed):]
        for option in options:
            for other in SET_TO.get(option.name) or others(option.default):
                cases.append(pytest.param(name, needed, {option.name: other}, id=f"{name}-{option.name}={other}"))
    return cases


def others(default: Any) -> list[Any]:
    """Other values than the default of an option; none, where it needs a value."""
    if isinstance(default, bool):
        return [not default]
    if default is None:
        return [2, True]
    if isinstance(default, str):
        return ["sum", "zeros", "tanh", "bilinear", "other"]
    return [3, 0.25, 0, -1] if isinstance(default, (int, float)) else []


@pytest.mark.parametrize(("name", "needed", "options"), varied())
def test_modules_print_and_save_alike(name: str, needed: tuple[Any, ...], options: dict[str, Any]) -> None:
    """The text, the attributes in their order, the names and shapes of what is saved, and what needs a gradient."""
    def case(t: Any) -> Any:
        given = {k: getattr(t, v) if k == "dtype" else v for k, v in options.items()}
        module = getattr(t.nn, name)(*needed, **given)
        attributes = {k: v for k, v in vars(module).items() if k[0] != "_" and k not in UNORDERED}
        lazy = t.nn.parameter.is_lazy
        shapes = [(k, "lazy" if lazy(v) else tuple(v.shape), v.dtype) for k, v in module.state_dict().items()]
        return module, attributes, shapes, [(k, p.requires_grad) for k, p in module.named_parameters()]

    same(case)
