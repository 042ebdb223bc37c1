"""torch.distributed.checkpoint: states that several processes write together, and any number of processes read.

A checkpoint is a folder. Each process writes one file, in the format of `save`, and the file `.metadata` says in JSON
which file has which entry. New files have names that are not taken, and `.metadata` is replaced when all are there, so
it always lists a whole checkpoint. Other files in the folder stay as they are.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...autograd.grad_mode import no_grad
from ...foundations.inherited import name_inherited
from ...foundations.launching import Everyone
from ...foundations.modes import before_message
from ...foundations.names import missing
from ...kernels.layout import owner_of
from ...serialization.loading import load as load_file
from ...serialization.saving import save as save_file
from ...tensors.tensor import Tensor
from ..groups import ProcessGroup, member
from ..objects import all_gather_object
from ..tensor.dtensor import DTensor
from ..tensor.making import distribute_tensor

__all__ = ["FileSystemReader", "FileSystemWriter", "async_save", "load", "save"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

METADATA = ".metadata"
_FORMAT = 1
_FILE = re.compile(r"__\d+_(\d+)\.distcp")


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
    DTensor, the whole is written. Objects with `state_dict()` and `load_state_dict()` give their states. An earlier
    checkpoint in this place stays until the new one is whole, and other files stay. All processes call this function,
    and see the same folder.

    >>> import tempfile
    >>> import retrograd as torch
    >>> from retrograd.distributed import checkpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint.save({"x": torch.ones(2)}, checkpoint_id=f"{folder}/step1")
    ...     state = {"x": torch.zeros(2)}
    ...     checkpoint.load(state, checkpoint_id=f"{folder}/step1")
    >>> state["x"]
    tensor([1., 1.])

    Raises RuntimeError if no folder is given or another process fails, and ValueError if two entries have one name.
    """
    before_message("the program calls torch.distributed.checkpoint.save")
    _refuse_planner(planner)
    place = _place(checkpoint_id, storage_writer)
    group = None if no_dist or Everyone.group is None else member(process_group)
    rank = 0 if group is None else group.rank()

    def begun() -> tuple[dict[str, Any], dict[str, int], int]:
        entries = {key: value for key, (_, value) in _entries(_states(state_dict)).items() if _is_here(value)}
        return entries, {key: _bytes(value) for key, value in entries.items()}, _begin(place) if rank == 0 else 0

    (entries, *_), told = _together(group, begun, lambda found: found[1:])
    number, owners = told[0][1], _divided([sizes for sizes, _ in told])

    def written() -> None:
        whole = ((key, _whole(entries[key])) for key in owners if key in entries)       # in one order everywhere
        _write(place / _file(rank, number), {key: value for key, value in whole if owners[key] == rank})

    _together(group, written)
    _together(group, lambda: _finish(place, number, owners) if rank == 0 else None)


def async_save(state_dict: dict[str, Any], *, checkpoint_id: str | os.PathLike[str] | None = None,
               storage_writer: FileSystemWriter | None = None, planner: Any = None,
               process_group: ProcessGroup | None = None, async_checkpointer_type: Any = None, async_stager: Any = None,
               no_dist: bool = False, use_collectives: bool = True) -> Future[None]:
    """`save` that returns a future. The checkpoint is written when this function returns, so the future is done.

    Processes talk to each other in one thread, so nothing is written beside the program.

    >>> import tempfile
    >>> import retrograd as torch
    >>> from retrograd.distributed import checkpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     saved = checkpoint.async_save({"x": torch.ones(2)}, checkpoint_id=folder)
    >>> saved.done(), saved.result()
    (True, None)
    """
    save(state_dict, checkpoint_id=checkpoint_id, storage_writer=storage_writer, planner=planner,
         process_group=process_group, no_dist=no_dist, use_collectives=use_collectives)
    done: Future[None] = Future()
    done.set_result(None)
    return done


def _together(group: ProcessGroup | None, call: Callable[[], Any], tell: Callable[[Any], Any] = lambda _: None,
              ) -> tuple[Any, list[Any]]:
    """The result of a call, and what each process of the group tells of its result.

    If the call raises an error in one process, all processes raise one, so that none waits for another.
    """
    found, failed = None, None
    try:
        found = call()
        outcome = (tell(found), "")
    except Exception as error:
        failed, outcome = error, (None, f"{type(error).__name__}: {error}")
    outcomes: list[Any] = [outcome]
    if group is not None:
        outcomes *= group.size()
        all_gather_object(outcomes, outcome, group)
    if failed is not None:
        raise failed
    for rank, (_, text) in enumerate(outcomes):
        if text:
            raise RuntimeError(f"Rank {rank} could not save its part of the checkpoint. {text}")
    return found, [each for each, _ in outcomes]


def _begin(place: Path) -> int:
    """Make the folder of a checkpoint. Returns the number of the new files: no file there has it."""
    place.mkdir(parents=True, exist_ok=True)
    taken: set[int] = {int(found[1]) for found in map(_FILE.fullmatch, os.listdir(place)) if found}
    number = 0
    while number in taken:
        number += 1
    return number


def _finish(place: Path, number: int, owners: dict[str, int]) -> None:
    """Replace the list of entries, and remove the files of a former checkpoint. All new files are there."""
    table = {"format": _FORMAT, "entries": {key: _file(rank, number) for key, rank in owners.items()}}
    new = place / f"{METADATA}.partial"
    with new.open("w", encoding="utf-8") as stream:
        json.dump(table, stream)
        stream.flush()
        os.fsync(stream.fileno())
    new.replace(place / METADATA)
    for name in os.listdir(place):
        found = _FILE.fullmatch(name)
        if found and int(found[1]) != number:
            (place / name).unlink(missing_ok=True)


