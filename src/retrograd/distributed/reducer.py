"""The gradients of a module, averaged over processes while the backward pass goes on.

Gradients lie in buckets, in the order in which the backward pass makes them. When all gradients of a bucket are there,
its all-reduce begins, and each further gradient lets it go on. At the end of the pass the averages are written back.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from ..foundations.dtypes import int64
from ..foundations.errors import noted
from ..foundations.modes import before_message, local
from ..graph.versions import writing, written
from ..tensors.functions.creation.creation import zeros
from ..tensors.recording.gradients import queue_callback
from ..tensors.tensor import Tensor
from .buffers import array_of
from .collectives import all_reduce, broadcast
from .groups import ProcessGroup

__all__ = ["GradBucket", "Reducer"]

FIRST_BUCKET = 1024 * 1024         # bytes: small, so that the first all-reduce begins early

# The messages about parameters that got no gradient, or an unexpected one, in PyTorch's words.
_PRIOR = ("Expected to have finished reduction in the prior iteration before starting a new one. This error indicates "
          "that your ")
_UNUSED = f"{_PRIOR}module has parameters that were not used in producing loss. "
_CHANGED = "training graph has changed in this iteration, e.g., one parameter is "
_NOT_STATIC = " iteration. this is not compatible with static_graph set to True."
_LOST = f"{_PRIOR}{_CHANGED}used in first iteration, but then got unused in the second{_NOT_STATIC}"
_NEW = f"Your {_CHANGED}unused in first iteration, but then got used in the second{_NOT_STATIC}"
_FIND = ("You can enable unused parameter detection by passing the keyword argument `find_unused_parameters=True` to "
         "`torch.nn.parallel.DistributedDataParallel`, and by \n")
_OUTPUTS = """making sure all `forward` function outputs participate in calculating loss. \n\
If you already have done the above, then the distributed data parallel module wasn't able to locate the output tensors \
in the return value of your module's `forward` function. Please include the loss function and the structure of the \
return value of `forward` of your module when reporting this issue (e.g. list, dict, iterable)."""
_DEBUG = """ In addition, you can set the environment variable TORCH_DISTRIBUTED_DEBUG to either INFO or DETAIL to \
print out information about which particular parameters did not receive gradient on this rank as part of this error"""


class Bucket:
    """Parameters of one dtype whose gradients travel together, and the memory for these gradients."""

    def __init__(self, members: list[int], parameters: Sequence[Any]) -> None:
        self.members, self.parameters = members, [parameters[i] for i in members]
        ends = np.cumsum([p.numel() for p in self.parameters]).tolist()
        self.places = [slice(end - p.numel(), end) for p, end in zip(self.parameters, ends)]
        self.buffer = cast(Tensor, zeros(ends[-1], dtype=self.parameters[0].dtype))
        self.waits: Any = None
        self.left = len(members)

    def part(self, k: int) -> Tensor:
        """The gradient of one parameter, as a view of the buffer."""
        return self.buffer[self.places[k]].view(self.parameters[k].shape)


class GradBucket:
    """The gradients that a communication hook sends: the flat tensor `buffer()` of all gradients of a bucket."""

    def __init__(self, bucket: Bucket, index: int, last: bool) -> None:
        self._bucket, self._index, self._last = bucket, index, last

    def index(self) -> int:
        """The number of the bucket, in the order of the backward pass."""
        return self._index

    def buffer(self) -> Tensor:
        """All gradients of the bucket in one tensor with one dimension."""
        return self._bucket.buffer

    def gradients(self) -> list[Tensor]:
        """The gradient of each parameter, as views of the buffer."""
        return [self._bucket.part(k) for k in range(len(self._bucket.members))]

    def parameters(self) -> list[Tensor]:
        """The parameters of these gradients."""
        return list(self._bucket.parameters)

    def is_last(self) -> bool:
        """Whether this is the last bucket of the pass."""
        return self._last

    def set_buffer(self, buffer: Tensor) -> None:
        """Replace the gradients by those in another tensor of the same shape."""
        self._bucket.buffer = buffer


def buckets_of(order: Sequence[int], parameters: Sequence[Any], cap: int) -> list[Bucket]:
    """The parameters of these numbers in buckets of at most about `cap` bytes. The first bucket is smaller."""
    found: list[list[int]] = []
    open_ones: dict[Any, list[int]] = {}
    for i in order:
        members = open_ones.setdefault(parameters[i].dtype, [])
        members.append(i)
        limit = cap if found else min(cap, FIRST_BUCKET)
        if sum(parameters[j].numel() * parameters[j].element_size() for j in members) >= limit:
            found.append(open_ones.pop(parameters[i].dtype))
    return [Bucket(members, parameters) for members in [*found, *open_ones.values()]]


class Reducer:
    """The averages of the gradients of named parameters over the processes of a group."""

    def __init__(self, named: Sequence[tuple[str, Any]], group: ProcessGroup, cap: int, find_unused: bool,
                 static: bool, views: bool) -> None:
        self.names, parameters = [name for name, _ in named], [p for _, p in named]
        self.parameters, self.group, self.cap = parameters, group, cap
        self.find_unused, self.static, self.views = find_unused, static, views
        self.number = {id(p): i for i, p in enumerate(parameters)}
        self.hook: tuple[Any, Callable[..., Any]] | None = None
        self.divisor: Callable[[], int] = group.size
        self.expecting = self.unfinished = self.seen = self.rebuilt = False
        self.arrived: list[int] = []                     # the parameters whose gradients came in this pass
        self.marked: set[int] = set()                    # those that count as ready, with or without a gradient
        self.walk: Any = None                            # the pass at whose end the averages are written back
        self.calls: Counter[int] | None = None           # of the hooks in the first pass of a static graph
        self.used = [True] * len(parameters)             # by some process
        self.unused: set[int] = set()                    # the parameters that the pass cannot reach
        self.reached: set[int] = set()                   # those that the pass reaches from some output
        self.build(range(len(parameters) - 1, -1, -1))
        self.handles = [p.register_post_accumulate_grad_hook(self._hook_of(i)) for i, p in enumerate(parameters)]

    def _hook_of(self, i: int) -> Callable[[Any], None]:
        def ready(_: Any) -> None:
            before_message("the program runs a backward pass in which DistributedDataParallel may send gradients")
            if self.expecting:
                self.ready(i)

        return ready

    def build(self, order: Iterable[int]) -> None:
        """Put the parameters into buckets in this order."""
        self.buckets = buckets_of([*order], self.parameters, self.cap)
        self.place = {i: (bucket, k) for bucket in self.buckets for k, i in enumerate(bucket.members)}

    def rebuild(self) -> None:
        """After the first pass, put the parameters into buckets in the order in which process 0 got the gradients."""
        if self.seen and not self.rebuilt and (self.static or not self.find_unused):
            self.rebuilt = True
            missing = [i for i in self.place if i not in {*self.arrived}]
            order = cast(Tensor, zeros(len(self.parameters), dtype=int64))
            order._array[:] = [*dict.fromkeys(self.arrived), *missing]
            broadcast(order, group=self.group, group_src=0)
            self.build(order.tolist())

    # A pass

    def prepare(self, outputs: Iterable[Any]) -> None:
        """Expect the gradients of the next backward pass. With `find_unused`, look for parameters it will not reach.

        Raises RuntimeError if the previous pass left gradients out.
        """
        if self.unfinished:
            raise self._left_out([i for i in range(len(self.parameters)) if i not in self.marked])
        self.expecting, self.begun, self.next = True, False, 0
        self.arrived, self.marked, self.walk = [], set(), None
        self.counts = Counter(self.calls) if self.calls is not None else None
        if self.calls is not None:
            self.unused, self.reached = {i for i in range(len(self.parameters)) if not self.calls[i]}, set()
        elif self.looks():
            self.reached = reached(outputs, self.number)
            self.unused = set() if self.static else {*range(len(self.parameters))} - self.reached
        for bucket in self.buckets:
            bucket.left, bucket.waits = len(bucket.members), None

    def looks(self) -> bool:
        """Whether the next `prepare` looks at the graph of the outputs."""
        return self.calls is None if self.static else self.find_unused

    def _left_out(self, missing: list[int]) -> RuntimeError:
        """The error for parameters that got no gradient in a pass that waited for all of them."""
        if self.static:
            lines = [_LOST]
        else:
            lines = [_UNUSED + ("" if self.find_unused else _FIND) + _OUTPUTS]
        rank = self.group.rank()
        debugging = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "").upper() in ("INFO", "DETAIL")
        if debugging:
            names = ", ".join([self.names[i] for i in reversed(missing)])
            lines.append(f"Parameters which did not receive grad for rank {rank}: {names}")
        lines.append(f"Parameter indices which did not receive grad for rank {rank}: {' '.join(map(str, missing))}")
        return RuntimeError("\n".join(lines if debugging else [*lines, _DEBUG]))

    def ready(self, i: int) -> None:
        """Take in that the gradient of a parameter is there."""
        walk = local.thread.walk
        while walk.outer is not None:                    # a checkpoint runs passes inside of the pass
            walk = walk.outer
        if walk is not self.walk:
            self.walk = walk
            queue_callback(self._end_of_pass, walk)
        if not self.begun:
            self.begun = self.unfinished = True
            for unused in sorted(self.unused):
                self._mark(unused)
        if self.static and self.calls is None:
            self.arrived.append(i)                        # the first pass only counts
            return
        if self.counts is not None:
            if self.counts[i] <= 0:
                raise RuntimeError(_NEW)
            self.counts[i] -= 1
            if self.counts[i] > 0:
                return
        if i in self.unused:
            return                                        # it was found after all, and is in its bucket
        self.arrived.append(i)
        self._mark(i)

    def _mark(self, i: int) -> None:
        bucket, k = self.place[i]
        if bucket.left == 0:
            name = f"Parameter at index {i} has been marked as ready twice."
            raise noted(
                RuntimeError("Expected to mark a variable ready only once."), given=name,
                because="a parameter was used a second time in the backward pass, for example by a checkpoint",
                instead="static_graph=True")
        self.marked.add(i)
        self._fill(bucket, k)
        bucket.left -= 1
        while self.next < len(self.buckets) and self.buckets[self.next].left == 0:
            self._launch(self.next)
            self.next += 1
        for earlier in self.buckets[:self.next]:
            getattr(earlier.waits, "advance", bool)()

    def _fill(self, bucket: Bucket, k: int) -> None:
        grad, into = bucket.parameters[k].grad, bucket.part(k)._array
        if grad is None:
            into[...] = 0
            return
        array = array_of(grad)
        if self.hook is None:
            np.multiply(array, np.asarray(1 / self.divisor(), into.dtype), out=into)
        elif not np.may_share_memory(into, array):
            into[...] = array

    def _launch(self, index: int) -> None:
        bucket = self.buckets[index]
        if self.hook is None:
            bucket.waits = all_reduce(bucket.buffer, group=self.group, async_op=True)
        else:
            state, hook = self.hook
            bucket.waits = hook(state, GradBucket(bucket, index, index == len(self.buckets) - 1))
            if not hasattr(bucket.waits, "wait"):
                raise RuntimeError("DDP communication hook's callback must return a torch.futures.Future object, but "
                                   f"got {type(bucket.waits).__module__}.{type(bucket.waits).__name__}")

    def _end_of_pass(self) -> None:
        # An output that the loss does not use gives no gradients, and its parameters are ready all the same.
        if self.static and self.calls is None and self.begun:
            self.calls = Counter([*self.arrived, *self.reached.difference(self.arrived)])
            for i in range(len(self.parameters)):
                self._mark(i)
        elif self.begun:
            for i in sorted(self.reached - self.marked):
                self._mark(i)
        if self.begun and self.next == len(self.buckets):
            self.finish()

    def finish(self) -> None:
        """Wait for all buckets, and write the averages into the gradients."""
        if self.tells_use():
            self.used = self._used_anywhere()
        for bucket in self.buckets:
            result = bucket.waits.wait()
            if self.hook is not None:
                found = result[0] if isinstance(result, (list, tuple)) else result
                if found is not bucket.buffer:
                    bucket.buffer._array[...] = found._array
            for k, i in enumerate(bucket.members):
                if self.used[i]:
                    self._give_back(bucket, k)
        self.expecting = self.unfinished = False
        self.walk = None
        self.seen = True

    def _give_back(self, bucket: Bucket, k: int) -> None:
        parameter, part = bucket.parameters[k], bucket.part(k)
        if self.views:
            parameter.grad = part
        elif parameter.grad is None:
            parameter.grad = part.clone()
        else:
            writing(parameter.grad._array)
            np.copyto(parameter.grad._array, part._array)
            written(parameter.grad._array, None)

    def tells_use(self) -> bool:
        """Whether the processes tell each other in this pass which parameters they use: once for a static graph."""
        return not self.seen if self.static else self.find_unused

    def _used_anywhere(self) -> list[bool]:
        """For each parameter, whether some process used it. The gradients of others stay as they are."""
        marks = cast(Tensor, zeros(len(self.parameters), dtype=int64))
        marks._array[[*{*self.arrived}]] = 1
        all_reduce(marks, group=self.group)
        return [bool(mark) for mark in marks._array]

    # What a process does that has no more batches

    def shadow(self) -> None:
        """Take part in the all-reduces of a pass of the other processes, with zeros."""
        for bucket in self.buckets:
            bucket.buffer._array[...] = 0
        for index in range(len(self.buckets)):
            self._launch(index)
        if self.tells_use():
            marks = cast(Tensor, zeros(len(self.parameters), dtype=int64))
            all_reduce(marks, group=self.group)
        for bucket in self.buckets:
            bucket.waits.wait()
        self.seen = True


def reached(outputs: Iterable[Any], numbers: dict[int, int]) -> set[int]:
    """The numbers of the parameters that a backward pass from these tensors reaches."""
    found: set[int] = set()
    nodes: list[Any] = []
    for tensor in outputs:
        if tensor.grad_fn is not None:
            nodes.append(tensor.grad_fn)
        elif id(tensor) in numbers:
            found.add(numbers[id(tensor)])
    seen = {*nodes}
    while nodes:
        node = nodes.pop()
        leaf = getattr(node, "variable", None)
        if leaf is not None and id(leaf) in numbers:
            found.add(numbers[id(leaf)])
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                nodes.append(following)
    return found
