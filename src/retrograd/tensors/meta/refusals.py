"""What functions refuse of meta tensors: numbers, shapes that numbers would decide, and tensors with memory beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...foundations.dtypes import BOOL_
from ...foundations.errors import noted
from ...kernels.meta import no_item
from ..face.data import incompatible
from ..state.base import TensorBase
from .devices import is_meta, refuse_devices

# Functions whose result depends on numbers, and PyTorch's names of the operators that they call.
_OF_NUMBERS = {
    "equal": "equal", "unique": "_unique2", "unique_consecutive": "unique_consecutive", "bincount": "bincount",
    "masked_select": "masked_select", "lstsq": "linalg_lstsq.out", "is_set_to": "is_set_to",
    "combinations": "masked_select", "histogram": "histogram.bin_ct", "to_sparse": "_to_sparse",
    "to_sparse_coo": "_to_sparse",
    **{f"to_sparse_{layout}": f"_to_sparse_{layout}" for layout in ("csr", "csc", "bsr", "bsc")}}
# Functions that take the first operand with memory and others without, and then leave the first as it is.
LEAVING = frozenset(("add_", "sub_", "mul_", "div_", "logical_and_", "logical_or_", "logical_xor_"))


def no_data() -> NotImplementedError:
    """The error for a call that needs the numbers of a meta tensor."""
    return noted(
        NotImplementedError("Cannot copy out of meta tensor; no data!"),
        because="a meta tensor has a shape and a dtype, and no numbers",
        instead="torch.empty_like(x, device='cpu'), or module.to_empty(device='cpu') for a module")


def other_storage(here: str, there: str) -> RuntimeError:
    """The error for a tensor that was to get memory of another device."""
    return RuntimeError(f'Attempted to set the storage of a tensor on device "{here}" to a storage on different device '
                        f'"{there}".  This is no longer allowed; the devices must match.')


def refuse(function: Any, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any],
           given: Sequence[TensorBase]) -> None:
    """Raises PyTorch's error for a call that cannot be answered without numbers."""
    if name == "__set__":
        _refuse_assignment(function, *given)
    elif name in ("copy_", "__setitem__") and is_meta(args[-1]) and not is_meta(args[0]):
        raise no_data()
    elif name == "set_" and not is_meta(args[0]):
        raise other_storage("cpu", "meta")
    else:
        _refuse_numbers(name, args, kwargs)
        refuse_devices(function, name, args, kwargs, given)
        if name == "allclose":
            raise no_item()


def _refuse_numbers(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raises PyTorch's error for a function whose result, or its shape, depends on numbers."""
    if name in _OF_NUMBERS:
        operator = "unique_dim" if name == "unique" and kwargs.get("dim") is not None else _OF_NUMBERS[name]
        raise noted(
            NotImplementedError(
                f"aten::{operator}: attempted to run this operator with Meta tensors, but there was no fake impl or "
                "Meta kernel registered. You may have run into this message while using an operator with PT2 "
                "compilation APIs (torch.compile/torch.export); in order to use this operator with those APIs you'll "
                "need to add a fake impl. Please see the following for next steps:  "
                "https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html"),
            because="the result depends on numbers, which a meta tensor does not have")
    if name == "nonzero" or name == "argwhere" or (name == "where" and len(args) + len(kwargs) == 1):
        raise _nonzero()
    if name == "__getitem__":
        _refuse_index(args[0], args[1] if isinstance(args[1], tuple) else (args[1],))
    if name == "__contains__" or (name == "one_hot" and len(args) + len(kwargs) == 1):
        raise no_item()


def _refuse_index(tensor: Any, index: tuple[Any, ...]) -> None:
    """Raises PyTorch's error for an index whose numbers decide the shape, or the place in memory."""
    for part in index:
        if is_meta(part) and not part._array.ndim and not is_meta(tensor):
            raise no_item()
        if is_meta(part) and part._array.dtype == BOOL_:
            raise _nonzero()


def _nonzero() -> NotImplementedError:
    return noted(
        NotImplementedError(
            "The register_meta function for torch.nonzero() raises unimplemented by default, as a correct "
            "data-independent implementation does not exist. This implementation returns a fake value, assuming all "
            "elements of the tensor are non-zero. To enable this registration, please set "
            "'torch.fx.experimental._config.meta_nonzero_assume_all_nonzero' to True."),
        because="the shape of the result depends on numbers, which a meta tensor does not have")


def _refuse_assignment(function: Any, tensor: TensorBase, *values: Any) -> None:
    """Raises RuntimeError for `.data` on another device than the tensor. The setter of `.grad` checks that itself."""
    if getattr(function.__self__.fget, "body", function).__name__ == "grad":
        return
    for value in values:
        if is_meta(value) != is_meta(tensor):
            raise incompatible("one of them is on the device meta")
