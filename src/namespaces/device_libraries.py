"""The functions of the libraries for devices: NVIDIA's cuDNN, AMD's MIOpen, Intel's oneDNN, and statistics on GPUs.

PyTorch lists them in `torch`. Its CPU build computes few of them, and refuses the others. So does this module. It is
imported when a program first names such a function.
"""

from __future__ import annotations

from typing import Any

from .foundations.dtypes import dtype as torch_dtype, letter, unimplemented
from .foundations.errors import noted
from .tensors.arguments.dims import axis_of
from .tensors.functions.images.convolution import convolution
from .tensors.functions.other_backends import only_elsewhere
from .tensors.functions.reductions import var_mean
from .tensors.recording.public import public
from .tensors.state.base import plain
from .tensors.tensor import Tensor

_WINDOW = "ints padding, ints stride, ints dilation, int groups, bool benchmark, bool deterministic"
_WIDER = "ints padding, ints output_padding, ints stride, ints dilation, int groups, bool benchmark, bool deterministic"
_FUSED = "Tensor? bias, ints stride, ints padding, ints dilation, int groups"
_BATCH = ("Tensor input, Tensor weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float "
          "exponential_average_factor, float epsilon")
_GATHERED = ("Tensor input, Tensor mean, Tensor invstd, Tensor? running_mean, Tensor? running_var, float momentum, "
             "float eps")
_BACKWARD = "Tensor grad_out, Tensor input, Tensor mean, Tensor invstd, Tensor? weight"


def _pooling(dims: int) -> str:
    return (f"(Tensor input, ints[{dims}] kernel_size, ints[{dims}] stride=[], ints[{dims}] padding=0, ints[{dims}] "
            "dilation=1, bool ceil_mode=False)")


# What to call instead, and the parameters of the functions that only other devices have.
_ELSEWHERE: dict[str, dict[str, str]] = {
    "Use torch.nn.functional.batch_norm.": {
        "batch_norm_backward_elemt": f"({_BACKWARD}, Tensor sum_dy, Tensor sum_dy_xmu, Tensor count)",
        "batch_norm_backward_reduce": f"({_BACKWARD}, bool input_g, bool weight_g, bool bias_g)",
        "batch_norm_elemt": "(Tensor input, Tensor? weight, Tensor? bias, Tensor mean, Tensor invstd, float eps)",
        "batch_norm_gather_stats": f"({_GATHERED}, int count)",
        "batch_norm_gather_stats_with_counts": f"({_GATHERED}, Tensor counts)",
        "batch_norm_stats": "(Tensor input, float eps)",
        "cudnn_batch_norm": f"({_BATCH})",
        "miopen_batch_norm": f"({_BATCH})",
    },
    "Use torch.nn.functional.conv2d, or conv1d or conv3d.": {
        "cudnn_convolution": f"(Tensor input, Tensor weight, {_WINDOW}, bool allow_tf32)",
        "cudnn_convolution_relu": f"(Tensor input, Tensor weight, {_FUSED})",
        "cudnn_convolution_add_relu": f"(Tensor input, Tensor weight, Tensor z, Number? alpha, {_FUSED})",
        "miopen_convolution": f"(Tensor input, Tensor weight, Tensor? bias, {_WINDOW})",
        "miopen_convolution_relu": f"(Tensor input, Tensor weight, {_FUSED})",
        "miopen_convolution_add_relu": f"(Tensor input, Tensor weight, Tensor z, Number? alpha, {_FUSED})",
        "miopen_depthwise_convolution": f"(Tensor input, Tensor weight, Tensor? bias, {_WINDOW})",
    },
    "Use torch.nn.functional.conv_transpose2d, or conv_transpose1d or conv_transpose3d.": {
        "cudnn_convolution_transpose": f"(Tensor input, Tensor weight, {_WIDER}, bool allow_tf32)",
        "miopen_convolution_transpose": f"(Tensor input, Tensor weight, Tensor? bias, {_WIDER})",
    },
    "Use torch.nn.functional.affine_grid.": {
        "cudnn_affine_grid_generator": "(Tensor theta, int N, int C, int H, int W)"},
    "Use torch.nn.functional.grid_sample.": {"cudnn_grid_sampler": "(Tensor input, Tensor grid)"},
    "Use torch.nn.functional.ctc_loss.": {
        "miopen_ctc_loss": "(Tensor log_probs, Tensor targets, ints input_lengths, ints target_lengths, int blank, "
                           "bool deterministic, bool zero_infinity)"},
    "Use torch.nn.RNN, LSTM or GRU.": {
        "miopen_rnn": "(Tensor input, Tensors weight, int weight_stride0, Tensor hx, Tensor? cx, int mode, int "
                      "hidden_size, int num_layers, bool batch_first, float dropout, bool train, bool bidirectional, "
                      "ints batch_sizes, Tensor? dropout_state)"},
    "Use torch.nn.functional.adaptive_avg_pool2d.": {
        "mkldnn_adaptive_avg_pool2d": "(Tensor input, ints[2] output_size)"},
    "Use the backward pass of torch.nn.functional.linear.": {
        "mkldnn_linear_backward_weights":
            "(Tensor grad_output, Tensor input, Tensor weight, bool bias_defined)"},
    "Use torch.nn.functional.max_pool2d.": {"mkldnn_max_pool2d": _pooling(2)},
    "Use torch.nn.functional.max_pool3d.": {"mkldnn_max_pool3d": _pooling(3)},
}
globals().update({name: only_elsewhere(name + parameters, advice)
                  for advice, functions in _ELSEWHERE.items() for name, parameters in functions.items()})


