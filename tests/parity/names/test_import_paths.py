"""Where programs import from: PyTorch's files of layers, their base classes and helpers, and what the helpers say."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, get_args

import pytest
import torch

import retrograd
from comparing.same_text import LIBRARIES, same

# Names that belong to PyTorch's compilation, checks of devices, or fused kernels.
INSIDE = {"_ConvTransposeMixin", "_arg_requires_grad", "_check_arg_device", "_is_make_fx_tracing", "_AutoDefault",
          "_AUTO_FALLBACK", "BackwardHookFunction", "SyncBatchNorm"}
FILES = [m.name for m in pkgutil.iter_modules(torch.nn.modules.__path__)
         if m.name not in {"lazy", "linear_cross_entropy", "module", "rnn"}]


@pytest.mark.parametrize("file", FILES)
def test_files_of_layers_define_the_same_names(file: str) -> None:
    """All classes and functions, also those with an underscore, but for modules without sizes."""
    theirs, ours = (importlib.import_module(f"{library.__name__}.nn.modules.{file}") for library in (torch, retrograd))
    names = [name for name, value in vars(theirs).items() if (inspect.isclass(value) or inspect.isfunction(value))
             and value.__module__ == theirs.__name__ and "Lazy" not in name and name not in INSIDE]
    assert [name for name in names if not hasattr(ours, name)] == []


BORROWED = {
    "batchnorm": "F Module Parameter init", "conv": "F Module Parameter init _pair _single _triple _size_1_t _size_2_t "
    "_size_3_t _reverse_repeat_tuple", "linear": "F Module Parameter init", "pooling": "F Module _pair _single _triple "
    "_size_1_t _size_2_t _size_3_t _size_any_t", "padding": "F Module _pair _quadruple _ntuple _size_2_t _size_4_t "
    "_size_6_t", "activation": "F Parameter Module xavier_uniform_ xavier_normal_ NonDynamicallyQuantizableLinear "
    "MultiheadAttention", "transformer": "F Module ModuleList Dropout Linear LayerNorm MultiheadAttention",
    "normalization": "F Module Parameter _shape_t", "loss": "F Module _Reduction", "dropout": "F Module",
    "instancenorm": "F _NormBase", "upsampling": "F _size_2_t _ratio_2_t", "container": "Module",
    "adaptive": "F Linear Module ModuleList Sequential", "utils": "_ntuple _pair"}


@pytest.mark.parametrize("file", BORROWED)
def test_files_of_layers_also_have_what_they_import(file: str) -> None:
    for library in LIBRARIES:
        found = importlib.import_module(f"{library.__name__}.nn.modules.{file}")
        assert [name for name in BORROWED[file].split() if not hasattr(found, name)] == []
    assert importlib.import_module(f"retrograd.nn.modules.{file}").Module is retrograd.nn.Module


HELPERS = {
    "nn.functional": "_canonical_mask _check_key_padding_mask _get_softmax_dim _in_projection _in_projection_packed "
    "_mha_shape_check _no_grad_embedding_renorm_ _none_or_dtype _unpool_output_size _verify_spatial_size",
    "nn.init": "_calculate_correct_fan _calculate_fan_in_and_fan_out _make_deprecate",
    "nn.modules.utils": "_list_with_default _ntuple _reverse_repeat_tuple consume_prefix_in_state_dict_if_present",
    "nn._reduction": "get_enum legacy_get_enum legacy_get_string", "nn": "factory_kwargs",
    "nn.grad": "conv1d_input conv1d_weight conv2d_input conv2d_weight conv3d_input conv3d_weight"}


@pytest.mark.parametrize("space", HELPERS)
def test_helpers_are_called_alike(space: str) -> None:
    for name in HELPERS[space].split():
        ours, theirs = (getattr(importlib.import_module(f"{library.__name__}.{space}"), name)
                        for library in (retrograd, torch))
        assert [*inspect.signature(ours).parameters] == [*inspect.signature(theirs).parameters], name


def told(t: Any, call: Callable[[Any], Any]) -> Any:
    """What a call returns, and what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return call(t), [f"{w.category.__name__}: {w.message}" for w in caught]


def state(t: Any) -> Any:
    named: Any = OrderedDict({"module.a": 1, "b": 2, "module.c.x": 3})
    named._metadata = OrderedDict({"": 1, "module": 2, "module.c": 3, "q": 4})
    t.nn.modules.utils.consume_prefix_in_state_dict_if_present(named, "module.")
    return named, named._metadata


def types(t: Any) -> list[str]:
    module = importlib.import_module(f"{t.__name__}.nn.common_types")
    return [f"{name} {get_args(value)}" for name, value in vars(module).items()
            if name[0] == "_" and name[1] != "_" and name != "_TypeAlias"]


