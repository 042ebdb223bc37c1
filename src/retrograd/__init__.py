"""retrograd: PyTorch's autograd in readable Python on NumPy.

`import retrograd as torch` runs an autograd program written for PyTorch.
"""

import sys as _sys
from math import e, inf, nan, pi
from os.path import abspath as _abspath, isfile as _isfile, join as _join
from typing import TYPE_CHECKING        # PyTorch has the name, too

# In a checkout, what only bears PyTorch's names stands beside the package. An installed package has all in one folder.
_names = _abspath(_join(__path__[0], "..", "namespaces"))
if _isfile(_join(_names, "torch_version.py")):
    __path__.append(_names)

from . import return_types, torch_version, version
from .foundations.devices import device
from .foundations.dtypes import (
    bfloat16, bit, bits1x8, bits2x4, bits4x2, bits8, bits16, bool_ as bool, cdouble, cfloat, chalf, complex32,
    complex64, complex128, double, dtype, float4_e2m1fn_x2, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2,
    float8_e5m2fnuz, float8_e8m0fnu, float16, float32, float64, float_ as float, get_default_dtype, half, int1, int2,
    int3, int4, int5, int6, int7, int8, int16, int32, int64, int_ as int, long, qint8, qint32, quint2x4, quint4x2,
    quint8, set_default_dtype, short, uint1, uint2, uint3, uint4, uint5, uint6, uint7, uint8, uint16, uint32, uint64)
from .foundations.errors import AcceleratorError, OutOfMemoryError, is_warn_always_enabled, set_warn_always
from .kernels.native.heap import keep_freed_memory as _keep_freed_memory
from .foundations.limits import finfo, iinfo
from .foundations.names import hint_at_missing_names as _hint_at_missing_names, inside as _inside, late as _late
from .tensors.arguments.generator import (
    Generator, default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state,
    thread_safe_generator)
from .tensors.arguments.options import (
    channels_last, channels_last_3d, contiguous_format, jagged, layout, legacy_contiguous_format, memory_format,
    per_channel_affine, per_channel_affine_float_qparams, per_channel_symmetric, per_tensor_affine,
    per_tensor_symmetric, preserve_format, qscheme, sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr, strided)
from .tensors.arguments.size import Size
from .tensors.face.conversion import (
    can_cast, get_device, is_complex, is_distributed, is_floating_point, is_inference, is_nonzero, is_signed, is_tensor,
    promote_types, result_type, typename)
from .tensors.face.interop import detach, detach_
from .tensors.face.layout import is_same_size, numel
from .tensors.face.legacy import (
    BFloat16Tensor, BoolTensor, ByteTensor, CharTensor, DoubleTensor, FloatTensor, HalfTensor, IntTensor, LongTensor,
    ShortTensor)
from .tensors.face.printing import get_printoptions, printoptions, set_printoptions
from .tensors.face.storage import (
    BFloat16Storage, BoolStorage, ByteStorage, CharStorage, ComplexDoubleStorage, ComplexFloatStorage, DoubleStorage,
    FloatStorage, HalfStorage, IntStorage, LongStorage, ShortStorage, TypedStorage, UntypedStorage, is_storage)
from .tensors.functions.creation.creation import (
    complex, empty, empty_like, eye, full, full_like, ones, ones_like, scalar_tensor, tensor, zeros, zeros_like)
from .tensors.functions.creation.random import (
    bernoulli, multinomial, normal, rand, rand_like, randint, randint_like, randn, randn_like, randperm)
from .tensors.functions.deprecated import eig, lstsq, matrix_rank, solve, symeig
from .tensors.functions.differences import cumulative_trapezoid, diff, gradient, trapezoid, trapz
from .tensors.functions.elementwise.activations import hardshrink, prelu, rrelu, rrelu_, threshold, threshold_
from .tensors.functions.elementwise.arithmetic import (
    add, div, divide, fill, fill_, float_power, floor_divide, fmod, mul, multiply, neg, neg_, negative, negative_,
    positive, pow, reciprocal, reciprocal_, remainder, rsub, square, square_, sub, subtract, true_divide, zero_)
