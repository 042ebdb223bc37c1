"""torch.distributed.checkpoint: states that several processes write together, and any number of processes read.

A checkpoint is a folder. Each process writes one file, in the format of `save`, and the file `.metadata` says in JSON
which file has which entry. A checkpoint is written in a folder beside its place, and the folder is renamed at the end,
so at its place there is always a whole checkpoint or none.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...autograd.grad_mode import no_grad
from ...foundations.inherited import name_inherited
from ...foundations.launching import Everyone
from ...foundations.modes import before_message
from ...foundations.names import missing
from ...serialization.loading import load as load_file
from ...serialization.saving import save as save_file
from ...tensors.tensor import Tensor
from ..collectives import barrier
from ..groups import ProcessGroup, member
from ..objects import all_gather_object
from ..tensor.dtensor import DTensor
from ..tensor.making import distribute_tensor

__all__ = ["FileSystemReader", "FileSystemWriter", "load", "save"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

METADATA = ".metadata"
_FORMAT = 1


class _Folder:
    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name_inherited(cls)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)


class FileSystemWriter(_Folder):
    """The place of a checkpoint to write: a folder that all processes see."""


class FileSystemReader(_Folder):
    """The place of a checkpoint to read: a folder that this process sees."""


def save(state_dict: dict[str, Any], *, checkpoint_id: str | os.PathLike[str] | None = None,
         storage_writer: FileSystemWriter | None = None, planner: Any = None, process_group: ProcessGroup | None = None,
         no_dist: bool = False, use_collectives: bool = True) -> None:
    """Write the states of all processes of a group as one checkpoint, into the folder `checkpoint_id`.

    An entry that several processes have is written once, by one of them: use different keys for different values. Of a
    DTensor, the whole is written.
    Objects with `state_dict()` give their states. An earlier checkpoint in this place stays until the new one is
    whole. All processes call this function, and see the same folder.

    >>> import tempfile
    >>> import retrograd as torch
    >>> from retrograd.distributed import checkpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint.save({"x": torch.ones(2)}, checkpoint_id=f"{folder}/step1")
    ...     state = {"x": torch.zeros(2)}
    ...     checkpoint.load(state, checkpoint_id=f"{folder}/step1")
    >>> state["x"]
    tensor([1., 1.])

    Raises ValueError if no folder is given.
    """
    before_message("the program calls torch.distributed.checkpoint.save")
    place = _place(checkpoint_id, storage_writer)
    group = None if no_dist or Everyone.group is None else member(process_group)
    rank, size = (0, 1) if group is None else (group.rank(), group.size())
    entries = dict(_entries(_states(state_dict)))
    partial = place.with_name(f"{place.name}.partial")
    if rank == 0:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
    described: list[Any] = [None] * size
    own = {key: _bytes(value) for key, value in entries.items()}
    if group is None:
        described[0] = own
    else:
        all_gather_object(described, own, group)              # no process is here before the folder is
    owners = _divided(described)
    whole = ((key, _whole(value)) for key, value in entries.items())
    _write(partial / _file(rank), {key: value for key, value in whole if owners[key] == rank})
    if group is not None:
        barrier(group)
    if rank == 0:
        _finish(partial, place, owners)
    if group is not None:
        barrier(group)


def _finish(partial: Path, place: Path, owners: dict[str, int]) -> None:
    """Write the list of entries, and rename the folder. All files are there."""
    table = {"format": _FORMAT, "entries": {key: _file(rank) for key, rank in owners.items()}}
    with (partial / METADATA).open("w", encoding="utf-8") as stream:
        json.dump(table, stream)
        stream.flush()
        os.fsync(stream.fileno())
    former = place.with_name(f"{place.name}.former")
    shutil.rmtree(former, ignore_errors=True)
    if place.exists():
        place.rename(former)
    partial.rename(place)
    shutil.rmtree(former, ignore_errors=True)


def load(state_dict: dict[str, Any], *, checkpoint_id: str | os.PathLike[str] | None = None,
         storage_reader: FileSystemReader | None = None, planner: Any = None,
         process_group: ProcessGroup | None = None, no_dist: bool = False) -> None:
    """Read from a checkpoint what `state_dict` has: tensors are written over, and other values are replaced.

    Any number of processes may read, whatever number has written. Each reads only the files with its entries. Objects
    with `load_state_dict()` take over their states.

    Raises RuntimeError for an entry that the checkpoint lacks, ValueError for a tensor of another shape, and
    FileNotFoundError if there is no checkpoint.
    """
    before_message("the program calls torch.distributed.checkpoint.load")
    place = _place(checkpoint_id, storage_reader)
    table = json.loads((place / METADATA).read_text(encoding="utf-8"))
    if table["format"] != _FORMAT:
        raise RuntimeError(f"The checkpoint {place} has the format {table['format']}, and only {_FORMAT} is known.")
    states = _states(state_dict)
    wanted = dict(_entries(states))
    for key in wanted:
        if key not in table["entries"]:
            raise RuntimeError(f"Missing key in checkpoint state_dict: {key}.")
    for file in sorted({table["entries"][key] for key in wanted}):
        found = load_file(place / file, weights_only=True)
        for key, value in wanted.items():
            if table["entries"][key] == file:
                _take(states, key, value, found[key])
    for key, value in state_dict.items():
        if hasattr(value, "load_state_dict"):
            value.load_state_dict(states[key])
        else:
            state_dict[key] = states[key]


def _place(folder: str | os.PathLike[str] | None, storage: _Folder | None) -> Path:
    if folder is None and storage is None:
        raise ValueError("`checkpoint_id` must be specified if storage_writer or storage_reader is None.")
    return Path(folder) if folder is not None else storage.path  # type: ignore[union-attr]


def _states(state_dict: dict[str, Any]) -> dict[str, Any]:
    return {key: value.state_dict() if hasattr(value, "state_dict") else value for key, value in state_dict.items()}


def _entries(state: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """The tensors and other values of nested dicts, and of lists with tensors, by their paths."""
    if isinstance(state, dict) and state:
        for key, value in state.items():
            yield from _entries(value, f"{before}.{key}" if before else str(key))
    elif isinstance(state, (list, tuple)) and any([isinstance(value, Tensor) for value in state]):
        for i, value in enumerate(state):
            yield from _entries(value, f"{before}.{i}")
    else:
        yield before, state.detach() if isinstance(state, Tensor) else state


def _take(states: Any, path: str, present: Any, found: Any) -> None:
    """Put a value that was read to its path."""
    if isinstance(present, Tensor):
        if present.shape != found.shape:
            raise ValueError(f"Size mismatch between saved {found.shape} and current: {present.shape} for {path}")
        with no_grad():
            present.copy_(distribute_tensor(found, present.device_mesh, present.placements, src_data_rank=None)
                          if isinstance(present, DTensor) else found)
        return
    holder, key = _holder(states, path)
    holder[key] = found


def _holder(states: Any, path: str) -> tuple[Any, Any]:
    """The dict that has the last key of a path, and this key. Keys may have dots, and may be numbers."""
    for key in states:
        if path == str(key):
            return states, key
        if path.startswith(f"{key}.") and isinstance(states[key], dict):
            try:
                return _holder(states[key], path[len(str(key)) + 1:])
            except KeyError:
                continue
    raise KeyError(path)


def _whole(value: Any) -> Any:
    """The whole of a DTensor, for which all processes of its mesh call this function; any other value as it is."""
    return value.full_tensor() if isinstance(value, DTensor) else value


def _bytes(value: Any) -> int:
    return value.numel() * value.element_size() if isinstance(value, Tensor) else 0


def _divided(described: list[dict[str, int]]) -> dict[str, int]:
    """The process that writes each entry: the process with the least to write so far, of all that have the entry."""
    written = [0] * len(described)
    owners: dict[str, int] = {}
    for own in described:
        for key, size in own.items():
            if key not in owners:
                owners[key] = min([rank for rank, other in enumerate(described) if key in other],
                                  key=written.__getitem__)
                written[owners[key]] += size
    return owners


def _file(rank: int) -> str:
    return f"__{rank}_0.distcp"


def _write(path: Path, entries: dict[str, Any]) -> None:
    with path.open("wb") as stream:
        save_file(entries, stream)
        stream.flush()
        os.fsync(stream.fileno())
