"""retrograd: PyTorch's autograd in readable Python on NumPy.

`import retrograd as torch` runs an autograd program written for PyTorch.
"""

from __future__ import annotations

from . import autograd
from .autograd import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
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
from .tensor import generator as random, return_types
from .tensor.accumulating import addbmm, addmm, addmv, addr, baddbmm
from .tensor.contraction import chain_matmul, einsum, inner, tensordot
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
from .tensor.creation import (
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
from .tensor.generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .tensor.interop import detach
from .tensor.matrix import bmm, dot, matmul, mm, mv, outer, outer as ger, trace, vdot
from .tensor.memory import as_tensor, asarray, from_dlpack, from_numpy, frombuffer
from .tensor.normalizing import log_softmax, logsumexp, norm, softmax
from .tensor.options import contiguous_format, layout, memory_format, preserve_format, strided
from .tensor.printing import get_printoptions, printoptions, set_printoptions
from .tensor.random import bernoulli, multinomial, normal, rand, rand_like, randint, randint_like, randn, randn_like, randperm
from .tensor.ranges import arange, linspace, logspace, tril_indices, triu_indices
from .tensor.reductions import (
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
from .tensor.size import Size
from .tensor.sorting import (
    argsort,
    argwhere,
    bincount,
    cummax,
    cummin,
    cumprod,
    cumsum,
    kthvalue,
    max,
    median,
    min,
    mode,
    msort,
    nanmedian,
    nonzero,
    sort,
    topk,
    unique,
    unique_consecutive,
)
from .tensor.tensor import Tensor

__version__ = "0.1.0"
