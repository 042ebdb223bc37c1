"""Entries for recurrent layers over whole sequences, one step of them, and packed sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from op_table.entry import Entry, Shapes

_NODES = "a layer is one node for a whole sequence here, and in PyTorch only of some LSTMs"
_NO_FORWARD = "PyTorch has no forward mode of packing"
_GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
_HALF = {"h": "PyTorch rounds each step to half precision"}
_APART = {**_HALF, "b": "the error names another product"}


def _shapes(name: str, batch: int, *, layers: int = 1, directions: int = 1, bias: bool = True,
            rows: tuple[int, ...] = (3,), projected: int = 0, steps_at: int = 0) -> tuple[Shapes, ...]:
    """The input, the first states, and the parameters of a network from 2 to 3 features."""
    size, inputs, found = projected or 3, 2, []
    for layer in range(layers):
        for _ in range(directions):
            gates = 3 * _GATES[name]
            found += [(gates, inputs if layer == 0 else size * directions), (gates, size)]
            found += [(gates,), (gates,)] if bias else []
            found += [(projected, 3)] if projected else []
    outer = (layers * directions, batch)
    states = [(*outer, size), (*outer, 3)] if name == "lstm" else [(*outer, size)]
    leading = rows if len(rows) > 1 or steps_at < 0 else (*rows, batch)
    input = (sum(rows), 2) if steps_at < 0 else (*leading, 2)
    return ((input, *states, *found),)


def _network(name: str, *sizes: int, layers: int = 1, both: bool = False, bias: bool = True,
             batch_first: bool = False) -> Callable[..., Any]:
    """The call of a network. `sizes` are those of packed sequences."""

    def call(t: Any, input: Any, *others: Any) -> Any:
        count = 2 if name == "lstm" else 1
        states, parameters = [*others[:count]], [*others[count:]]
        hidden = states if name == "lstm" else states[0]
        if sizes:
            return getattr(t, name)(input, t.tensor(sizes), hidden, parameters, bias, layers, 0.0, True, both)
        return getattr(t, name)(input, hidden, parameters, bias, layers, 0.0, True, both, batch_first)

    return call


def _entries(name: str) -> list[Entry]:
    options: dict[str, Any] = {"other_nodes": _NODES, "low": -0.5, "high": 0.5,
                               "kinds": "fh" if name == "rnn_relu" else "fhc", "apart": _APART}
    return [
        Entry(name, _network(name), _shapes(name, 2), **options),
        Entry(f"{name} layers", _network(name, layers=2, both=True), _shapes(name, 2, layers=2, directions=2),
              **options),
        Entry(f"{name} without bias", _network(name, bias=False, batch_first=True), _shapes(
            name, 2, bias=False, rows=(2, 3)), **options),
        Entry(f"{name} packed", _network(name, 3, 2, 1, both=True), _shapes(
            name, 3, directions=2, rows=(3, 2, 1), steps_at=-1), **options),
    ]


def _cell(name: str, bias: bool = True) -> tuple[Callable[..., Any], tuple[Shapes, ...]]:
    """One step, and its inputs."""
    kind = "lstm" if name == "lstm_cell" else "gru" if name == "gru_cell" else "rnn_tanh"
    gates = 3 * _GATES[kind]
    states: Shapes = ((2, 3), (2, 3)) if kind == "lstm" else ((2, 3),)
    biases: Shapes = ((gates,), (gates,)) if bias else ()

    def call(t: Any, input: Any, *others: Any) -> Any:
        if kind == "lstm":
            return t.lstm_cell(input, [*others[:2]], *others[2:])
        return getattr(t, name)(input, *others)

    return call, (((2, 2), *states, (gates, 2), (gates, 3), *biases),)


_ROWS: tuple[Shapes, ...] = (((4, 3, 2),), ((5, 3),))
RECURRENT = [
    *(entry for name in _GATES for entry in _entries(name)),
    Entry("lstm projected", _network("lstm", both=True), _shapes("lstm", 2, directions=2, projected=2),
          other_nodes=_NODES, low=-0.5, high=0.5, kinds="fc"),
    Entry("lstm projected packed", _network("lstm", 3, 2, 1, layers=2), _shapes(
        "lstm", 3, layers=2, rows=(3, 2, 1), steps_at=-1, projected=2), other_nodes=_NODES, low=-0.5,
          high=0.5, kinds="fc"),
    *(Entry(f"{name}{'' if bias else ' without bias'}", *_cell(name, bias), kinds="fhc" if "relu" not in name else "fh",
            apart=_HALF)
      for name in ("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell") for bias in (True, False)),
    Entry("pack_padded_sequence", lambda t, x: t._pack_padded_sequence(x, t.tensor([4, 2, 1]), False), _ROWS,
          kinds="fhib", no_tangent=_NO_FORWARD),
    Entry("pack_padded_sequence batch_first", lambda t, x: t._pack_padded_sequence(
        x, t.tensor([3, 3, 2, 1][:len(x)]), True), (((4, 3, 2),),), kinds="fi",
          no_tangent=_NO_FORWARD),
    Entry("pad_packed_sequence", lambda t, x: t._pad_packed_sequence(x, t.tensor([3, 2, 1]), False, 1.5, 5),
          (((6, 2),), ((6,),)), kinds="fci", other_nodes="one write of all rows, where PyTorch writes groups of rows"),
    Entry("pad_packed_sequence batch_first", lambda t, x: t._pad_packed_sequence(
        x, t.tensor([3, 2, 1]), True, 0.0, 0), (((6, 2),),), kinds="fci",
          other_nodes="one write of all rows, where PyTorch writes groups of rows"),
]
