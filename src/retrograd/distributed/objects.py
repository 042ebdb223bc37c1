"""Objects that processes send to each other: numbers, strings, containers and tensors.

Objects travel in the format of `save`, and are read as `load(weights_only=True)` reads a file: no code of the sender
runs. Objects of other classes travel only after `allow_pickled_objects()`, since a pickle may run any code.
"""

from __future__ import annotations

import io
import pickle
from typing import Any, ClassVar, cast

import numpy as np

from ..foundations.devices import DeviceLike
from ..foundations.modes import before_message
from ..serialization.loading import load
from ..serialization.saving import save
from ..tensors.face.memory import from_numpy
from ..tensors.tensor import Tensor
from .collectives import all_gather, broadcast, gather, outside, root_of
from .groups import ProcessGroup, member
from .messages import recv, send

__all__ = ["all_gather_object", "allow_pickled_objects", "broadcast_object_list", "gather_object", "recv_object_list",
           "scatter_object_list", "send_object_list"]


class _Pickles:
    allowed: ClassVar[bool] = False


def allow_pickled_objects(allowed: bool = True) -> None:
    """Choose whether objects of any class may travel between processes, as pickles. By default they may not.

    All processes must choose the same. Trust all of them: to read a pickle is to run code of the sender.
    """
    before_message("the program calls torch.distributed.allow_pickled_objects")
    _Pickles.allowed = allowed


def _packed(obj: Any) -> Any:
    """The bytes of an object. Raises TypeError for a class that does not travel, before anything is sent."""
    if _Pickles.allowed:
        return np.frombuffer(pickle.dumps(obj), np.uint8)
    file = io.BytesIO()
    try:
        save(obj, file)
        file.seek(0)
        load(file, weights_only=True)
    except (pickle.UnpicklingError, pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError("Objects that processes send to each other are numbers, strings, containers and tensors. This "
                        f"{type(obj).__name__} has something else: call torch.distributed.allow_pickled_objects() in "
                        "all processes if you trust them.") from error
    return np.frombuffer(file.getvalue(), np.uint8)


def _unpacked(data: Any) -> Any:
    if _Pickles.allowed:
        return pickle.loads(data.tobytes())
    return load(io.BytesIO(data.tobytes()), weights_only=True)


def _tensor(array: Any) -> Tensor:
    return cast(Tensor, from_numpy(np.array(array)))


def _lengths(count: int, length: int, group: ProcessGroup | None) -> list[Tensor]:
    """The lengths that all processes have."""
    found = [_tensor(np.zeros(1, np.int64)) for _ in range(count)]
    all_gather(found, _tensor(np.array([length])), group)
    return found


def _row(data: Any, length: int) -> Tensor:
    """Bytes in a tensor of this length."""
    row = np.zeros(length, np.uint8)
    row[:len(data)] = data
    return _tensor(row)


def all_gather_object(object_list: list[Any], obj: Any, group: ProcessGroup | None = None) -> None:
    """Put the objects of all processes into `object_list`, which has a place for each process.

    Raises TypeError for objects other than numbers, strings, containers and tensors; see `allow_pickled_objects`.
    """
    if outside(group, "all_gather_object"):
        return
    place = member(group)
    if place.team is None:
        object_list[0] = obj
        return
    data = _packed(obj)
    lengths = [int(each.item()) for each in _lengths(place.size(), len(data), group)]
    rows = [_row(data[:0], max(lengths)) for _ in lengths]
    all_gather(rows, _row(data, max(lengths)), group)
    for i, (row, length) in enumerate(zip(rows, lengths)):
        object_list[i] = _unpacked(row._array[:length])


def gather_object(obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None,
                  group: ProcessGroup | None = None, group_dst: int | None = None) -> None:
    """Put the objects of all processes into `object_gather_list`, in the process `dst`."""
    if outside(group, "gather_object"):
        return
    place = member(group)
    root = root_of("gather", place, 0 if dst is None and group_dst is None else dst, group_dst)
    receives = root == place.rank()
    if receives and object_gather_list is None:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if not receives and object_gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    if place.team is None:
        assert object_gather_list is not None
        object_gather_list[0] = obj
        return
    data = _packed(obj)
    lengths = [int(each.item()) for each in _lengths(place.size(), len(data), group)]
    rows = [_row(data[:0], max(lengths)) for _ in lengths] if receives else None
    gather(_row(data, max(lengths)), rows, group=group, group_dst=root)
    for i, row in enumerate(rows or ()):
        assert object_gather_list is not None
        object_gather_list[i] = _unpacked(row._array[:lengths[i]])


def _sent(objects: list[Any], group: ProcessGroup | None, root: int) -> list[Any]:
    """The objects of the process `root` of the group, in all processes."""
    gives = member(group).rank() == root
    data = _packed([*objects]) if gives else np.zeros(0, np.uint8)
    length = _tensor(np.array([len(data)]))
    broadcast(length, group=group, group_src=root)
    row = _row(data, int(length.item()))
    broadcast(row, group=group, group_src=root)
    found: list[Any] = _unpacked(row._array)
    return found


def broadcast_object_list(object_list: list[Any], src: int | None = None, group: ProcessGroup | None = None,
                          device: DeviceLike | None = None, group_src: int | None = None) -> None:
    """Replace the objects of each process by those of the process `src`."""
    if outside(group, "broadcast_object_list"):
        return
    place = member(group)
    root = root_of("broadcast", place, 0 if src is None and group_src is None else src, group_src)
    if place.team is not None:
        object_list[:] = _sent(object_list, group, root)[:len(object_list)]


def scatter_object_list(scatter_object_output_list: list[Any], scatter_object_input_list: list[Any] | None = None,
                        src: int | None = None, group: ProcessGroup | None = None,
                        group_src: int | None = None) -> None:
    """Put into the first list the object of the second that is for this process."""
    if outside(group, "scatter_object_list"):
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    place = member(group)
    root = root_of("scatter", place, 0 if src is None and group_src is None else src, group_src)
    given = scatter_object_input_list
    if place.rank() == root and given is None:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    if place.rank() == root and given is not None and len(given) != place.size():
        raise RuntimeError(f"ProcessGroupGloo::scatter: Incorrect input list size {len(given)}. Input list size should "
                           f"be {place.size()}, same as size of the process group.")
    found = given if place.team is None else _sent(given or [], group, root)
    assert found is not None
    scatter_object_output_list[0] = found[place.rank()]


def send_object_list(object_list: list[Any], dst: int | None = None, group: ProcessGroup | None = None,
                     device: DeviceLike | None = None, group_dst: int | None = None, use_batch: bool = False) -> None:
    """Send objects to the process `dst`."""
    before_message("the program calls torch.distributed.send_object_list")
    data = _tensor(_packed([*object_list]))
    send(_tensor(np.array([data.numel()])), dst, group, group_dst=group_dst)
    send(data, dst, group, group_dst=group_dst)


def recv_object_list(object_list: list[Any], src: int | None = None, group: ProcessGroup | None = None,
                     device: DeviceLike | None = None, group_src: int | None = None, use_batch: bool = False) -> int:
    """Receive objects from the process `src`, or from any, into the list. Returns the rank of the sender."""
    before_message("the program calls torch.distributed.recv_object_list")
    length = _tensor(np.zeros(1, np.int64))
    source = recv(length, src, group, group_src=group_src)
    data = _row(np.zeros(0, np.uint8), int(length.item()))
    recv(data, source, group)
    for i, obj in enumerate(_unpacked(data._array)[:len(object_list)]):
        object_list[i] = obj
    return source
