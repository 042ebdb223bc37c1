"""Schedules: how learning rates change from epoch to epoch. This module must not know how a step is computed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from ..errors import warn
from .optimizer import Optimizer

__all__ = ["CosineAnnealingLR", "ExponentialLR", "LRScheduler", "LambdaLR", "MultiStepLR", "StepLR"]


class LRScheduler:
    """The base class of schedules. `step()`, called after each epoch, sets the learning rates that `get_lr()` computes.

    A subclass defines `get_lr` from `self.last_epoch` and either `self.base_lrs` or the present rates of the groups.
    Raises TypeError if `optimizer` is not an Optimizer.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                               "last_epoch >= 0: load the optimizer's state first.")
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        self._advance()

    def get_lr(self) -> list[Any]:
        """The learning rate of each group at `last_epoch`. A subclass overrides this method."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Any]:
        """The learning rates that the last step set."""
        return self._last_lr

    def step(self) -> None:
        """Advance to the next epoch. Warns if the optimizer has not made a step yet."""
        if self._step_count == 1 and not self.optimizer._opt_called:
            warn("Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and "
                 "later, you should call them in the opposite order: `optimizer.step()` before "
                 "`lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping the "
                 "first value of the learning rate schedule.", UserWarning)
        self._advance()

    def _advance(self) -> None:
        self._step_count += 1
        self.last_epoch += 1
        self._last_lr = self.get_lr()
        for group, lr in zip(self.optimizer.param_groups, self._last_lr):
            group["lr"] = lr

    def _scaled(self, factor: float) -> list[Any]:
        """The present rates times a factor."""
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Everything that the schedule holds, except for the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` returned."""
        self.__dict__.update(state_dict)


class StepLR(LRScheduler):
    """Multiplies the learning rates by `gamma` every `step_size` epochs.

    >>> import retrograd as torch
    >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> rates = []
    >>> for epoch in range(4):
    ...     optimizer.step()
    ...     rates += schedule.get_last_lr()
    ...     schedule.step()
    >>> rates
    [1.0, 1.0, 0.5, 0.5]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        due = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return self._scaled(self.gamma if due else 1)


class MultiStepLR(LRScheduler):
    """Multiplies the learning rates by `gamma` at each of the epochs in `milestones`."""

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1,
                 last_epoch: int = -1) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        return self._scaled(self.gamma ** self.milestones[self.last_epoch])


class ExponentialLR(LRScheduler):
    """Multiplies the learning rates by `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        return self._scaled(self.gamma if self.last_epoch > 0 else 1)


class LambdaLR(LRScheduler):
    """Multiplies the initial learning rates by `lr_lambda(epoch)`. A list has a function for each group.

    Raises ValueError if the number of functions is not the number of groups.
    """

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
                 last_epoch: int = -1) -> None:
        groups = len(optimizer.param_groups) if isinstance(optimizer, Optimizer) else 1
        self.lr_lambdas = [*lr_lambda] if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * groups
        if len(self.lr_lambdas) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        return [base * factor(self.last_epoch) for base, factor in zip(self.base_lrs, self.lr_lambdas)]

    def state_dict(self) -> dict[str, Any]:
        """Everything that the schedule holds, except for the optimizer and the functions, which may not be picklable.
        """
        return {**super().state_dict(), "lr_lambdas": [None] * len(self.lr_lambdas)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` returned. The functions of this schedule stay."""
        super().load_state_dict({**state_dict, "lr_lambdas": self.lr_lambdas})


class CosineAnnealingLR(LRScheduler):
    """Moves the learning rates along half a cosine to `eta_min` in `T_max` epochs, and back."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        height = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]
