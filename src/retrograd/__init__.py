"""retrograd: PyTorch's autograd in readable Python on NumPy.

`import retrograd as torch` runs an autograd program written for PyTorch.
"""

from __future__ import annotations

from math import e, inf, nan, pi
from typing import TYPE_CHECKING

from . import (
    _C as _C,
    accelerator,
    autograd,
    backends,
    cpu,
    cuda,
    fft,
    linalg,
    mps,
    nn,
    optim,
    overrides,
    special,
    testing,
    utils,
    version,
    viz,
    xpu,
)
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled
from .autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .command.imports import as_torch
from .devices import device
from .dtypes import (
    bool_ as bool,
    cdouble,
    cfloat,
    complex64,
    complex128,
    double,
    dtype,
    finfo,
    float16,
    float32,
    float64,
    float_ as float,
    get_default_dtype,
    half,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    int_ as int,
    long,
    set_default_dtype,
    short,
    uint8,
)
from .errors import is_warn_always_enabled, set_warn_always
from .kernels.heap import keep_freed_memory as _keep_freed_memory
from .names import missing
from .nn.functional.activation import celu, celu_, selu, selu_
from .nn.functional.distance import cosine_similarity, pairwise_distance
from .nn.functional.numbered import (
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    ctc_loss,
    hinge_embedding_loss,
    kl_div,
    margin_ranking_loss,
    poisson_nll_loss,
    triplet_margin_loss,
)
from .serialization import load, save
from .tensor import generator as random, return_types
from .tensor.conversion import (
    can_cast,
    is_complex,
    is_floating_point,
    is_nonzero,
    is_signed,
    is_tensor,
    promote_types,
    result_type,
)
from .tensor.functions.accumulating import addbmm, addmm, addmv, addmv_, addr, baddbmm
from .tensor.functions.adaptive_pooling import adaptive_avg_pool1d, adaptive_max_pool1d
from .tensor.functions.arithmetic import (
    add,
    div,
    divide,
    fill,
    fill_,
    float_power,
    floor_divide,
    fmod,
    mul,
    multiply,
    neg,
    neg_,
    negative,
    negative_,
    positive,
    pow,
    reciprocal,
    reciprocal_,
    remainder,
    rsub,
    square,
    square_,
    sub,
    subtract,
    true_divide,
    zero_,
)
from .tensor.functions.bilinear import bilinear
from .tensor.functions.blending import addcdiv, addcmul, lerp
from .tensor.functions.combining import block_diag, cartesian_prod, combinations, diagflat, kron, vander
from .tensor.functions.comparison import (
    allclose,
    bitwise_and,
    bitwise_left_shift,
    bitwise_not,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    clamp,
    clamp_,
    clamp_max,
    clamp_max_,
    clamp_min,
    clamp_min_,
    clip,
    clip_,
    copysign,
    eq,
    equal,
    fmax,
    fmin,
    ge,
    greater,
    greater_equal,
    gt,
    heaviside,
    isclose,
    isfinite,
    isinf,
    isnan,
    isneginf,
    isposinf,
    isreal,
    le,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    lt,
    maximum,
    minimum,
    ne,
    not_equal,
    signbit,
    where,
)
from .tensor.functions.contraction import chain_matmul, einsum, inner, tensordot
from .tensor.functions.convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_tbc,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    convolution,
)
from .tensor.functions.creation import (
    complex,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    ones,
    ones_like,
    scalar_tensor,
    tensor,
    zeros,
    zeros_like,
)
from .tensor.functions.decompositions import cholesky, qr, svd
from .tensor.functions.determinants import det, inverse, logdet, pinverse, slogdet
from .tensor.functions.differences import cumulative_trapezoid, diff, gradient, trapezoid, trapz
from .tensor.functions.distances import cdist, cross, pdist
from .tensor.functions.dropout import (
    alpha_dropout,
    alpha_dropout_,
    dropout,
    dropout_,
    feature_alpha_dropout,
    feature_alpha_dropout_,
    feature_dropout,
    feature_dropout_,
    native_dropout,
)
from .tensor.functions.elementary import (
    abs,
    abs_,
    absolute,
    acos,
    acos_,
    acosh,
    acosh_,
    angle,
    arccos,
    arccos_,
    arccosh,
    arccosh_,
    arcsin,
    arcsin_,
    arcsinh,
    arcsinh_,
    arctan,
    arctan2,
    arctan_,
    arctanh,
    arctanh_,
    asin,
    asin_,
    asinh,
    asinh_,
    atan,
    atan2,
    atan_,
    atanh,
    atanh_,
    ceil,
    ceil_,
    conj,
    conj_physical,
    conj_physical_,
    cos,
    cos_,
    cosh,
    cosh_,
    deg2rad,
    deg2rad_,
    erf,
    erf_,
    erfc,
    erfc_,
    erfinv,
    exp,
    exp2,
    exp2_,
    exp_,
    expm1,
    expm1_,
    fix,
    fix_,
    floor,
    floor_,
    frac,
    frac_,
    hypot,
    imag,
    is_conj,
    is_neg,
    log,
    log1p,
    log1p_,
    log2,
    log2_,
    log10,
    log10_,
    log_,
    logaddexp,
    logaddexp2,
    logit,
    logit_,
    nan_to_num,
    nan_to_num_,
    polar,
    rad2deg,
    rad2deg_,
    real,
    relu,
    relu_,
    resolve_conj,
    resolve_neg,
    round,
    round_,
    rsqrt,
    rsqrt_,
    sgn,
    sigmoid,
    sigmoid_,
    sign,
    sin,
    sin_,
    sinc,
    sinc_,
    sinh,
    sinh_,
    sqrt,
    sqrt_,
    tan,
    tan_,
    tanh,
    tanh_,
    trunc,
    trunc_,
    view_as_complex,
    view_as_real,
)
from .tensor.functions.embedding import embedding, embedding_bag, embedding_renorm_
from .tensor.functions.gathering import (
    gather,
    index_add,
    index_copy,
    index_fill,
    index_select,
    scatter,
    scatter_add,
    take,
    take_along_dim,
)
from .tensor.functions.histograms import bucketize, histc, histogram, histogramdd, searchsorted
from .tensor.functions.indexing import narrow, newaxis, select
from .tensor.functions.joining import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    cat,
    chunk,
    column_stack,
    concat,
    concatenate,
    dsplit,
    dstack,
    hsplit,
    hstack,
    row_stack,
    split,
    split_with_sizes,
    stack,
    tensor_split,
    unbind,
    vsplit,
    vstack,
)
from .tensor.functions.low_rank import lobpcg, pca_lowrank, svd_lowrank
from .tensor.functions.masking import index_put, index_put_, masked_fill, masked_select
from .tensor.functions.matrix import bmm, dot, matmul, mm, mv, outer, outer as ger, trace, vdot
from .tensor.functions.normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    native_batch_norm,
    native_group_norm,
    native_layer_norm,
    rms_norm,
)
from .tensor.functions.norms import dist, frobenius_norm, norm, norm_except_dim, nuclear_norm, renorm
from .tensor.functions.number_parts import frexp, gcd, gcd_, lcm, lcm_, ldexp, ldexp_, nextafter
from .tensor.functions.packed_factors import geqrf, lu, lu_solve, lu_unpack, orgqr, ormqr
from .tensor.functions.padding import (
    channel_shuffle,
    constant_pad_nd,
    native_channel_shuffle,
    pixel_shuffle,
    pixel_unshuffle,
)
from .tensor.functions.piecewise import hardshrink, prelu, rrelu, rrelu_, threshold, threshold_
from .tensor.functions.pooling import avg_pool1d, max_pool1d, max_pool1d_with_indices, max_pool2d, max_pool3d
from .tensor.functions.products import corrcoef, cov, matrix_exp, matrix_power
from .tensor.functions.quantiles import nanmean, nanquantile, quantile
from .tensor.functions.random import (
    bernoulli,
    multinomial,
    normal,
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
)
from .tensor.functions.ranges import arange, linspace, logspace, range, tril_indices, triu_indices
from .tensor.functions.rearranging import (
    broadcast_shapes,
    diag,
    diag_embed,
    diagonal,
    flip,
    fliplr,
    flipud,
    meshgrid,
    repeat_interleave,
    roll,
    rot90,
    tile,
    tril,
    triu,
)
from .tensor.functions.reductions import (
    all,
    amax,
    amin,
    aminmax,
    any,
    argmax,
    argmin,
    count_nonzero,
    mean,
    nansum,
    prod,
    std,
    std_mean,
    sum,
    var,
    var_mean,
)
from .tensor.functions.removed_functions import eig, lstsq, matrix_rank, solve, symeig
from .tensor.functions.sampling import (
    _sample_dirichlet as _sample_dirichlet,
    _standard_gamma as _standard_gamma,
    binomial,
    poisson,
)
from .tensor.functions.sampling_grids import affine_grid_generator, grid_sampler, grid_sampler_2d, grid_sampler_3d
from .tensor.functions.scattering import (
    index_reduce,
    masked_scatter,
    nonzero_static,
    put,
    scatter_reduce,
    unravel_index,
)
from .tensor.functions.segments import segment_reduce
from .tensor.functions.shape import (
    adjoint,
    broadcast_tensors,
    broadcast_to,
    clone,
    flatten,
    moveaxis,
    movedim,
    permute,
    ravel,
    reshape,
    squeeze,
    swapaxes,
    swapdims,
    t,
    transpose,
    unflatten,
    unsqueeze,
)
from .tensor.functions.softmax import log_softmax, logsumexp, softmax
from .tensor.functions.solving import cholesky_inverse, cholesky_solve, triangular_solve
from .tensor.functions.sorting import (
    argsort,
    argwhere,
    bincount,
    cummax,
    cummin,
    cumprod,
    cumsum,
    kthvalue,
    logcumsumexp,
    max,
    median,
    min,
    mode,
    msort,
    nanmedian,
    nonzero,
    sort,
    topk,
)
from .tensor.functions.special import digamma, i0, i0_, igamma, igammac, lgamma, mvlgamma, polygamma, xlogy, xlogy_
from .tensor.functions.spectral import istft, stft
from .tensor.functions.uniques import isin, unique, unique_consecutive
from .tensor.functions.view_copies import (
    alias_copy,
    as_strided_copy,
    detach_copy,
    diagonal_copy,
    expand_copy,
    narrow_copy,
    permute_copy,
    select_copy,
    slice_copy,
    split_copy,
    split_with_sizes_copy,
    squeeze_copy,
    t_copy,
    transpose_copy,
    unbind_copy,
    unfold_copy,
    unsafe_chunk,
    unsafe_split,
    unsafe_split_with_sizes,
    unsqueeze_copy,
    view_as_complex_copy,
    view_as_real_copy,
    view_copy,
)
from .tensor.functions.view_scatters import as_strided_scatter, diagonal_scatter, select_scatter, slice_scatter
from .tensor.functions.windows import bartlett_window, blackman_window, hamming_window, hann_window, kaiser_window
from .tensor.generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .tensor.geometry import as_strided, as_strided_, empty_permuted, empty_strided
from .tensor.interop import detach, detach_
from .tensor.kinds import get_device, is_distributed, is_inference, typename
from .tensor.layout import is_same_size, numel
from .tensor.legacy import (
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)
from .tensor.memory import as_tensor, asarray, from_dlpack, from_numpy, frombuffer
from .tensor.options import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    layout,
    memory_format,
    preserve_format,
    strided,
)
from .tensor.printing import get_printoptions, printoptions, set_printoptions
from .tensor.resizing import resize_as_
from .tensor.settings import (
    are_deterministic_algorithms_enabled,
    get_default_device,
    get_deterministic_debug_mode,
    get_float32_matmul_precision,
    get_num_interop_threads,
    is_autocast_enabled,
    is_deterministic_algorithms_warn_only_enabled,
    set_default_device,
    set_default_tensor_type,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_flush_denormal,
    set_num_interop_threads,
    use_deterministic_algorithms,
)
from .tensor.signatures.guarding import guard as _guard
from .tensor.size import Size
from .tensor.storage import TypedStorage, UntypedStorage, is_storage
from .tensor.tensor import Tensor
from .tensor.threading import get_num_threads, set_num_threads
from .utils.dlpack import to_dlpack

