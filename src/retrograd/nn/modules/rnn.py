"""Recurrent networks as modules: over whole sequences, and one step."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ...tensors.functions.creation.creation import zeros
from ...tensors.tensor import Tensor
from .. import init
from ..functional import recurrent_cells
from .layer import uninitialized
from .module import Module
from .module.members import Member
from .rnn_base import RNNBase, apply_permutation as apply_permutation

__all__ = ["RNNBase", "RNN", "LSTM", "GRU", "RNNCellBase", "RNNCell", "LSTMCell", "GRUCell"]


class RNN(RNNBase):
    """Recurrent layers: `h = tanh(weight_ih @ x + bias_ih + weight_hh @ h + bias_hh)` at each step, or relu.

    The arguments are `input_size`, `hidden_size`, `num_layers=1`, `nonlinearity="tanh"` (or "relu"), `bias=True`,
    `batch_first=False`, `dropout=0.0` (between the layers), `bidirectional=False`, `device` and `dtype`.

    The input is (steps, batch, input_size), with `batch_first` (batch, steps, input_size), without a batch (steps,
    input_size), or a `PackedSequence`. `hx` (layers * directions, batch, hidden_size) are the first states; the default
    is 0. The results are the outputs of the last layer, (steps, batch, directions * hidden_size), and the last states.

    >>> import retrograd as torch
    >>> rnn = torch.nn.RNN(10, 20, num_layers=2)
    >>> output, hidden = rnn(torch.zeros(5, 3, 10))
    >>> output.shape, hidden.shape
    (torch.Size([5, 3, 20]), torch.Size([2, 3, 20]))

    Raises RuntimeError or ValueError if the input or the states do not fit.
    """

    _input_text = "{}: Expected input to be 2D or 3D, got {}D tensor instead"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            nonlinearity, args = args[3], (*args[:3], *args[4:])
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The outputs of the last layer, and the last states of all layers."""
        return self._forward(input, hx)


class GRU(RNNBase):
    """Layers of gated recurrent units.

    A layer computes at each step `r = σ(W_ir x + b_ir + W_hr h + b_hr)`, `z = σ(W_iz x + b_iz + W_hz h + b_hz)`,
    `n = tanh(W_in x + b_in + r * (W_hn h + b_hn))` and `h = (1 - z) * n + z * h`. The rows of the weights belong to r,
    z and n, in this order.

    The arguments are `input_size`, `hidden_size`, `num_layers=1`, `bias=True`, `batch_first=False`, `dropout=0.0`,
    `bidirectional=False`, `device` and `dtype`. The inputs and the results are those of `RNN`.

    >>> import retrograd as torch
    >>> output, hidden = torch.nn.GRU(10, 20, bidirectional=True)(torch.zeros(5, 3, 10))
    >>> output.shape, hidden.shape
    (torch.Size([5, 3, 40]), torch.Size([2, 3, 20]))

    Raises RuntimeError or ValueError if the input or the states do not fit.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The outputs of the last layer, and the last states of all layers."""
        return self._forward(input, hx)


