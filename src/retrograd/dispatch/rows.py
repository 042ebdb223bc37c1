"""The names of PyTorch's core for operators that have another name here, or other arguments, or another order.

An operator without a row has the name and the order of arguments that PyTorch's core has. A row is a call of the core
in terms of the operator's own arguments. If operators of one name differ in their arguments, the first row that names
no other arguments is about each of them.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Collection
from typing import Any

from ..ops.tables import Table, table

# The numbers that PyTorch's core has for the words of losses.
REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
# The functions that rows may call.
WORDS: dict[str, Any] = {"reduced": REDUCTIONS.__getitem__, "prod": math.prod, "list": list}

_ROWS = {
    "abs": "abs(x)",
    "_cdist_forward": "_cdist_forward(x, y, p, None)",
    "adaptive_avg_pool2d": "_adaptive_avg_pool2d(x, to)",
    "adaptive_avg_pool3d": "_adaptive_avg_pool3d(x, to)",
    "affine_grid": "affine_grid_generator(theta, [theta.shape[0], 1, *sizes], align)",
    "amax": "amax(x, axes, keepdim)",
    "amin": "amin(x, axes, keepdim)",
    "argmax": "argmax(x, dim, keepdim)",
    "argmin": "argmin(x, dim, keepdim)",
    "as_strided": "as_strided(x, size, stride, start)",
    "as_strided_": "as_strided_(x, size, stride, start)",
    "as_strided_scatter": "as_strided_scatter(x, src, size, stride, start)",
    "binary_cross_entropy": "binary_cross_entropy(x, y, weight, reduced(reduction))",
    "binary_cross_entropy_with_logits":
        "binary_cross_entropy_with_logits(x, y, weight, pos_weight, reduced(reduction))",
    "celu": "celu(x, alpha)",
    "clamp_max": "clamp_max(x, max)",
    "clamp_min": "clamp_min(x, min)",
    "conj": "_conj(x)",
    "copy": "copy(x, y)",
    "copy_": "detach(x)",
    "cummax": "cummax(x, dim)",
    "cummin": "cummin(x, dim)",
    "div": "div.Tensor_mode(x, y, rounding_mode=rounding_mode); div.Tensor(x, y); div.Tensor(x, number)",
    "embedding": "embedding(weight, index, -1 if padding is None else padding, by_count)",
    "embedding_dense_backward":
        "embedding_dense_backward(g, index, shape[0], -1 if padding is None else padding, by_count)",
    "entr": "special_entr(x)",
    "erfcx": "special_erfcx(x)",
    "fill": "fill.Tensor(x, y); fill.Scalar(x, value)",
    "gather": "gather(x, dim, index)",
    "gelu": "gelu(x)",
    "grid_sampler_2d": "grid_sampler_2d(x, grid, mode, padding, align)",
    "grid_sampler_3d": "grid_sampler_3d(x, grid, mode, padding, align)",
    "group_norm": "native_group_norm(x, weight, bias, x.shape[0], x.shape[1], prod(x.shape[2:]), groups, eps)",
    "huber_loss": "huber_loss(x, y, reduced(reduction), delta)",
    "i0e": "special_i0e(x)",
    "i1": "special_i1(x)",
    "i1e": "special_i1e(x)",
    "index": "index.Tensor(x, list(indices))",
    "index_add": "index_add(x, dim, index, source, alpha=alpha)",
    "index_copy": "index_copy(x, dim, index, source)",
    "index_fill": "index_fill.int_Scalar(x, dim, index, value)",
    "index_put": "index_put(x, list(indices), values, accumulate)",
    "index_reduce": "index_reduce(x, dim, index, src, reduce, include_self=include_self)",
    "index_select": "index_select(x, dim, index)",
    "layer_norm": "native_layer_norm(x, list(x.shape[-rank:]), weight, bias, eps)",
    "linalg_eigh": "_linalg_eigh(a, uplo)",
    "linalg_svd": "_linalg_svd(a, full)",
    "log_ndtr": "special_log_ndtr(x)",
    "log_softmax": "_log_softmax(x, dim, False)",
    "log_softmax_backward": "_log_softmax_backward_data(g, y, dim, y.dtype)",
    "masked_fill": "masked_fill(x, mask, value)",
    "masked_scatter": "masked_scatter(x, mask, source)",
    "max": "max.dim(x, dim, keepdim); max(x)",
    "mean": "mean.dim(x, axes, keepdim, dtype=dtype); mean(x, dtype=dtype)",
    "median": "median.dim(x, dim, keepdim); median(x)",
    "min": "min.dim(x, dim, keepdim); min(x)",
    "mse_loss": "mse_loss(x, y, reduced(reduction))",
    "nanmedian": "nanmedian.dim(x, dim, keepdim); nanmedian(x)",
    "native_group_norm": "native_group_norm(x, weight, bias, x.shape[0], x.shape[1], prod(x.shape[2:]), groups, eps)",
    "ndtri": "special_ndtri(x)",
    "norm": "linalg_vector_norm(x, p, axes, keepdim, dtype=dtype); norm.Scalar(x)",
    "pow": "pow.Tensor_Tensor(x, y); pow.Tensor_Scalar(x, exponent); pow.Scalar(base, y)",
    "prelu": "_prelu_kernel(x, weight)",
    "prod": "prod.dim_int(x, dim, keepdim, dtype=dtype); prod(x, dtype=dtype)",
    "put": "put(x, index, source, accumulate)",
    "safe_softmax": "_safe_softmax(x, dim)",
    "scatter": ("scatter.reduce(x, dim, index, src, reduce=reduce); "
                "scatter.value_reduce(x, dim, index, value, reduce=reduce); "
                "scatter.src(x, dim, index, src); scatter.value(x, dim, index, value)"),
    "scatter_add": "scatter_add(x, dim, index, src)",
    "scatter_reduce": "scatter_reduce.two(x, dim, index, src, reduce, include_self=include_self)",
    "smooth_l1_loss": "smooth_l1_loss(x, y, reduced(reduction), beta)",
    "soft_margin_loss": "soft_margin_loss(x, y, reduced(reduction))",
    "softmax": "_softmax(x, dim, False)",
    "softmax_backward": "_softmax_backward_data(g, y, dim, y.dtype)",
    "square": "pow.Tensor_Scalar(x, 2)",
    "std": "std.correction(x, axes, correction=correction, keepdim=keepdim)",
    "std_mean": "std_mean.correction(x, axes, correction=correction, keepdim=keepdim)",
    "sum": "sum.dim_IntList(x, axes, keepdim, dtype=dtype); sum(x, dtype=dtype)",
    "threshold_backward": "threshold_backward(g, result, 0)",
    "to": "_to_copy(x, dtype=dtype)",
    "topk": "topk(x, k, dim, largest)",
    "unbind": "unbind.int(x, dim)",
    "var": "var.correction(x, axes, correction=correction, keepdim=keepdim)",
    "var_mean": "var_mean.correction(x, axes, correction=correction, keepdim=keepdim)",
    "view": "view.dtype(x, dtype); view(x, list(shape))",
    "xlog1py": "special_xlog1py(x, y)",
    "zeta": "special_zeta(x, y)",
}
CALLS: Table[str, str] = table(
    "A dispatch mode sees it as {}", _ROWS,
    because="a mode sees operators of all families, and need not import those that a program has not")


def call_in(text: str, known: Collection[str]) -> tuple[str, list[str], Callable[..., Any]]:
    """The operator of the core that a row names, the names of the values in it, and the function that makes the
    arguments of these values: a tuple, and a dict by name.

    Raises LookupError if the row names a value that is not among the `known` names.
    """
    tree = ast.parse(text, mode="eval").body
    assert isinstance(tree, ast.Call)
    names = {node.id for part in (*tree.args, *[k.value for k in tree.keywords]) for node in ast.walk(part)
             if isinstance(node, ast.Name)} - {*WORDS}
    if not names <= {*known}:
        raise LookupError(text)
    inside = ast.unparse(ast.Call(ast.Name("found"), tree.args, tree.keywords))
    order = sorted(names)
    arguments: Callable[..., Any] = eval(f"lambda {', '.join(order)}: {inside}", {**WORDS, "found": _found})
    return ast.unparse(tree.func), order, arguments


def _found(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, kwargs
