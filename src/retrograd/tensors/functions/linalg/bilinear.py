"""Bilinear maps of two batches of vectors, as a function."""

from __future__ import annotations

from typing import Any

from ....dtypes import C_NAMES, refuse
from ....ops.linalg import trilinear as ops
from ...arguments.options import refuse_complex_gradient
from ...recording.public import public


@public("bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor bias=None)", event="aten::bilinear")
def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """For each k, the sum over i and j of input1[i] * weight[k, i, j] * input2[j], plus bias[k].

    `input1` has shape (…, in1), `input2` (…, in2), `weight` (out, in1, in2) and `bias` (out,). The result has shape
    (…, out). Raises RuntimeError if the sizes do not fit or the dtypes differ.
    """
    given = {"input1": input1, "input2": input2, "weight": weight} | ({} if bias is None else {"bias": bias})
    if len({x._array.dtype for x in given.values()}) > 1:
        kinds = [f"{name}: {C_NAMES[x._array.dtype.name]}" for name, x in given.items()]
        raise RuntimeError(f"All tensors must have the same dtype, got {', '.join(kinds)}")
    if input1.dim() != input2.dim():
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}")
    for dim, (n, m) in enumerate(zip(input1.shape[:-1], input2.shape[:-1])):
        if n != m:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {dim}: got {n} and {m}")
    for i, value in enumerate((input1, input2), 1):
        if value.shape[-1] != weight.shape[i]:
            raise RuntimeError(f"bilinear(): input{i} size does not match weight size: got {value.shape[-1]} but "
                               f"expected {weight.shape[i]}")
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected "
                           f"{weight.shape[0]}")
    if input1.numel():
        refuse(input1._array.dtype, "bmm", "b")
    for value in (input1, input2, weight):
        refuse_complex_gradient("_trilinear", value)
    product = ops.trilinear(input1.reshape(-1, input1.shape[-1]), weight, input2.reshape(-1, input2.shape[-1]))
    product = product.view(*input1.shape[:-1], weight.shape[0])
    return product if bias is None else product + bias
