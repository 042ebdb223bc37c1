"""The class of tensors over sparse arrays, and where calls of public functions with such tensors go.

`note_layout` gives a new tensor over a sparse array a class with the methods of `SparseMethods`.
"""

from __future__ import annotations

import copy
import math
from functools import partial
from typing import Any

import numpy as np

from ...foundations.errors import kind_of, noted
from ...foundations.modes import local
from ...foundations.names import PACKAGE, reached
from ...kernels.sparse.arrays import Blocks, Coo, SparseLike, unsupported
from ...ops.framework import Op
from ...ops.sparse import OWN
from ..arguments import options
from ..face.copying import recognized
from ..face.other_arrays import OtherArrayMethods, derived
from ..face.printing import sparse_text
from ..face.subclassing import leaf_of
from ..recording.operands import OPERANDS
from ..recording.overriding import flat
from ..state.base import TensorBase, plain, plain_class, requires, sharing
from ..state.dispatch import DISPATCH, UNHANDLED
from .functions import OPERATORS, in_place
from .names import AS_THEY_ARE, aten_name
from .recording import TABLE, record, write


def layout_of(array: Any) -> Any:
    """The layout of a sparse array, as programs know it."""
    if isinstance(array, Coo):
        return options.sparse_coo
    if isinstance(array, Blocks):
        return options.sparse_bsr if array.by_rows else options.sparse_bsc
    return options.sparse_csr if array.by_rows else options.sparse_csc


class SparseMethods(OtherArrayMethods):
    """What a tensor over a sparse array has of its own."""

    __slots__ = ()

    @property
    def layout(self) -> Any:
        """`torch.sparse_coo`, `torch.sparse_csr`, `torch.sparse_csc`, `torch.sparse_bsr` or `torch.sparse_bsc`."""
        return layout_of(self._array)

    @property
    def is_sparse(self) -> bool:
        """Whether the layout is `torch.sparse_coo`."""
        return isinstance(self._array, Coo)

    @property
    def is_sparse_csr(self) -> bool:
        """Whether the layout is `torch.sparse_csr`."""
        return layout_of(self._array) is options.sparse_csr

    @property
    def nbytes(self) -> int:
        """The bytes of a dense tensor of this size. Raises RuntimeError for `torch.sparse_coo`."""
        array = self._array
        if isinstance(array, Coo):
            raise RuntimeError("nbytes is not defined for sparse tensors.  If you want the size of the constituent "
                               "tensors, add the nbytes of the indices and values.  If you want the size of the  "
                               "equivalent dense tensor, multiply numel() by element_size()")
        size: int = math.prod(array.shape) * array.dtype.itemsize
        return size

    @property
    def T(self) -> Any:
        """The tensor with its dimensions in reverse order."""
        return TABLE["permute"](self, *reversed(range(self._array.ndim)))

    @property
    def mT(self) -> Any:
        """The tensor with its last two dimensions swapped."""
        return TABLE["transpose"](self, -2, -1)

    @property
    def data(self) -> Any:
        """A tensor over the same array without history."""
        this: Any = self
        return sharing(this, self._array.with_values(self._array.values))

    @data.setter
    def data(self, value: Any) -> None:
        self._array.take(value._array)

    @staticmethod
    def __op__(op: Op, args: tuple[Any, ...]) -> Any:
        return record(op, *args)

    def _text(self) -> str:
        return text_of(self)

    def _copied(self) -> Any:
        return copied(self._array)

    def __copy__(self) -> Any:
        return rebuilt(*self.__reduce_ex__(None)[1])

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        this: Any = self
        return rebuilt, (plain_class(type(self)), type(self._array), parts_of(self._array), this.requires_grad,
                         dict(vars(self)))


def parts_of(array: Any) -> tuple[Any, ...]:
    """The arguments that make a sparse array again."""
    if isinstance(array, Coo):
        return array.indices, array.values, array.shape, array.coalesced
    return array.compressed, array.plain, array.values, array.shape, array.by_rows


def copied(array: Blocks) -> Any:
    """A sparse array with memory of its own."""
    return type(array)(*copy.deepcopy(parts_of(array)))


