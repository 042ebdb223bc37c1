"""Recurrent networks as modules: over whole sequences, and one step."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...foundations.devices import DeviceLike
from ...foundations.dtypes import dtype as torch_dtype
from ...foundations.errors import warn
from ...tensors.functions.creation.creation import zeros
from ...tensors.tensor import Tensor
from .. import init
from ..borrowed import borrowing
from ..functional.recurrent_cells import gru_cell, lstm_cell, rnn_relu_cell, rnn_tanh_cell
from ..parameter import Parameter
from .layer import uninitialized
from .module import Module
from .module.members import Member
from .rnn_base import GATES, Recurrent, check_options, one_step

__all__ = ["RNNBase", "RNN", "LSTM", "GRU", "RNNCellBase", "RNNCell", "LSTMCell", "GRUCell"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """The tensor with a dimension in another order. PyTorch advises `tensor.index_select` instead."""
    warn("`apply_permutation` is deprecated, please use `tensor.index_select(dim, permutation)` instead",
         FutureWarning)
    return tensor.index_select(dim, permutation)


class RNNBase(Recurrent):
    """What recurrent networks share: their parameters and the checks of their inputs.

    `mode` is "LSTM", "GRU", "RNN_TANH" or "RNN_RELU". Each layer and direction has the weights `weight_ih_l0` (gates *
    hidden_size, inputs) and `weight_hh_l0` (gates * hidden_size, hidden_size) and, with `bias`, `bias_ih_l0` and
    `bias_hh_l0`. The number is that of the layer. The names of backward directions end with `_reverse`. With
    `proj_size`, an LSTM has `weight_hr_l0` (proj_size, hidden_size), too. All start uniformly in ± 1 /
    sqrt(hidden_size). A network of this class has no forward.

    Raises ValueError or TypeError for options that fit no network.
    """

    __constants__: ClassVar[list[str]] = ["mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first",
                                          "dropout", "bidirectional", "proj_size"]
    _flat_weights_names: list[str]
    _flat_weight_refs: list[Any]
    _all_weights: list[list[str]]

    def __init__(self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
                 device: DeviceLike | None = None, dtype: torch_dtype | None = None) -> None:
        super().__init__()
        flags = {"bias": bias, "batch_first": batch_first}
        check_options(mode, input_size, hidden_size, num_layers, flags, dropout, proj_size)
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._flat_weight_refs, self._flat_weights_names, self._all_weights = [], [], []
        rows, directions = GATES[mode] * int(hidden_size), ("", "_reverse") if bidirectional else ("",)
        for layer in range(num_layers):
            for direction in directions:
                inputs = input_size if layer == 0 else (proj_size or hidden_size) * len(directions)
                shapes: dict[str, tuple[int, ...]] = {
                    "weight_ih": (rows, int(inputs)), "weight_hh": (rows, int(proj_size or hidden_size))}
                if bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
                if proj_size:
                    shapes["weight_hr"] = (int(proj_size), int(hidden_size))
                self._all_weights.append([f"{name}_l{layer}{direction}" for name in shapes])
                for name, shape in zip(self._all_weights[-1], shapes.values()):
                    self.register_parameter(name, uninitialized(shape, device, dtype))
                self._flat_weights_names += self._all_weights[-1]
        self._init_flat_weights()
        self.reset_parameters()

    def _init_flat_weights(self) -> None:
        """List the parameters in the order in which the functions take them."""
        self._flat_weights = [getattr(self, name, None) for name in self._flat_weights_names]
        self._flat_weight_refs = [None if weight is None else weakref.ref(weight) for weight in self._flat_weights]
        self.flatten_parameters()

    def _update_flat_weights(self) -> None:
        """List the parameters again if one of them is another object: parametrized, or replaced for one call."""
        if self._weights_have_changed():
            self._init_flat_weights()

    def __setattr__(self, name: str, value: Any) -> None:
        names = self.__dict__.get("_flat_weights_names", ())
        if name in names and "_flat_weights" in self.__dict__:
            self._flat_weights[names.index(name)] = value
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        self._update_flat_weights()                  # a call with other tensors may have left these in the list
        return {key: value for key, value in super().__getstate__().items() if key != "_flat_weight_refs"}

    def __setstate__(self, d: dict[str, Any]) -> None:
        self.__dict__.update(d)
        self.__dict__.setdefault("proj_size", 0)
        if "all_weights" in d:                       # files of early versions have the names under this key
            self._all_weights = d["all_weights"]
        self._flat_weights_names = [name for names in self._all_weights for name in names]
        self._init_flat_weights()

    def _apply(self, fn: Callable[[Tensor], Any], recurse: bool = True) -> Self:
        self._flat_weight_refs = []
        super()._apply(fn, recurse)
        self._init_flat_weights()
        return self

    def _load_from_state_dict(self, *args: Any) -> None:
        super()._load_from_state_dict(*args)
        self._init_flat_weights()

    def _weights_have_changed(self) -> bool:
        """Whether a parameter is another object than when the parameters were listed."""
        own = self._parameters
        for name, ref in zip(self._flat_weights_names, self._flat_weight_refs):
            weight = own.get(name)
            if weight is None:                              # perhaps parametrized: an attribute that is computed
                weight = getattr(self, name, None)
            if weight is not None and ref is not None and ref() is not weight:
                return True
        return False

    def flatten_parameters(self) -> None:
        """Do nothing: on a CPU, the parameters need not be in one block of memory."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def reset_parameters(self) -> None:
        """Draw all parameters anew, uniformly in ± 1 / sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0,
                 "bidirectional": False}
        return text + "".join(f", {name}={getattr(self, name)}" for name, value in usual.items()
                              if getattr(self, name) != value)


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
        self.nonlinearity = nonlinearity
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Any:
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

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Any:
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

    def _states_of(self, hx: Sequence[Tensor]) -> tuple[Tensor, ...]:
        return hx[0], hx[1]

    def _as_given(self, states: Sequence[Tensor]) -> Any:
        return tuple(states)

    def _first(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        return (super()._first(input, batch_sizes),
                zeros(*self.get_expected_cell_size(input, batch_sizes), dtype=input.dtype, device=input.device))

    def _check_packed(self, data: Tensor, hx: Any, batch_sizes: Tensor) -> None:
        """Leave the checks to the function, as PyTorch does."""

    def forward(self, input: Tensor, hx: Sequence[Tensor] | None = None) -> Any:
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

    def __init__(self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: DeviceLike | None = None,
                 dtype: torch_dtype | None = None) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size                # a plus makes an int of a bool
        for name, shape in (("weight_ih", (rows, +input_size)), ("weight_hh", (rows, +hidden_size)),
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
                 device: DeviceLike | None = None, dtype: torch_dtype | None = None) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state."""
        functions = {"tanh": rnn_tanh_cell, "relu": rnn_relu_cell}
        if self.nonlinearity not in functions:
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        after: Tensor
        (after,) = one_step(self, functions[self.nonlinearity], input, None if hx is None else (hx,), ("hidden",))
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

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: DeviceLike | None = None,
                 dtype: torch_dtype | None = None) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The next state and the next cell."""
        after, cell = one_step(self, lstm_cell, input, hx, ("hx[0]", "hx[1]"))
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

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: DeviceLike | None = None,
                 dtype: torch_dtype | None = None) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state."""
        after: Tensor
        (after,) = one_step(self, gru_cell, input, None if hx is None else (hx,), ("hidden",))
        return after
