"""The functions that make tensors of strided layout only, and PyTorch's errors for sparse layouts."""

from __future__ import annotations

from typing import Any

from ...foundations.errors import no_kernel, noted
from .options import layout as Layout, sparse_coo, strided

# The name of PyTorch's kernel that sparse tensors lack, by the name of the function.
_LACKED = {
    "arange": "arange.start_out", "eye": "eye.m_out", "linspace": "linspace.out", "logspace": "logspace.out",
    "range": "range.out", "rand": "uniform_", "randn": "normal_", "normal": "normal_", "randint": "random_.from",
    "randperm": "randperm.generator_out", "tril_indices": "tril_indices", "triu_indices": "triu_indices",
    "empty_permuted": "as_strided", "new_full": "fill_.Scalar", "new_ones": "fill_.Scalar",
    **dict.fromkeys(("empty_like", "empty_strided", "full_like", "new_empty_strided", "ones_like", "rand_like",
                     "randint_like", "randn_like"), "empty_strided")}
_WINDOWS = "bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"


def check_layout(name: str, layout: Any) -> None:
    """Raise PyTorch's error if the function `name` cannot make a tensor of this layout."""
    if layout is None or layout is strided or not isinstance(layout, Layout):
        return                                             # what is no layout has an error of its own
    because = f"the layout is {layout!r}"
    if name in _LACKED:
        raise no_kernel(f"aten::{_LACKED[name]}", "SparseCPU" if layout is sparse_coo else "SparseCsrCPU",
                        because=because, instead="make a dense tensor, and call .to_sparse()")
    if name in ("full", "ones"):
        raise noted(RuntimeError("full(...) is not implemented for sparse layout"), because=because)
    if name in _WINDOWS:
        dtype = "float (default)" if name == "hann_window" else "float"
        raise noted(
            RuntimeError(f"{name} is not implemented for sparse types, got: TensorOptions(dtype={dtype}, device=cpu, "
                         "layout=Sparse, requires_grad=false (default), pinned_memory=false, "
                         "memory_format=(nullopt))"), because=because)
