"""Operators on batches: the table of operators inside of a level of `vmap` gives what a loop over the samples gives.

Each entry runs with all inputs batched and with only one of them batched. Its gradients are taken inside of the level
(per sample) and outside of it (through the border), and its tangents inside of it. What cannot be batched is listed in
op_table/exceptions.py, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from comparing.tangents import pushed as tangents_of
from op_table.exceptions import UNBATCHED, listed
from op_table.table import TABLE, Entry
from retrograd.tensors.transforms.batching import BatchLevel
from retrograd.tensors.transforms.crossing import enter_batch, entered, leave_batch
from seam.running import (
    BATCH,
    Array,
    cotangents_like,
    following,
    gradients,
    groups,
    numbers,
    outputs,
    same,
)

# What a write says that would put what differs by sample over what does not.
REFUSED_WRITES = ("is not possible because there exists a Tensor `other`", "doesn't match the broadcast shape")


# Operators of which some call of the table is made once for each sample.
LOOPED = {*listed("the results may have any shape, or no kernel takes stacks, or weights", (
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams;_pdist_forward;as_strided_scatter;block_diag;call;"
    "conv_tbc;embedding_bag;embedding_bag_dense_backward;embedding_dense_backward;"
    "fake_quantize_per_channel_affine_cachemask;"
    "fake_quantize_per_tensor_affine_cachemask;gather;gru_layer;histc;histogram;histogramdd;index_fill;"
    "linalg_householder_product;linalg_ldl_solve;linalg_lstsq;linalg_lu_solve;"
    "linalg_solve_ex;lstm_layer;masked_place;masked_scatter;masked_scatter_backward;masked_select;"
    "multi_margin_loss;projected_lstm_layer;put;renorm;rnn_relu_layer;rnn_tanh_layer;scatter_reduce;searchsorted;"
    "segment_reduce;symmetric;transfer;trilinear;weight_norm_interface"))}
# Entries that show so of each of them, as a value or as a gradient.
SHOWING = {
    "values": ["histogram", "histogramdd", "linalg.ldl_solve"],
    "inside": [*listed("", (
        "multi_margin_loss row; as_strided_scatter; index_fill tensor; masked_select; renorm 0.5; searchsorted rows; "
        "histc; conv_tbc; scatter_reduce of one; masked_scatter; put; segment_reduce sum; block_diag; "
        "embedding_bag sum padding_idx; embedding_bag scale_grad_by_freq; embedding scale_grad_by_freq; "
        "linalg.lstsq of nothing; "
        "linalg.lu_solve of nothing; linalg.householder_product of nothing; linalg.solve of vectors; _weight_norm 0; "
        "fake_quantize_per_tensor_affine; fake_quantize_per_tensor_affine tensors; "
        "fake_quantize_per_channel_affine; matrix_rank; pdist 0.0; bilinear; lstm; gru; rnn_tanh; rnn_relu; "
        "lstm projected"))]}
ADJOINTS = {"embedding_rows", "paired"}                        # looped in forward mode only
UNDERIVED = {"histogram", "histogramdd", "linalg_ldl_solve"}   # those of them without a gradient


def entering(level: BatchLevel, columns: Sequence[Sequence[Array]], batched: Sequence[bool]) -> list[Any]:
    """The inputs inside of the level: the samples, or for an input that is not batched the first of them."""
    return [enter_batch(level, torch.tensor(np.stack(column)), 0) if is_batched else torch.tensor(column[0])
            for column, is_batched in zip(columns, batched, strict=True)]


def compare(level: BatchLevel, found: Sequence[Any], expected: Sequence[Sequence[Array]]) -> None:
    """Compare results of the level with the results of each sample."""
    for result, samples in zip(found, zip(*expected, strict=True), strict=True):
        for one, sample in zip(leave_batch(level, result, 0).detach().numpy(), samples, strict=True):
            same(np.asarray(one), sample)


def ways(count: int) -> list[list[bool]]:
    """Which inputs are batched: all, and each by itself."""
    alone = [[i == k for i in range(count)] for k in range(count)] if count > 1 else []
    return [[True] * count, *alone]


def draws_numbers(entry: Entry, group: tuple[list[Array], ...]) -> bool:
    """Whether an entry draws random numbers, which the level refuses unless told what to do."""
    level = BatchLevel(BATCH, "error")
    try:
        with entered(level):
            outputs(entry, entering(level, [*zip(*group, strict=True)], [True] * len(group[0])))
    except RuntimeError as error:
        return "called random operation" in str(error)
    return False


def values(entry: Entry, group: tuple[list[Array], ...], batched: list[bool]) -> None:
    level = BatchLevel(BATCH, "error")
    columns = [*zip(*group, strict=True)]
    expected = [numbers(outputs(entry, [torch.tensor(column[k if own else 0])
                                        for column, own in zip(columns, batched, strict=True)])) for k in range(BATCH)]
    with entered(level):
        found = outputs(entry, entering(level, columns, batched))
    compare(level, found, expected)


def nested(entry: Entry, group: tuple[list[Array], ...], batched: list[bool]) -> None:
    """Two levels. An input that is not batched at the inner level is batched at the outer level."""
    columns = [*zip(*group, strict=True)]
    places = [(k, j) for k in range(BATCH) for j in range(BATCH)]
    given = [[column[(k + j) % BATCH if own else k] for column, own in zip(columns, batched, strict=True)]
             for k, j in places]
    expected = [numbers(outputs(entry, [torch.tensor(array) for array in arrays])) for arrays in given]
    outer, inner = BatchLevel(BATCH, "error"), BatchLevel(BATCH, "error")
    with entered(outer):
        inputs = []
        for column, own in zip(zip(*given, strict=True), batched, strict=True):
            stacked = np.stack(column).reshape(BATCH, BATCH, *column[0].shape)
            inputs.append(enter_batch(outer, torch.tensor(stacked if own else stacked[:, 0]), 0))
        with entered(inner):
            found = outputs(entry, [enter_batch(inner, x, 0) if own else x
                                    for x, own in zip(inputs, batched, strict=True)])
        found = [leave_batch(inner, result, 0) for result in found]
    results = [leave_batch(outer, result, 0).detach().numpy() for result in found]
    for result, samples in zip(results, zip(*expected, strict=True), strict=True):
        for (k, j), sample in zip(places, samples, strict=True):
            same(np.asarray(result[k][j]), sample)


def inside(entry: Entry, group: tuple[list[Array], ...], batched: list[bool]) -> None:
    """Gradients by sample: a reverse pass inside of the level."""
    level = BatchLevel(BATCH, "error")
    columns = [*zip(*group, strict=True)]
    expected, cotangents = [], []
    for k in range(BATCH):
        leaves = [torch.tensor(column[k if own else 0], requires_grad=True)
                  for column, own in zip(columns, batched, strict=True)]
        results = following(outputs(entry, leaves))
        cotangents.append(cotangents_like(k, results))
        expected.append(numbers(gradients(results, leaves, [torch.tensor(c) for c in cotangents[-1]])))
    with entered(level):
        inputs = [x.requires_grad_() for x in entering(level, columns, batched)]
        results = following(outputs(entry, inputs))
        given = entering(level, [*zip(*cotangents, strict=True)], [True] * len(results))
        found = gradients(results, inputs, given)
    compare(level, found, expected)


def outside(entry: Entry, group: tuple[list[Array], ...], batched: list[bool]) -> None:
    """Gradients of the whole batch: a reverse pass that starts outside and crosses the border of the level."""
    level = BatchLevel(BATCH, "error")
    columns = [*zip(*group, strict=True)]
    leaves = [torch.tensor(np.stack(column) if own else column[0], requires_grad=True)
              for column, own in zip(columns, batched, strict=True)]
    by_sample = [following(outputs(entry, [x[k].clone() if own else x for x, own in zip(leaves, batched, strict=True)]))
                 for k in range(BATCH)]
    cotangents = [cotangents_like(k, results) for k, results in enumerate(by_sample)]
    flat = [r for results in by_sample for r in results]
    expected = gradients(flat, leaves, [torch.tensor(c) for given in cotangents for c in given])
    with entered(level):
        found = following(outputs(entry, [enter_batch(level, x, 0) if own else x
                                          for x, own in zip(leaves, batched, strict=True)]))
    results = [leave_batch(level, r, 0) for r in found]
    pulled = gradients(results, leaves, [torch.tensor(np.stack(c)) for c in zip(*cotangents, strict=True)])
    for one, other in zip(pulled, expected, strict=True):
        same(one.numpy(), other.numpy())


def pushed(entry: Entry, inputs: Sequence[Any], directions: Sequence[Any]) -> list[Any]:
    """The tangents of the results that may have some."""
    return tangents_of(lambda *xs: outputs(entry, [*xs]), inputs, directions)[1]


def tangents(entry: Entry, group: tuple[list[Array], ...], batched: list[bool]) -> None:
    """Tangents by sample: forward mode inside of the level."""
    level = BatchLevel(BATCH, "error")
    columns = [*zip(*group, strict=True)]
    directions = [[cotangents_like(k, [torch.tensor(column[0])])[0] for k in range(BATCH)]
                  for column in columns]
    expected = [numbers(pushed(entry, [torch.tensor(column[k if own else 0])
                                       for column, own in zip(columns, batched, strict=True)],
                               [torch.tensor(direction[k]) for direction in directions])) for k in range(BATCH)]
    with entered(level):
        inputs = entering(level, columns, batched)
        found = pushed(entry, inputs, entering(level, directions, [True] * len(inputs)))
    compare(level, found, expected)


# The ways that need a derivative.
DERIVED = (inside, outside, tangents)


CASES = [(values, "float64"), (nested, "float64"), (inside, "float64"), (outside, "float64"), (tangents, "float64"),
         (values, "complex128"), (inside, "complex128")]


def run(way: Callable[..., None], entry: Entry, drawn: list[tuple[list[Array], ...]], thorough: bool = True) -> None:
    """If it is not to be thorough, the inputs are batched one by one for the first group only, and of many inputs, as
    those of a recurrent network, about four."""
    for number, group in enumerate(drawn):
        together, *alone = ways(len(group[0]))
        for batched in [together, *(alone if thorough else () if number else alone[::len(alone) // 4 or 1])]:
            try:
                way(entry, group, batched)
            except RuntimeError as error:
                if all(batched) or not any(said in str(error) for said in REFUSED_WRITES):
                    raise RuntimeError(f"{error} with {batched}") from error
            except AssertionError as error:
                raise AssertionError(f"with {batched}: {error}") from error


def deterministic(entry: Entry, dtype: str) -> list[tuple[list[Array], ...]]:
    """The groups of inputs before the first for which an entry draws random numbers."""
    return [*takewhile(lambda group: not draws_numbers(entry, group), groups(entry, dtype))]


@pytest.fixture
def looped(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The operators that are called once for each sample."""
    found: set[str] = set()
    loop = BatchLevel._looped

    def noted(level: BatchLevel, op: Any, *rest: Any) -> Any:
        found.add(op.name)
        return loop(level, op, *rest)

    monkeypatch.setattr(BatchLevel, "_looped", noted)
    return found


