"""The attributes that PyTorch's tensors have and ours lack. The error of each says what to use instead.

A `__getattr__` of the class could raise this error too, but would make every attribute of every tensor three times as
slow. A descriptor costs nothing until it is read.
"""

from __future__ import annotations

from typing import Any, NoReturn

from ...names import instead


class Absent:
    """A missing attribute: reading it raises AttributeError, so `hasattr` is false. A value can be assigned to it."""

    __slots__ = ("name",)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, kind: type) -> NoReturn:
        owner = f"type object {kind.__name__!r}" if tensor is None else f"{kind.__name__!r} object"
        # `obj` is given and `name` is not, so that Python does not append its own suggestion.
        raise AttributeError(f"{owner} has no attribute {self.name!r}{instead('torch.Tensor', self.name)}",
                             obj=kind if tensor is None else tensor)


class AbsentAttributes:
    """What Tensor lacks of PyTorch's. A method of that name in another mixin comes first."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in _ABSENT]

    bfloat16 = Absent()
    ccol_indices = Absent()
    chalf = Absent()
    coalesce = Absent()
    col_indices = Absent()
    crow_indices = Absent()
    dense_dim = Absent()
    dequantize = Absent()
    grad_dtype = Absent()
    hash_tensor = Absent()
    index = Absent()
    indices = Absent()
    int_repr = Absent()
    ipu = Absent()
    is_coalesced = Absent()
    module_load = Absent()
    mtia = Absent()
    q_per_channel_axis = Absent()
    q_per_channel_scales = Absent()
    q_per_channel_zero_points = Absent()
    q_scale = Absent()
    q_zero_point = Absent()
    qscheme = Absent()
    record_stream = Absent()
    reinforce = Absent()
    resize = Absent()
    resize_as = Absent()
    resize_as_sparse_ = Absent()
    row_indices = Absent()
    slice_inverse = Absent()
    smm = Absent()
    sparse_dim = Absent()
    sparse_mask = Absent()
    sparse_resize_ = Absent()
    sparse_resize_and_clear_ = Absent()
    sspaddmm = Absent()
    storage_type = Absent()
    to_mkldnn = Absent()
    to_padded_tensor = Absent()
    to_sparse = Absent()
    to_sparse_bsc = Absent()
    to_sparse_bsr = Absent()
    to_sparse_coo = Absent()
    to_sparse_csc = Absent()
    to_sparse_csr = Absent()
    values = Absent()
    volatile = Absent()
    xpu = Absent()


_ABSENT = {name for name, value in vars(AbsentAttributes).items() if isinstance(value, Absent)}