from .tensors.functions.elementwise.blending import addcdiv, addcmul, lerp
from .tensors.functions.elementwise.comparison import (
    allclose, bitwise_and, bitwise_left_shift, bitwise_not, bitwise_or, bitwise_right_shift, bitwise_xor, clamp,
    clamp_, clamp_max, clamp_max_, clamp_min, clamp_min_, clip, clip_, copysign, eq, equal, fmax, fmin, ge, greater,
    greater_equal, gt, heaviside, isclose, isfinite, isinf, isnan, isneginf, isposinf, isreal, le, less, less_equal,
    logical_and, logical_not, logical_or, logical_xor, lt, maximum, minimum, ne, not_equal, signbit, where)
from .tensors.functions.elementwise.elementary import (
    abs, abs_, absolute, acos, acos_, acosh, acosh_, angle, arccos, arccos_, arccosh, arccosh_, arcsin, arcsin_,
    arcsinh, arcsinh_, arctan, arctan2, arctan_, arctanh, arctanh_, asin, asin_, asinh, asinh_, atan, atan2, atan_,
    atanh, atanh_, ceil, ceil_, conj, conj_physical, conj_physical_, cos, cos_, cosh, cosh_, deg2rad, deg2rad_, erf,
    erf_, erfc, erfc_, erfinv, exp, exp2, exp2_, exp_, expm1, expm1_, fix, fix_, floor, floor_, frac, frac_, hypot,
    imag, is_conj, is_neg, log, log1p, log1p_, log2, log2_, log10, log10_, log_, logaddexp, logaddexp2, logit, logit_,
    nan_to_num, nan_to_num_, polar, rad2deg, rad2deg_, real, relu, relu_, resolve_conj, resolve_neg, round, round_,
    rsqrt, rsqrt_, sgn, sigmoid, sigmoid_, sign, sin, sin_, sinc, sinc_, sinh, sinh_, sqrt, sqrt_, tan, tan_, tanh,
    tanh_, trunc, trunc_, view_as_complex, view_as_real)
from .tensors.functions.elementwise.number_parts import frexp, gcd, gcd_, lcm, lcm_, ldexp, ldexp_, nextafter
from .tensors.functions.elementwise.special import (
    digamma, i0, i0_, igamma, igammac, lgamma, mvlgamma, polygamma, xlogy, xlogy_)
from .tensors.functions.images.padding import (
    channel_shuffle, constant_pad_nd, native_channel_shuffle, pixel_shuffle, pixel_unshuffle)
from .tensors.functions.indexing.gathering import (
    gather, index_add, index_copy, index_fill, index_select, scatter, scatter_add, take, take_along_dim)
from .tensors.functions.indexing.histograms import bucketize, histc, histogram, histogramdd, searchsorted
from .tensors.functions.indexing.indexing import narrow, newaxis, select
from .tensors.functions.indexing.masking import index_put, index_put_, masked_fill, masked_select
from .tensors.functions.indexing.scattering import (
    index_reduce, masked_scatter, nonzero_static, put, scatter_reduce, unravel_index)
from .tensors.functions.indexing.sorting import (
    argsort, argwhere, bincount, cummax, cummin, cumprod, cumsum, kthvalue, logcumsumexp, max, median, min, mode,
    msort, nanmedian, nonzero, sort, topk)
from .tensors.functions.indexing.uniques import (
    _unique as _unique, _unique2 as _unique2, isin, unique, unique_consecutive)
from .tensors.functions.linalg.accumulating import addbmm, addmm, addmv, addmv_, addr, baddbmm
from .tensors.functions.linalg.contraction import chain_matmul, einsum, inner, tensordot
from .tensors.functions.linalg.determinants import det, inverse, logdet, pinverse, slogdet
from .tensors.functions.linalg.distances import cdist, cross, pdist
from .tensors.functions.linalg.factorizations import cholesky, qr, svd
from .tensors.functions.linalg.matrix import bmm, dot, ger, matmul, mm, mv, outer, trace, vdot
from .tensors.functions.linalg.norms import (
    _weight_norm as _weight_norm, dist, frobenius_norm, norm, norm_except_dim, nuclear_norm, renorm)