def load(state_dict: dict[str, Any], *, checkpoint_id: str | os.PathLike[str] | None = None,
         storage_reader: FileSystemReader | None = None, planner: Any = None,
         process_group: ProcessGroup | None = None, no_dist: bool = False) -> None:
    """Read from a checkpoint what `state_dict` has: tensors are written over, and other values are replaced.

    Any number of processes may read, whatever number has written. Each reads only the files with its entries. Objects
    with `load_state_dict()` take over their states.

    Raises RuntimeError for an entry that the checkpoint lacks, ValueError for a tensor of another shape or in the place
    of another value, and FileNotFoundError if there is no checkpoint.
    """
    before_message("the program calls torch.distributed.checkpoint.load")
    _refuse_planner(planner)
    place = _place(checkpoint_id, storage_reader)
    table = json.loads((place / METADATA).read_text(encoding="utf-8"))
    if table["format"] != _FORMAT:
        raise RuntimeError(f"The checkpoint {place} has the format {table['format']}, and only {_FORMAT} is known.")
    states = _states(state_dict)
    wanted = _entries(states)
    for key in wanted:
        if key not in table["entries"]:
            raise RuntimeError(f"Missing key in checkpoint state_dict: {key}.")
    for file in sorted({table["entries"][key] for key in wanted}):
        found = load_file(place / file, weights_only=True)
        for key, (path, value) in wanted.items():
            if table["entries"][key] == file:
                _take(states, key, path, value, found[key])
    for key, value in state_dict.items():
        if _is_stateful(value):
            value.load_state_dict(states[key])
        else:
            state_dict[key] = states[key]


def _refuse_planner(planner: Any) -> None:
    """Raise NotImplementedError for a planner, which would not be asked."""
    if planner is not None:
        raise NotImplementedError("planner=...: change the state before the call, or take another part of it")


def _place(folder: str | os.PathLike[str] | None, storage: _Folder | None) -> Path:
    if folder is None and storage is None:
        raise RuntimeError("`checkpoint_id` must be specified if storage_reader/storage_writer is None.")
    return Path(folder) if folder is not None else storage.path  # type: ignore[union-attr]


def _is_stateful(value: Any) -> bool:
    return hasattr(value, "state_dict") and hasattr(value, "load_state_dict")


def _states(state_dict: dict[str, Any]) -> dict[str, Any]:
    return {key: value.state_dict() if _is_stateful(value) else value for key, value in state_dict.items()}


def _entries(states: dict[str, Any]) -> dict[str, tuple[tuple[Any, ...], Any]]:
    """The paths and values of a state, by their names in the checkpoint. Raises ValueError if two have one name."""
    found: dict[str, tuple[tuple[Any, ...], Any]] = {}
    for path, value in _leaves(states, ()):
        key = ".".join(map(str, path))
        if key in found:
            raise ValueError(f"duplicated flatten key {key}")
        found[key] = path, value.detach() if isinstance(value, Tensor) else value
    return found


def _leaves(state: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The values of nested dicts, and of lists with tensors or dicts, with the keys and places that lead to them."""
    if isinstance(state, dict):
        for key, value in state.items():
            yield from _leaves(value, (*path, key))
    elif _is_open(state):
        for i, value in enumerate(state):
            yield from _leaves(value, (*path, i))
    else:
        yield path, state


def _is_open(state: Any) -> bool:
    """Whether a value is a list whose parts are entries of their own."""
    return isinstance(state, list) and any([isinstance(part, (Tensor, dict)) or _is_open(part) for part in state])


def _take(states: Any, key: str, path: tuple[Any, ...], present: Any, found: Any) -> None:
    """Put a value that was read to its path."""
    if isinstance(present, Tensor) and isinstance(found, Tensor):
        if present.shape != found.shape:
            raise ValueError(f"Size mismatch between saved {found.shape} and current: {present.shape} for {key}")
        with no_grad():
            present.copy_(distribute_tensor(found, present.device_mesh, present.placements, src_data_rank=None)
                          if isinstance(present, DTensor) else found)
        return
    if isinstance(found, Tensor):
        raise ValueError(f"Invalid checkpoint metadata for {key}, expected BytesStorageMetadata but found "
                         "TensorStorageMetadata")
    holder = states
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = found


def _is_here(value: Any) -> bool:
    """Whether this process has a part of a value: of a DTensor, if it is in the mesh."""
    return not isinstance(value, DTensor) or value.device_mesh.get_coordinate() is not None


def _whole(value: Any) -> Any:
    """The whole of a DTensor, for which all processes of its mesh call this function; any other value as it is.

    Of a tensor that is a small view, it is a copy: `save` writes all memory of a tensor.
    """
    if isinstance(value, DTensor):
        return value.full_tensor()
    if isinstance(value, Tensor) and type(value._array) is np.ndarray and (
            owner_of(value._array).nbytes > value._array.nbytes):
        return value.clone()
    return value


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


def _file(rank: int, number: int) -> str:
    return f"__{rank}_{number}.distcp"


def _write(path: Path, entries: dict[str, Any]) -> None:
    with path.open("wb") as stream:
        save_file(entries, stream)
        stream.flush()
        os.fsync(stream.fileno())
