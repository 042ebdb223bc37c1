"""`torch.lstm`, `torch.gru`, `torch.rnn_tanh` and `torch.rnn_relu`: recurrent networks of several layers.

Each layer and direction is one operator, and so one node, for whole sequences. The modules of `nn` call them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ...foundations.dtypes import I64, Shape, dtype as torch_dtype, letter
from ...foundations.errors import noted
from ...ops.indexing.indexing import select
from ...ops.networks import recurrent as ops
from ...tensors.functions.networks.dropout import dropout as drop
from ...tensors.functions.shapes.joining import cat, stack
from ...tensors.recording.calls import recorded
from ...tensors.recording.public import public
from ...tensors.state.base import TensorBase
from ...tensors.tensor import Tensor
from .affine import linear
from .recurrent_cells import refuse_integers

__all__ = ["gru", "lstm", "rnn_relu", "rnn_tanh"]

_select = recorded(select)
_lstm, _projected = recorded(ops.lstm_layer), recorded(ops.projected_lstm_layer)
_gru = recorded(ops.gru_layer)
_rnn_tanh, _rnn_relu = recorded(ops.rnn_tanh_layer), recorded(ops.rnn_relu_layer)


class _Padded(NamedTuple):
    """The arguments for sequences of one length."""

    input: Tensor
    hx: Any
    params: Sequence[Tensor]
    has_biases: bool
    num_layers: int
    dropout: float
    train: bool
    bidirectional: bool
    batch_first: bool


class _Packed(NamedTuple):
    """The arguments for packed sequences."""

    data: Tensor
    batch_sizes: Tensor
    hx: Any
    params: Sequence[Tensor]
    has_biases: bool
    num_layers: int
    dropout: float
    train: bool
    bidirectional: bool


class _Network(NamedTuple):
    """What a call computes with: an input in the order of time, the sizes of packed sequences, and the parameters.

    `hidden` holds the first states, and for an LSTM the first cells, with a row for each layer and direction.
    """

    input: Any
    sizes: tuple[int, ...] | None
    hidden: Sequence[Any]
    params: Sequence[Any]
    layers: int
    directions: int
    dropout: float


def _network(call: _Padded | _Packed, hidden: Sequence[Any]) -> _Network:
    """What to compute with. Raises RuntimeError or IndexError if sizes do not fit together."""
    layers, directions = call.num_layers, 2 if call.bidirectional else 1
    probability = call.dropout if call.train else 0.0
    sizes = None
    if isinstance(call, _Packed):
        sizes = _sizes(call.batch_sizes, call.data)
        input = call.data if sum(sizes) == len(call.data) else call.data[:sum(sizes)]
    else:
        input, dims = call.input, call.input._array.ndim
        if dims < 3:
            kept = dims - (len(hidden) == 1)
            raise noted(
                IndexError(f"Dimension out of range (expected to be in range of [{-kept}, {kept - 1}], but got "
                           f"{3 - len(hidden) % 2 - 1})"), given=f"an input of {dims} dimensions, not 3")
        input = input.transpose(0, 1) if call.batch_first else input
        if not input._array.shape[0]:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    shapes = [part._array.shape for part in hidden]
    if any([len(shape) < 3 for shape in shapes]):
        raise noted(
            IndexError("Dimension out of range (expected to be in range of [-2, 1], but got 2)"),
            because="the states have 3 dimensions: layers * directions, batch, features")
    projected = len(shapes) == 2 and shapes[0][-1] != shapes[1][-1]
    count, found = 2 + 2 * bool(call.has_biases) + projected, len(call.params)
    if found % count or found < count * layers * directions:
        raise noted(
            RuntimeError("got an incorrect number of RNN parameters"),
            given=f"{found} parameters, where each layer and direction has {count}")
    if any([shape[0] != layers * directions for shape in shapes]):
        raise noted(
            RuntimeError("Expected more hidden states in stacked_rnn"),
            because=f"one for each layer and direction, {layers * directions} in all")
    groups = [_parameters(call.params[i * count: (i + 1) * count], call.has_biases, projected)
              for i in range(layers * directions)]
    return _Network(input, sizes, hidden, groups, layers, directions, probability)


def _parameters(given: Sequence[Any], biases: bool, projected: bool) -> tuple[Any, Any, Any, Any, Any]:
    """The weights of the input and of the state, the two biases, and the projection. None stands for what is absent."""
    w_ih, w_hh, *rest = given
    return w_ih, w_hh, rest[0] if biases else None, rest[1] if biases else None, rest[-1] if projected else None


def _sizes(batch_sizes: Tensor, data: Tensor) -> tuple[int, ...]:
    """How many packed sequences are present at each step."""
    array = batch_sizes._array
    if array.dtype != I64:
        raise RuntimeError(f"expected scalar type Long but found {torch_dtype.of[array.dtype].legacy}")
    sizes = tuple(array.reshape(-1).tolist())
    if not sizes:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    if any([later > earlier for earlier, later in pairwise(sizes)]) or sizes[-1] <= 0:
        raise RuntimeError("Expected batch_sizes to be positive and in decreasing order, as in a PackedSequence")
    rows = len(data)
    if sum(sizes) > rows:
        start = 0
        for size in sizes:
            if start + size > rows:
                raise RuntimeError(f"start ({start}) + length ({size}) exceeds dimension size ({rows}).")
            start += size
    return sizes


def _check_layer(x: Tensor, sizes: Shape | None, states: Sequence[Any], weights: Any) -> None:
    """Raise RuntimeError unless the input, the states and the parameters of a layer fit together."""
    w_ih, w_hh, *others, w_hr = weights
    array = x._array
    for a, b in ((array, w_ih._array), (states[0]._array, w_hh._array)):
        if a.dtype is not b.dtype and a.dtype != b.dtype:
            raise _mixed(a, b)
        width = a.shape[-1]
        if width != b.shape[1]:
            raise noted(
                RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a.size // max(width, 1)}x{width} "
                             f"and {b.shape[1]}x{b.shape[0]})"), "shapes#matrix-shapes")
    batch = array.shape[1] if sizes is None else sizes[0]
    for state in states:
        size = state._array.shape[0]
        if size == 1 != batch:
            raise RuntimeError(f"output with shape {[*state.shape]} doesn't match the broadcast shape "
                               f"{[batch, state.shape[1]]}")
        if size != batch:
            raise noted(
                RuntimeError(f"The size of tensor a ({size}) must match the size of tensor b ({batch}) at "
                             "non-singleton dimension 0"), because="the states of a batch that is not the input's")
    gates = w_ih._array.shape[0]
    for other in (w_hh, *others):
        if other is not None and other._array.shape[0] != gates:
            raise RuntimeError(f"The expanded size of the tensor ({len(other)}) must match the existing size ({gates}) "
                               f"at non-singleton dimension 1.  Target sizes: [{batch}, {len(other)}].  Tensor sizes: "
                               f"[{gates}]")
    for other in (*others, *states[1:], w_hr):
        if other is not None and other._array.dtype is not array.dtype and other._array.dtype != array.dtype:
            raise _mixed(array, other._array)


def _mixed(a: Any, b: Any) -> RuntimeError:
    names = [torch_dtype.of[array.dtype].legacy for array in (a, b)]
    return noted(
        RuntimeError(f"mat1 and mat2 must have the same dtype, but got {names[0]} and {names[1]}"),
        "shapes#matrix-dtypes")


def _run(network: _Network, layer: Callable[..., Any]) -> tuple[Any, ...]:
    """The outputs of the last layer, and the last states of all layers and directions."""
    x, sizes, ends = network.input, network.sizes, []
    for depth in range(network.layers):
        outputs = []
        for direction in range(network.directions):
            place = depth * network.directions + direction
            states, weights = [_select(part, 0, place) for part in network.hidden], network.params[place]
            _check_layer(x, sizes, states, weights)
            output, *last = layer(x, states, weights, sizes, direction == 1)
            outputs.append(output)
            ends.append(last[:len(states)])
        x = outputs[0] if len(outputs) == 1 else cat(outputs, -1)
        if network.dropout and depth < network.layers - 1:
            x = drop(x, network.dropout, True)
    return x, *[stack(parts, 0) for parts in zip(*ends)]


def _called(packed_at: int, args: tuple[Any, ...], named: dict[str, Any]) -> _Padded | _Packed:
    """The arguments of a call. A tensor at the place `packed_at` says that the sequences are packed."""
    packed = "data" in named or "batch_sizes" in named or (
        len(args) > packed_at and isinstance(args[packed_at], TensorBase))
    return _Packed(*args, **named) if packed else _Padded(*args, **named)


def _whole(call: _Padded | _Packed, hidden: Sequence[Any], layer: Callable[..., Any]) -> tuple[Any, ...]:
    """The results of a network, with the dimensions of the outputs in the order of those of the input."""
    output, *last = _run(_network(call, hidden), layer)
    if isinstance(call, _Padded) and call.batch_first:
        output = output.transpose(0, 1) if len(last) == 2 else output.transpose_(0, 1)      # a view only of an LSTM
    return output, *last


def _lstm_layer(x: Tensor, states: Sequence[Tensor], weights: Any, sizes: Shape | None, reverse: bool) -> Any:
    refuse_integers(x)
    *others, w_hr = weights
    if w_hr is None:
        return _lstm(x, *others, *states, sizes, reverse)
    return _projected(x, *others, *states, w_hr, sizes, reverse)


def _rnn_refuses(x: Tensor, states: Sequence[Tensor], weights: Any, tanh: bool) -> None:
    """Raise PyTorch's error if a plain layer does not exist for the dtype of its input."""
    if letter(x._array.dtype) == "c" and not tanh:
        raise NotImplementedError("clamp is not supported for complex types")
    if letter(x._array.dtype) == "b":
        raise NotImplementedError("\"addmm_impl_cpu_\" not implemented for 'Bool'")
    if letter(x._array.dtype) in "iu" and tanh:
        linear(states[0].float(), weights[1], weights[3])     # the second step fails, since the state is no int


