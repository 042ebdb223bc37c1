"""A module whose batches are divided among GPUs. Without GPUs the module itself computes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ...foundations.errors import noted
from ...foundations.names import missing
from ..modules.module import Module
from .scatter_gather import gather, parallel_apply, replicate, scatter_kwargs

__all__ = ["DataParallel", "data_parallel"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

T = TypeVar("T", bound=Module)


class DataParallel(Module, Generic[T]):
    """A module that computes on all GPUs of `device_ids`. As there are none, a call calls `module`.

    The names in the state begin with "module.".

    >>> import retrograd as torch
    >>> model = torch.nn.DataParallel(torch.nn.Linear(3, 2))
    >>> model(torch.ones(5, 3)).shape, [*model.state_dict()]
    (torch.Size([5, 2]), ['module.weight', 'module.bias'])
    """

    module: T

    def __init__(self, module: T, device_ids: Sequence[Any] | None = None, output_device: Any = None,
                 dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        return self.module(*inputs, **kwargs)

    def replicate(self, module: T, device_ids: Sequence[Any]) -> list[T]:
        """Copies of the module on GPUs. Raises AssertionError, as there are none."""
        return replicate(module, device_ids)

    def scatter(self, inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, device_ids: Sequence[Any]) -> Any:
        """The arguments for each GPU. Raises ValueError for tensors, as there are no GPUs."""
        return scatter_kwargs(inputs, kwargs, device_ids)

    def parallel_apply(self, replicas: Sequence[T], inputs: Sequence[Any], kwargs: Any) -> list[Any]:
        """Calls of copies on GPUs. Raises RuntimeError, as there are none."""
        return parallel_apply(replicas, inputs, kwargs)

    def gather(self, outputs: Any, output_device: Any) -> Any:
        """The outputs of GPUs. Raises AssertionError, as there are none."""
        return gather(outputs, output_device)


def data_parallel(module: Module, inputs: Any, device_ids: Sequence[Any] | None = None, output_device: Any = None,
                  dim: int = 0, module_kwargs: Any | None = None) -> Any:
    """A call of a module on all GPUs. Raises RuntimeError, as there is no GPU; `DataParallel` works without."""
    raise noted(
        RuntimeError("device type could not be determined"), instead="call the module itself: there are no GPUs here")
