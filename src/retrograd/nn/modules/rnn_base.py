"""What recurrent modules do with their inputs: the checks, and the calls of the functions. The modules are in `rnn`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...foundations.errors import noted, warn
from ...tensors.functions.creation.creation import zeros
from ...tensors.recording.overriding import local as overriding
from ...tensors.tensor import Tensor
from ..functional.recurrent import gru, lstm, rnn_relu, rnn_tanh
from ..utils.rnn import PackedSequence
from .module import Module

# The number of gates of each kind of network, and the function that computes it.
GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "LSTM": lstm, "GRU": gru, "RNN_TANH": rnn_tanh, "RNN_RELU": rnn_relu}


def check_options(mode: str, input_size: Any, hidden_size: Any, num_layers: Any, flags: dict[str, Any], dropout: Any,
                  proj_size: Any) -> None:
    """Raise TypeError or ValueError if a network cannot have these options, and warn of a dropout without effect."""
    if isinstance(dropout, bool) or not 0 <= float(dropout) <= 1:
        raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being "
                         "zeroed")
    if float(dropout) > 0 and num_layers == 1:
        warn("dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
             f"greater than 1, but got dropout={dropout} and num_layers={num_layers}", UserWarning)
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise TypeError(f"{name} should be of type bool, got: {type(flag).__name__}")
    for name, size in (("input_size", input_size), ("hidden_size", hidden_size)):
        if not isinstance(size, int):
            raise TypeError(f"{name} should be of type int, got: {type(size).__name__}")
    for name, size in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if size <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")
    if mode not in GATES:
        raise ValueError(f"Unrecognized RNN mode: {mode}")


class Recurrent(Module):
    """How networks over whole sequences check what they are called with, and call their functions."""

    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int
    _flat_weights: list[Any]
    _update_flat_weights: Callable[[], None]
    # How the errors about dimensions name the argument `hx`, and the class of the network.
    _states_text = "hx should also be {}-D but got {}-D tensor"
    _input_text = "{}: Expected input to be 2D or 3D, got {}D instead"

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raise ValueError if the input has another dtype than the weights, RuntimeError if its size is wrong.

        Autocast casts both.
        """
        dtype = self._flat_weights[0].dtype
        if input.dtype != dtype and overriding.thread.casting is None:
            raise ValueError(f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). Convert input: "
                             f"input.to({dtype}), or convert model: model.to({input.dtype})")
        expected = 3 if batch_sizes is None else 2
        if input.ndim != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.ndim}")
        if input.shape[-1] != self.input_size:
            order = "time, batch" if not self.batch_first else "batch, time"
            raise noted(
                RuntimeError("input.size(-1) must be equal to input_size. Expected "
                             f"{self.input_size}, got {input.shape[-1]}"),
                given=f"an input of shape {[*input.shape]}" + ("" if expected == 2 else f": {order}, features"))

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of the states for an input."""
        return (*self._outer_sizes(input, batch_sizes), self.proj_size or self.hidden_size)

    def _outer_sizes(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int]:
        """The number of states of each sequence, and the number of sequences."""
        batch = input._array.shape[0 if self.batch_first else 1] if batch_sizes is None else int(batch_sizes[0])
        return self.num_layers * (2 if self.bidirectional else 1), batch

    def check_hidden_size(self, hx: Tensor, expected_hidden_size: tuple[int, int, int],
                          msg: str = "Expected hidden size {}, got {}") -> None:
        """Raise RuntimeError if the states have another shape."""
        if hx.shape != expected_hidden_size:
            error = RuntimeError(msg.format(expected_hidden_size, [*hx.shape]))
            (layers, batch, width), shape = expected_hidden_size, hx.shape
            if len(shape) == 3 and (shape[0], shape[2]) == (layers, width):
                noted(error, because=f"the states are of {shape[1]} sequences, and the input has {batch}",
                      instead="begin a batch with new states; drop_last=True of a DataLoader leaves out a smaller last "
                              "batch")
            raise error

    def check_forward_args(self, input: Tensor, hidden: Tensor, batch_sizes: Tensor | None) -> None:
        """Raise RuntimeError or ValueError if the input or the states do not fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Tensor, permutation: Tensor | None) -> Any:
        """The states with the sequences in another order. None leaves the order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    # What the forwards of all networks do

    def _states_of(self, hx: Any) -> tuple[Tensor, ...]:
        """The states as a tuple: for an LSTM, the states and the cells."""
        return (hx,)

    def _as_given(self, states: Sequence[Tensor]) -> Any:
        """The reverse of `_states_of`."""
        return states[0]

    def _first(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        """States of zeros."""
        return zeros(*self.get_expected_hidden_size(input, batch_sizes), dtype=input.dtype, device=input.device)

    def _forward(self, input: Any, hx: Any) -> Any:
        """The outputs and the last states for padded or packed sequences, or for one sequence without a batch."""
        self._update_flat_weights()
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(self._input_text.format(type(self).__name__ if self.mode[:3] != "RNN" else "RNN",
                                                     input.dim()))
        batched = input.ndim == 3
        if hx is not None:
            self._check_dims(hx, batched)
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
            hx = hx if hx is None else self._as_given([state.unsqueeze(1) for state in self._states_of(hx)])
        hx = self._first(input, None) if hx is None else hx
        self.check_forward_args(input, hx, None)
        output, *last = _FUNCTIONS[self.mode](
            input, hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional,
            self.batch_first)
        if not batched:
            output, last = output.squeeze(0 if self.batch_first else 1), [state.squeeze(1) for state in last]
        return output, self._as_given(last)

    def _check_dims(self, hx: Any, batched: bool) -> None:
        """Raise RuntimeError if the states have a batch and the input has none, or the reverse."""
        dims, states = 3 if batched else 2, self._states_of(hx)
        if any([state.dim() != dims for state in states]):
            kind = f"For {'batched 3-D' if batched else 'unbatched 2-D'} input, "
            raise RuntimeError(kind + self._states_text.format(dims, *[state.dim() for state in states]))

    def _forward_packed(self, input: PackedSequence, hx: Any) -> Any:
        data, batch_sizes, order, first_order = input
        if hx is None:
            hx = self._first(data, batch_sizes)
        else:                                        # the states come in the order of the sequences before packing
            hx = self.permute_hidden(hx, order)
        self._check_packed(data, hx, batch_sizes)
        output, *last = _FUNCTIONS[self.mode](
            data, batch_sizes, hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
            self.bidirectional)
        return (PackedSequence(output, batch_sizes, order, first_order),
                self.permute_hidden(self._as_given(last), first_order))

    def _check_packed(self, data: Tensor, hx: Any, batch_sizes: Tensor) -> None:
        self.check_forward_args(data, hx, batch_sizes)


def one_step(cell: Any, function: Callable[..., Any], input: Tensor, states: Any,
             hidden: tuple[str, ...]) -> tuple[Any, ...]:
    """The states that a cell returns after one step. An input or states of one dimension have no batch.

    `states` are None, or as many as there are names in `hidden`, which errors use.
    """
    if input.dim() not in (1, 2):
        raise ValueError(f"{type(cell).__name__}: Expected input to be 1D or 2D, got {input.dim()}D instead")
    for name, state in zip(hidden, () if states is None else states):
        if state.dim() not in (1, 2):
            raise ValueError(f"{type(cell).__name__}: Expected {name} to be 1D or 2D, got {state.dim()}D instead")
    batched = input.dim() == 2
    x = input if batched else input.unsqueeze(0)
    if states is None:
        states = (zeros(x.shape[0], cell.hidden_size, dtype=x.dtype, device=x.device),) * len(hidden)
    elif not batched:
        states = tuple([state.unsqueeze(0) for state in states])
    after = function(x, states if len(hidden) > 1 else states[0], cell.weight_ih, cell.weight_hh, cell.bias_ih,
                     cell.bias_hh)
    after = after if len(hidden) > 1 else (after,)
    return after if batched else tuple([state.squeeze(0) for state in after])
