"""Private names that libraries import, and that work as in PyTorch."""

from __future__ import annotations

import copy
import importlib
import pickle
from contextlib import suppress
from typing import Any, NamedTuple

import pytest
import torch

import retrograd


def both(path: str) -> list[Any]:
    """What stands at a path below torch and below retrograd."""
    space, _, name = path.rpartition(".")
    for root in ("torch.", "retrograd."):
        with suppress(ModuleNotFoundError):
            importlib.import_module(f"{root}{path}")
    return [getattr(importlib.import_module(root + space), name) for root in ("torch.", "retrograd.")]


class Pair(NamedTuple):
    a: int
    b: int


def test_trees_of_containers() -> None:
    for name, values in (("_dict_flatten", ({"a": 1, "b": 2},)), ("_dict_unflatten", ([3, 4], ["x", "y"])),
                         ("_dict_flatten_with_keys", ({"a": 1, "b": 2},)), ("_tuple_flatten", ((1, 2),)),
                         ("_tuple_flatten_with_keys", ((1, 2),)), ("_tuple_unflatten", ([1, 2], None)),
                         ("_namedtuple_flatten", (Pair(1, 2),)), ("_namedtuple_unflatten", ([3, 4], Pair)),
                         ("_namedtuple_flatten_with_keys", (Pair(1, 2),))):
        theirs, ours = (str(function(*values)) for function in both(f"utils._pytree.{name}"))
        assert ours == theirs


def test_constants() -> None:
    for path in ("cuda._initialized", "serialization.DEFAULT_PROTOCOL",
                 "nn.attention.flex_attention._DEFAULT_SPARSE_BLOCK_SIZE",
                 "utils.data._utils.collate.np_str_obj_array_pattern"):
        theirs, ours = both(path)
        assert ours == theirs


def test_questions_about_gpus_and_traces() -> None:
    calls: list[Any] = []
    for path, *arguments in (("cuda._lazy_call", lambda: calls.append(1)), ("_C._is_tracing",),
                             ("cuda.random.get_rng_state_all",), ("cuda.random.manual_seed_all", 1),
                             ("cuda.random.get_rng_state",), ("cuda.random.initial_seed",), ("cuda._lazy_init",)):
        theirs, ours = (end(function, *arguments) for function in both(path))
        assert ours == theirs, path
    assert calls == []


def end(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), str(error)


def test_a_pass_to_chosen_inputs_allows_no_checkpoint() -> None:
    for library in (torch, retrograd):
        found = [library.autograd._is_checkpoint_valid()]
        for take in (lambda y, x: y.backward(retain_graph=True), lambda y, x: y.backward(inputs=[x], retain_graph=True),
                     lambda y, x, library=library: library.autograd.grad(y, x)):
            x = library.ones((), requires_grad=True)
            y = x * 2
            y.register_hook(lambda g, library=library, found=found: found.append(
                library.autograd._is_checkpoint_valid()))
            take(y, x)
        assert found == [True, True, False, False], library


def test_the_home_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in ((None, ""), ("XDG_CACHE_HOME", "/a"), ("TORCH_HOME", "~/b")):
        if variable:
            monkeypatch.setenv(variable, value)
        theirs, ours = (function() for function in both("hub._get_torch_home"))
        assert ours == theirs


def test_placements() -> None:
    for text in ("Shard(1)", "Shard(dim=2)", "Replicate()", "Partial()", "Partial('avg')"):
        theirs, ours = (eval(text, vars(importlib.import_module(f"{root}.distributed.tensor")).copy())
                        for root in ("torch", "retrograd"))
        assert (repr(ours), str(ours)) == (repr(theirs), str(theirs))
        for question in ("x.is_shard()", "x.is_shard(1)", "x.is_replicate()", "x.is_partial()", "x.is_partial('sum')"):
            assert eval(question, {"x": ours}) is eval(question, {"x": theirs}), question
        assert copy.deepcopy(ours) == ours == pickle.loads(pickle.dumps(ours))
        assert hash(copy.deepcopy(ours)) == hash(ours)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 16])
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan(length: int, reverse: bool) -> None:
    def combine(left: Any, right: Any) -> Any:
        return left[0] * right[0], right[0] * left[1] + right[1]

    found, scans = [], both("_higher_order_ops.associative_scan.associative_scan")
    for package, scan in zip((torch, retrograd), scans, strict=True):
        numbers = torch.linspace(0.5, 1.5, 3 * length * 2, dtype=torch.float64).reshape(2, 3, length).tolist()
        a, b = (package.tensor(part, dtype=package.float64, requires_grad=True) for part in numbers)
        results = scan(combine, (a, b), 1, reverse=reverse, combine_mode="generic")
        gradients = package.autograd.grad(results[0].sum() + results[1].square().sum(), (a, b))
        found.append([x.tolist() for x in (*results, *gradients)])
    for theirs, ours in zip(*found, strict=True):
        torch.testing.assert_close(torch.tensor(ours), torch.tensor(theirs), rtol=1e-12, atol=0)


def test_marks_of_the_profiler_of_graphics_cards() -> None:
    for call in (lambda nvtx: nvtx.range_push("a"), lambda nvtx: nvtx.range_pop(), lambda nvtx: nvtx.mark("a"),
                 lambda nvtx: nvtx.range("a").__enter__()):
        said = []
        for nvtx in both("cuda.nvtx"):
            with pytest.raises(RuntimeError) as caught:
                call(nvtx)
            said.append(str(caught.value))
        assert said[0] == said[1]


def test_a_parameter_made_by_the_class_of_one_on_meta() -> None:
    for package in (torch, retrograd):
        on_meta = package.nn.Linear(2, 3, device="meta").weight
        made = type(on_meta)(package.ones(2), requires_grad=False)
        assert type(made) is package.nn.Parameter
        assert (made.device.type, made.tolist(), made.requires_grad) == ("cpu", [1.0, 1.0], False)


def test_questions_about_sizes() -> None:
    theirs, ours = both("fx.experimental.symbolic_shapes")
    for name in ("guard_or_false", "guard_or_true", "statically_known_true", "statically_known_false",
                 "is_concrete_bool"):
        for value in (True, False):
            assert getattr(ours, name)(value) is getattr(theirs, name)(value), name
    for name in ("guard_int", "guard_scalar", "is_concrete_int", "is_nested_int", "has_free_symbols", "free_symbols",
                 "free_unbacked_symbols", "has_free_unbacked_symbols"):
        assert getattr(ours, name)(3) == getattr(theirs, name)(3), name
