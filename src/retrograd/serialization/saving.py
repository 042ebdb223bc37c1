"""`torch.save`."""

from __future__ import annotations

import io
import pickle
import pickletools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..foundations.dtypes import dtype
from ..foundations.errors import noted
from ..foundations.names import PACKAGE
from ..nn.parameter import Parameter
from ..tensors.arguments.options import layout as Layout
from ..tensors.face.storage import STORAGE_TYPES, TypedStorage, UntypedStorage
from ..tensors.state.base import TensorBase, plain
from ..tensors.state.dispatch import is_wrapper
from ..tensors.state.inside import is_sparse
from ..tensors.tensor import Tensor
from . import archive, rebuilding
from .places import found, location_tag, public_place
from .sparse import _get_layout, parts_of

DEFAULT_PROTOCOL = 2


class _Pickler(pickle.Pickler):
    """A pickler that takes storages out of the pickle, and writes tensors as PyTorch does."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, DEFAULT_PROTOCOL)
        self.storages: dict[int, UntypedStorage] = {}   # by identity, while they stay alive
        self.types: dict[int, Any] = {}                 # by address
        self.keys: dict[int, str] = {}

    def persistent_id(self, obj: Any) -> Any:
        """What stands for a storage in the pickle: its class, its key, its place, and the number of elements."""
        if isinstance(obj, TypedStorage):
            return self._stored(obj.untyped(), STORAGE_TYPES[obj.dtype], obj.size())
        if isinstance(obj, UntypedStorage):
            return self._stored(obj, UntypedStorage, obj.nbytes())
        return None

    def _stored(self, storage: UntypedStorage, kind: Any, count: int) -> tuple[Any, ...]:
        place = storage.data_ptr()
        if self.types.setdefault(place, kind) is not kind and place:
            raise noted(
                RuntimeError("Cannot save multiple tensors or storages that view the same data as different types"),
                instead="save a clone of one of them")
        key = self.keys.setdefault(id(storage), str(len(self.keys)))
        self.storages.setdefault(id(storage), storage)
        return "storage", kind, key, location_tag(storage), count

    def reducer_override(self, obj: Any) -> Any:
        """How a tensor is made again. Other objects, and tensors with a way of their own, are pickled as usual."""
        if isinstance(obj, Layout):
            return _get_layout, (str(obj),)
        if not isinstance(obj, TensorBase):
            return NotImplemented
        strided = not is_sparse(obj) and not obj.is_meta
        if strided and type(obj).__reduce_ex__ is not Tensor.__reduce_ex__:
            return NotImplemented
        state = obj.__getstate__() if type(obj).__getstate__ is not object.__getstate__ else vars(obj)
        if is_wrapper(obj):
            array: Any = obj._array
            return rebuilding._rebuild_from_type_v2, (
                rebuilding._rebuild_wrapper_subclass, type(obj), array.made_by(obj), array.state(obj))
        if isinstance(obj, Parameter):
            data = obj.detach() if obj.is_meta else plain(obj._array)
            if state:
                return rebuilding._rebuild_parameter_with_state, (data, obj.requires_grad, OrderedDict(), state)
            return rebuilding._rebuild_parameter, (data, obj.requires_grad, OrderedDict())
        rebuild, parts = _parts(obj)
        if not state and (type(obj) is Tensor or not strided):
            return rebuild, parts
        return rebuilding._rebuild_from_type_v2, (rebuild, type(obj), parts, state)


def _parts(tensor: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function that makes a tensor again, and its arguments. Newer dtypes have no storage class of their own."""
    if is_sparse(tensor):
        flags = [tensor.is_coalesced()] if tensor.is_sparse else []
        return rebuilding._rebuild_sparse_tensor, (tensor.layout, (*parts_of(tensor), tensor.shape, *flags))
    if tensor.is_meta:
        return rebuilding._rebuild_meta_tensor_no_storage, (
            tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.requires_grad)
    layout: tuple[Any, ...] = (
        tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.requires_grad, OrderedDict())
    storage = tensor.untyped_storage()
    if tensor.dtype in STORAGE_TYPES:
        return rebuilding._rebuild_tensor_v2, (TypedStorage._of(storage, tensor._array.dtype), *layout)
    return rebuilding._rebuild_tensor_v3, (storage, *layout, tensor.dtype)


def _with_public_names(pickled: bytes) -> bytes:
    """The pickle with PyTorch's names for the classes and functions of retrograd."""
    parts: list[bytes] = []
    done = 0
    for code, argument, place in pickletools.genops(pickled):
        if code.name == "GLOBAL" and place is not None and str(argument).startswith(PACKAGE):
            module, name = str(argument).split(" ", 1)
            obj = found("torch" + module.removeprefix(PACKAGE), name)
            public = ("torch", name) if isinstance(obj, dtype) else public_place(obj, name)
            parts += [pickled[done:place], "c{}\n{}\n".format(*public).encode()]
            done = place + len(str(argument).encode()) + len("c\n")
    return b"".join([*parts, pickled[done:]])


def save(obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = DEFAULT_PROTOCOL,
         _use_new_zipfile_serialization: bool = True) -> None:
    """Save an object to a file: a name, a path, or a file object that is open for writing bytes.

    PyTorch reads the file, too. The object is anything that Python can pickle: a `state_dict()`, a tensor, a whole
    module, an optimizer. Tensors that share memory share it again when they are read. The file holds the whole storage
    of each tensor; save a clone of a small view. A computed tensor comes back as a leaf. Gradients and hooks of tensors
    are not saved. The file holds the names of classes and functions, and not their code. `pickle_module`,
    `pickle_protocol` and `_use_new_zipfile_serialization` change nothing.

    >>> import io, retrograd as torch
    >>> file = io.BytesIO()
    >>> torch.save({"step": 3, "weight": torch.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    {'step': 3, 'weight': tensor([1., 1.])}

    Raises pickle.PicklingError, AttributeError or TypeError for an object that Python cannot pickle, such as a lambda.
    Raises RuntimeError for tensors that share memory and have different dtypes. Then nothing is written.
    """
    content = io.BytesIO()
    pickler = _Pickler(content)
    pickler.dump(obj)
    archive.write(f, _with_public_names(content.getvalue()), pickler.storages.values())
