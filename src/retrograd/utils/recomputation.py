"""A checkpointed call: its saved values are released, and computed again when a backward pass needs them.

The operations of a `Segment` are recorded as usual, but hooks on saved tensors replace each saved value by an empty
`Place`. When a pass first reads a place, a `Recomputation` runs the function again, and keeps the values that this run
saves for the pass. Places count from 0 in the order of saving, and only that order connects the two runs. So both runs
note what each value looked like and which operation saved it. If the runs differ, the message shows both.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ..autograd.grad_mode import enable_grad
from ..autograd.saved_tensors import saved_tensors_hooks
from ..foundations.devices import device
from ..foundations.dtypes import dtype as torch_dtype
from ..foundations.errors import Site, at, noted, user_site
from ..foundations.modes import kept_switches, local
from ..graph import faults
from ..graph.versions import next_number, written_since
from ..tensors.arguments.size import Size
from ..tensors.recording.saving import Hooked, Packer, in_force
from ..tensors.state.base import TensorBase, edge_of
from ..tensors.transforms.levels import in_effect

if TYPE_CHECKING:
    from ..graph.node import Node
    from ..tensors.tensor import Tensor

_FEWER = ("torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
          "recomputation.\nNumber of tensors saved during forward: {}\nNumber of tensors saved during recomputation: "
          "{}.\n")
_MORE = ("torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward "
         "pass.\n")
_UNLIKE = ("torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during "
           "the forward pass.\n")
_TWICE = ("torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you are "
          "calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue with "
          "details on your use case.")
_REMEDY = ("the function must do the same in every run: pass all that it depends on as arguments, and change nothing "
           "outside that it reads")
_TIP = (
    "\n"
    "Tip: To see a more detailed error message, either pass `debug=True` to\n"
    "`torch.utils.checkpoint.checkpoint(...)` or wrap the code block\n"
    "with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to\n"
    "enable checkpoint‑debug mode globally.\n"
    "\n"
    "If this error occurs under torch.compile with automatic_dynamic_shapes enabled,\n"
    "it may be because the recomputation selected a different compiled graph than the\n"
    "forward pass (e.g., a dynamic graph instead of the original static graph).\n"
    "To fix this, either:\n"
    "  - Use torch._dynamo.mark_dynamic() to explicitly mark varying dimensions as\n"
    "    dynamic upfront, avoiding the static-to-dynamic transition.\n"
    "  - Call torch._C._dynamo.eval_frame._set_lru_cache(False) to disable LRU cache\n"
    "    reordering, which can change which graph is checked first between forward\n"
    "    and recompute.\n"
    "See https://github.com/pytorch/pytorch/issues/166926 for more details and\n"
    "workaround examples.\n")
_DUMP = (" An error happened while unpacking tensors; dumping logs of latest computation\nbecause you passed "
         "`debug=True` to `torch.utils.checkpoint.checkpoint()`.\n\nOperations recorded in the forward run:\n  {}\n\n"
         "Operations recorded in the recomputation:\n  {}")


class CheckpointError(RuntimeError):
    """The recomputation of a checkpointed function saved other values than its forward run."""

    __module__ = "retrograd.utils.checkpoint"


class StopRecomputation(BaseException):
    """All saved values exist again. Raised through the function, to stop it."""


class Saved(NamedTuple):
    """The shape and dtype of a saved value, the node's class (None for an inner checkpoint), and the line."""

    shape: tuple[int, ...]
    dtype: Any
    node: type | None
    site: Site | None

    def __str__(self) -> str:
        metadata = {"shape": Size(self.shape), "dtype": torch_dtype.of[self.dtype], "device": device("cpu")}
        return str(metadata)

    def by(self) -> str:
        """The operation that saved the value, and where."""
        return _operation("a checkpoint inside, as its input," if self.node is None else self.node.__name__, self.site)


def _operation(name: str, site: Site | None) -> str:
    return name if site is None else f"{name} at {at(site)}"


