"""torch.optim.swa_utils: averages of the parameters over training, and the schedule that goes with them.

The averages are those of arXiv:1803.05407 (equal weights) or exponential ones. This module must not know how a step is
computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from ..autograd.grad_mode import no_grad
from ..foundations.devices import DeviceLike
from ..foundations.dtypes import int64
from ..foundations.names import missing
from ..nn.modules.batchnorm import _BatchNorm
from ..nn.modules.module import Module
from ..tensors.functions.creation.creation import tensor
from ..tensors.state.base import TensorBase
from .optimizer import Optimizer
from .saved_numbers import as_float
from .schedules import Schedule, for_groups

__all__ = ["AveragedModel", "SWALR", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
           "get_swa_multi_avg_fn", "update_bn"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

Average = Callable[[Any, Any, Any], Any]
MultiAverage = Callable[[Sequence[Any], Sequence[Any], Any], None]


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def _inexact(tensors: Sequence[Any]) -> bool:
    """Whether the first tensor is floating-point or complex."""
    return bool(tensors[0].is_floating_point() or tensors[0].is_complex())


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """A function `f(average, value, count)` for the exponential average: `decay * average + (1 - decay) * value`.

    Raises ValueError for a decay that is not in [0, 1].
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: TensorBase, current_param: TensorBase, num_averaged: TensorBase) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Average:
    """A function `f(average, value, count)` for the mean of `count + 1` values, the last of which is `value`."""

    @no_grad()
    def swa_update(averaged_param: TensorBase, current_param: TensorBase, num_averaged: TensorBase) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAverage:
    """A function `f(averages, values, count)` that writes the exponential averages of several tensors.

    Raises ValueError for a decay that is not in [0, 1].
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list: Sequence[Any], current_param_list: Sequence[Any], _: Any) -> None:
        inexact = _inexact(ema_param_list)
        for average, value in zip(ema_param_list, current_param_list, strict=True):
            if inexact:
                average.lerp_(value, 1 - decay)
            else:
                average.copy_(average * decay + value * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> MultiAverage:
    """A function `f(averages, values, count)` that writes the means of several tensors."""

    @no_grad()
    def swa_update(averaged_param_list: Sequence[Any], current_param_list: Sequence[Any], num_averaged: Any) -> None:
        weight, inexact = as_float(1 / (num_averaged + 1)), _inexact(averaged_param_list)
        for average, value in zip(averaged_param_list, current_param_list, strict=True):
            if inexact:
                average.lerp_(value, weight)
            elif isinstance(num_averaged, TensorBase):
                average.addcdiv_(value - average, num_averaged + 1)
            else:
                average.add_(value - average, alpha=weight)

    return swa_update


class AveragedModel(Module):
    """A copy of a model, whose parameters are averages of the model's parameters. `update_parameters` adds values.

    `avg_fn(average, value, count)` returns the next average of one parameter; `multi_avg_fn(averages, values, count)`
    writes those of all parameters of one dtype. Without them every value has the same weight. With `use_buffers`, the
    buffers are averaged, too; otherwise they are those of the model. Raises AssertionError for both functions.

    >>> import retrograd as torch
    >>> model = torch.nn.Linear(1, 1, bias=False)
    >>> average = torch.optim.swa_utils.AveragedModel(model)
    >>> for value in (1.0, 2.0, 6.0):
    ...     _ = torch.nn.init.constant_(model.weight, value)
    ...     average.update_parameters(model)
    >>> average.module.weight.item(), average.n_averaged
    (3.0, tensor(3))
    """

    n_averaged: Any

    def __init__(self, model: Module, device: DeviceLike | None = None, avg_fn: Average | None = None,
                 multi_avg_fn: MultiAverage | None = None, use_buffers: bool = False) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module: Any = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        count: Any = tensor(0, dtype=int64, device=device)
        self.register_buffer("n_averaged", count)
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The result of the averaged model."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Add the present parameters of `model` to the averages."""
        ours, theirs = (chain(module.parameters(), module.buffers() if self.use_buffers else ())
                        for module in (self.module, model))
        pairs = [(average.detach(), value.detach().to(average.device)) for average, value in zip(ours, theirs)]
        if self.n_averaged == 0:
            for average, value in pairs:
                average.copy_(value)
        elif self.multi_avg_fn is not None:
            for averages, values in _by_dtype(pairs):
                self.multi_avg_fn(averages, values, self.n_averaged)
        else:
            average_of = self.avg_fn or get_swa_avg_fn()
            for average, value in pairs:
                average.copy_(average_of(average, value, self.n_averaged))
        if not self.use_buffers:
            for kept, buffer in zip(self.module.buffers(), model.buffers(), strict=True):
                kept.detach().copy_(buffer.detach().to(kept.device))
        self.n_averaged += 1


def _by_dtype(pairs: list[tuple[Any, Any]]) -> list[tuple[list[Any], list[Any]]]:
    """Pairs of tensors as pairs of lists. The first tensors in a list have one dtype."""
    groups: dict[Any, tuple[list[Any], list[Any]]] = {}
    for average, value in pairs:
        averages, values = groups.setdefault(average.dtype, ([], []))
        averages.append(average)
        values.append(value)
    return [*groups.values()]


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: DeviceLike | None = None) -> None:
    """Compute the running statistics of all BatchNorm layers of `model` anew, over the batches of `loader`.

    If a batch is a list or a tuple, its first element goes into the model.
    """
    layers = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    momenta = [layer.momentum for layer in layers]
    if not layers:
        return
    was_training = model.training
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None
    model.train()
    for batch in loader:
        values = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(values if device is None else values.to(device))
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum
    model.train(was_training)


class SWALR(Schedule):
    """Moves the learning rates to `swa_lr` in `anneal_epochs` epochs, where they stay.

    `swa_lr` may be a list with a rate for each group. `anneal_strategy` is "cos" or "linear". Raises ValueError for an
    unknown strategy, for a list of a wrong length, and if `anneal_epochs` is no int or negative.
    """

    _unsaved = ("optimizer", "anneal_func")

    def __init__(self, optimizer: Optimizer, swa_lr: Any, anneal_epochs: int = 10,
                 anneal_strategy: Literal["cos", "linear"] = "cos", last_epoch: int = -1) -> None:
        for rate, group in zip(for_groups("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_strategy = anneal_strategy
        self._follow_strategy()
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    # Which share of the way is done after the share `t` of the epochs. A saved schedule names these functions.

    @staticmethod
    def _linear_anneal(t: float) -> float:
        return t

    @staticmethod
    def _cosine_anneal(t: float) -> float:
        return (1 - math.cos(math.pi * t)) / 2

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` returned."""
        super().load_state_dict(state_dict)
        self._follow_strategy()

    def _follow_strategy(self) -> None:
        self.anneal_func = self._linear_anneal if self._anneal_strategy == "linear" else self._cosine_anneal

    def _share(self, step: int) -> float:
        return self.anneal_func(max(0, min(1, step / max(1, self.anneal_epochs))))

    def _rates(self) -> list[Any]:
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        groups = self.optimizer.param_groups
        first = [group["swa_lr"] if before == 1 else (group["lr"] - before * group["swa_lr"]) / (1 - before)
                 for group in groups]
        return [group["swa_lr"] * now + lr * (1 - now) for group, lr in zip(groups, first, strict=True)]
