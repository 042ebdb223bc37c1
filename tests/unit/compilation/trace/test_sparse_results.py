"""Compiled functions in which a gradient or another result is a sparse tensor: they run as they are, with a reason."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import retrograd as torch
from needing import needs
from retrograd import nn

EXECUTORS = ["numpy", pytest.param("llvm", marks=needs("llvmlite"))]
Step = Callable[[Any], Any]
# Each makes a step of one argument, four indices, and what to look at after the step.
PROGRAMS: dict[str, Callable[[], tuple[Step, Callable[[], Any]]]] = {}


def program(make: Callable[[], tuple[Step, Callable[[], Any]]]) -> Callable[[], tuple[Step, Callable[[], Any]]]:
    PROGRAMS[make.__name__] = make
    return make


@program
def a_gradient_is_added_to() -> tuple[Step, Callable[[], Any]]:
    table = nn.EmbeddingBag(10, 3, mode="mean", sparse=True)

    def step(index: Any) -> Any:
        loss = table(index, torch.tensor([0, 2])).pow(2).sum()
        loss.backward()
        return loss

    return step, lambda: table.weight.grad


@program
def a_gradient_is_returned() -> tuple[Step, Callable[[], Any]]:
    table = nn.Embedding(10, 3, sparse=True)

    def step(index: Any) -> Any:
        gradient, = torch.autograd.grad(table(index).pow(2).sum(), table.weight)
        return gradient, gradient.coalesce().indices(), gradient.to_dense() * 2

    return step, lambda: table.weight.grad


@program
def a_table_is_used_twice() -> tuple[Step, Callable[[], Any]]:
    table = nn.Embedding(10, 3, sparse=True)

    def step(index: Any) -> Any:
        table.zero_grad()
        loss = nn.functional.linear(table(index), table.weight).pow(2).mean()
        loss.backward()
        return loss

    return step, lambda: table.weight.grad


@program
def a_hook_reads_a_gradient() -> tuple[Step, Callable[[], Any]]:
    table, seen = nn.Embedding(10, 3, sparse=True), list[int]()
    table.weight.register_hook(lambda g: seen.append(g._nnz()) or g * 2)

    def step(index: Any) -> Any:
        table.zero_grad()
        loss = table(index).pow(2).sum()
        loss.backward()
        return loss

    return step, lambda: (table.weight.grad, seen)


@program
def the_backward_pass_runs_again_in_a_checkpoint() -> tuple[Step, Callable[[], Any]]:
    table = nn.EmbeddingBag(10, 3, sparse=True)

    def step(index: Any) -> Any:
        table.zero_grad()
        loss = torch.utils.checkpoint.checkpoint(lambda i: table(i[None]).pow(2).sum(), index, use_reentrant=False)
        loss.backward()
        return loss

    return step, lambda: table.weight.grad


@program
def a_gradient_of_a_transform() -> tuple[Step, Callable[[], Any]]:
    weight = torch.randn(10, 3)

    def step(index: Any) -> Any:
        return torch.func.grad(lambda w: nn.functional.embedding(index, w, sparse=True).pow(2).sum())(weight)

    return step, lambda: weight


@program
def a_matrix_is_made() -> tuple[Step, Callable[[], Any]]:
    weight = torch.randn(10, 3, requires_grad=True)

    def step(index: Any) -> Any:
        weight.grad = None
        matrix = torch.sparse_coo_tensor(torch.stack([torch.arange(4), index]), torch.ones(4), (4, 10))
        loss = torch.sparse.mm(matrix, weight).pow(2).sum()
        loss.backward()
        return loss, matrix

    return step, lambda: weight.grad


def with_optimizer(make: Callable[[Any], Any]) -> Callable[[], tuple[Step, Callable[[], Any]]]:
    def program() -> tuple[Step, Callable[[], Any]]:
        table, bags = nn.Embedding(10, 3, sparse=True), nn.EmbeddingBag(10, 3, sparse=True, mode="sum")
        optimizer = make([*table.parameters(), *bags.parameters()])

        def step(index: Any) -> Any:
            optimizer.zero_grad()
            loss = (table(index).sum(0) * bags(index[None]).sum(0)).sin().sum()
            loss.backward()
            optimizer.step()
            return loss

        return step, lambda: (table.weight, bags.weight, bags.weight.grad)

    return program


PROGRAMS |= {"SGD": with_optimizer(lambda parameters: torch.optim.SGD(parameters, 0.1, momentum=0.9)),
             "Adagrad": with_optimizer(lambda parameters: torch.optim.Adagrad(parameters, 0.1)),
             "SparseAdam": with_optimizer(lambda parameters: torch.optim.SparseAdam(parameters, 0.1))}


def seen(value: Any) -> Iterator[Any]:
    """All that a program can print of a tensor, or of each tensor in a tuple."""
    if isinstance(value, tuple):
        for each in value:
            yield from seen(each)
    elif isinstance(value, torch.Tensor) and value.is_sparse:
        yield value.shape, value._nnz(), value.is_coalesced(), value._indices().tolist(), value._values().tolist()
    else:
        yield value.tolist() if isinstance(value, torch.Tensor) else repr(value)


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_sees_what_it_sees_without_the_compiler(name: str, backend: str) -> None:
    shown, reasons = [], list[str]()
    for compiled in (False, True):
        torch.manual_seed(0)
        step, beside = PROGRAMS[name]()
        run = torch.compile(step, backend=backend) if compiled else step
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            shown.append([[*seen(run(torch.tensor([i, 2, 0, 9 - i]))), *seen(beside())] for i in range(4)])
        reasons += [str(each.message) for each in said]
    assert shown[0] == shown[1]
    assert len(reasons) == 1
    assert "runs step as it is, since " in reasons[0]


@pytest.mark.filterwarnings("ignore:torch.compile runs loss as it is")
@pytest.mark.parametrize("backend", EXECUTORS)
def test_a_backward_pass_outside_has_a_sparse_gradient(backend: str) -> None:
    table = nn.EmbeddingBag(10, 3, sparse=True)

    def loss(index: Any) -> Any:
        return table(index[None]).pow(2).sum()

    compiled = torch.compile(loss, backend=backend)
    for i in range(4):
        index = torch.tensor([i, 2, 0, 9 - i])
        found, expected = [[*seen(torch.autograd.grad(function(index), table.weight))] for function in (compiled, loss)]
        assert found == expected