CALLS: list[Callable[[Any], Any]] = [
    lambda t: t.nn.functional._none_or_dtype(None), lambda t: t.nn.functional._none_or_dtype(t.ones(1)),
    lambda t: t.nn.functional._none_or_dtype(3),
    lambda t: t.nn.functional._canonical_mask(t.tensor([True, False]), "m", t.float64, "o", t.float64),
    lambda t: t.nn.functional._canonical_mask(t.ones(2), "m", t.float32, "o", t.float64),
    lambda t: t.nn.functional._canonical_mask(t.ones(2).int(), "m", None, "", t.float32),
    lambda t: t.nn.functional._in_projection(*[t.ones(2, 4)] * 3, *[t.ones(4, 4)] * 3),
    lambda t: t.nn.functional._in_projection(*[t.ones(2, 4)] * 3, t.ones(3, 4), *[t.ones(4, 4)] * 2),
    lambda t: t.nn.functional._in_projection(*[t.ones(2, 4)] * 3, *[t.ones(4, 4)] * 3, None, t.ones(3)),
    lambda t: t.nn.functional._in_projection_packed(*[t.ones(2, 4)] * 3, t.arange(48.).reshape(12, 4)),
    lambda t: t.nn.functional._check_key_padding_mask(t.ones(2, 3), 3, 2),
    lambda t: t.nn.functional._check_key_padding_mask(t.ones(2, 3), 4, 2),
    lambda t: t.nn.functional._check_key_padding_mask(t.ones(2, 3), 3, 1),
    lambda t: [t.nn.functional._mha_shape_check(*[t.ones(*shape)] * 3, None, None, 2) for shape in ((2, 4), (2, 3, 4))],
    lambda t: [t.nn.functional._get_softmax_dim("softmax", n, 3) for n in range(5)],
    lambda t: t.nn.functional._verify_batch_size([1, 3, 1]), lambda t: t.nn.functional._verify_batch_size([2, 3]),
    lambda t: t.nn.functional._verify_spatial_size([2, 3, 1]),
    lambda t: t.nn.functional._verify_spatial_size([2, 3, 2]),
    lambda t: [t.nn.functional._unpool_output_size(t.ones(2, 3, 4), [2], [2], [0], size)
               for size in (None, [7], [2, 3, 9])],
    lambda t: t.nn.functional._unpool_output_size(t.ones(2, 3, 4), [2], [2], [0], [99]),
    lambda t: t.nn.init._calculate_fan_in_and_fan_out(t.ones(3, 4, 5)),
    lambda t: [t.nn.init._calculate_correct_fan(t.ones(3, 4, 5), mode) for mode in ("fan_in", "FAN_OUT")],
    lambda t: t.nn.init._calculate_correct_fan(t.ones(3, 4), "Q"),
    lambda t: t.nn.init._calculate_fan_in_and_fan_out(t.ones(3)),
    lambda t: (t.manual_seed(0), t.nn.init._no_grad_uniform_(t.zeros(2), 0, 1),
               t.nn.init._no_grad_normal_(t.zeros(2), 0, 1), t.nn.init._no_grad_trunc_normal_(t.zeros(2), 0, 1, -2, 2),
               t.nn.init._no_grad_fill_(t.zeros(2), 3), t.nn.init._no_grad_zero_(t.ones(2)))[1:],
    lambda t: t.nn.init._make_deprecate(t.nn.init.zeros_)(t.ones(1)),
    lambda t: t.nn.modules.utils._reverse_repeat_tuple((1, 2, 3), 2),
    lambda t: [t.nn.modules.utils._list_with_default(*given) for given in ((5, [1]), ([None, 3], [1, 2, 3]))],
    lambda t: t.nn.modules.utils._list_with_default([1, 2], [1, 2]),
    lambda t: [getattr(t.nn.modules.utils, name)(2) for name in ("_single", "_pair", "_triple", "_quadruple")],
    lambda t: (t.nn.modules.utils._pair.__name__, t.nn.modules.utils._ntuple(5, "five").__name__), state, types,
    lambda t: [t.nn._reduction.get_enum(name) for name in ("none", "mean", "sum", "elementwise_mean")],
    lambda t: t.nn._reduction.get_enum("max"),
    lambda t: [t.nn._reduction.legacy_get_string(a, b) for a in (None, True, False) for b in (None, True, False)],
    lambda t: t.nn._reduction.legacy_get_enum(False, None, emit_warning=False),
    lambda t: t.nn.factory_kwargs(None), lambda t: t.nn.factory_kwargs({"x": 1}),
    lambda t: t.nn.factory_kwargs({"device": "cpu", "factory_kwargs": {"dtype": 1}}),
    lambda t: t.nn.factory_kwargs({"dtype": 1, "factory_kwargs": {"dtype": 1}}),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_helpers_say_the_same(number: int) -> None:
    same(lambda t: told(t, CALLS[number]))
