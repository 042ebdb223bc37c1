"""Processes that have different numbers of batches: one that has finished takes part in the collectives of others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from ...foundations.devices import CPU, device
from ...foundations.modes import before_message
from ...foundations.names import missing
from ...tensors.functions.creation.creation import ones, zeros
from ...tensors.tensor import Tensor
from ..collectives import all_reduce
from ..groups import ProcessGroup
from ..team import Work

__all__ = ["Join", "JoinHook", "Joinable"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class JoinHook:
    """What a process that has finished does: `main_hook` for each batch of the others, and `post_hook` at the end."""

    def main_hook(self) -> None:
        """Take part in the collectives of one batch of the other processes."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Run once all processes have finished. `is_last_joiner` says whether this process finished last."""


class Joinable(ABC):
    """A class whose collectives `Join` can take part in. They begin with `Join.notify_join_context(self)`."""

    @abstractmethod
    def __init__(self) -> None:
        super().__init__()
        self._join: Join | None = None

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What a process that has finished does for this object."""

    @property
    @abstractmethod
    def join_device(self) -> device:
        """The device of the collectives."""

    @property
    @abstractmethod
    def join_process_group(self) -> ProcessGroup:
        """The group of the collectives."""


class JoinableOverGroup(Joinable):
    """A joinable whose collectives run on the CPU, over `process_group`."""

    process_group: ProcessGroup

    @property
    def join_device(self) -> device:
        """The device of the parameters: the CPU."""
        return CPU

    @property
    def join_process_group(self) -> ProcessGroup:
        """The group whose processes take part."""
        return self.process_group


class Join:
    """A context in which processes may have different numbers of batches.

    A process that leaves the context early runs the hooks of `joinables` until all have left it. With
    `throw_on_early_termination`, all processes raise RuntimeError as soon as one leaves. Raises ValueError unless all
    joinables have one group.
    """

    def __init__(self, joinables: list[Joinable], enable: bool = True, throw_on_early_termination: bool = False,
                 **kwargs: Any) -> None:
        if len(joinables) == 0:
            raise ValueError("The join context manager requires at least one joinable")
        self._hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        if len({id(joinable.join_process_group) for joinable in joinables}) > 1:
            raise ValueError("Using join context manager with multiple process groups")
        self._joinables, self._enable, self._throws = joinables, enable, throw_on_early_termination
        self._group = joinables[0].join_process_group

    def __enter__(self) -> None:
        before_message("the program enters a Join of torch.distributed")
        for joinable in self._joinables:
            joinable._join = self if self._enable and joinable is self._joinables[0] else None

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        for joinable in self._joinables:
            joinable._join = None
        if kind is not None or not self._enable:
            return
        last = True
        while self._count(zeros) > 0:
            if self._throws:
                self._count(ones)
                raise RuntimeError(f"Rank {self._group.rank()} exhausted all inputs.")
            last = False
            for hook in self._hooks:
                hook.main_hook()
        for hook in self._hooks:
            hook.post_hook(last)

    def _count(self, number: Any) -> int:
        """The sum of what all processes say: `ones` or `zeros`."""
        found = cast(Tensor, number(1))
        all_reduce(found, group=self._group)
        return int(found.item())

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Work | None:
        """Say that this process has another batch. Returns the work that counts such processes, if a `Join` is open.

        Raises AssertionError unless `joinable` is a `Joinable` whose initializer has run.
        """
        if not hasattr(joinable, "_join"):
            raise AssertionError(f"Check that the {type(joinable)} constructor calls the ``Joinable`` constructor")
        join = joinable._join
        if join is None:
            return None
        work = all_reduce(cast(Tensor, ones(1)), group=join._group, async_op=True)
        if join._throws:
            left = join._count(zeros)
            if left:
                raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
        return work