class Place:
    """Stands in a node for a value that was released."""

    __slots__ = ("__weakref__", "index")

    def __init__(self, index: int) -> None:
        self.index = index


class Input:
    """A tensor argument of the function. Like saved tensors, it is kept by the hooks in force, if there are any."""

    __slots__ = ("number", "value")

    def __init__(self, tensor: TensorBase) -> None:
        packer = in_force()
        self.number = next_number()
        self.value = tensor if packer is None else Hooked(packer.hooks, tensor, edge_of(tensor), None)

    def name(self) -> str:
        """The name of the operation in a message."""
        return "checkpoint"

    def tensor(self) -> Any:
        """The tensor. Raises RuntimeError if it was written to since."""
        value = self.value
        if isinstance(value, Hooked):
            return value.tensor(value.edge)
        if written_since(value._array, self.number):
            raise faults.modified(self, value._array, faults.origin(self, value._array, edge_of(value)))
        return value


class Run:
    """One run of the function. For each saved value it keeps only the fields of a `Saved`, because there are many.

    `node` is the class of the node that is being recorded, if any, and `site` is its line. `log` lists all recorded
    operations, for debugging.
    """

    __slots__ = ("__weakref__", "log", "node", "saved", "site")

    def __init__(self, debug: bool) -> None:
        self.saved: list[tuple[tuple[int, ...], Any, type | None, Site | None]] = []
        self.log: list[str] | None = [] if debug else None
        self.node: type | None = None
        self.site: Site | None = None

    def pack(self, tensor: Tensor) -> Any:
        """Take a value that is being saved, and return what to keep of it."""
        raise NotImplementedError

    def unpack(self, kept: Any) -> Any:
        """The unpacked value."""
        raise NotImplementedError

    def note(self, tensor: TensorBase) -> None:
        """Note a value that is being saved."""
        array, node = tensor._array, self.node
        self.saved.append((array.shape, array.dtype, node, user_site(2) if node is None else self.site))