__version__ = version.__version__

_keep_freed_memory()

__all__ = [
    "_C", "_sample_dirichlet", "_standard_gamma", "abs", "abs_", "absolute", "accelerator", "acos", "acos_",
    "acosh", "acosh_", "adaptive_avg_pool1d", "adaptive_max_pool1d", "add", "addbmm", "addcdiv", "addcmul", "addmm",
    "addmv", "addmv_", "addr", "adjoint", "affine_grid_generator", "alias_copy", "all", "allclose", "alpha_dropout",
    "alpha_dropout_", "amax", "amin", "aminmax", "angle", "any", "arange", "arccos", "arccos_", "arccosh",
    "arccosh_", "arcsin", "arcsin_", "arcsinh", "arcsinh_", "arctan", "arctan2", "arctan_", "arctanh", "arctanh_",
    "are_deterministic_algorithms_enabled", "argmax", "argmin", "argsort", "argwhere", "as_strided", "as_strided_",
    "as_strided_copy", "as_strided_scatter", "as_tensor", "as_torch", "asarray", "asin", "asin_", "asinh", "asinh_",
    "atan", "atan2", "atan_", "atanh", "atanh_", "atleast_1d", "atleast_2d", "atleast_3d", "autograd", "avg_pool1d",
    "backends", "baddbmm", "bartlett_window", "batch_norm", "bernoulli", "bilinear",
    "binary_cross_entropy_with_logits", "bincount", "binomial", "bitwise_and", "bitwise_left_shift", "bitwise_not",
    "bitwise_or", "bitwise_right_shift", "bitwise_xor", "blackman_window", "block_diag", "bmm", "bool",
    "BoolTensor", "broadcast_shapes", "broadcast_tensors", "broadcast_to", "bucketize", "ByteTensor", "can_cast",
    "cartesian_prod", "cat", "cdist", "cdouble", "ceil", "ceil_", "celu", "celu_", "cfloat", "chain_matmul",
    "channel_shuffle", "channels_last", "channels_last_3d", "CharTensor", "cholesky", "cholesky_inverse",
    "cholesky_solve", "chunk", "clamp", "clamp_", "clamp_max", "clamp_max_", "clamp_min", "clamp_min_", "clip",
    "clip_", "clone", "column_stack", "combinations", "complex", "complex128", "complex64", "concat", "concatenate",
    "conj", "conj_physical", "conj_physical_", "constant_pad_nd", "contiguous_format", "conv1d", "conv2d", "conv3d",
    "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution", "copysign", "corrcoef",
    "cos", "cos_", "cosh", "cosh_", "cosine_embedding_loss", "cosine_similarity", "count_nonzero", "cov", "cpu",
    "cross", "ctc_loss", "cuda", "cummax", "cummin", "cumprod", "cumsum", "cumulative_trapezoid",
    "default_generator", "deg2rad", "deg2rad_", "det", "detach", "detach_", "detach_copy", "device", "diag",
    "diag_embed", "diagflat", "diagonal", "diagonal_copy", "diagonal_scatter", "diff", "digamma", "dist", "div",
    "divide", "dot", "double", "DoubleTensor", "dropout", "dropout_", "dsplit", "dstack", "dtype", "e", "eig",
    "einsum", "embedding", "embedding_bag", "embedding_renorm_", "empty", "empty_like", "empty_permuted",
    "empty_strided", "enable_grad", "eq", "equal", "erf", "erf_", "erfc", "erfc_", "erfinv", "exp", "exp2", "exp2_",
    "exp_", "expand_copy", "expm1", "expm1_", "eye", "feature_alpha_dropout", "feature_alpha_dropout_",
    "feature_dropout", "feature_dropout_", "fft", "fill", "fill_", "finfo", "fix", "fix_", "flatten", "flip",
    "fliplr", "flipud", "float", "float16", "float32", "float64", "float_power", "FloatTensor", "floor", "floor_",
    "floor_divide", "fmax", "fmin", "fmod", "frac", "frac_", "frexp", "frobenius_norm", "from_dlpack", "from_numpy",
    "frombuffer", "full", "full_like", "gather", "gcd", "gcd_", "ge", "Generator", "geqrf", "ger",
    "get_default_device", "get_default_dtype", "get_deterministic_debug_mode", "get_device",
    "get_float32_matmul_precision", "get_num_interop_threads", "get_num_threads", "get_printoptions",
    "get_rng_state", "gradient", "greater", "greater_equal", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d",
    "group_norm", "gt", "half", "HalfTensor", "hamming_window", "hann_window", "hardshrink", "heaviside",
    "hinge_embedding_loss", "histc", "histogram", "histogramdd", "hsplit", "hstack", "hypot", "i0", "i0_", "igamma",
    "igammac", "iinfo", "imag", "index_add", "index_copy", "index_fill", "index_put", "index_put_", "index_reduce",
    "index_select", "inf", "inference_mode", "initial_seed", "inner", "instance_norm", "int", "int16", "int32",
    "int64", "int8", "IntTensor", "inverse", "is_anomaly_check_nan_enabled", "is_anomaly_enabled",
    "is_autocast_enabled", "is_complex", "is_conj", "is_deterministic_algorithms_warn_only_enabled",
    "is_distributed", "is_floating_point", "is_grad_enabled", "is_inference", "is_inference_mode_enabled", "is_neg",
    "is_nonzero", "is_same_size", "is_signed", "is_storage", "is_tensor", "is_warn_always_enabled", "isclose",
    "isfinite", "isin", "isinf", "isnan", "isneginf", "isposinf", "isreal", "istft", "kaiser_window", "kl_div",
    "kron", "kthvalue", "layer_norm", "layout", "lcm", "lcm_", "ldexp", "ldexp_", "le", "lerp", "less",
    "less_equal", "lgamma", "linalg", "linspace", "load", "lobpcg", "log", "log10", "log10_", "log1p", "log1p_",
    "log2", "log2_", "log_", "log_softmax", "logaddexp", "logaddexp2", "logcumsumexp", "logdet", "logical_and",
    "logical_not", "logical_or", "logical_xor", "logit", "logit_", "logspace", "logsumexp", "long", "LongTensor",
    "lstsq", "lt", "lu", "lu_solve", "lu_unpack", "manual_seed", "margin_ranking_loss", "masked_fill",
    "masked_scatter", "masked_select", "matmul", "matrix_exp", "matrix_power", "matrix_rank", "max", "max_pool1d",
    "max_pool1d_with_indices", "max_pool2d", "max_pool3d", "maximum", "mean", "median", "memory_format", "meshgrid",
    "min", "minimum", "mm", "mode", "moveaxis", "movedim", "mps", "msort", "mul", "multinomial", "multiply", "mv",
    "mvlgamma", "nan", "nan_to_num", "nan_to_num_", "nanmean", "nanmedian", "nanquantile", "nansum", "narrow",
    "narrow_copy", "native_batch_norm", "native_channel_shuffle", "native_dropout", "native_group_norm",
    "native_layer_norm", "ne", "neg", "neg_", "negative", "negative_", "newaxis", "nextafter", "nn", "no_grad",
    "nonzero", "nonzero_static", "norm", "norm_except_dim", "normal", "not_equal", "nuclear_norm", "numel", "ones",
    "ones_like", "optim", "orgqr", "ormqr", "outer", "overrides", "pairwise_distance", "pca_lowrank", "pdist",
    "permute", "permute_copy", "pi", "pinverse", "pixel_shuffle", "pixel_unshuffle", "poisson", "poisson_nll_loss",
    "polar", "polygamma", "positive", "pow", "prelu", "preserve_format", "printoptions", "prod", "promote_types",
    "put", "qr", "quantile", "rad2deg", "rad2deg_", "rand", "rand_like", "randint", "randint_like", "randn",
    "randn_like", "random", "randperm", "range", "ravel", "real", "reciprocal", "reciprocal_", "relu", "relu_",
    "remainder", "renorm", "repeat_interleave", "reshape", "resize_as_", "resolve_conj", "resolve_neg",
    "result_type", "return_types", "rms_norm", "roll", "rot90", "round", "round_", "row_stack", "rrelu", "rrelu_",
    "rsqrt", "rsqrt_", "rsub", "save", "scalar_tensor", "scatter", "scatter_add", "scatter_reduce", "searchsorted",
    "seed", "segment_reduce", "select", "select_copy", "select_scatter", "selu", "selu_", "set_anomaly_enabled",
    "set_default_device", "set_default_dtype", "set_default_tensor_type", "set_deterministic_debug_mode",
    "set_float32_matmul_precision", "set_flush_denormal", "set_grad_enabled", "set_num_interop_threads",
    "set_num_threads", "set_printoptions", "set_rng_state", "set_warn_always", "sgn", "short", "ShortTensor",
    "sigmoid", "sigmoid_", "sign", "signbit", "sin", "sin_", "sinc", "sinc_", "sinh", "sinh_", "Size", "slice_copy",
    "slice_scatter", "slogdet", "softmax", "solve", "sort", "special", "split", "split_copy", "split_with_sizes",
    "split_with_sizes_copy", "sqrt", "sqrt_", "square", "square_", "squeeze", "squeeze_copy", "stack", "std",
    "std_mean", "stft", "strided", "sub", "subtract", "sum", "svd", "svd_lowrank", "swapaxes", "swapdims", "symeig",
    "t", "t_copy", "take", "take_along_dim", "tan", "tan_", "tanh", "tanh_", "Tensor", "tensor", "tensor_split",
    "tensordot", "testing", "threshold", "threshold_", "tile", "to_dlpack", "topk", "trace", "transpose",
    "transpose_copy", "trapezoid", "trapz", "triangular_solve", "tril", "tril_indices", "triplet_margin_loss",
    "triu", "triu_indices", "true_divide", "trunc", "trunc_", "TypedStorage", "typename", "uint8", "unbind",
    "unbind_copy", "unflatten", "unfold_copy", "unique", "unique_consecutive", "unravel_index", "unsafe_chunk",
    "unsafe_split", "unsafe_split_with_sizes", "unsqueeze", "unsqueeze_copy", "UntypedStorage",
    "use_deterministic_algorithms", "utils", "vander", "var", "var_mean", "vdot", "version", "view_as_complex",
    "view_as_complex_copy", "view_as_real", "view_as_real_copy", "view_copy", "viz", "vsplit", "vstack", "where",
    "xlogy", "xlogy_", "xpu", "zero_", "zeros", "zeros_like",
]

for _space, _members in {"": globals(), "linalg": vars(linalg), "fft": vars(fft), "special": vars(special),
                         "nn.functional": vars(nn.functional)}.items():
    _guard(_space, _members)

if not TYPE_CHECKING:                                    # a type checker would take every name for an existing one
    __getattr__ = missing(__name__, __all__)