from .tensors.functions.linalg.packed_factors import geqrf, lu, lu_solve, lu_unpack, orgqr, ormqr
from .tensors.functions.linalg.products import bilinear, corrcoef, cov, matrix_exp, matrix_power
from .tensors.functions.linalg.solving import cholesky_inverse, cholesky_solve, triangular_solve
from .tensors.functions.networks.softmax import log_softmax, logsumexp, softmax
from .tensors.functions.other_backends import (
    dequantize, int_repr, q_per_channel_axis, q_per_channel_scales, q_per_channel_zero_points, q_scale, q_zero_point)
from .tensors.functions.quantiles import nanmean, nanquantile, quantile
from .tensors.functions.reductions import (
    all, amax, amin, aminmax, any, argmax, argmin, count_nonzero, hash_tensor, std, std_mean, var, var_mean)
from .tensors.functions.shapes.axes import adjoint, moveaxis, movedim, permute, swapaxes, swapdims, t, transpose
from .tensors.functions.shapes.combining import block_diag, cartesian_prod, combinations, diagflat, kron, vander
from .tensors.functions.shapes.geometry import as_strided, as_strided_, empty_permuted, empty_strided, resize_as_
from .tensors.functions.shapes.joining import (
    atleast_1d, atleast_2d, atleast_3d, cat, chunk, column_stack, concat, concatenate, dsplit, dstack, hsplit, hstack,
    row_stack, split, split_with_sizes, stack, tensor_split, unbind, vsplit, vstack)
from .tensors.functions.shapes.rearranging import (
    broadcast_shapes, diag, diag_embed, diagonal, flip, fliplr, flipud, meshgrid, repeat_interleave, roll, rot90, tile,
    tril, triu)
from .tensors.functions.shapes.shape import (
    broadcast_tensors, broadcast_to, clone, flatten, ravel, reshape, squeeze, unflatten, unsqueeze)
from .tensors.functions.shapes.view_copies import (
    alias_copy, as_strided_copy, detach_copy, diagonal_copy, expand_copy, narrow_copy, permute_copy, select_copy,
    slice_copy, split_copy, split_with_sizes_copy, squeeze_copy, t_copy, transpose_copy, unbind_copy, unfold_copy,
    unsafe_chunk, unsafe_split, unsafe_split_with_sizes, unsqueeze_copy, view_as_complex_copy, view_as_real_copy,
    view_copy)
from .tensors.functions.shapes.view_scatters import as_strided_scatter, diagonal_scatter, select_scatter, slice_scatter
from .tensors.functions.sparse import (
    ccol_indices_copy, col_indices_copy, crow_indices_copy, dsmm, hsmm, hspmm, indices_copy, resize_as_sparse_,
    row_indices_copy, smm, sparse_bsc_tensor, sparse_bsr_tensor, sparse_compressed_tensor, sparse_coo_tensor,
    sparse_csc_tensor, sparse_csr_tensor, spmm, sspaddmm, sspaddmm as saddmm, values_copy)
from .tensors.functions.spectral import istft, stft
from .tensors.functions.sums import mean, nansum, prod, sum
from .tensors.tensor import Tensor
from .wiring import say_where as _say_where, wire as _wire

__version__ = torch_version.__version__

_wire()
_keep_freed_memory()