@pytest.mark.sampled(5)                                    # 800 entries, and few rules
@pytest.mark.parametrize("entry", [entry for entry in TABLE if {"f", "c"} & {*entry.kinds}], ids=str)
def test_a_batch_is_its_samples(entry: Entry, looped: set[str], request: pytest.FixtureRequest) -> None:
    thorough = request.config.getoption("--thorough")
    drawn = {dtype: deterministic(entry, dtype) for dtype in ("float64", "complex128") if dtype[0] in entry.kinds}
    failed, known = {}, set()
    for way, dtype in CASES:
        if dtype not in drawn or (entry.refused and way in DERIVED):
            continue
        if entry.name in UNBATCHED[way.__name__]:
            known.add((way.__name__, dtype))
        try:
            run(way, entry, drawn[dtype], thorough)
        except Exception as error:                         # whatever it is, the entry is not right
            failed[way.__name__, dtype] = f"{type(error).__name__}: {error}"
    assert not {place: why for place, why in failed.items() if place not in known}
    assert not known - failed.keys(), "these are right, and no longer to be listed"
    assert looped <= LOOPED | ADJOINTS, "these were computed in one call"


@pytest.mark.parametrize(("way", "wanted"), [(values, UNDERIVED), (inside, LOOPED - UNDERIVED)])
def test_what_is_listed_as_looped_is_looped(way: Callable[..., None], wanted: set[str], looped: set[str]) -> None:
    entries = {entry.name: entry for entry in TABLE}
    for name in SHOWING[way.__name__]:
        run(way, entries[name], deterministic(entries[name], "float64"))
    assert not wanted - looped, "these are computed in one call and not to be listed, or another entry shows it"


