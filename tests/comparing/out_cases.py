"""Calls of every function that takes `out=`: the table behind the tests of it. Must not import PyTorch.

An entry is the arguments as source, of operands that `operands` makes for a torch-like module.
"""

from __future__ import annotations

from typing import Any

_UNARY = """
abs absolute acos angle arccos arcsin arcsinh arctan arctanh asin asinh atan atanh ceil conj_physical cos cosh
deg2rad erf erfc erfinv exp exp2 expm1 fix floor frac isneginf isposinf logical_not neg negative rad2deg
reciprocal round sgn sigmoid sign signbit sin sinc sinh square tan tanh trunc nan_to_num"""
_POSITIVE = "log log10 log1p log2 rsqrt sqrt"
_ARITHMETIC = """
add sub mul div true_divide divide multiply subtract floor_divide fmod remainder eq ne lt le gt ge not_equal
less less_equal greater greater_equal pow xlogy copysign float_power"""
_BINARY = """
atan2 arctan2 fmax fmin heaviside hypot logaddexp logaddexp2 logical_and logical_or logical_xor maximum
minimum complex polar"""
_BITS = "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift"
_MADE = "zeros ones empty rand randn"

_SPECIAL = """
airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e i1
i1e log1p log_ndtr modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 ndtr ndtri psi
scaled_modified_bessel_k0 scaled_modified_bessel_k1 sinc spherical_bessel_j0"""
_SPECIAL_BINARY = """
chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w hermite_polynomial_h
hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p shifted_chebyshev_polynomial_t
shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w xlog1py xlogy zeta"""

