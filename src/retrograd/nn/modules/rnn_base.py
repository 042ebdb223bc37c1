"""What recurrent networks over whole sequences share. The networks are in `rnn`."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any, ClassVar, Self

from ...errors import warn
from ...tensors.functions.creation.creation import zeros
from ...tensors.tensor import Tensor
from .. import init
from ..functional import recurrent
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .layer import uninitialized
from .module import Module

# The number of gates of each kind of network, and the function that computes it.
_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "LSTM": recurrent.lstm, "GRU": recurrent.gru, "RNN_TANH": recurrent.rnn_tanh, "RNN_RELU": recurrent.rnn_relu}


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """The tensor with a dimension in another order. PyTorch advises `tensor.index_select` instead."""
    warn("`apply_permutation` is deprecated, please use `tensor.index_select(dim, permutation)` instead",
         FutureWarning)
    return tensor.index_select(dim, permutation)


def _check_options(mode: str, input_size: Any, hidden_size: Any, num_layers: Any, dropout: Any, proj_size: Any) -> None:
    """Raise TypeError or ValueError if a network cannot have these options, and warn of a dropout without effect."""
    if isinstance(dropout, bool) or not 0 <= float(dropout) <= 1:
        raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being "
                         "zeroed")
    if float(dropout) > 0 and num_layers == 1:
        warn("dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
             f"greater than 1, but got dropout={dropout} and num_layers={num_layers}", UserWarning)
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
    if mode not in _GATES:
        raise ValueError(f"Unrecognized RNN mode: {mode}")


class RNNBase(Module):
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
    _flat_weights_names: list[str]
    _flat_weight_refs: list[Any]
    _all_weights: list[list[str]]
    # How the errors about dimensions name the argument `hx`, and the class of the network.
    _states_text = "hx should also be {}-D but got {}-D tensor"
    _input_text = "{}: Expected input to be 2D or 3D, got {}D instead"

    def __init__(self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        _check_options(mode, input_size, hidden_size, num_layers, dropout, proj_size)
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._flat_weight_refs, self._flat_weights_names, self._all_weights = [], [], []
        rows, directions = _GATES[mode] * int(hidden_size), ("", "_reverse") if bidirectional else ("",)
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

    _update_flat_weights = _init_flat_weights

    def __setattr__(self, name: str, value: Any) -> None:
        names = self.__dict__.get("_flat_weights_names", ())
        if name in names and "_flat_weights" in self.__dict__:
            self._flat_weights[names.index(name)] = value
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_flat_weight_refs"}

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

    def _weights_have_changed(self) -> bool:
        """Whether a parameter is another object than when the parameters were listed."""
        return any(getattr(self, name, None) is not ref() for name, ref in zip(
            self._flat_weights_names, self._flat_weight_refs) if ref is not None)

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

    # The checks of the inputs

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raise ValueError if the input has another dtype than the weights, RuntimeError if its size is wrong."""
        dtype = self._flat_weights[0].dtype
        if input.dtype != dtype:
            raise ValueError(f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). Convert input: "
                             f"input.to({dtype}), or convert model: model.to({input.dtype})")
        expected = 3 if batch_sizes is None else 2
        if input.ndim != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.ndim}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError("input.size(-1) must be equal to input_size. Expected "
                               f"{self.input_size}, got {input.shape[-1]}")

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of the states for an input."""
        return (*self._outer_sizes(input, batch_sizes), self.proj_size or self.hidden_size)

    def _outer_sizes(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int]:
        """The number of states of each sequence, and the number of sequences."""
        batch = input.shape[0 if self.batch_first else 1] if batch_sizes is None else int(batch_sizes[0])
        return self.num_layers * (2 if self.bidirectional else 1), batch

    def check_hidden_size(self, hx: Tensor, expected_hidden_size: tuple[int, int, int],
                          msg: str = "Expected hidden size {}, got {}") -> None:
        """Raise RuntimeError if the states have another shape."""
        if hx.shape != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, [*hx.shape]))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raise RuntimeError or ValueError if the input or the states do not fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The states with the sequences in another order. None leaves the order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    # What the forwards of all networks do

    def _states_of(self, hx: Any) -> tuple[Tensor, ...]:
        """The states as a tuple: for an LSTM, the states and the cells."""
        return (hx,)

    def _as_given(self, states: Any) -> Any:
        """The reverse of `_states_of`."""
        return states[0]

    def _first(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        """States of zeros."""
        return zeros(self.get_expected_hidden_size(input, batch_sizes), dtype=input.dtype)

    def _forward(self, input: Any, hx: Any) -> Any:
        """The outputs and the last states for padded or packed sequences, or for one sequence without a batch."""
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
