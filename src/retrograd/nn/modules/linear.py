"""Affine maps as modules, and the module that does nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...autograd.grad_mode import no_grad
from ...foundations.devices import DeviceLike
from ...foundations.dtypes import dtype as torch_dtype
from ...tensors.tensor import Tensor
from .. import init
from ..borrowed import borrowing
from ..functional import affine as functional
from ..parameter import UninitializedParameter
from .layer import Weighted
from .lazy import LazyModuleMixin
from .module import Module

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


class Identity(Module):
    """Returns its input. It is made with any arguments, and ignores them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Any:
        """The input itself."""
        return input


class Linear(Weighted):
    """`x @ weight.T + bias`: from (…, in_features) to (…, out_features).

    Weight (out_features, in_features) and bias (out_features) start uniformly in ± 1 / sqrt(in_features). The input has
    their dtype.

    >>> import retrograd as torch
    >>> layer = torch.nn.Linear(3, 2)
    >>> layer
    Linear(in_features=3, out_features=2, bias=True)
    >>> layer(torch.ones(5, 3)).shape
    torch.Size([5, 2])

    Raises RuntimeError if the size or the dtype of the input does not fit.
    """

    in_features: int
    out_features: int
    _options_text = "in_features={self.in_features}, out_features={self.out_features}, bias={bias}"

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: DeviceLike | None = None,
                 dtype: torch_dtype | None = None) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self._own((out_features, in_features), (out_features,) if bias else None, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """The affine map of the last dimension."""
        return functional.linear(input, self.weight, self.bias)


class NonDynamicallyQuantizableLinear(Linear):
    """`Linear`, under the name that it has in PyTorch's MultiheadAttention."""


class Bilinear(Weighted):
    """`x1 @ weight[k] @ x2 + bias[k]` for each output k, of inputs (…, in1_features) and (…, in2_features).

    The result is (…, out_features). Weight (out_features, in1_features, in2_features) and bias (out_features) start
    uniformly in ± 1 / sqrt(in1_features).

    >>> import retrograd as torch
    >>> torch.nn.Bilinear(3, 4, 5)(torch.ones(2, 3), torch.ones(2, 4)).shape
    torch.Size([2, 5])

    Raises ValueError if `in1_features` is not positive, RuntimeError if an input does not fit.
    """

    _options_text = ("in1_features={self.in1_features}, in2_features={self.in2_features}, "
                     "out_features={self.out_features}, bias={bias}")

    def __init__(self, in1_features: int, in2_features: int, out_features: int, bias: bool = True,
                 device: DeviceLike | None = None, dtype: torch_dtype | None = None) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self._own((out_features, in1_features, in2_features), (out_features,) if bias else None, device, dtype)

    def reset_parameters(self) -> None:
        """Draw a new weight and a new bias, uniformly in ±1 / sqrt(in1_features)."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """The bilinear map of the last dimensions."""
        return functional.bilinear(input1, input2, self.weight, self.bias)


class LazyLinear(LazyModuleMixin, Linear):
    """A `Linear` that takes `in_features` from the last size of its first input.

    >>> import retrograd as torch
    >>> layer = torch.nn.LazyLinear(2)
    >>> layer(torch.ones(5, 3)).shape
    torch.Size([5, 2])
    >>> layer
    Linear(in_features=3, out_features=2, bias=True)
    """

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: DeviceLike | None = None,
                 dtype: torch_dtype | None = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw a new weight and a new bias, if they have a shape."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Give weight and bias the shapes that fit the input."""
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()
        if self.in_features == 0:                                                 # the weight came from a state
            if input.shape[-1] != self.weight.shape[-1]:
                raise AssertionError(f"The in_features inferred from input: {input.shape[-1]} is not equal to "
                                     f"in_features from self.weight: {self.weight.shape[-1]}")
            self.in_features = input.shape[-1]