_OTHERS = {
    "acosh": ["p + 1"], "arccosh": ["p + 1"], "logit": ["p / 2", "p, 0.2"], "bitwise_not": ["i"],
    "round": ["f, decimals=1"], "clamp": ["f, -0.1, 0.3", "f, f - 1, g"], "clip": ["f, -0.1, 0.3", "f, f - 1, g"],
    "clamp_min": ["f, 0.2", "f, g"], "clamp_max": ["f, 0.2", "f, g"], "add": ["p, g, alpha=2"],
    "sub": ["p, g, alpha=2"], "div": ["p, g, rounding_mode='floor'"], "pow": ["2, p", "p, 0.5"],
    "float_power": ["2, p"], "lerp": ["p, g, 0.3", "p, g, f"], "addcmul": ["p, g, f", "p, g, f, value=2"],
    "addcdiv": ["p, g, p", "p, g, p, value=2"], "where": ["b, p, g"],
    "all": ["b", "b, 1", "b, dim=0, keepdim=True", "i, 1"], "any": ["b", "b, 1", "b, dim=0, keepdim=True", "i, 1"],
    "hash_tensor": ["f", "f, 1"],
    "amax": ["f", "f, 1", "f, (0, 1)"], "amin": ["f", "f, 1", "f, (0, 1)"],
    "sum": ["f, 1", "i, 1", "f, 0, True", "f, 1, dtype=torch.float64"],
    "nansum": ["f, 1", "i, 1", "f, 0, True", "f, 1, dtype=torch.float64"],
    "mean": ["f, 1", "f", "f, 1, dtype=torch.float64"], "prod": ["f, 1", "i, 1", "f, 1, dtype=torch.float64"],
    "std": ["f, 1", "f, dim=1, correction=0", "f, 1, True, True"],
    "var": ["f, 1", "f, dim=1, correction=0", "f, 1, True, True"],
    "argmax": ["f", "f, 1", "f, 1, True"], "argmin": ["f", "f, 1", "f, 1, True"], "logsumexp": ["f, 1"],
    "norm": ["f", "f, 2, 1", "f, 2, 1, dtype=torch.float64"], "softmax": ["f, 1", "f, 1, dtype=torch.float64"],
    "log_softmax": ["f, 1", "f, 1, dtype=torch.float64"], "cumsum": ["f, 1", "i, 1", "f, 1, dtype=torch.float64"],
    "cumprod": ["f, 1", "i, 1", "f, 1, dtype=torch.float64"],
    "mm": ["f, h"], "mv": ["f, v"], "dot": ["v, w"], "vdot": ["v, w"], "inner": ["v, w", "f, v"], "outer": ["v, w"],
    "ger": ["v, w"], "bmm": ["stack, stack"], "matmul": ["f, h", "f, v", "v, w", "stack, stack"],
    "cross": ["three, three, 1"], "matrix_power": ["square, 3", "square, 1", "square, 0"],
    "nuclear_norm": ["square"], "linalg.cond": ["square", "square, 1"], "linalg.matrix_rank": ["f"],
    "linalg.tensorinv": ["square, 1"], "linalg.tensorsolve": ["square, two"],
    "frobenius_norm": ["f, 1", "f, (0, 1), True"], "linalg.cross": ["three, three"], "linalg.vecdot": ["f, g"],
    "linalg.matrix_norm": ["f", "f, 1"], "linalg.vector_norm": ["f", "f, 3, 1"],
    "linalg.norm": ["f", "f, 1", "f, 2, 1"], "linalg.multi_dot": ["[square, square]"],
    "linalg.matrix_power": ["square, 2"],
    "fft.fft": ["zc", "f"], "fft.ifft": ["zc"], "fft.rfft": ["f"], "fft.irfft": ["zc"], "fft.hfft": ["zc"],
    "fft.ihfft": ["f"], "fft.fft2": ["zc"], "fft.ifft2": ["zc"], "fft.rfft2": ["f"], "fft.irfft2": ["zc"],
    "fft.hfft2": ["zc"], "fft.ihfft2": ["f"], "fft.fftn": ["zc"], "fft.ifftn": ["zc"], "fft.rfftn": ["f"],
    "fft.irfftn": ["zc"], "fft.hfftn": ["zc"], "fft.ihfftn": ["f"], "fft.fftfreq": ["5", "4, 0.5"],
    "fft.rfftfreq": ["5"],
    "chain_matmul": ["square, square", "square, square, square"],
    "tensordot": ["f, f, dims=2", "square, square, dims=1"],
    "addmm": ["square, square, square", "square, square, square, beta=2, alpha=3"], "addmv": ["two, square, two"],
    "addr": ["square, two, two"], "addbmm": ["square, stack, stack"], "baddbmm": ["stack, stack, stack"],
    "cat": ["[f, g]", "[f, g], 1"], "concat": ["[f, g]"], "concatenate": ["[f, g]"], "stack": ["[f, g]", "[f, g], 1"],
    "hstack": ["[f, g]"], "vstack": ["[f, g]"], "dstack": ["[f, g]"], "row_stack": ["[f, g]"],
    "column_stack": ["[f, g]"], "diag": ["v", "square"], "slice_scatter": ["f, f[:1], 0, 0, 1"],
    "tril": ["f", "f, 1"], "triu": ["f", "f, 1"],
    "gather": ["f, 1, places"], "index_select": ["f, 1, index"], "take": ["f, index"],
    "take_along_dim": ["f, places, 1", "f, index"], "masked_select": ["f, b"],
    "index_add": ["f, 1, index, source", "f, 1, index, source, alpha=2"], "index_copy": ["f, 1, index, source"],
    "scatter": ["f, 1, places, source", "f, 1, places, 2.0"], "scatter_add": ["f, 1, places, source"],
    "scatter_reduce": ["f, 1, places, source, 'mean'", "f, 1, places, source, 'amax', include_self=False"],
    "index_reduce": ["f, 1, index, source, 'mean'", "f, 1, index, source, 'prod', include_self=False"],
    "kron": ["f, g", "v, f"], "nonzero_static": ["f, size=4"], "alias_copy": ["f"],
    "as_strided_copy": ["f, (2,), (1,)"],
    "detach_copy": ["f"], "diagonal_copy": ["f, 1"], "expand_copy": ["v, (2, 3)"], "permute_copy": ["f, (1, 0)"],
    "select_copy": ["f, 0, 1"], "slice_copy": ["f, 1, 0, 2"], "squeeze_copy": ["f", "stack, 0"], "t_copy": ["f"],
    "transpose_copy": ["f, 0, 1"], "unfold_copy": ["f, 1, 2, 1"], "unsqueeze_copy": ["f, 0"],
    "split_copy": ["f, 1"], "split_with_sizes_copy": ["f, [1, 1]"], "unbind_copy": ["f"],
    "view_as_real_copy": ["f * 1j"], "view_as_complex_copy": ["h[:, :2].contiguous()"], "view_copy": ["f, (6,)"],
    "narrow_copy": ["f, 1, 0, 2"],
    "max": ["f", "f, g", "f, 1", "f, 1, True"], "min": ["f", "f, g", "f, 1", "f, 1, True"],
    "median": ["f, 1", "f, 1, True"], "nanmedian": ["f, 1", "f, 1, True"], "mode": ["f, 1", "f, 1, True"],
    "kthvalue": ["f, 2, 1"], "topk": ["f, 2", "f, 1, 0, False"], "sort": ["f", "f, 0, True", "f, stable=True, dim=0"],
    "argsort": ["f, stable=True"], "msort": ["f"], "nonzero": ["f"], "cummax": ["f, 1"], "cummin": ["f, 1"],
    "logcumsumexp": ["f, 1"], "diff": ["f", "f, 2", "f, 1, 0, g, g"], "nanmean": ["f", "f, 1"],
    "quantile": ["f, 0.3", "f, 0.3, 1", "f, v / 4, 0, True"], "nanquantile": ["f, 0.3, 1"],
    "renorm": ["f, 2, 0, 0.5"], "histc": ["f", "f, 4, 0, 1"], "histogram": ["f, 4", "f, v"],
    "searchsorted": ["v, f", "v, 2", "v, f, out_int32=True"], "bucketize": ["f, v", "f, v, right=True"],
    "aminmax": ["f", "f, dim=1"], "arange": ["5", "1., 4.", "1, 7, 2"], "range": ["1., 4."], "linspace": ["0, 1, 5"],
    "logspace": ["0, 1, 5"], "eye": ["3", "2, 3"], "full": ["(2, 3), 1.5", "(2, 3), 2"],
    "randint": ["5, (2, 3)", "1, 5, (2, 3)"], "randperm": ["5"], "bernoulli": ["p / 2"], "multinomial": ["p, 2"],
    "normal": ["p, g", "p, 1.", "0., p", "0., 1., (2, 3)"],
    "gcd": ["i, j"], "lcm": ["i, j"], "nextafter": ["p, g"], "ldexp": ["p, g", "p, i"], "frexp": ["f"],
    "igamma": ["p, p"], "igammac": ["p, p"], "polygamma": ["2, p"], "mvlgamma": ["p + 1, 2"],
    "isin": ["i, j", "i, 2", "i, j, invert=True"], "digamma": ["p"], "lgamma": ["p"], "i0": ["f"],
    "special.gammainc": ["p, p"], "special.gammaincc": ["p, p"], "special.logit": ["p / 2", "p, 0.2"],
    "special.multigammaln": ["p + 1, 2"], "special.polygamma": ["2, p"], "special.logsumexp": ["f, 1"],
    "special.round": ["f", "f, decimals=1"],
    "linalg.det": ["square", "stack"], "linalg.slogdet": ["square"], "slogdet": ["square"], "linalg.inv": ["square"],
    "linalg.inv_ex": ["square"], "inverse": ["square"], "linalg.solve": ["square, two", "square, stack"],
    "linalg.solve_ex": ["square, square"], "linalg.solve_triangular": ["square, square, upper=True"],
    "triangular_solve": ["square, square"], "linalg.lstsq": ["square, square", "h, h, driver='gelsd'"],
    "linalg.pinv": ["f", "square, hermitian=True"], "linalg.cholesky": ["definite"],
    "linalg.cholesky_ex": ["definite, upper=True"], "cholesky": ["definite"], "cholesky_solve": ["square, definite"],
    "cholesky_inverse": ["definite"], "linalg.qr": ["f", "h, 'complete'"], "qr": ["f"],
    "linalg.svd": ["square", "definite, False"],
    "linalg.svdvals": ["f"], "svd": ["square"], "linalg.eigh": ["definite"], "linalg.eigvalsh": ["definite"],
    "linalg.eig": ["definite"], "linalg.eigvals": ["square"], "linalg.lu": ["f"], "lu": ["square"],
    "linalg.lu_factor": ["square"],
    "linalg.lu_factor_ex": ["h"], "linalg.lu_solve": ["square, pivots, square"], "lu_solve": ["square, square, pivots"],
    "lu_unpack": ["square, pivots"], "linalg.ldl_factor": ["definite"], "linalg.ldl_factor_ex": ["definite"],
    "linalg.ldl_solve": ["square, pivots, square"], "linalg.householder_product": ["square, two"],
    "orgqr": ["square, two"], "geqrf": ["f"], "ormqr": ["square, two, square"], "linalg.matmul": ["f, h"],
    "nn.functional.avg_pool2d": ["stack, 2", "stack, (2, 1), 1, padding=(1, 0)"],
    "nn.functional.avg_pool3d": ["stack[None], (1, 2, 2)"],
    "nn.functional.gelu": ["f", "f, approximate='tanh'"], "nn.functional.softplus": ["f", "f, 2, 3"],
    "hardshrink": ["f", "f, 0.3"], "nn.functional.hardshrink": ["f"], "threshold": ["f, 0.2, 5"],
    "nn.functional.softshrink": ["f", "f, 0.3"],
    "nn.functional.logsigmoid": ["f"], "nn.functional.linear": ["f, f", "f, f, two"],
    "nn.functional.normalize": ["f", "f, 1., 0"],
    "native_batch_norm": ["f, None, None, None, None, True, 0.1, 1e-5", "f, w, v, None, None, True, 0.1, 1e-5"],
}