class LSTM(RNNBase):
    """Layers of long short-term memory.

    A layer computes at each step the gates `i`, `f`, `o = σ(W x + b + V h + d)` and `g = tanh(W x + b + V h + d)`, the
    cell `c = f * c + i * g` and the state `h = o * tanh(c)`, each gate with its own rows of the weights, in the order
    i, f, g, o. With `proj_size`, the state is `weight_hr @ h`.

    The arguments are `input_size`, `hidden_size`, `num_layers=1`, `bias=True`, `batch_first=False`, `dropout=0.0`,
    `bidirectional=False`, `proj_size=0`, `device` and `dtype`. The inputs and the results are those of `RNN`, but `hx`
    is the pair of the first states and cells, and the second result is the pair of the last ones.

    >>> import retrograd as torch
    >>> lstm = torch.nn.LSTM(10, 20, num_layers=2)
    >>> output, (hidden, cell) = lstm(torch.zeros(5, 3, 10))
    >>> output.shape, hidden.shape, cell.shape
    (torch.Size([5, 3, 20]), torch.Size([2, 3, 20]), torch.Size([2, 3, 20]))

    Raises RuntimeError or ValueError if the input or the states do not fit.
    """

    _states_text = "hx and cx should also be {}-D but got ({}-D, {}-D) tensors"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of the cells for an input."""
        return (*self._outer_sizes(input, batch_sizes), self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raise RuntimeError or ValueError if the input, the states or the cells do not fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden[0], self.get_expected_hidden_size(input, batch_sizes),
                               "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(hidden[1], self.get_expected_cell_size(input, batch_sizes),
                               "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The states and the cells with the sequences in another order. None leaves the order."""
        return hx if permutation is None else tuple([super(LSTM, self).permute_hidden(part, permutation)
                                                     for part in hx[:2]])

    def _states_of(self, hx: Any) -> tuple[Tensor, ...]:
        return hx[0], hx[1]

    def _as_given(self, states: Any) -> Any:
        return tuple(states)

    def _first(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        return (super()._first(input, batch_sizes),
                zeros(self.get_expected_cell_size(input, batch_sizes), dtype=input.dtype))

    def _check_packed(self, data: Tensor, hx: Any, batch_sizes: Tensor) -> None:
        """Leave the checks to the function, as PyTorch does."""

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The outputs of the last layer, and the last states and cells of all layers."""
        return self._forward(input, hx)


class RNNCellBase(Module):
    """What the modules for one step share.

    The weights are `weight_ih` (num_chunks * hidden_size, input_size) and `weight_hh` (num_chunks * hidden_size,
    hidden_size), and the biases `bias_ih` and `bias_hh`. All start uniformly in ± 1 / sqrt(hidden_size).
    """

    __constants__: ClassVar[list[str]] = ["input_size", "hidden_size", "bias"]
    input_size: int
    hidden_size: int
    bias: bool
    weight_ih, weight_hh = Member("_parameters"), Member("_parameters")
    bias_ih, bias_hh = Member("_parameters"), Member("_parameters")

    def __init__(self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        for name, shape in (("weight_ih", (rows, input_size)), ("weight_hh", (rows, hidden_size)),
                            ("bias_ih", (rows,)), ("bias_hh", (rows,))):
            wanted = bias or len(shape) == 2
            self.register_parameter(name, uninitialized(shape, device, dtype) if wanted else None)
        self.reset_parameters()

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.__dict__.get("bias") is not True:
            text += f", bias={self.bias}"
        if self.__dict__.get("nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.__dict__['nonlinearity']}"
        return text

    def reset_parameters(self) -> None:
        """Draw all parameters anew, uniformly in ± 1 / sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _step(self, function: Any, input: Tensor, states: Any, hidden: tuple[str, ...]) -> tuple[Any, ...]:
        """The states after one step. An input or states of one dimension have no batch.

        `states` are None, or as many as there are names in `hidden`, which errors use.
        """
        if input.dim() not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for name, state in zip(hidden, () if states is None else states):
            if state.dim() not in (1, 2):
                raise ValueError(f"{type(self).__name__}: Expected {name} to be 1D or 2D, got {state.dim()}D instead")
        batched = input.dim() == 2
        x = input if batched else input.unsqueeze(0)
        if states is None:
            states = (zeros(x.shape[0], self.hidden_size, dtype=x.dtype),) * len(hidden)
        elif not batched:
            states = tuple([state.unsqueeze(0) for state in states])
        after = function(x, states if len(hidden) > 1 else states[0], self.weight_ih, self.weight_hh, self.bias_ih,
                         self.bias_hh)
        after = after if len(hidden) > 1 else (after,)
        return after if batched else tuple([state.squeeze(0) for state in after])


class RNNCell(RNNCellBase):
    """One step of a recurrent network: `tanh(weight_ih @ x + bias_ih + weight_hh @ h + bias_hh)`, or relu.

    The input is (batch, input_size) or (input_size), and `hx` is (batch, hidden_size) or (hidden_size); the default of
    `hx` is 0. The result is the next state. `nonlinearity` is "tanh" or "relu".

    >>> import retrograd as torch
    >>> torch.nn.RNNCell(10, 20)(torch.zeros(3, 10)).shape
    torch.Size([3, 20])

    Raises ValueError or RuntimeError if the input or the state does not fit.
    """

    __constants__: ClassVar[list[str]] = ["input_size", "hidden_size", "bias", "nonlinearity"]
    nonlinearity: str

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state."""
        functions = {"tanh": recurrent_cells.rnn_tanh_cell, "relu": recurrent_cells.rnn_relu_cell}
        if self.nonlinearity not in functions:
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        after: Tensor
        (after,) = self._step(functions[self.nonlinearity], input, None if hx is None else (hx,), ("hidden",))
        return after


class LSTMCell(RNNCellBase):
    """One step of an LSTM. See `LSTM`.

    The input is (batch, input_size) or (input_size). `hx` is the pair of the state and the cell, each (batch,
    hidden_size) or (hidden_size); the default is 0. The result is the pair of the next state and the next cell.

    >>> import retrograd as torch
    >>> hidden, cell = torch.nn.LSTMCell(10, 20)(torch.zeros(3, 10))
    >>> hidden.shape, cell.shape
    (torch.Size([3, 20]), torch.Size([3, 20]))

    Raises ValueError or RuntimeError if the input, the state or the cell does not fit.
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The next state and the next cell."""
        after, cell = self._step(recurrent_cells.lstm_cell, input, hx, ("hx[0]", "hx[1]"))
        return after, cell


class GRUCell(RNNCellBase):
    """One step of a GRU. See `GRU`.

    The input is (batch, input_size) or (input_size), and `hx` is (batch, hidden_size) or (hidden_size); the default of
    `hx` is 0. The result is the next state.

    >>> import retrograd as torch
    >>> torch.nn.GRUCell(10, 20)(torch.zeros(3, 10)).shape
    torch.Size([3, 20])

    Raises ValueError or RuntimeError if the input or the state does not fit.
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state."""
        after: Tensor
        (after,) = self._step(recurrent_cells.gru_cell, input, None if hx is None else (hx,), ("hidden",))
        return after
