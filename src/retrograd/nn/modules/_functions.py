"""The custom functions behind layers that PyTorch differentiates by a formula of their own."""

from __future__ import annotations

from typing import Any

from ...autograd.function import Function, once_differentiable
from ...tensors.functions.creation.creation import tensor
from ...tensors.functions.linalg.contraction import einsum
from ...tensors.tensor import Tensor


def _summed(x: Tensor, size: int, before: int, always: tuple[int, ...] = ()) -> Any:
    """For each channel of x (N, C, H, W) the sum over `size` channels. `before` of them come before the channel.

    Channels in `always` belong to every sum.
    """
    channels = range(x.shape[1])
    chosen = [[float(j in always or c - before <= j < c - before + size) for j in channels] for c in channels]
    return einsum("cj,njhw->nchw", tensor(chosen, dtype=x.dtype), x)


class CrossMapLRN2d(Function):
    """The function of `nn.CrossMapLRN2d`.

    As in PyTorch, channel 0 belongs to all sums, and the rule of the gradient sums over channels that stand one further
    to the front. So the rule is not the derivative.
    """

    @staticmethod
    def forward(ctx: Any, input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> Tensor:
        """input / (k + alpha / size * sum of squares over the nearest channels) ** beta."""
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        half = (size + 1) // 2
        scale = _summed(input * input, 2 * half - 1, half - 1, (0,)) * (alpha / size) + k
        output: Tensor = input * scale ** -beta
        ctx.options = size, alpha, beta
        ctx.save_for_backward(input, output, scale)
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        """PyTorch's rule."""
        (size, alpha, beta), (input, output, scale) = ctx.options, ctx.saved_tensors
        sums = _summed(grad_output * output / scale, size, min((size + 1) // 2, size - 1))
        return grad_output * scale ** -beta - input * sums * (2 * alpha * beta / size), None, None, None, None