_INTERNAL = {"TYPE_CHECKING", "extras", "foundations", "graph", "kernels", "ops", "tensors", "wiring"}
# The names below are imported when a program first names them. Each table says for a module of the package which of its
# names the package has; "" stands for the modules themselves. These names are offered as those imported above are.
_OFFERED_LATE = {
    "":
        "accelerator amp autograd backends cpu cuda fft futures linalg mps nn optim overrides serialization special "
        "storage testing utils xpu",
    "accelerator": "get_device_module",
    "amp.autocast_mode": "autocast",
    "amp.grad_scaler": "GradScaler",
    "amp.switches":
        "autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache get_autocast_cpu_dtype "
        "get_autocast_dtype get_autocast_gpu_dtype is_autocast_cache_enabled is_autocast_cpu_enabled "
        "is_autocast_enabled set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled "
        "set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype",
    "assertions":
        "_assert _assert_async _check _check_index _check_is_size _check_not_implemented _check_tensor_all "
        "_check_type _check_value",
    "autograd.anomaly_mode": "is_anomaly_check_nan_enabled is_anomaly_enabled set_anomaly_enabled",
    "autograd.grad_mode":
        "enable_grad inference_mode is_grad_enabled is_inference_mode_enabled no_grad set_grad_enabled",
    "command.imports": "as_torch",
    "compilation.asking": "compile",
    "control_flow": "cond fork wait while_loop",
    "foundations.futures": "Future",
    "nn.functional.activation": "celu celu_ selu selu_",
    "nn.functional.distance": "cosine_similarity pairwise_distance",
    "nn.functional.numbered":
        "binary_cross_entropy_with_logits cosine_embedding_loss ctc_loss hinge_embedding_loss kl_div "
        "margin_ranking_loss poisson_nll_loss triplet_margin_loss",
    "nn.functional.recurrent": "gru lstm rnn_relu rnn_tanh",
    "nn.functional.recurrent_cells": "gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell",
    "serialization": "load save",
    "symbols": "SymBool SymFloat SymInt sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum",
    "tensors.face.memory": "as_tensor asarray from_dlpack from_file from_numpy frombuffer",
    "tensors.face.settings":
        "are_deterministic_algorithms_enabled compiled_with_cxx11_abi get_default_device get_deterministic_debug_mode "
        "get_float32_matmul_precision get_num_interop_threads is_deterministic_algorithms_warn_only_enabled "
        "is_vulkan_available set_default_device set_default_tensor_type set_deterministic_debug_mode "
        "set_float32_matmul_precision set_flush_denormal set_num_interop_threads use_deterministic_algorithms",
    "tensors.face.threading": "get_num_threads set_num_threads",
    "tensors.functions.creation.ranges": "arange linspace logspace range tril_indices triu_indices",
    "tensors.functions.creation.sampling":
        "_dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad binomial poisson",
    "tensors.functions.creation.windows": "bartlett_window blackman_window hamming_window hann_window kaiser_window",
    "tensors.functions.images.convolution":
        "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution",
    "tensors.functions.images.pooling":
        "adaptive_avg_pool1d adaptive_max_pool1d avg_pool1d max_pool1d max_pool1d_with_indices max_pool2d max_pool3d",
    "tensors.functions.images.sampling_grids":
        "_grid_sampler_2d_cpu_fallback affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d",
    "tensors.functions.indexing.segments": "segment_reduce",
    "tensors.functions.linalg.low_rank": "lobpcg pca_lowrank svd_lowrank",
    "tensors.functions.networks.dropout":
        "alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout feature_alpha_dropout_ feature_dropout "
        "feature_dropout_ native_dropout",
    "tensors.functions.networks.embedding": "embedding embedding_bag embedding_renorm_",
    "tensors.functions.networks.fused":
        "_add_relu _add_relu_ _log_softmax _masked_softmax _nnpack_available _nnpack_spatial_convolution _softmax",
    "tensors.functions.networks.normalization":
        "batch_norm group_norm instance_norm layer_norm native_batch_norm native_group_norm native_layer_norm "
        "rms_norm",
    "tensors.functions.networks.packing": "_pack_padded_sequence _pad_packed_sequence",
    "utils.dlpack": "to_dlpack",
}
# What is imported above is what the package offers, but for what its own code needs.
__all__ = [name for name in globals() if not name.startswith("_") and name not in _INTERNAL]
__all__ += [name for names in _OFFERED_LATE.values() for name in names.split() if not name.startswith("_")]
__all__ += [
    "_C", "_add_relu", "_add_relu_", "_dirichlet_grad", "_grid_sampler_2d_cpu_fallback", "_log_softmax",
    "_masked_softmax", "_nnpack_available", "_nnpack_spatial_convolution", "_pack_padded_sequence",
    "_pad_packed_sequence",
    "_sample_dirichlet", "_softmax", "_standard_gamma", "_standard_gamma_grad", "_unique", "_unique2", "_utils",
    "_weight_norm"]
