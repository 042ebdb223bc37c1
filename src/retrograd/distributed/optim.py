"""torch.distributed.optim: optimizers that several processes share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..foundations.modes import before_message
from ..foundations.names import missing
from ..optim import Optimizer
from ..tensors.face.conversion import typename
from ..tensors.tensor import Tensor
from .algorithms.join import Join, JoinableOverGroup, JoinHook
from .collectives import broadcast
from .groups import ProcessGroup, get_group_rank, member
from .objects import all_gather_object

__all__ = ["ZeroRedundancyOptimizer"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class ZeroRedundancyOptimizer(Optimizer, JoinableOverGroup):
    """An optimizer whose state is divided among the processes of a group, as in ZeRO (Rajbhandari et al., 2020).

    Each parameter belongs to one process, which has the state for it and makes its steps with an optimizer of the
    class `optimizer_class` and the options `defaults`. Then it sends the parameter to all others. All processes give
    the same parameters in the same order.

    >>> import retrograd as torch
    >>> from retrograd.distributed.optim import ZeroRedundancyOptimizer
    >>> torch.distributed.init_process_group(store=object(), rank=0, world_size=1)
    >>> model = torch.nn.Linear(3, 2)
    >>> optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.1)
    >>> model(torch.ones(1, 3)).sum().backward()
    >>> optimizer.step()
    >>> optimizer.consolidate_state_dict()
    >>> [*optimizer.state_dict()["state"]]
    [0, 1]
    >>> torch.distributed.destroy_process_group()

    Raises ValueError for an empty list of parameters and for parameters of several dtypes, TypeError for other things
    than parameters, and NotImplementedError for `overlap_with_ddp`.
    """

    def __init__(self, params: Any, optimizer_class: type[Optimizer], process_group: ProcessGroup | None = None,
                 parameters_as_bucket_view: bool = False, overlap_with_ddp: bool = False, **defaults: Any) -> None:
        listed = _listed(params)
        _check_one_type(listed)
        if overlap_with_ddp:
            raise NotImplementedError("ZeroRedundancyOptimizer has no overlap_with_ddp. Call step() after backward().")
        self._join: Join | None = None
        self.process_group = member(process_group)
        self.rank, self.world_size = self.process_group.rank(), self.process_group.size()
        self._optim_constructor, self._optim_defaults = optimizer_class, defaults
        self._all_states: list[dict[str, Any]] = []
        self.optim: Optimizer | None = None
        super().__init__(listed, defaults)
        self._divide()

    def _divide(self) -> None:
        """Give each parameter to the process with the fewest elements so far, the largest first."""
        sizes = [0] * self.world_size
        self._owner: dict[int, int] = {}
        for group in self.param_groups:
            for parameter in sorted(group["params"], key=Tensor.numel, reverse=True):
                rank = sizes.index(min(sizes))
                self._owner[id(parameter)] = rank
                sizes[rank] += parameter.numel()
        own = [{**group, "params": [p for p in group["params"] if self._owner[id(p)] == self.rank]}
               for group in self.param_groups]
        self.optim = self._optim_constructor(own, **self._optim_defaults)
        for group, local in zip(self.param_groups, self.optim.param_groups):
            for key, value in local.items():
                group.setdefault(key, value)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters, and divide all parameters anew. The states of parameters that move begin anew."""
        super().add_param_group(param_group)
        if self.optim is not None:
            kept = self.optim.state
            self._divide()
            self.optim.state.update({p: kept[p] for group in self.optim.param_groups for p in group["params"]
                                     if p in kept})

    def _sync_options(self) -> None:
        """Give the own optimizer the options of the groups, which schedules change."""
        assert self.optim is not None
        for group, local in zip(self.param_groups, self.optim.param_groups):
            local.update({key: value for key, value in group.items() if key != "params"})

    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        """Change the own parameters, and exchange all parameters. Returns what `closure` returns."""
        before_message("the program makes a step of ZeroRedundancyOptimizer")
        Join.notify_join_context(self)
        self._sync_options()
        assert self.optim is not None
        loss = self.optim.step(closure, **kwargs) if closure is not None else self.optim.step(**kwargs)
        self._exchange()
        return loss

    def _exchange(self) -> None:
        if self.world_size == 1:
            return
        works = [broadcast(p.detach(), group=self.process_group, group_src=self._owner[id(p)], async_op=True)
                 for group in self.param_groups for p in group["params"]]
        for work in works:
            assert work is not None
            work.wait()

    # States

    def _numbers(self, rank: int) -> Iterator[int]:
        """The numbers of the parameters of a process, in the order of its own optimizer."""
        number = 0
        for group in self.param_groups:
            for parameter in group["params"]:
                if self._owner[id(parameter)] == rank:
                    yield number
                number += 1

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Send the states of all processes to the process `to`, whose `state_dict` then has all of them."""
        self._sync_options()
        assert self.optim is not None
        found: list[Any] = [None] * self.world_size
        all_gather_object(found, self.optim.state_dict(), self.process_group)
        if get_group_rank(self.process_group, to) == self.rank:
            self._all_states = found

    def state_dict(self) -> dict[str, Any]:
        """The state that one optimizer of all parameters would have.

        Raises RuntimeError before `consolidate_state_dict(to=rank)` has been called in all processes.
        """
        if not self._all_states:
            raise RuntimeError("Optimizer state has not been consolidated on this rank. Please call "
                               f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant to save "
                               "the global state.")
        whole = super().state_dict()
        whole["state"] = {}
        for rank, local in enumerate(self._all_states):
            numbers = [*self._numbers(rank)]
            whole["state"].update({numbers[i]: state for i, state in local["state"].items()})
        whole["state"] = dict(sorted(whole["state"].items()))
        return whole

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state of all parameters: of this class with any number of processes, or of `optimizer_class`."""
        assert self.optim is not None
        local = self.optim.state_dict()
        numbers = [*self._numbers(self.rank)]
        local["state"] = {i: state_dict["state"][number] for i, number in enumerate(numbers)
                          if number in state_dict["state"]}
        for group, own, given in zip(self.param_groups, local["param_groups"], state_dict["param_groups"]):
            options = {key: value for key, value in given.items() if key != "params"}
            group.update(options)
            own.update(options)
        self.optim.load_state_dict(local)

    # Uneven numbers of batches

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What a process without batches does: it makes steps without gradients of its own."""
        return _JoinHook(self)


def _listed(params: Any) -> list[Any]:
    """The parameters or the groups as a list. Raises TypeError or ValueError for anything else."""
    if isinstance(params, Tensor):
        raise TypeError(f"`params` argument should be an iterable of Tensors, but got {typename(params)}")
    try:
        listed = [*params]
    except TypeError as error:
        raise TypeError("`params` argument should be an iterable of Tensors or dicts, but got "
                        f"{typename(params)}") from error
    if not listed:
        raise ValueError("ZeroRedundancyOptimizer got an empty parameter list")
    if not any([all([isinstance(each, kind) for each in listed]) for kind in (Tensor, dict)]):
        raise TypeError("`params` argument should be an iterable of Tensors or dicts")
    if any(["params" not in each for each in listed if isinstance(each, dict)]):
        raise ValueError("Each parameter group passed-in via `params` must have a 'params' key mapping to the "
                         "parameters in the group")
    return listed


def _check_one_type(listed: list[Any]) -> None:
    """Raise ValueError unless all parameters are dense and have one dtype."""
    for each in listed:
        if isinstance(each, dict) and not isinstance(each["params"], Tensor):
            each["params"] = [*each["params"]]                 # as optimizers do: it may be an iterator
    names = [typename(parameter) for each in listed
             for parameter in (each["params"] if isinstance(each, dict) else [each])]
    first = names[0]
    said = "ZeroRedundancyOptimizer only supports using the same dense type for all parameters but got "
    if first.startswith("torch.sparse."):
        raise ValueError(f"{said}{first}")
    for other in names:
        if other != first:
            raise ValueError(f"{said}both {first} and {other}")


class _JoinHook(JoinHook):
    def __init__(self, optimizer: ZeroRedundancyOptimizer) -> None:
        self.optimizer = optimizer

    def main_hook(self) -> None:
        self.optimizer.step()
