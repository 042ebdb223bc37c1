"""Recurrent networks and packed sequences against PyTorch: whole modules, their errors, and their graphs."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.same_text import same

OPTIONS: list[dict[str, Any]] = [
    {}, {"num_layers": 3, "bidirectional": True, "dropout": 0.4},
    {"batch_first": True, "bias": False, "num_layers": 2, "dropout": 0.4},
]
SPECIAL: dict[str, dict[str, Any]] = {
    "LSTM": {"num_layers": 2, "proj_size": 3, "dropout": 0.5}, "RNN": {"nonlinearity": "relu"}, "GRU": {"bias": False}}
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...] | None]] = [
    ((4, 3, 5), None), ((4, 5), None), ((4, 4, 5), (2, 4, 1, 4))]


def run(library: Any, name: str, shape: tuple[int, ...], lengths: Any, dtype: str, train: bool,
        options: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """The results and the gradients of a seeded network, and what the graph and the module say of themselves."""
    library.manual_seed(3)
    network = getattr(library.nn, name)(5, 6, dtype=getattr(library, dtype), **options).train(train)
    x = library.randn(*shape, dtype=getattr(library, dtype)).requires_grad_()
    utils, first = library.nn.utils.rnn, options.get("batch_first", False)
    given = x if lengths is None else utils.pack_padded_sequence(x, lengths, first, enforce_sorted=False)
    out, last = network(given)
    if lengths is not None:
        out = utils.pad_packed_sequence(out, first, -2.0)[0]
    results = [out, *(last if name == "LSTM" else (last,))]
    sum(result.sin().sum() for result in results).backward()
    arrays = [*results, x.grad, *(parameter.grad for parameter in network.parameters()), *network.parameters()]
    return [array.detach() for array in arrays], [repr(network), [*network.state_dict()]]


@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")     # of PyTorch
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
def test_networks(name: str, dtype: str) -> None:
    tolerance = 2e-5 if dtype == "float32" else 1e-12
    for options, (shape, lengths), train in product([*OPTIONS, SPECIAL[name]], SHAPES, (True, False)):
        (theirs, said), (ours, says) = [run(library, name, shape, lengths, dtype, train, options)
                                        for library in (torch, retrograd)]
        assert says == said
        for a, b in zip(ours, theirs, strict=True):
            assert tuple(a.shape) == tuple(b.shape)
            assert tuple(a.stride()) == tuple(b.stride())
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=tolerance, atol=tolerance)


def graph(node: Any) -> list[Any]:
    """The names of a node and of the nodes behind it, as deep as a network of two layers goes."""
    return [] if node is None else [type(node).__name__, [graph(other) for other, _ in node.next_functions]]


@pytest.mark.parametrize("make", [
    lambda nn: nn.LSTM(2, 3), lambda nn: nn.LSTM(2, 3, bias=False), lambda nn: nn.LSTM(2, 3, 2, bidirectional=True),
    lambda nn: nn.LSTM(2, 3, 2, batch_first=True, dropout=0.5), lambda nn: nn.LSTMCell(2, 3),
    lambda nn: nn.GRUCell(2, 3), lambda nn: nn.RNNCell(2, 3), lambda nn: nn.RNNCell(2, 3, nonlinearity="relu"),
])
@pytest.mark.parametrize("batched", [True, False])
def test_graphs(make: Callable[[Any], Any], batched: bool) -> None:
    def case(t: Any) -> Any:
        network = make(t.nn)
        shape = (2,) if isinstance(network, t.nn.RNNCellBase) else (4, 2)
        if batched:
            shape = (*shape[:-1], 3, 2)
        results = network(t.ones(*shape))
        flat = [results] if isinstance(results, t.Tensor) else [
            part for r in results for part in ([r] if isinstance(r, t.Tensor) else r)]
        return [graph(result.grad_fn) for result in flat]

    same(case)


@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")     # of PyTorch
@pytest.mark.parametrize(("name", "options"), [
    ("LSTM", {}), ("LSTM", {"proj_size": 2}), ("GRU", {}), ("RNN", {}), ("RNN", {"nonlinearity": "relu"})])
def test_results_with_the_batch_first(name: str, options: dict[str, Any]) -> None:
    def case(t: Any) -> Any:
        network = getattr(t.nn, name)(2, 3, num_layers=2, batch_first=True, bidirectional=True, **options)
        results = [network(x)[0] for x in (t.ones(4, 5, 2), t.ones(5, 2))]
        with t.no_grad():
            results.append(network(t.ones(4, 5, 2))[0])
        return [(type(r.grad_fn).__name__, r._is_view(), r.stride()) for r in results]

    same(case)


def hidden(t: Any, name: str, *shape: int) -> Any:
    return (t.zeros(*shape), t.zeros(*shape)) if name == "LSTM" else t.zeros(*shape)


CALLS: list[Callable[[Any, str], Any]] = [
    lambda t, n: t.zeros(3), lambda t, n: t.zeros(2, 2, 2, 3), lambda t, n: t.zeros(2, 2, 5),
    lambda t, n: t.zeros(2, 5), lambda t, n: (t.zeros(2, 2, 3), hidden(t, n, 1, 4)),
    lambda t, n: (t.zeros(2, 3), hidden(t, n, 1, 1, 4)),
    lambda t, n: (t.zeros(2, 2, 3), hidden(t, n, 1, 2, 5)), lambda t, n: (t.zeros(2, 2, 3), hidden(t, n, 1, 3, 4)),
    lambda t, n: (t.zeros(2, 2, 3), hidden(t, n, 2, 2, 4)), lambda t, n: (t.zeros(2, 3), hidden(t, n, 1, 5)),
    lambda t, n: (t.zeros(2, 2, 3), hidden(t, n, 1, 1, 2, 5)), lambda t, n: t.zeros(2, 2, 3).double(),
    lambda t, n: t.zeros(2, 2, 3).long(), lambda t, n: "a", lambda t, n: [t.zeros(2, 3)], lambda t, n: t.zeros(0, 2, 3),
    lambda t, n: t.nn.utils.rnn.pack_sequence([t.zeros(3, 5), t.zeros(2, 5)]),
    lambda t, n: (t.nn.utils.rnn.pack_sequence([t.zeros(3, 3), t.zeros(2, 3)]), hidden(t, n, 1, 3, 4)),
    lambda t, n: (t.nn.utils.rnn.pack_sequence([t.zeros(3, 3), t.zeros(2, 3)]), hidden(t, n, 1, 4)),
    lambda t, n: t.nn.utils.rnn.pack_sequence([t.zeros(3), t.zeros(2)]),
    lambda t, n: (t.zeros(2, 2, 3), (t.zeros(1, 2, 4),)), lambda t, n: (t.zeros(2, 2, 3), (None, None)),
    lambda t, n: (t.zeros(2, 2, 3), (t.zeros(1, 2, 4), t.zeros(1, 2, 5))),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
def test_errors_of_calls(name: str, number: int) -> None:
    def case(t: Any) -> Any:
        given = CALLS[number](t, name)
        getattr(t.nn, name)(3, 4)(*(given if type(given) is tuple else (given,)))
        return "no error"

    same(case)


CELLS: list[Callable[[Any, str], Any]] = [
    lambda t, n: t.zeros(2, 2, 3), lambda t, n: t.zeros(()), lambda t, n: t.zeros(2, 5), lambda t, n: t.zeros(5),
    lambda t, n: (t.zeros(2, 3), hidden(t, n, 1, 2, 4)), lambda t, n: (t.zeros(2, 3), hidden(t, n, 4)),
    lambda t, n: (t.zeros(3), hidden(t, n, 1, 4)), lambda t, n: (t.zeros(2, 3), hidden(t, n, 2, 5)),
    lambda t, n: (t.zeros(2, 3), hidden(t, n, 3, 4)), lambda t, n: t.zeros(2, 3).double(), lambda t, n: "a",
    lambda t, n: (t.zeros(2, 3), (t.zeros(2, 4),)), lambda t, n: (t.zeros(2, 3), t.zeros(2, 2, 4)),
    lambda t, n: t.zeros(2, 3).long(),
]


@pytest.mark.parametrize("number", range(len(CELLS)))
@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
def test_errors_of_cells(name: str, number: int) -> None:
    def case(t: Any) -> Any:
        given = CELLS[number](t, name)
        getattr(t.nn, f"{name}Cell")(3, 4)(*(given if type(given) is tuple else (given,)))
        return "no error"

    same(case)


@pytest.mark.parametrize("make", [
    lambda nn: nn.LSTM(1.0, 3.0), lambda nn: nn.LSTM(0, 3), lambda nn: nn.LSTM(3, 0, 0), lambda nn: nn.LSTM(3, 4, 0),
    lambda nn: nn.LSTM(3, 4, 1.0), lambda nn: nn.LSTM(3, 4, dropout=True), lambda nn: nn.LSTM(0, 3, dropout=3),
    lambda nn: nn.LSTM(3, 4, dropout="a"), lambda nn: nn.LSTM(3, True), lambda nn: nn.LSTM(3, 4, proj_size=-1),
    lambda nn: nn.LSTM(3, 4, proj_size=4), lambda nn: nn.GRU(3, 4, proj_size=2), lambda nn: nn.RNN(3, 4, proj_size=2),
    lambda nn: nn.RNNBase("GRU", 3, 4, proj_size=2), lambda nn: nn.RNNBase("X", 3, 4), lambda nn: nn.RNN(3, 4, 1, "x"),
    lambda nn: nn.RNN(3, 4, 1, "relu", nonlinearity="tanh"), lambda nn: nn.LSTM(), lambda nn: nn.LSTM(3),
    lambda nn: nn.LSTM(3, 4, hidden_size=4), lambda nn: nn.GRU(3, 4, mode="LSTM"), lambda nn: nn.GRU(3, 4, foo=1),
    lambda nn: nn.LSTMCell(), lambda nn: nn.LSTMCell(0, 3), lambda nn: nn.RNNCell(3, 4, True, "x"),
    lambda nn: nn.GRU(3, 4, bias=0), lambda nn: nn.GRU(0, 4, batch_first=None),
    lambda nn: nn.GRU(3, 4, dropout=0.1, num_layers=2), lambda nn: nn.RNN(3, 4, nonlinearity="relu"),
    lambda nn: nn.RNNCellBase(3, 4, True, 2), lambda nn: nn.RNNCell(3, 4, False, "relu"),
    lambda nn: nn.LSTM(3, 4, 2, bidirectional=True)._all_weights, lambda nn: copy.deepcopy(nn.GRU(3, 4)),
    lambda nn: [w.shape for ws in nn.LSTM(3, 4, 2, proj_size=2).all_weights for w in ws],
    lambda nn: [*pickle.loads(pickle.dumps(nn.LSTM(3, 4))).state_dict()],
])
def test_modules_are_made_alike(make: Callable[[Any], Any]) -> None:
    same(lambda t: make(t.nn))


def pad(t: Any) -> Any:
    return t.arange(24.0).reshape(3, 2, 4)


@pytest.mark.parametrize("case", [
    lambda t, r: r.pack_padded_sequence(pad(t), [3, 2]), lambda t, r: r.pack_padded_sequence(pad(t)[:, :, 0], [2, 1]),
    lambda t, r: r.pack_padded_sequence(pad(t)[:, 0, 0], [3, 2]), lambda t, r: r.pack_padded_sequence(pad(t), [2, 0]),
    lambda t, r: r.pack_padded_sequence(pad(t), [1, 2]), lambda t, r: r.pack_padded_sequence(pad(t), [2]),
    lambda t, r: r.pack_padded_sequence(pad(t), [1, 2], enforce_sorted=False),
    lambda t, r: r.pack_padded_sequence(pad(t), []), lambda t, r: r.pack_padded_sequence(pad(t), [2.0, 1.0]),
    lambda t, r: r.pack_padded_sequence(pad(t), t.tensor([2, 1], dtype=t.int32)),
    lambda t, r: r.pack_padded_sequence(pad(t), t.tensor([[2, 1]])), lambda t, r: r.pack_padded_sequence(pad(t), 2),
    lambda t, r: r.pack_padded_sequence([1], [1]), lambda t, r: r.pack_padded_sequence(t.zeros(3, 0, 4), []),
    lambda t, r: r.pad_packed_sequence(r.pack_padded_sequence(pad(t), [3, 2]), True, -1.0, 5),
    lambda t, r: r.pad_packed_sequence(r.pack_padded_sequence(pad(t), [1, 3], enforce_sorted=False)),
    lambda t, r: r.pad_packed_sequence(r.pack_padded_sequence(pad(t), [3, 2]), total_length=2),
    lambda t, r: r.pad_packed_sequence(pad(t)), lambda t, r: r.pad_sequence([]), lambda t, r: r.pad_sequence(pad(t)),
    lambda t, r: r.pad_sequence(3), lambda t, r: r.pad_sequence([t.ones(2, 3), t.ones(3, 3)], padding_side="left"),
    lambda t, r: r.pad_sequence([t.ones(2)], padding_side="up"), lambda t, r: r.pad_sequence([t.ones(2), 3]),
    lambda t, r: r.pad_sequence([t.ones(2, 3), t.ones(3, 4)]), lambda t, r: r.pad_sequence("ab"),
    lambda t, r: r.pad_sequence([t.ones(2), t.ones(3, dtype=t.int64)], True, 2),
    lambda t, r: graph(r.pad_sequence([t.ones(2, requires_grad=True), t.ones(3)]).grad_fn),
    lambda t, r: r.unpad_sequence(pad(t), t.tensor([3, 2])), lambda t, r: r.unpad_sequence(pad(t), t.tensor([3])),
    lambda t, r: r.pack_sequence([t.ones(3), t.zeros(2)]), lambda t, r: r.pack_sequence([t.ones(2), t.zeros(3)]),
    lambda t, r: r.pack_sequence([t.ones(2), t.zeros(3)], enforce_sorted=False),
    lambda t, r: r.unpack_sequence(r.pack_sequence([t.ones(2), t.zeros(3)], enforce_sorted=False)),
    lambda t, r: r.invert_permutation(t.tensor([2, 0, 1])), lambda t, r: r.invert_permutation(None),
    lambda t, r: r.PackedSequence(t.ones(3)), lambda t, r: r.PackedSequence((t.ones(3), t.tensor([2, 1]))),
    lambda t, r: r.PackedSequence(t.ones(3), t.tensor([2, 1]), t.tensor([1, 0])),
    lambda t, r: r.pack_sequence([t.ones(2), t.zeros(3)], enforce_sorted=False).to(t.float64),
    lambda t, r: [getattr(r.pack_sequence([t.ones(2)]), name)().data.dtype for name in (
        "char", "byte", "short", "int", "long", "half", "float", "double", "cpu")],
    lambda t, r: r.pack_sequence([t.ones(2)]).to("cpu", t.int64, copy=True),
    lambda t, r: t._pad_packed_sequence(t.arange(3), t.tensor([2, 1]), False, 1.5, 0),
    lambda t, r: t._pad_packed_sequence(t.zeros(3, 2), t.tensor([2.0, 1]), False, 0.0, 3),
    lambda t, r: t._pad_packed_sequence(t.zeros(3, 2), t.tensor([2, 2]), False, 0.0, 3),
    lambda t, r: t._pack_padded_sequence(t.zeros(3, 2), 2),
    lambda t, r: t.lstm_cell(t.zeros(1, 2), [t.zeros(1, 3)], t.zeros(12, 2), t.zeros(12, 3)),
])
def test_packed_sequences(case: Callable[[Any, Any], Any]) -> None:
    same(lambda t: case(t, t.nn.utils.rnn))
