"""The modules of `module_db`, by which PyTorch tests its modules, with the samples there: each module is made from the
same random numbers, and looks, computes and differentiates as in PyTorch.

A sample with something that does not exist here, such as a module among the arguments, is left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import torch

import retrograd
from comparing.against_torch import as_array, same_values
from comparing.pytorch_samples import Absent, function, ours

PARTS = 8               # the samples of a module are tried in so many tests
MOST = 16               # samples of a test
MODULES = 114


@cache
def modules() -> list[Any]:
    from torch.testing._internal.common_modules import module_db
    return [*module_db]


def leaves(values: Any) -> Iterator[Any]:
    """The tensors among the values."""
    for value in values:
        if isinstance(value, (torch.Tensor, retrograd.Tensor)):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from leaves(value)
        elif isinstance(value, dict):
            yield from leaves(value.values())


def as_leaves(values: Any) -> Any:
    """The values, with tensors that do not depend on each other."""
    if isinstance(values, torch.Tensor):
        return values.detach().requires_grad_(values.requires_grad)
    if isinstance(values, dict):
        return {key: as_leaves(value) for key, value in values.items()}
    return type(values)(map(as_leaves, values)) if isinstance(values, (list, tuple)) else values


class Run:
    """What a library makes of a sample: the module, its results, and the gradients by its inputs and parameters."""

    def __init__(self, library: Any, kind: Any, made: Any, given: Any, training: bool) -> None:
        library.manual_seed(7)
        self.module = kind(*made[0], **made[1])
        self.next_number = library.rand(1).item()
        self.state = {name: value.clone() for name, value in self.module.state_dict().items()
                      if not library.nn.parameter.is_lazy(value)}
        self.initial = [as_array(value).tobytes() for value in self.state.values()]
        self.shown = repr(self.module).replace("retrograd", "torch")
        self.module.double().train(training)
        library.manual_seed(3)
        self.results = [*leaves([self.module(*given[0], **given[1])])]
        differentiable = [r for r in self.results if r.requires_grad]
        sources = [x for x in (*leaves(given), *self.module.parameters()) if x.requires_grad]
        steps = [library.linspace(-1, 1, r.numel()).to(r.dtype).view(r.shape) for r in differentiable]
        self.gradients = library.autograd.grad(differentiable, sources, steps, allow_unused=True) if steps else ()
        self.buffers = [value.detach() for value in self.module.buffers()]

    def facts(self) -> Any:
        """All that must be equal."""
        state = [(name, str(value.dtype).partition(".")[2], tuple(value.shape), tuple(value.stride()))
                 for name, value in self.state.items()]
        results = [(str(r.dtype).partition(".")[2], tuple(r.shape), tuple(r.stride()), r.requires_grad)
                   for r in self.results]
        names = sorted(name for name in vars(self.module) if not name.startswith("_"))
        return self.next_number, self.initial, self.shown, state, results, names, [
            None if g is None else tuple(g.shape) for g in self.gradients]


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("number", range(MODULES))
@pytest.mark.sampled(8)
def test_samples(number: int, training: bool, part: int) -> None:
    info = modules()[number]
    torch.manual_seed(1)
    samples = [sample for sample in info.module_inputs_func(
        info, device="cpu", dtype=torch.float64, requires_grad=True, training=training)
        if sample.forward_input is not None]
    for sample in samples[part::PARTS][:MOST]:
        made = [sample.constructor_input.args, sample.constructor_input.kwargs]
        given = as_leaves([sample.forward_input.args, sample.forward_input.kwargs])
        try:
            other = [ours(values) for values in (made, given)]
            kind = function(info.name.replace("_", "."))
        except Absent:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = Run(torch, info.module_cls, made, given, training)
            mine = Run(retrograd, kind, *other, training)
        assert mine.facts() == theirs.facts(), sample.desc
        for what in ("results", "gradients", "buffers"):
            for place, (a, b) in enumerate(zip(getattr(theirs, what), getattr(mine, what), strict=True)):
                if a is not None:
                    same_values(a.detach(), b.detach(), f"{what} {place} of {sample.desc}")


def test_all_modules_are_tried() -> None:
    assert len(modules()) == MODULES