class watching(saved_tensors_hooks):
    """Inside the block, saved values go to `run`."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.pack, run.unpack)
        self._run = run

    def _packer(self, outer: Packer | None) -> Packer:
        return _Watcher(self._run, outer)


class _Watcher(Packer):
    """Notes which operation saves a value. Hooks on saved tensors get only the value."""

    __slots__ = ("run",)

    def __init__(self, run: Run, outer: Packer | None) -> None:
        super().__init__(run.pack, run.unpack, outer)
        self.run = run

    def __call__(self, node: Node, results: Sequence[Any], operands: Sequence[Any]) -> None:
        run = self.run
        if node.saved is None and run.log is None:
            return
        run.node, run.site = type(node), user_site(3)
        if run.log is not None:
            run.log.append(_operation(run.node.__name__, run.site))
        try:
            super().__call__(node, results, operands)
        finally:
            run.node = None


class Segment(Run):
    """A checkpointed call: its forward run, and how to run it again.

    `again(*args)` runs the function as before. With `early_stop`, the run stops once all values exist. With `compare`,
    the shapes and dtypes of both runs must agree.
    """

    __slots__ = ("again", "compare", "complete", "early_stop", "inputs", "levels", "open_ended", "places")

    def __init__(self, again: Callable[..., Any], args: Sequence[Any], *, early_stop: bool, compare: bool,
                 debug: bool) -> None:
        super().__init__(debug)
        self.again, self.early_stop, self.compare = again, early_stop, compare
        self.inputs = [Input(arg) if isinstance(arg, TensorBase) else arg for arg in args]
        self.levels = local.thread.levels # the transforms in which the function runs
        self.places: list[weakref.ref[Place]] = []
        self.complete = False             # the forward run is over
        self.open_ended = False           # a recomputation went on past the end of an incomplete forward run

    def pack(self, tensor: TensorBase) -> Place:
        place = Place(len(self.places))
        self.places.append(weakref.ref(place))
        self.note(tensor)
        return place

    def unpack(self, kept: Place) -> Any:
        walk = local.thread.walk
        made: dict[Any, Recomputation] = {} if walk is None else walk.notes
        run = made.get(self)
        if run is None:
            run = Recomputation(self)
            run.run()
            made[self] = run
        if kept.index not in run.values:
            raise run.error(_TWICE, "checkpoints#unpacked-twice",
                            remedy="read ctx.saved_tensors once, and keep what it returns")
        return run.values.pop(kept.index)


class Recomputation(Run):
    """The second run of the function, for one backward pass. `values` are the saved values that were not used yet."""

    __slots__ = ("segment", "values")

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment.log is not None)
        self.segment = segment
        self.values: dict[int, Any] = {}

    def run(self) -> None:
        """Run the function. Raises CheckpointError if it saves other values than before."""
        segment = self.segment
        args = [arg.tensor() if isinstance(arg, Input) else arg for arg in segment.inputs]
        # A level that the function leaves takes its watcher along, so the watchers are kept.
        with suppress(StopRecomputation), kept_switches(), in_effect(segment.levels), watching(self), enable_grad():
            segment.again(*args)
        if not segment.open_ended:
            self._check()

    def pack(self, tensor: TensorBase) -> Any:
        segment, index = self.segment, len(self.saved)
        if tensor.requires_grad:
            tensor = tensor.detach()
        self.note(tensor)
        count = len(segment.places)
        if index >= count:
            if segment.complete:
                raise self.error(_MORE + _TIP, "checkpoints#more-values-saved", self._difference())
            segment.open_ended = True
        elif segment.places[index]() is not None:      # otherwise a pass inside the function has used it already
            self.values[index] = tensor
        if segment.early_stop and index + 1 == count:
            raise StopRecomputation
        return tensor

    def unpack(self, kept: Any) -> Any:
        return kept

    def _check(self) -> None:
        """Compare the runs."""
        before, now = self.segment.saved, self.saved
        if len(before) != len(now):
            raise self.error(_FEWER.format(len(before), len(now)) + _TIP, "checkpoints#fewer-values-saved",
                             self._difference())
        if not self.segment.compare:
            return
        unlike = [i for i, place in enumerate(self.segment.places)
                  if before[i][:2] != now[i][:2] and place() is not None]
        if unlike:
            listed = "".join([f"tensor at position {i}:\n{_both(before[i], now[i])}\n" for i in unlike])
            raise self.error(f"{_UNLIKE}{listed}.\n{_TIP}", "checkpoints#different-metadata", "\n".join(
                [f"position {i}: saved by {Saved(*before[i]).by()}, and by {Saved(*now[i]).by()}" for i in unlike]))

    def _difference(self) -> str:
        """The first value that only one run saved."""
        before, now = self.segment.saved, self.saved
        for i, (old, new) in enumerate(zip(before, now)):
            if old[:3] != new[:3]:
                return f"from position {i} on\n{Saved(*old).by()}, and\n{Saved(*new).by()}"
        i = min(len(before), len(now))
        name, more = ("forward run", before) if len(before) > len(now) else ("recomputation", now)
        return f"from position {i} on: only the {name} saved one, by {Saved(*more[i]).by()}"

    def error(self, sentence: str, entry: str, details: str = "", remedy: str = _REMEDY) -> CheckpointError:
        """The error for a mismatch. In debug mode it lists all recorded operations."""
        error = noted(CheckpointError(sentence), entry, differ=details, instead=remedy)
        if self.log is None:
            return error
        logs = ["\n  ".join(log or ()) for log in (self.segment.log, self.log)]
        dump = noted(CheckpointError(_DUMP.format(*logs)), "checkpoints#logs-of-debug")
        dump.__cause__ = error
        return dump


def _both(before: tuple[Any, ...], now: tuple[Any, ...]) -> str:
    """A value that both runs saved, in PyTorch's words."""
    return f"saved metadata: {Saved(*before)}\nrecomputed metadata: {Saved(*now)}"
