"""A module whose gradients are averaged over processes, of which there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...devices import CPU
from ...distributed.groups import member
from ...errors import warn
from ..modules.module import Module

__all__ = ["DistributedDataParallel", "DistributedDataParallelCPU"]


class DistributedDataParallel(Module):
    """A module whose gradients are averaged over all processes. As there is one process, they are its own.

    A call calls `module`, and the names in the state begin with "module.". The options are accepted, and change
    nothing.

    >>> import retrograd as torch
    >>> torch.distributed.init_process_group(store=object(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
    >>> model(torch.ones(5, 3)).shape, [*model.state_dict()]
    (torch.Size([5, 2]), ['module.weight', 'module.bias'])
    >>> torch.distributed.destroy_process_group()

    Raises ValueError before `torch.distributed.init_process_group` and for `device_ids`, RuntimeError if no parameter
    requires a gradient.
    """

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0,
                 broadcast_buffers: bool | None = None, init_sync: bool = True, process_group: Any = None,
                 bucket_cap_mb: Any = None, find_unused_parameters: bool = False, check_reduction: bool = False,
                 gradient_as_bucket_view: bool = False, static_graph: bool = False,
                 delay_all_reduce_named_params: Any = None, param_to_hook_all_reduce: Any = None,
                 mixed_precision: Any = None, device_mesh: Any = None, skip_all_reduce_unused_params: bool = False,
                 bucket_cap_mb_list: list[int] | None = None, batched_grad_copy: bool = False,
                 forward_sync_buffers: bool | None = None) -> None:
        super().__init__()
        self.process_group = member(process_group)
        if not any([parameter.requires_grad for parameter in module.parameters()]):
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameter that "
                               "requires a gradient.")
        if device_ids or output_device is not None:
            raise ValueError("DistributedDataParallel device_ids and output_device arguments only work with "
                             "single-device/multiple-device GPU modules or CPU modules, but got device_ids "
                             f"{device_ids}, output_device {output_device}, and module parameters {{{CPU!r}}}.")
        if broadcast_buffers is not None:
            warn("`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. There is no other process to "
                 "sync buffers with.", FutureWarning)
        self.module = module
        self.parameters_to_ignore: set[str] = set()
        self.is_multi_device_module, self.device_type = False, "cpu"
        self.device_ids, self.output_device, self.dim, self.device = None, None, dim, CPU
        self.static_graph, self.find_unused_parameters = static_graph, find_unused_parameters
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self.gradient_as_bucket_view, self.mixed_precision = gradient_as_bucket_view, mixed_precision
        sync = broadcast_buffers if forward_sync_buffers is None else forward_sync_buffers
        self.forward_sync_buffers = sync is not False

    @property
    def broadcast_buffers(self) -> bool:
        """The old name of `forward_sync_buffers`."""
        return self.forward_sync_buffers

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        return self.module(*inputs, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A context whose gradients are only added up, and not averaged. Of one process they are the same."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextmanager
    def join(self, divide_by_initial_world_size: bool = True, enable: bool = True,
             throw_on_early_termination: bool = False) -> Iterator[None]:
        """A context in which processes may have different numbers of batches. There is one process."""
        yield

    def register_comm_hook(self, state: object, hook: Callable[[object, Any], Any]) -> None:
        """Say how gradients are sent. None are sent, so the hook is never called."""

    def will_sync_module_buffers(self) -> bool:
        """Whether a call sends buffers to other processes: there are none."""
        return False


class DistributedDataParallelCPU(DistributedDataParallel):
    """The deprecated name of `DistributedDataParallel`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn("`torch.nn.parallel.DistributedDataParallelCPU` is deprecated, please use "
             "`torch.nn.parallel.DistributedDataParallel` instead.", FutureWarning)
        super().__init__(*args, **kwargs)
