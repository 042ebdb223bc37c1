"""One step of recurrent networks: `torch.lstm_cell`, `gru_cell`, `rnn_tanh_cell` and `rnn_relu_cell`.

They are composed of other functions, as in PyTorch, so their graphs are PyTorch's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...foundations.dtypes import letter
from ...ops.networks.recurrent import gates_apart
from ...tensors.functions.elementwise.elementary import tanh
from ...tensors.recording.calls import recorded
from ...tensors.recording.public import public
from ...tensors.state.base import TensorBase
from ...tensors.tensor import Tensor
from .activation import relu
from .affine import linear

__all__ = ["gru_cell", "lstm_cell", "rnn_relu_cell", "rnn_tanh_cell"]

_gates = recorded(gates_apart)


def _check(input: Tensor, states: Sequence[Any], w_ih: Tensor, w_hh: Tensor) -> None:
    """Raise RuntimeError unless the sizes of the input and of the states fit the weights and each other."""
    if input.ndim < 2:
        raise _no_features()
    if input.shape[1] != w_ih.shape[1]:
        raise RuntimeError(f"input has inconsistent input_size: got {input.shape[1]} expected {w_ih.shape[1]}")
    for place, state in enumerate(states):
        if state.ndim and input.shape[0] != state.shape[0]:
            raise RuntimeError(f"Input batch size {input.shape[0]} doesn't match hidden{place} batch size "
                               f"{state.shape[0]}")
        if state.ndim < 2:
            raise _no_features()
        if state.shape[1] != w_hh.shape[1]:
            raise RuntimeError(f"hidden{place} has inconsistent hidden_size: got {state.shape[1]}, expected "
                               f"{w_hh.shape[1]}")


def refuse_integers(x: Tensor) -> None:
    """Raise PyTorch's error if gates with a sigmoid do not exist for the dtype of the input."""
    if letter(x._array.dtype) not in "fc":
        if letter(x._array.dtype) == "b":
            raise NotImplementedError("\"addmm_impl_cpu_\" not implemented for 'Bool'")
        raise RuntimeError(f"result type Float can't be cast to the desired output type {x.dtype.legacy}")


def _no_features() -> IndexError:
    return IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")


@public("lstm_cell(Tensor input, Tensors hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> "
        "(Tensor, Tensor)", event="aten::lstm_cell")
def lstm_cell(input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
              b_hh: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The state and the cell after one step of an LSTM. `hx` holds those before. See `torch.nn.LSTMCell`."""
    if isinstance(hx, TensorBase):
        raise TypeError("lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor")
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    state, cell = hx
    _check(input, hx, w_ih, w_hh)
    gates = linear(state, w_hh, b_hh) + linear(input, w_ih, b_ih)
    refuse_integers(input)
    entering, kept, new, shown = _gates(gates, 4)
    cell = kept.sigmoid() * cell + entering.sigmoid() * tanh(new)
    return shown.sigmoid() * tanh(cell), cell


@public("gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)",
        event="aten::gru_cell")
def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
             b_hh: Tensor | None = None) -> Tensor:
    """The state after one step of a GRU. `hx` is the state before. See `torch.nn.GRUCell`."""
    _check(input, (hx,), w_ih, w_hh)
    reset_x, update_x, new_x = _gates(linear(input, w_ih, b_ih), 3)
    reset_h, update_h, new_h = _gates(linear(hx, w_hh, b_hh), 3)
    refuse_integers(input)
    reset, update = (reset_h + reset_x).sigmoid(), (update_h + update_x).sigmoid()
    new = tanh(new_x + new_h * reset)
    after: Tensor = (hx - new) * update + new
    return after


def _plain(name: str, activation: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    """The step of a network whose state is an activation of the sum of two products."""

    @public(f"{name}(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)",
            event=f"aten::{name}", name=name,
            doc="The state after one step of a recurrent network. `hx` is the state before. See `torch.nn.RNNCell`.")
    def cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
             b_hh: Tensor | None = None) -> Tensor:
        _check(input, (hx,), w_ih, w_hh)
        return activation(linear(hx, w_hh, b_hh) + linear(input, w_ih, b_ih))

    return cell


rnn_tanh_cell, rnn_relu_cell = _plain("rnn_tanh_cell", tanh), _plain("rnn_relu_cell", relu)