def rebuilt(kind: type[Any], array_kind: type[Any], parts: tuple[Any, ...], requires_grad: bool, state: dict[str, Any]
            ) -> Any:
    """A sparse tensor from its pickle. As in PyTorch, a COO tensor requires no grad unless it is a parameter, and a
    tensor of another layout depends on values that require grad.
    """
    reached("tensors.sparse.public")                     # the pickle may be all that this process knows of such tensors
    array = array_kind(*[recognized(part) if isinstance(part, np.ndarray) else part for part in parts])
    if requires_grad and kind is DISPATCH.tensor and not isinstance(array, Coo):
        tensor = TABLE["sparse_compressed_tensor"](
            plain(array.compressed), plain(array.plain), leaf_of(kind, array.values, True), array.shape,
            layout=layout_of(array))
    else:
        tensor = leaf_of(kind, array, requires_grad and getattr(kind, "_is_param", False), local.thread.inference)
    vars(tensor).update(state)
    return tensor


def text_of(tensor: Any) -> str:
    """The text of a sparse tensor."""
    array, node = tensor._array, tensor.grad_fn
    if isinstance(array, Coo):
        parts = {"indices": array.indices, "values": array.values}
    else:
        names = ("crow_indices", "col_indices") if array.by_rows else ("ccol_indices", "row_indices")
        parts = {names[0]: array.compressed, names[1]: array.plain, "values": array.values}
    suffixes = [] if node is None else [f"grad_fn=<{type(node).__name__}>"]
    if node is None and tensor.requires_grad:
        suffixes = ["requires_grad=True"]
    facts = f"size={array.shape}", f"nnz={array.nnz}", f"layout={layout_of(array)}"
    return sparse_text(parts, facts, suffixes, apart=isinstance(array, Coo))


# The functions of this module call the functions of `TABLE` themselves.
_NAMESPACE = f"{PACKAGE}.sparse"


def dispatch(function: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """The result of a public function that was called with a sparse tensor; UNHANDLED if no argument is sparse."""
    found = next((x for x in flat((*args, *kwargs.values())) if isinstance(x, SparseMethods)), None)
    if found is None or getattr(function, "__module__", "") == _NAMESPACE:
        return UNHANDLED
    try:
        return _result(function, args, kwargs, found._array.backend)
    except Exception:
        public = getattr(function, "public", None)
        wrong = None if public is None else public.refused(args, kwargs)
        if wrong is None and function.__name__ in OPERATORS and not isinstance(args[1], OPERANDS):
            wrong = TypeError(
                f"{function.__name__}(): argument 'other' (position 1) must be Tensor, not {kind_of(args[1])}")
        if wrong is None:
            raise
    raise wrong


def _result(function: Any, args: tuple[Any, ...], kwargs: Any, backend: str) -> Any:
    name: str = function.__name__
    body = TABLE.get(name)
    if body is not None:
        out = kwargs.get("out")
        apart = "out" in kwargs and name not in _TAKING_OUT and not name.endswith("_copy")
        if apart:
            kwargs = {key: value for key, value in kwargs.items() if key != "out"}
        result = body(*args, **kwargs)
        if apart and out is not None:
            return _delivered(name, out, result, args)
        if result is NotImplemented and not name.startswith("__"):
            raise TypeError(f"{name}() takes no such arguments")
        return result
    if name in AS_THEY_ARE or name in ("__get__", "__set__", "__delete__"):
        return UNHANDLED
    if name.endswith("_") and name[:-1] in TABLE and isinstance(args[0], SparseMethods):
        return in_place(name[:-1], *args, **kwargs)
    raise unsupported(aten_name(name, args), backend)


# The functions of `TABLE` that write to `out=` themselves, beside the copies of parts.
_TAKING_OUT = ("hspmm", "sspaddmm", "saddmm")


def _delivered(name: str, out: Any, result: Any, args: tuple[Any, ...]) -> Any:
    """The tensor `out` with the result. Raises RuntimeError for another layout, and for a tensor that requires grad."""
    if local.thread.grad and any([requires(x) for x in flat((out, *args)) if isinstance(x, TensorBase)]):
        raise RuntimeError(f"{name}(): functions with out=... arguments don't support automatic differentiation, but "
                           "one of the arguments requires grad.")
    if type(out._array) is not type(result._array):
        raise noted(RuntimeError(f"{name}: the result and out= have different layouts"),
                    because=f"the result has the layout {result.layout}, and out= has {out.layout}")
    if isinstance(out, SparseMethods):
        return write(out, result)
    return out.resize_(result._array.shape).copy_(result)


def begin() -> None:
    """Let tensors over sparse arrays have their class, and send calls with them to `dispatch`."""
    for op in OWN:                                       # a rule may call them with dense tensors, too
        op.composition = partial(record, op)
    SparseLike.face = staticmethod(partial(derived, SparseMethods))
    DISPATCH.add_fallback(dispatch)