_say_where([globals()[name] for name in __all__ if name in globals()], __name__)
# Modules that a program rarely names, and modules that have another name in PyTorch, or none.
_MODULES = (
    "_C _VF __config__ __future__ _dynamo _functorch _jit_internal _ops _subclasses _tensor _tensor_str _utils "
    "_vmap_internals ao compiler distributed distributions export func functional fx hub jit library masked "
    "monitor mtia multiprocessing onnx op package profiler quantization quasirandom random signal sparse types viz")
_OWN_MODULES = "assertions command compiling control_flow optimized symbols"
# Functions of lists of tensors: `torch._foreach_add` makes new tensors, and `torch._foreach_add_` writes over them.
_BOTH_WAYS = [
    "abs", "acos", "add", "addcdiv", "addcmul", "asin", "atan", "ceil", "clamp_max", "clamp_min", "cos", "cosh", "div",
    "erf", "erfc", "exp", "expm1", "floor", "frac", "lerp", "lgamma", "log", "log10", "log1p", "log2", "maximum",
    "minimum", "mul", "neg", "pow", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "sub",
    "tan", "tanh", "trunc",
]
_OF_LISTS = [*_BOTH_WAYS, *(f"{name}_" for name in _BOTH_WAYS), "clone", "copy_", "max", "mm", "norm", "zero_"]
# Names that a program rarely uses.
_RARE = {
    "_C": "DisableTorchFunction DisableTorchFunctionSubclass PyTorchFileReader",
    "_utils": "classproperty",
    "_utils_internal":
        "AVG AggregationType FatalError PRIVATE_OPS SUM USE_GLOBAL_DEPS USE_RTLD_GLOBAL_WITH_LIBTORCH get_file_path "
        "has_lapack has_mkl has_openmp has_spectral init_num_threads prepare_multiprocessing_environment "
        "profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 sym_constrain_range sym_constrain_range_for_size "
        "sym_fresh_size",
    "amp.other_devices":
        "get_autocast_ipu_dtype get_autocast_xla_dtype is_autocast_ipu_enabled is_autocast_xla_enabled "
        "set_autocast_ipu_dtype set_autocast_ipu_enabled set_autocast_xla_dtype set_autocast_xla_enabled",
    "device_libraries":
        "batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats "
        "batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats cudnn_affine_grid_generator "
        "cudnn_batch_norm cudnn_convolution cudnn_convolution_add_relu cudnn_convolution_relu "
        "cudnn_convolution_transpose cudnn_grid_sampler cudnn_is_acceptable miopen_batch_norm miopen_convolution "
        "miopen_convolution_add_relu miopen_convolution_relu miopen_convolution_transpose miopen_ctc_loss "
        "miopen_depthwise_convolution miopen_rnn mkldnn_adaptive_avg_pool2d mkldnn_convolution "
        "mkldnn_linear_backward_weights mkldnn_max_pool2d mkldnn_max_pool3d",
    "func": "vmap",
    "jit": "JITException ScriptModule",
    "library.tags": "Tag",
    "streams": "Event Stream",
    "tensors.face.storage": "Storage StorageBase",
    "testing.file_check": "FileCheck",
    "tensors.functions.networks.fake_quantization":
        "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine fbgemm_linear_quantize_weight "
        "fused_moving_avg_obs_fake_quant",
    "viz.explaining": "explain",
    "tensors.functions.lists": " ".join(f"_foreach_{name}" for name in _OF_LISTS),
}
__getattr__, __dir__ = _late(__name__, [*__all__, "explain", "op", "viz"], {
    **_inside(_OFFERED_LATE), **_inside({"": f"{_MODULES} {_OWN_MODULES}"}), **_inside(_RARE)})

torch = _sys.modules[__name__]                               # in PyTorch, too, the module has its own name
_hint_at_missing_names(__name__)
