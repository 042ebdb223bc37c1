"""Which functions take `out=`, and what each asks of it: the dtype, the memory, the graph, the shape.

Declarations only, read by `into`. The names are those of the functions that compute; what PyTorch composes of other
functions is refused in their words. Must not know tensors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# What is said of a dtype that does not do: {result} and {out} are PyTorch's names of the types, {c_result} and {c_out}
# those of C++.
_UNCASTABLE = "result type {result} can't be cast to the desired output type {out}"
_UNJOINABLE = "torch.cat(): input types can't be cast to the desired output type {out}"
_EXACT = "Expected out tensor to have dtype {c_result}, but got {c_out} instead"
_FOUND = "Found dtype {out} but expected {result}"
_UNLIKE_HIST = ("torch.histogram: input tensor and hist tensor should have the same dtype, but got input {c_result} "
                "and hist {c_out}")
_UNLIKE_INT = ("torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) "
               "depending on whether out_int32 flag is True, but we got output tensor's dtype {{out}} and out_int32 "
               "flag is {}")
_SCALAR = "{name}(): self and result must have the same scalar type"
_RESIZED = ("An output with one or more elements was resized since it had shape {had}, which does not match the "
            "required output shape {shape}. This behavior is deprecated, and in a future PyTorch release outputs will "
            "not be resized unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, "
            "inplace, to zero elements with t.resize_(0).")

# What may share memory with `out`: operands that are read just as it is written; nothing; anything. Of several operands
# the first word is for the first, the last for all others.
_ALIGNED, _APART, _FREE = ("aligned",), ("apart",), ("free",)
_ADDEND, _TARGET = ("aligned", "free"), ("aligned", "apart")

# What becomes of gradients: refused; recorded as a function without a derivative; operands are constant, but an `out`
# that requires grad is refused; the same, even where nothing is recorded; nobody asks.
REFUSED, UNDERIVED, CONSTANT, RESIZED, UNASKED = range(5)


class Rule(NamedTuple):
    """What a function asks of `out`."""

    uncastable: str = _UNCASTABLE   # said where the result cannot be cast to its dtype; "" where nothing is
    exact: tuple[str, ...] = ("",)  # said where its dtype is another, for each output or for all; "" where nothing is
    bytes_too: bool = False         # takes uint8 for bool
    error: type[Exception] = RuntimeError
    kernel: tuple[str, str] = ("", "biufc")     # what is not implemented but for these kinds of dtypes
    overlap: tuple[str, ...] = _ALIGNED
    gradient: int = REFUSED
    blame: str = ""                 # the function that PyTorch names where it refuses gradients, if another
    parts: tuple[str, ...] = ()     # what messages call each of several outputs, as {part}
    typed: bool = False             # takes a `dtype`, and computes in that of `out` where none is given
    widened: bool = False           # computes in the dtype of `out`, if of the same kind
    repeated: bool = False          # may write to one place several times
    notice: str = _RESIZED          # warns of when it resizes; "" for never
    any_shape: bool = False         # takes a shape of as many elements
    in_memory_order: bool = False   # writes what it draws in the order of the memory


RULES: dict[str, Rule] = {}


def _of(names: str, **facts: Any) -> None:
    """Declare functions that ask the same. What must be of one dtype needs no other word on casts."""
    if isinstance(facts.get("exact"), str):
        facts["exact"] = (facts["exact"],)
    if "exact" in facts or facts.get("typed"):
        facts.setdefault("uncastable", "")
    RULES.update(dict.fromkeys(names.split(), Rule(**facts)))


_of("acos acosh add addcdiv addcmul addr angle asin asinh atan atan2 atanh copysign cos cosh deg2rad div erf erfc "
    "erfinv exp exp2 expm1 fmax fmin fmod hypot log log10 log1p log2 logaddexp logaddexp2 logit maximum minimum mul "
    "pow rad2deg reciprocal remainder rsqrt sigmoid sin sinc sinh sqrt sub tan tanh xlogy clamp_tensor lerp "
    "clamp_min_tensor clamp_max_tensor")
_of("lgamma digamma polygamma i0 igamma igammac nextafter")
_of("ldexp", uncastable="ldexp can't be cast to the desired output type {out}", overlap=_ADDEND)
_of("mvlgamma", uncastable="mvlgamma: result type {result} can't be cast to the desired output type {result}")
_of("frexp", exact=("torch.frexp() expects mantissa to have dtype {c_result} but got {c_out}",
                    "torch.frexp() expects exponent to have int dtype but got {c_out}"))
for _name in ("i0e", "i1", "i1e", "entr", "erfcx", "log_ndtr", "ndtri", "zeta", "xlog1py"):
    _of(_name, blame=f"special_{_name}")
_of("bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 "
    "modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0 airy_ai "
    "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w "
    "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
    "shifted_chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l "
    "legendre_polynomial_p", gradient=UNASKED)
_of("gcd lcm", gradient=CONSTANT)
_of("isin", exact=_EXACT, gradient=UNASKED)
_of("ndtr", gradient=UNASKED)
_of("threshold", overlap=_FREE, repeated=True)
_of("square", blame="pow")
_of("outer", blame="mul")
_of("normalize", blame="div")
_of("eq ne lt le gt ge logical_and logical_or logical_xor logical_not", gradient=UNASKED)
_of("bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift", gradient=CONSTANT)
_of("bitwise_not", exact=_FOUND, gradient=CONSTANT)
_of("floor_divide", gradient=UNDERIVED)
_of("heaviside", exact="heaviside is not yet implemented for tensors with different dtypes.", gradient=UNDERIVED)
_of("abs ceil clamp clamp_min clamp_max floor frac neg round sgn sign trunc lerp_tensor gelu softplus hardshrink "
    "softshrink", exact=_FOUND)
_of("avg_pool2d avg_pool3d", exact=_EXACT, overlap=_FREE)
_of("conj_physical", exact=_FOUND, gradient=UNDERIVED)
_of("isposinf isneginf signbit", exact="{name} does not support non-boolean outputs.", gradient=UNASKED)
_of("complex polar", exact="Expected object of scalar type {result} but got scalar type {out} for argument 'out'")
_of("float_power", blame="pow", exact="the output given to float_power has dtype {out} but the operation's result "
                                      "requires dtype {result}")
_of("nan_to_num", exact="nan_to_num: dtype of out: {out} should be same as input: {result}")
_of("where", exact="Expected out type to be {result} but got {out}")

_of("all any", exact="{name} only supports bool tensor for result, got: {out}", bytes_too=True, overlap=_FREE,
    gradient=UNASKED, repeated=True)
_of("amax amin", exact="Expected the dtype for input and out to match, but got {result} for input's dtype and {out} "
                       "for out's dtype.", overlap=_FREE, repeated=True)
_of("argmax argmin", exact=_EXACT, overlap=_FREE, gradient=UNASKED, repeated=True)
_of("sum prod nansum", overlap=_FREE, typed=True, repeated=True)
_of("nansum_floating", overlap=_FREE, typed=True, repeated=True, kernel=("nansum_cpu", "f"))
_of("mean", overlap=_FREE, widened=True)
_of("mean_all", overlap=_FREE, widened=True, repeated=True,
    uncastable="mean.dtype_out(): input types can't be cast to the desired output type {out}")
_of("std var", overlap=_FREE, widened=True, repeated=True)
_of("logsumexp", uncastable="logsumexp(): Expected floating point type for result tensor, but got: {out}",
    overlap=_FREE, widened=True)
_of("matrix_norm", exact="linalg.matrix_norm expected out tensor dtype {result} but got: {out}", overlap=_FREE,
    gradient=UNASKED)
_of("linalg_norm", exact="linalg.norm expected out tensor dtype {result} but got: {out}", overlap=_FREE,
    gradient=UNASKED)
_of("frobenius_norm", exact=_EXACT, overlap=_FREE, blame="norm", repeated=True)
_of("norm", exact=_EXACT, overlap=_FREE, blame="linalg_vector_norm", repeated=True)
_of("max_all min_all", uncastable="Expected canCast( typeMetaToScalarType(self.dtype()), "
                                  "typeMetaToScalarType(out.dtype())) to be true, but got false", overlap=_FREE,
    repeated=True)
_of("cumsum cumprod", typed=True, kernel=("{name}_out_cpu", "iufc"))
_of("softmax log_softmax", exact=_EXACT, overlap=_FREE, gradient=UNDERIVED)
_of("log_sigmoid", exact="expected scalar type {result} but found {out}", overlap=_FREE, blame="log_sigmoid_forward",
    notice="")

_of("mm linear", exact=_EXACT, overlap=_FREE)
_of("bmm", exact=_EXACT, overlap=_FREE, repeated=True)
_of("mv", exact="addmv input tensors must have the same dtype, but got {out}, {result}, and {result}", overlap=_FREE,
    repeated=True)
_of("dot vdot", exact="result dtype {out} does not match input dtype {result}", overlap=_FREE, repeated=True)
_of("chain_matmul", exact="multi_dot(): expected out tensor to have dtype {c_result} but got {c_out}", overlap=_FREE,
    blame="mm")
_of("cross", exact=_EXACT, overlap=_APART, blame="linalg_cross")
_of("linalg_cond", uncastable="linalg.cond: Expected result to be safely castable from {result} dtype, but got result "
                              "with dtype {out}", overlap=_FREE, gradient=UNASKED)
_of("linalg_matrix_rank", uncastable="torch.linalg.matrix_rank: Expected result to be safely castable from {result} "
                                     "dtype, but got result with dtype {out}", overlap=_FREE, gradient=UNASKED)
_of("tensorinv", uncastable="tensorinv: Expected result to be safely castable from {result} dtype, but got result with "
                            "dtype {out}", overlap=_FREE, gradient=UNASKED)
_of("tensorsolve", uncastable="tensorsolve: Expected result to be safely castable from {result} dtype, but got result "
                              "with dtype {out}", overlap=_FREE, gradient=UNASKED)
_UNSAFE = "matrix_power: Expected result to be safely castable from {result} dtype, but got result with dtype {out}"
_of("matrix_power", exact=_EXACT, uncastable=_UNSAFE, overlap=_FREE, blame="matmul")
_of("matrix_copy", uncastable=_UNSAFE, overlap=_FREE, gradient=UNASKED)
_of("vecdot", exact="linalg.vecdot: Expected out of dtype{result} but found {out}", overlap=_FREE, blame="sum",
    repeated=True)
_of("tensordot", exact="tensordot: Expected the output tensor to have dtype {result}, but got an output tensor with "
                       "dtype {out}", overlap=_FREE, gradient=UNASKED)
_of("addmm addmv baddbmm", exact=_EXACT, overlap=_ADDEND)
_of("addbmm", exact="self and mat2 must have the same dtype, but got {out} and {result}", overlap=_ADDEND, notice="")

_of("cat stack", uncastable=_UNJOINABLE, error=TypeError, overlap=_APART)
_of("hstack vstack dstack column_stack", uncastable=_UNJOINABLE, error=TypeError, overlap=_APART, blame="cat")
_of("diag_embed", uncastable="diag: result type {result} can't be cast to the desired out= type {out}", exact=_EXACT,
    overlap=_FREE, gradient=UNDERIVED, blame="diag_embed")
_of("diagonal", exact=_EXACT, overlap=_FREE, gradient=UNDERIVED, blame="diagonal_copy")
_of("slice_scatter", exact=_EXACT, overlap=_FREE, gradient=UNDERIVED)
_of("tril triu", exact=_EXACT, overlap=_FREE, repeated=True)
_of("gather", exact=_EXACT, overlap=_APART)
_of("take_along_dim", exact=_EXACT, overlap=_APART, blame="gather")
_of("index_select masked_select", exact=_SCALAR, overlap=_APART)
_of("take", exact="take(): self and out expected to have the same dtype, but got self.dtype = {result} and out.dtype = "
                  "{out}", overlap=_APART)
_of("index_add index_copy scatter scatter_add", exact=_EXACT, overlap=_TARGET)

_of("scatter_reduce index_reduce", exact=_EXACT, overlap=_TARGET)
_of("kron", uncastable="result type {result} can't be cast to the desired output type {out}")
_of("nonzero_static", exact="nonzero_static: Expected out tensor to have scalar type {result} but got scalar type{out}",
    overlap=_APART, gradient=UNASKED)
_of("alias_copy as_strided_copy detach_copy diagonal_copy expand_copy permute_copy select_copy slice_copy squeeze_copy "
    "t_copy transpose_copy unfold_copy unsqueeze_copy view_copy view_as_real_copy view_as_complex_copy", exact=_EXACT,
    overlap=_FREE, gradient=UNDERIVED)
_of("narrow_copy", exact="Expected self.dtype() == output.dtype() to be true, but got false", overlap=_FREE,
    notice="", repeated=True)
_of("split_copy split_with_sizes_copy unbind_copy", exact=_EXACT, overlap=_FREE, gradient=UNASKED)

_of("max_dim min_dim sort topk", exact=_EXACT)
_of("aminmax", exact=_EXACT, overlap=_FREE)
_of("native_batch_norm", exact="expected scalar type {result} but found {out}", overlap=_FREE)
_of("cummax cummin", exact="expected scalar_type {result} but found {out}", overlap=_FREE, repeated=True)
_of("logcumsumexp", exact="expected scalar_type {result} but found {out}")
_of("diff", blame="sub", overlap=_FREE)
_of("nanmean", blame="nansum", overlap=_FREE, typed=True, kernel=("nansum_cpu", "f"))
_of("quantile nanquantile", exact="quantile() out tensor must be same dtype as the input tensor")
_of("renorm", exact=_EXACT)
_of("histc", exact=_UNLIKE_HIST, overlap=_FREE, gradient=UNASKED, repeated=True)
_of("histogram", overlap=_FREE, gradient=UNDERIVED, exact=(
    _UNLIKE_HIST, "torch.histogram: input tensor and bin_edges tensor should have the same dtype, but got input "
                  "{c_result} and bin_edges {c_out} for dimension 0"))
_of("searchsorted", exact=_UNLIKE_INT.format(False), overlap=_FREE, gradient=UNASKED)
_of("searchsorted_int32", exact=_UNLIKE_INT.format(True), overlap=_FREE, gradient=UNASKED)
_of("median nanmedian", overlap=_APART, exact=(
    "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type torch.{out}Tensor "
    "does not equal torch.{result}Tensor (while checking arguments for median)",
    "Expected tensor for argument #1 'indices' to have scalar type {result}; but got torch.{out}Tensor instead (while "
    "checking arguments for median)"))
_of("mode", overlap=_APART, exact=("expected scalar type '{result}' but got '{out}' for values output",
                                   "expected scalar type '{result}' but got '{out}' for indices output"))
_of("kthvalue", overlap=_APART, exact=("output values must be of same type as input",
                                       "output indices must be of scalar type {result}"))
_of("msort argsort", exact=_EXACT, blame="sort")
_of("nonzero", exact="nonzero: Expected out tensor to have scalar type {result} but got scalar type{out}",
    overlap=_APART, gradient=UNASKED)

_of("zeros ones full eye randperm", gradient=CONSTANT, typed=True, repeated=True, notice="")
_of("empty", gradient=RESIZED, typed=True, repeated=True, notice="")
_of("linspace logspace", gradient=CONSTANT, typed=True, notice="")
_of("arange range", gradient=CONSTANT, typed=True, any_shape=True,
    notice="The number of elements in the out tensor of shape {had} is {had_count} which does not match the computed "
           "number of elements {count}. Note that this may occur as a result of rounding error. The out tensor will be "
           "resized to a tensor of shape ({count},).")
_of("rand randint", gradient=CONSTANT, typed=True, notice="", in_memory_order=True)
_of("randn", gradient=RESIZED, typed=True, notice="", in_memory_order=True)
_of("normal_sized", gradient=CONSTANT, typed=True, notice="", in_memory_order=True)
_of("normal", uncastable="", widened=True, kernel=("normal_kernel_cpu", "f"))
_of("bernoulli", uncastable="", notice="", kernel=("bernoulli_tensor_cpu_self_", "biuf"))
_of("multinomial", exact="multinomial expects Long tensor out, got: {out}", gradient=UNASKED, notice="")

for _transform in ("_fft_c2c", "_fft_r2c", "_fft_c2r"):
    _of(_transform, overlap=_FREE, blame=_transform)
_of("_fft_conj", exact=_FOUND, overlap=_FREE, gradient=UNDERIVED, blame="conj_physical")
RULES["fftfreq"], RULES["rfftfreq"] = (
    RULES["arange"]._replace(blame=f"fft_{_name}") for _name in ("fftfreq", "rfftfreq"))

# Factorizations, determinants and solvers
_SAFE = "{name}: Expected {part} to be safely castable from {result} dtype, but got {part} with dtype {out}"


def _castable(names: str, said: str, parts: str, **facts: Any) -> None:
    """Declare functions whose outputs are cast, where that loses no category."""
    _of(names, uncastable=_SAFE.replace("{name}", said), parts=tuple(parts.split()), overlap=_FREE, **facts)


_of("linalg_det", exact=_EXACT, overlap=_FREE, blame="_linalg_det")
_of("linalg_slogdet slogdet", exact=_EXACT, overlap=_FREE, blame="_linalg_slogdet")
_of("linalg_inv linalg_inv_ex inverse", exact=_EXACT, overlap=_FREE, blame="linalg_inv_ex")
_of("linalg_solve linalg_solve_ex", exact=_EXACT, overlap=_FREE, blame="_linalg_solve_ex")
_of("linalg_solve_triangular", exact="expected scalar type {result} but found {out}", overlap=("free", "aligned"))
_of("triangular_solve", exact=_EXACT, overlap=_FREE)
_of("linalg_cholesky linalg_cholesky_ex", exact=_EXACT, overlap=_FREE, blame="linalg_cholesky_ex")
_of("linalg_qr qr", exact=_EXACT, overlap=_FREE, blame="linalg_qr")
_of("linalg_svd svd linalg_svdvals", exact=_EXACT, overlap=_FREE, blame="_linalg_svd")
_of("linalg_eigh linalg_eigvalsh", exact=_EXACT, overlap=_FREE, blame="_linalg_eigh")
_of("linalg_lu", exact=_EXACT, overlap=_FREE)
_of("linalg_lu_factor linalg_lu_factor_ex", exact=_EXACT, overlap=_FREE, blame="linalg_lu_factor_ex")
_of("linalg_lu_solve lu_unpack", exact=_EXACT, overlap=_FREE)
_of("linalg_ldl_factor linalg_ldl_factor_ex", exact=_EXACT, overlap=_FREE, gradient=UNDERIVED,
    blame="linalg_ldl_factor_ex")
_of("linalg_ldl_solve", exact=_EXACT, overlap=_FREE, gradient=UNDERIVED)
_of("ormqr", exact="torch.ormqr: Expected input and result to have the same dtype, but input has dtype{result} and "
                   "result has dtype {out}", overlap=_FREE)
_castable("linalg_lstsq", "torch.linalg.lstsq", "solution solution rank singular_values")
_castable("linalg_pinv", "linalg.pinv", "result")
_castable("cholesky cholesky_solve cholesky_inverse", "{name}", "result")
_castable("linalg_householder_product orgqr", "torch.linalg.householder_product", "result",
          blame="linalg_householder_product")
_castable("geqrf", "torch.geqrf", "a tau")
_castable("linalg_eig", "torch.linalg.eig", "eigenvalues eigenvectors")
_castable("linalg_eigvals", "torch.linalg.eigvals", "eigenvalues", gradient=UNDERIVED)
_of("lu", uncastable="", overlap=_FREE, gradient=RESIZED, notice="")