def _cases() -> list[tuple[str, str]]:
    found = [(name, "f") for name in _UNARY.split()] + [(name, "p") for name in _POSITIVE.split()]
    found += [(name, args) for name in _ARITHMETIC.split() for args in ("p, g", "p, 2")]
    found += [(name, "p, g") for name in _BINARY.split()]
    found += [(name, args) for name in _BITS.split() for args in ("i, j", "i, 2")]
    found += [(name, args) for name in _MADE.split() for args in ("2, 3", "(2, 3)")]
    found += [(f"special.{name}", "p") for name in _SPECIAL.split()]
    found += [(f"special.{name}", args) for name in _SPECIAL_BINARY.split() for args in ("p, g", "p, 2", "2, p")]
    return found + [(name, args) for name, several in _OTHERS.items() for args in several]


CASES = _cases()


def operands(torch: Any) -> dict[str, Any]:
    """What the arguments are made of."""
    f = torch.tensor([[0.5, -0.25, 0.75], [0.1, 0.9, -0.6]])
    square = torch.tensor([[1., 2.], [3., 4.]])
    return {
        "torch": torch, "f": f, "p": f.abs() + 0.1, "g": f.flip(0) + 1, "h": f.t().clone(), "b": f > 0,
        "i": torch.tensor([[3, 1, 2], [5, 4, 7]]), "j": torch.tensor([[1, 2, 1], [2, 1, 3]]),
        "v": torch.tensor([1., 2., 3.]), "w": torch.tensor([0.5, -1., 2.]), "two": torch.tensor([1., 2.]),
        "square": square, "stack": square[None].clone(), "index": torch.tensor([1, 0]),
        "three": f + torch.tensor([[1.], [2.]]), "zc": torch.complex(f, f.flip(0)),
        "places": torch.tensor([[0, 2], [1, 0]]), "source": torch.ones(2, 2),
        "definite": torch.tensor([[4., 1.], [1., 3.]]), "pivots": torch.tensor([2, 2], dtype=torch.int32)}
