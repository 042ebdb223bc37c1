"""A module whose gradients are averaged over processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import Parameter, Signature, signature
from typing import Any

from ...distributed.algorithms.join import Join, JoinableOverGroup, JoinHook
from ...distributed.collectives import all_reduce, broadcast
from ...distributed.device_mesh import DeviceMesh
from ...distributed.groups import ProcessGroup, member
from ...distributed.objects import all_gather_object
from ...distributed.reducer import GradBucket, Reducer
from ...foundations.devices import CPU
from ...foundations.errors import warn
from ...foundations.futures import Future
from ...foundations.modes import before_message, local
from ...tensors.functions.creation.creation import full
from ...tensors.tensor import Tensor
from ..modules.module import Module
from ..parameter import is_lazy

__all__ = ["DistributedDataParallel", "DistributedDataParallelCPU"]


class DistributedDataParallel(Module, JoinableOverGroup):
    """A module whose gradients are averaged over all processes of a group.

    Each process has a copy of `module`, which begins with the parameters and buffers of the group's first process, and
    calls it with its own part of the batch. While the backward pass goes on, gradients travel in buckets of
    `bucket_cap_mb` megabytes, and at its end each `grad` is the mean over the processes. A loss that is a mean over
    equal parts of a batch so gives the gradients of the whole batch. The names in the state begin with "module.".

    `find_unused_parameters` looks, in each call, for parameters that the outputs do not need. `static_graph` says that
    all calls use the same parameters. `forward_sync_buffers` sends the buffers of the first process before each call.
    `gradient_as_bucket_view` makes each gradient a view of its bucket.

    >>> import retrograd as torch
    >>> torch.distributed.init_process_group(store=object(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
    >>> model(torch.ones(5, 3)).shape, [*model.state_dict()]
    (torch.Size([5, 2]), ['module.weight', 'module.bias'])
    >>> torch.distributed.destroy_process_group()

    Raises ValueError before `torch.distributed.init_process_group` and for `device_ids`, RuntimeError if no parameter
    requires a gradient or if the processes have different modules.
    """

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0,
                 broadcast_buffers: bool | None = None, init_sync: bool = True, process_group: Any = None,
                 bucket_cap_mb: Any = None, find_unused_parameters: bool = False, check_reduction: bool = False,
                 gradient_as_bucket_view: bool = False, static_graph: bool = False,
                 delay_all_reduce_named_params: Any = None, param_to_hook_all_reduce: Any = None,
                 mixed_precision: Any = None, device_mesh: Any = None, skip_all_reduce_unused_params: bool = False,
                 bucket_cap_mb_list: list[int] | None = None, batched_grad_copy: bool = False,
                 forward_sync_buffers: bool | None = None) -> None:
        Module.__init__(self)
        self._join: Join | None = None
        self.process_group: ProcessGroup = _group_of(process_group, device_mesh)
        self.parameters_to_ignore = {*getattr(module, "_ddp_params_and_buffers_to_ignore", ())}
        _check_module(module, self._kept(module.named_parameters()), device_ids, output_device)
        _warn_of(broadcast_buffers, forward_sync_buffers, static_graph and find_unused_parameters)
        if self.process_group.size() > 1 and (mixed_precision or delay_all_reduce_named_params):
            raise NotImplementedError("DistributedDataParallel has no mixed_precision and no "
                                      "delay_all_reduce_named_params. A hook of ddp_comm_hooks.default_hooks sends "
                                      "gradients as halves.")
        self.module = module
        self.is_multi_device_module, self.device_type = False, "cpu"
        self.device_ids, self.output_device, self.dim, self.device = None, None, dim, CPU
        self.static_graph, self.find_unused_parameters = static_graph, find_unused_parameters
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self.gradient_as_bucket_view, self.mixed_precision = gradient_as_bucket_view, mixed_precision
        sync = broadcast_buffers if forward_sync_buffers is None else forward_sync_buffers
        self.forward_sync_buffers = sync is not False
        self.bucket_bytes_cap = int((25 if bucket_cap_mb is None else bucket_cap_mb) * 1024 * 1024)
        self._divide_by_initial_world_size = True
        self._reducer: Reducer | None = None
        if self.process_group.team is not None:
            self._begin(init_sync, forward_sync_buffers is not None or sync is not False)

    def _begin(self, sync: bool, buffers: bool) -> None:
        """Check that the processes have the same module, send them its first state, and watch the gradients.

        Without `buffers`, each process keeps the buffers that it has.
        """
        named = self._kept(self.module.named_parameters())
        _check_same([(name, [*p.shape], str(p.dtype)) for name, p in named], self.process_group)
        if sync:
            self._send(self._state(buffers), 0)
        self._watch()

    def _watch(self) -> None:
        named = [(name, p) for name, p in self._kept(self.module.named_parameters()) if p.requires_grad]
        self._reducer = Reducer(named, self.process_group, self.bucket_bytes_cap, self.find_unused_parameters,
                                self.static_graph, self.gradient_as_bucket_view)

    def _kept(self, named: Any) -> list[tuple[str, Any]]:
        return [(name, tensor) for name, tensor in named if name not in self.parameters_to_ignore]

    def _state(self, buffers: bool) -> list[Any]:
        """The parameters that the processes share, and the buffers, if they share these."""
        module = self.module
        return [x.detach() for _, x in self._kept([
            *module.named_parameters(), *(module.named_buffers() if buffers else ())])]

    def _send(self, tensors: list[Any], root: int) -> None:
        """Give all processes the tensors of the group's process `root`."""
        works = [broadcast(tensor, group=self.process_group, group_src=root, async_op=True) for tensor in tensors]
        for work in works:
            assert work is not None
            work.wait()

    @property
    def broadcast_buffers(self) -> bool:
        """The old name of `forward_sync_buffers`."""
        return self.forward_sync_buffers

    # Calls

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module computes. Sends the buffers before, and expects a backward pass if gradients are recorded."""
        if self._reducer is None:
            return self.module(*inputs, **kwargs)
        before_message("the program calls a module of DistributedDataParallel")
        self._announce(self._reducer)
        output = self.module(*inputs, **kwargs)
        if local.thread.grad and self.require_backward_grad_sync:
            self.require_forward_param_sync = True
            self._reducer.prepare(_tensors(output) if self._reducer.looks() else ())
        else:
            self.require_forward_param_sync = self._reducer.expecting = False
        return output

    def _announce(self, reducer: Reducer) -> None:
        """What happens before each call, in the same order as in `_JoinHook.main_hook`."""
        recorded = local.thread.grad and self.require_backward_grad_sync
        work = Join.notify_join_context(self)
        if work is not None:
            work.wait()
            active = int(work.result()[0].item())
            reducer.divisor = self.process_group.size if self._divide_by_initial_world_size else lambda: active
        if self._join is not None:
            self._any(recorded)
        if recorded:
            reducer.rebuild()
        if self.will_sync_module_buffers():
            self._send_buffers(0 if self._join is None else self._last_of(True))

    def _any(self, value: bool) -> bool:
        """Whether any process says so."""
        count: Any = full((1,), int(value))
        all_reduce(count, group=self.process_group)
        return bool(count.item())

    def will_sync_module_buffers(self) -> bool:
        """Whether a call sends the buffers of the first process to the others."""
        return (self._reducer is not None and self.require_forward_param_sync and self.forward_sync_buffers
                and bool(self._kept(self.module.named_buffers())))

    def _send_buffers(self, root: int) -> None:
        self._send([buffer.detach() for _, buffer in self._kept(self.module.named_buffers())], root)

    def _last_of(self, chosen: bool) -> int:
        """The highest rank of the processes that say true."""
        ranks = [-1] * self.process_group.size()
        all_gather_object(ranks, self.process_group.rank() if chosen else -1, self.process_group)
        return max(ranks)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A context whose gradients are only added up in each process. The next pass outside averages the sums."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def register_comm_hook(self, state: object, hook: Callable[[object, Any], Any]) -> None:
        """Have `hook(state, bucket)` send the gradients of each bucket, instead of the all-reduce that averages.

        The hook returns a future of the gradients in one tensor. Raises TypeError if the hook is not callable and
        RuntimeError for a second hook.
        """
        _check_hook(hook)
        if self._reducer is None:
            self._watch()
        assert self._reducer is not None
        if self._reducer.hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self._reducer.hook = (state, hook)

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module: Module, params_and_buffers_to_ignore: Any) -> None:
        """Say which parameters and buffers of a module its processes do not share, by their names."""
        module._ddp_params_and_buffers_to_ignore = params_and_buffers_to_ignore

    # Uneven numbers of batches

    def join(self, divide_by_initial_world_size: bool = True, enable: bool = True,
             throw_on_early_termination: bool = False) -> Join:
        """A context in which processes may have different numbers of batches.

        A process without batches gives zeros. The sums are divided by the number of all processes, or else of those
        that still have batches. At the end all processes get the parameters of one that finished last.
        """
        return Join([self], enable, throw_on_early_termination,
                    divide_by_initial_world_size=divide_by_initial_world_size)

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What a process without batches does."""
        return _JoinHook(self, kwargs.get("divide_by_initial_world_size", True))


class _JoinHook(JoinHook):
    def __init__(self, model: DistributedDataParallel, divide_by_initial_world_size: bool) -> None:
        model._divide_by_initial_world_size = divide_by_initial_world_size
        self.model = model

    def main_hook(self) -> None:
        model, reducer = self.model, self.model._reducer
        if reducer is None:
            return
        syncs = model._any(False)
        if syncs:
            reducer.rebuild()
        if model.will_sync_module_buffers():
            model._send_buffers(model._last_of(False))
        model.require_forward_param_sync = syncs
        if syncs:
            reducer.shadow()

    def post_hook(self, is_last_joiner: bool) -> None:
        model = self.model
        if model._reducer is not None:
            root = model._last_of(is_last_joiner)
            model._send(model._state(model.forward_sync_buffers), root)


def _tensors(output: Any) -> Iterator[Tensor]:
    """The tensors in an output of a module, in any containers."""
    if isinstance(output, Tensor):
        yield output
    elif isinstance(output, dict):
        yield from _tensors([*output.values()])
    elif isinstance(output, (list, tuple)):
        for part in output:
            yield from _tensors(part)
    elif hasattr(output, "__dataclass_fields__"):
        yield from _tensors([*vars(output).values()])


def _group_of(group: ProcessGroup | None, mesh: DeviceMesh | None) -> ProcessGroup:
    """The group that the program names, or that of a mesh with one dim. Raises RuntimeError for other meshes."""
    if mesh is None:
        return member(group)
    if group is not None:
        raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
    if mesh.ndim != 1:
        raise RuntimeError(f"Only 1D device mesh is supported, but got {mesh}.")
    return mesh.get_group(0)


def _warn_of(broadcast_buffers: bool | None, forward_sync_buffers: bool | None, finds_twice: bool) -> None:
    """Warn of an old option, and of two options for the same."""
    if broadcast_buffers is not None and forward_sync_buffers is not None:
        warn("Both `broadcast_buffers` and `forward_sync_buffers` were specified. `broadcast_buffers` is deprecated "
             "and its value is ignored when `forward_sync_buffers` is provided.", FutureWarning)
    elif broadcast_buffers is not None:
        warn("`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. IMPORTANT: unlike "
             "`broadcast_buffers=False`, `forward_sync_buffers=False` still syncs buffers at init. If you rely on "
             "buffers NOT being synced at init (e.g. rank-local buffers), keep using `broadcast_buffers=False` until "
             "`init_sync_buffers` is available.", FutureWarning)
    if finds_twice:
        warn("You passed find_unused_parameters=true to DistributedDataParallel, `_set_static_graph` will detect "
             "unused parameters automatically, so you do not need to set find_unused_parameters=true, just be sure "
             "these unused parameters will not change during training loop while calling `_set_static_graph`.",
             UserWarning)


def _check_hook(hook: Any) -> None:
    """Raise PyTorch's errors for a communication hook that is no function, or says that it takes something else."""
    if not callable(hook):
        raise TypeError("Communication hook must be callable.")
    said = signature(hook)
    takes, gives = said.parameters["bucket"].annotation, said.return_annotation
    if takes is not Parameter.empty and takes is not GradBucket and not isinstance(takes, str):
        raise ValueError("Communication hook: bucket annotation should be dist.GradBucket.")
    if gives is not Signature.empty and gives != Future[Tensor] and not isinstance(gives, str):
        raise ValueError("Communication hook: return annotation should be torch.futures.Future[torch.Tensor].")


def _check_module(module: Module, named: list[tuple[str, Any]], device_ids: Any, output_device: Any) -> None:
    """Raise PyTorch's errors for a module without gradients, for parameters without a shape, and for GPUs."""
    if not any([parameter.requires_grad for _, parameter in named]):
        raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameter that "
                           "requires a gradient.")
    if any([is_lazy(parameter) for _, parameter in named]):
        raise RuntimeError("Modules with uninitialized parameters can't be used with `DistributedDataParallel`. Run a "
                           "dummy forward pass to correctly initialize the modules")
    if device_ids or output_device is not None:
        raise ValueError("DistributedDataParallel device_ids and output_device arguments only work with "
                         "single-device/multiple-device GPU modules or CPU modules, but got device_ids "
                         f"{device_ids}, output_device {output_device}, and module parameters {{{CPU!r}}}.")


def _check_same(described: list[Any], group: ProcessGroup) -> None:
    """Raise RuntimeError in all processes unless all have parameters of the same shapes."""
    everyone: list[Any] = [None] * group.size()
    all_gather_object(everyone, described, group)
    for rank, other in enumerate(everyone):
        if len(other) != len(described):
            raise RuntimeError(f"DDP expects same model across all ranks, but Rank {group.rank()} has {len(described)} "
                               f"params, while rank {rank} has inconsistent {len(other)} params.")
    for rank in sorted(range(len(everyone)), key=group.rank().__ne__):      # this process first
        for i, (own, first) in enumerate(zip(everyone[rank], everyone[0])):
            if own[1:] != first[1:]:
                raise RuntimeError(f"[{rank}]: params[{i}] in this process with sizes {own[1]} appears not to match "
                                   f"sizes of the same param in process 0. It is {own[0]!r}, of {own[2]}; process 0 "
                                   f"has {first[0]!r} of {first[1]}, {first[2]}.")


class DistributedDataParallelCPU(DistributedDataParallel):
    """The deprecated name of `DistributedDataParallel`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn("`torch.nn.parallel.DistributedDataParallelCPU` is deprecated, please use "
             "`torch.nn.parallel.DistributedDataParallel` instead.", FutureWarning)
        super().__init__(*args, **kwargs)