def _by(op: Callable[..., Any]) -> Callable[..., Any]:
    """The layer of a network whose only state is the output."""

    def layer(x: Tensor, states: Sequence[Tensor], weights: Any, sizes: Shape | None, reverse: bool) -> Any:
        if op is _gru:
            refuse_integers(x)
        elif letter(x._array.dtype) != "f":
            _rnn_refuses(x, states, weights, op is _rnn_tanh)
        return op(x, *weights[:4], *states, sizes, reverse)

    return layer


@public(
    "lstm(Tensor data, Tensor batch_sizes, Tensors hx, Tensors params, bool has_biases, int num_layers, float dropout, "
    "bool train, bool bidirectional) -> (Tensor, Tensor, Tensor)",
    "lstm(Tensor input, Tensors hx, Tensors params, bool has_biases, int num_layers, float dropout, bool train, "
    "bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)",
    event="aten::lstm", strict=True)
def lstm(*args: Any, **named: Any) -> tuple[Any, ...]:
    """The outputs of an LSTM, its last states, and its last cells. See `torch.nn.LSTM`.

    `hx` holds the first states and cells, and `params` the parameters of each layer and direction. Packed sequences
    have their `data` and `batch_sizes`.
    """
    call = _called(1, args, named)
    if len(call.hx) != 2:
        raise RuntimeError("lstm expects two hidden states")
    return _whole(call, call.hx, _lstm_layer)


def _one_state(name: str, what: str, op: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a network whose only state is the output."""
    layer = _by(op)

    @public(
        f"{name}(Tensor data, Tensor batch_sizes, Tensor hx, Tensors params, bool has_biases, int num_layers, "
        "float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
        f"{name}(Tensor input, Tensor hx, Tensors params, bool has_biases, int num_layers, float dropout, bool train, "
        "bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
        event=f"aten::{name}", strict=True, name=name,
        doc=f"""The outputs of {what}, and its last states. See `torch.nn.{'GRU' if name == 'gru' else 'RNN'}`.

    `hx` are the first states, and `params` the parameters of each layer and direction. Packed sequences have their
    `data` and `batch_sizes`.
    """)
    def function(*args: Any, **named: Any) -> tuple[Any, ...]:
        call = _called(2, args, named)
        return _whole(call, (call.hx,), layer)

    return function


gru = _one_state("gru", "a GRU", _gru)
rnn_tanh = _one_state("rnn_tanh", "a recurrent network with tanh", _rnn_tanh)
rnn_relu = _one_state("rnn_relu", "a recurrent network with relu", _rnn_relu)