@pytest.mark.parametrize("name", ["a stack of vectors", "a vector for a stack of matrices"])
def test_solutions_for_vectors(name: str) -> None:
    """PyTorch takes one vector for a stack of matrices, but not inside of vmap."""
    matrices = torch.eye(2) + torch.rand(3, 4, 2, 2) / 8
    vectors = torch.rand(3, 4, 2) if name == "a stack of vectors" else torch.rand(3, 2)
    wanted = torch.stack([torch.linalg.solve(a, b) for a, b in zip(matrices, vectors)])
    assert torch.allclose(torch.vmap(torch.linalg.solve)(matrices, vectors), wanted)
    assert torch.allclose(torch.vmap(torch.linalg.solve, (0, None))(matrices, vectors[0])[0], wanted[0])


@pytest.mark.parametrize("alpha", [3, 2.5])
def test_a_product_of_other_types_is_added(alpha: float) -> None:
    x, bools = torch.rand(2, 3, 4, dtype=torch.float64), torch.tensor([True, False, True, True])
    for other in (bools, bools.int(), bools.float()):
        found = torch.vmap(lambda sample, other=other: torch.addr(sample, other[:3], other, alpha=alpha))(x)
        assert torch.equal(found, torch.stack([torch.addr(sample, other[:3], other, alpha=alpha) for sample in x]))


INTEGERS: dict[str, Callable[[Any], Any]] = {
    "pad": lambda x: torch.nn.functional.pad(x, [1, 0, 0, 2], value=3), "full_like": lambda x: torch.full_like(x, 3),
    "masked_fill": lambda x: x.masked_fill(x > 2, 3), "index_fill": lambda x: x.index_fill(0, torch.tensor([1]), 3),
    "fill_": lambda x: x.clone().fill_(3), "threshold": lambda x: torch.nn.functional.threshold(x, 2, 3)}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_are_filled_with_a_number(name: str) -> None:
    x = torch.arange(24).reshape(2, 3, 4) % 5
    found = torch.vmap(INTEGERS[name])(x)
    assert found.dtype is torch.int64
    assert torch.equal(found, torch.stack([INTEGERS[name](sample) for sample in x]))