# What the CPU computes

@public("cudnn_is_acceptable(Tensor input) -> bool", strict=True)
def cudnn_is_acceptable(input: Tensor) -> bool:
    """Whether cuDNN can compute with a tensor: no."""
    return False


@public("mkldnn_convolution(Tensor input, Tensor weight, Tensor? bias, ints padding, ints stride, ints dilation, int "
        "groups)", strict=True)
def mkldnn_convolution(input: Any, weight: Any, bias: Any, padding: Any, stride: Any, dilation: Any,
                       groups: int) -> Any:
    """The convolution of `torch.convolution`, in float32, bfloat16 or float16. Raises RuntimeError for other types.

    >>> import retrograd as torch
    >>> torch.mkldnn_convolution(torch.ones(1, 1, 3), torch.ones(1, 1, 2), None, (0,), (1,), (1,), 1)
    tensor([[[2., 2.]]])
    """
    for x in (input, weight):
        d = x._array.dtype
        if letter(d) != "f" or d.itemsize not in (2, 4):
            raise noted(
                RuntimeError("itensor_view_from_dense expects float/bfloat16/half/int8/fp8 tensor input"
                             f"{torch_dtype.of[d].legacy}"), instead="use torch.convolution")
    return convolution(input, weight, bias, stride, padding, dilation, False, (0,) * len(padding), groups)


@public("batch_norm_update_stats(Tensor input, Tensor? running_mean, Tensor? running_var, float momentum) -> (Tensor, "
        "Tensor)", strict=True)
def batch_norm_update_stats(input: Tensor, running_mean: Tensor, running_var: Tensor,
                            momentum: float) -> tuple[Any, Any]:
    """The mean and the biased variance of each channel. The running statistics move towards them, in place.

    Raises NotImplementedError unless the input is a floating-point tensor, IndexError for fewer than 2 dimensions.

    >>> import retrograd as torch
    >>> torch.batch_norm_update_stats(torch.tensor([[1., 5.], [3., 5.]]), None, None, 0.1)
    (tensor([2., 5.]), tensor([1., 0.]))
    """
    x = input._array
    if x.ndim < 2:
        axis_of("batch_norm_update_stats", 1, x.ndim)
    if not x.size:
        raise RuntimeError("input tensor must have at least one element, but got input_sizes = "
                           f"[{', '.join(map(str, x.shape))}]")
    if letter(x.dtype) != "f" or x.dtype.itemsize == 1:
        raise unimplemented("batch_norm_update_stats_cpu", x.dtype)
    channels = [dim for dim in range(x.ndim) if dim != 1]
    variance, mean = var_mean(plain(x), channels, correction=0)
    count = x.size // x.shape[1]
    freedom = count / (count - 1) if count > 1 else float("nan")
    for running, found in ((running_mean, mean), (running_var, variance * freedom)):
        if running is not None:
            if running._array.dtype != x.dtype:
                raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of "
                                   f"{torch_dtype.of[x.dtype].legacy}")
            running.detach().copy_(running.detach() * (1 - momentum) + found * momentum)
    return mean, variance
