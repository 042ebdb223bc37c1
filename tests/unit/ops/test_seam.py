"""Every call of an op, and every write, passes one seam: arrays that are not NumPy's stand behind tensors there.

A batched array (with an axis that nobody sees) and a recording array (which writes down the calls, for a replay on
other numbers) run the whole table of operators, forward and backward. What they cannot do is listed by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from op_table.table import TABLE, Entry
from retrograd.foundations.modes import standing
from retrograd.tensors.state.base import plain
from seam.batched import Batched, batching
from seam.running import (
    BATCH,
    Array,
    cotangents_like,
    following,
    gradients,
    groups,
    leaf,
    listed,
    numbers,
    outputs,
    same,
)
from seam.tape import Tape

_STATISTICS = "what differs by sample is written over running statistics of the entry's own, which do not"
_SHAPES = "the shape of the result depends on the numbers, and so differs by sample"
_LENGTHS = "the lengths of the words decide shapes, and are read from a tensor of the tape"
_FREEDOM = "a warning, and what is computed, depend on a sum of weights"

STATISTICS = listed(_STATISTICS, "batch_norm training;batch_norm training affine;batch_norm training momentum;"
                                 "native_batch_norm;instance_norm affine")
OBSERVED = listed("the numbers that it observes decide the scale", "fused_moving_avg_obs_fake_quant")
# What each way of running the table cannot do, by the name of the entry, and why.
FORWARD = {**STATISTICS, **OBSERVED, **listed(_SHAPES, "unique_consecutive")}
BOTH = {**STATISTICS, **OBSERVED}
_SIZES = "the sizes of packed sequences decide shapes, and are read from a tensor of the tape"
PACKED = listed(_SIZES, "lstm packed;gru packed;rnn_tanh packed;lstm projected packed;pad_packed_sequence;"
                        "pad_packed_sequence batch_first")
TAPED = {**PACKED, **OBSERVED, **listed(
    _SIZES, "rnn_relu packed;pack_padded_sequence;pack_padded_sequence batch_first"),
         **listed(_FREEDOM, "cov weights"), **listed(_SHAPES, "repeat_interleave counts"),
         **listed(_LENGTHS, ";".join(
    f"ctc_loss {kind}{way}" for kind in ("", "joined ", "impossible ", "of nothing ", "alone ")
    for way in ("mean", "sum", "none")))}


def same_samples(tensor: Any, expected: Iterable[Array]) -> None:
    """Compare a batched result, or one that is the same for each sample, with the results of the samples."""
    array = tensor._array
    for found, one in zip(array.array if isinstance(array, Batched) else [array] * BATCH, expected, strict=True):
        same(np.asarray(found), one)


def stacked(samples: Iterable[Array]) -> Any:
    return plain(Batched(np.stack([*samples])))


# The table, batched


def forward(entry: Entry, dtype: str) -> None:
    for group in groups(entry, dtype):
        torch.manual_seed(0)
        expected = [numbers(outputs(entry, [torch.tensor(a, requires_grad=True) for a in arrays])) for arrays in group]
        torch.manual_seed(0)
        with standing(batching):
            found = outputs(entry, [stacked(column).requires_grad_() for column in zip(*group, strict=True)])
        for result, samples in zip(found, zip(*expected, strict=True), strict=True):
            same_samples(result, samples)


def backward(entry: Entry, dtype: str) -> None:
    """One forward pass, and a backward pass with a batch of cotangents."""
    for arrays, *_ in groups(entry, dtype):
        torch.manual_seed(0)
        inputs = [torch.tensor(a, requires_grad=True) for a in arrays]
        results = following(outputs(entry, inputs))
        cotangents = [cotangents_like(k, results) for k in range(BATCH)]
        expected = []
        for given in cotangents:
            torch.manual_seed(0)
            again = following(outputs(entry, others := [torch.tensor(a, requires_grad=True) for a in arrays]))
            expected.append(numbers(gradients(again, others, [torch.tensor(c) for c in given])))
        with standing(batching):
            found = gradients(results, inputs, [stacked(column) for column in zip(*cotangents, strict=True)])
        for result, samples in zip(found, zip(*expected, strict=True), strict=True):
            same_samples(result, samples)


def both(entry: Entry, dtype: str) -> None:
    """A forward pass on a batch, and a backward pass through it: gradients by sample."""
    for group in groups(entry, dtype):
        torch.manual_seed(0)
        expected, cotangents = [], []
        for k, arrays in enumerate(group):
            inputs = [torch.tensor(a, requires_grad=True) for a in arrays]
            results = following(outputs(entry, inputs))
            cotangents.append(cotangents_like(k, results))
            expected.append(numbers(gradients(results, inputs, [torch.tensor(c) for c in cotangents[-1]])))
        torch.manual_seed(0)
        with standing(batching):
            inputs = [stacked(column).requires_grad_() for column in zip(*group, strict=True)]
            results = following(outputs(entry, inputs))
            found = gradients(results, inputs, [stacked(column) for column in zip(*cotangents, strict=True)])
        for result, samples in zip(found, zip(*expected, strict=True), strict=True):
            same_samples(result, samples)


def taped(entry: Entry, dtype: str) -> None:
    """Forward and backward written down for one sample, and replayed for another."""
    for recorded, replayed in groups(entry, dtype):
        tape = Tape()
        torch.manual_seed(0)
        with standing(tape.record):
            inputs = [leaf(tape.value(a)) for a in recorded]
            results = outputs(entry, inputs)
            ends = [] if entry.refused else following(results)
            cotangents = [plain(tape.value(c)) for c in cotangents_like(0, ends)]
            found = [] if entry.refused else gradients(ends, inputs, cotangents)
        given = [*(a.copy() for a in replayed), *cotangents_like(1, ends)]
        torch.manual_seed(1)
        after = tape.replay({t._array.number: a for t, a in zip([*inputs, *cotangents], given, strict=True)},
                            [t._array for t in [*results, *found]])
        torch.manual_seed(1)
        again = outputs(entry, others := [torch.tensor(a, requires_grad=True) for a in replayed])
        pulled = [] if entry.refused else gradients(following(again), others,
                                                    [torch.tensor(c) for c in given[len(replayed):]])
        for result, expected in zip(after, numbers([*again, *pulled]), strict=True):
            same(result, expected)


@pytest.mark.sampled(4)                                    # the whole table takes 40 s
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize(("run", "known", "dtype"), [
    (forward, FORWARD, "float64"), (backward, {}, "float64"), (both, BOTH, "float64"), (taped, TAPED, "float64"),
    (both, {}, "complex128"),
    (taped, {**listed(_FREEDOM, "cov weights"), **PACKED}, "complex128")])
def test_the_table_runs_on_other_arrays(run: Callable[[Entry, str], None], known: dict[str, str], dtype: str,
                                        part: int) -> None:
    every = [entry for entry in TABLE if dtype[0] in entry.kinds and not (entry.refused and run in (backward, both))]
    entries = every[part::4]
    failed = {}
    for entry in entries:
        try:
            run(entry, dtype)
        except Exception as error:                         # whatever it is, the entry is not right
            failed[entry.name] = f"{type(error).__name__}: {error}"
    unexpected = {name: why for name, why in failed.items() if name not in known}
    assert not unexpected
    right = {entry.name for entry in entries} - failed.keys()
    assert not right & known.keys(), "these are right, and no longer to be listed"
    assert known.keys() <= {entry.name for entry in every}
    assert len(known) < 0.03 * len(every)
