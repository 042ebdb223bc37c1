"""The base class of schedules, and schedules that are a formula of the epoch.

A schedule changes the learning rates of an optimizer. This module must not know how a step is computed.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any, ClassVar

from ..foundations.errors import noted, warn
from ..foundations.inherited import name_inherited
from ..tensors.state.base import TensorBase
from .optimizer import Optimizer
from .saved_numbers import as_float

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed "
    "form is used instead of the new chainable form, where available. Please open an issue if you are unable to "
    "replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose.")
_ORDER = " See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"


def check_optimizer(optimizer: Any) -> None:
    """Raises TypeError if `optimizer` is not an Optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def option(optimizer: Optimizer, key: str) -> list[Any]:
    """An option of each group. Tensors are copied, since a step of the schedule writes into them."""
    return [group[key].clone() if isinstance(group[key], TensorBase) else group[key]
            for group in optimizer.param_groups]


def set_option(group: dict[str, Any], key: str, value: Any) -> None:
    """Set an option of a group. A tensor keeps its identity."""
    if isinstance(group[key], TensorBase):
        group[key].fill_(as_float(value))
    else:
        group[key] = value


def for_groups(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """An argument as a list with a value for each group. A tensor is copied: the schedule writes to rates of groups.

    Raises ValueError for a list of another length.
    """
    groups = len(optimizer.param_groups)
    values = value if isinstance(value, (list, tuple)) else [value] * groups
    if len(values) != groups:
        raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
                         f"param_groups has {groups}.")
    return [each.clone() if isinstance(each, TensorBase) else each for each in values]


class LRScheduler:
    """The base class of schedules. `step()`, called after each epoch, sets the learning rates that `get_lr()` computes.

    A subclass defines `get_lr` from `self.last_epoch` and either `self.base_lrs` or the present rates of the groups.
    Raises TypeError if `optimizer` is not an Optimizer.
    """

    _unsaved: ClassVar[Sequence[str]] = ("optimizer",)       # attributes that `state_dict` leaves out
    _get_lr_called_within_step = False
    _is_initial = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name_inherited(cls)

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        if not optimizer._followed:                          # steps before the first schedule do not count
            optimizer._followed = True
            vars(optimizer).pop("_opt_called", None)
        if "step" in vars(optimizer):
            optimizer._followed_step = vars(optimizer)["step"]
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", option(optimizer, "lr")[i])
            elif "initial_lr" not in group:
                raise noted(
                    KeyError(f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                             "last_epoch >= 0.\nThis typically happens when:\n1. You're trying to resume training from "
                             "a checkpoint but haven't properly loaded the optimizer state\n2. You're using last_epoch "
                             ">= 0 for a fresh training run (not recommended)"),
                    instead="load the optimizer's state first")
        self.base_lrs = option(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the rates of the first epoch."""
        self._step_count = 0
        self._is_initial = True
        self.step()
        self._is_initial = False

    def get_lr(self) -> list[Any]:
        """The learning rate of each group at `last_epoch`. A subclass overrides this method."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Any]:
        """The learning rates that the last step set."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Advance to the next epoch. Warns if the optimizer has not made a step yet, and about the deprecated `epoch`.

        If `epoch` is given, the rates are computed for that epoch, by the closed form of the schedule if there is one.
        """
        if self._step_count == 1:
            self._warn_of_order()
        self._step_count += 1
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING, UserWarning)
        self._update_lr(epoch)

    def _warn_of_order(self) -> None:
        """Warn before the first step of the schedule if the optimizer has made none, or if nobody can tell."""
        if vars(self.optimizer).get("step") is not self.optimizer._followed_step:
            warn("Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. "
                 "Please, make sure to call `optimizer.step()` before `lr_scheduler.step()`." + _ORDER, UserWarning)
        elif not self.optimizer._opt_called:
            warn("Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
                 "should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to "
                 "do this will result in PyTorch skipping the first value of the learning rate schedule." + _ORDER,
                 UserWarning)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._set(self.get_lr if epoch is None else getattr(self, "_get_closed_form_lr", self.get_lr))

    def _set(self, rates: Callable[[], list[Any]]) -> None:
        """Set the rates of the groups to the rates that a method computes."""
        self._get_lr_called_within_step = True
        try:
            for group, lr in zip(self.optimizer.param_groups, rates(), strict=True):
                set_option(group, "lr", lr)
        finally:
            self._get_lr_called_within_step = False
        self._last_lr = option(self.optimizer, "lr")

    def state_dict(self) -> dict[str, Any]:
        """Everything that the schedule holds, except for the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key not in self._unsaved}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` returned."""
        self.__dict__.update(state_dict)


class Schedule(LRScheduler):
    """A schedule that comes with this package. A subclass defines `_rates`."""

    def get_lr(self) -> list[Any]:
        """The learning rate of each group at `last_epoch`. Programs call `get_last_lr()` instead."""
        if not self._get_lr_called_within_step:
            warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.", UserWarning)
        return self._rates()

    def _rates(self) -> list[Any]:
        """The rates at `last_epoch`."""
        raise NotImplementedError

    def _scaled(self, factor: float) -> list[Any]:
        """The present rates times a factor."""
        return option(self.optimizer, "lr") if factor == 1 else [
            group["lr"] * factor for group in self.optimizer.param_groups]

    def _of_base(self, factor: float) -> list[Any]:
        """The rates at the beginning times a factor."""
        return [base * factor for base in self.base_lrs]


def saved_function(function: Any) -> dict[str, Any] | None:
    """What a state holds of a function: the attributes of an object that can be called, and nothing of a function."""
    return None if function is None or isinstance(function, FunctionType) else function.__dict__.copy()


class _WithFunctions(Schedule):
    """A schedule with a function of the epoch for each group. Raises ValueError for another number of functions."""

    _unsaved = ("optimizer", "lr_lambdas")

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
                 last_epoch: int = -1) -> None:
        groups = len(optimizer.param_groups) if isinstance(optimizer, Optimizer) else 1
        self.lr_lambdas = [*lr_lambda] if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * groups
        if len(self.lr_lambdas) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Everything that the schedule holds, except for the optimizer. Of functions there is None, of objects a dict.
        """
        return {**super().state_dict(), "lr_lambdas": [saved_function(function) for function in self.lr_lambdas]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` returned. The functions of this schedule stay."""
        for function, saved in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if saved is not None:
                function.__dict__.update(saved)
        super().load_state_dict({**state_dict, "lr_lambdas": self.lr_lambdas})


class LambdaLR(_WithFunctions):
    """Multiplies the initial learning rates by `lr_lambda(epoch)`. A list has a function for each group.

    Raises ValueError if the number of functions is not the number of groups.
    """

    def _rates(self) -> list[Any]:
        return [base * factor(self.last_epoch) for base, factor in zip(self.base_lrs, self.lr_lambdas)]


class MultiplicativeLR(_WithFunctions):
    """Multiplies the present learning rates by `lr_lambda(epoch)` every epoch. A list has a function for each group.

    Raises ValueError if the number of functions is not the number of groups, TypeError for what is no function.
    """

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
                 last_epoch: int = -1) -> None:
        for function in lr_lambda if isinstance(lr_lambda, (list, tuple)) else [lr_lambda]:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")
        super().__init__(optimizer, lr_lambda, last_epoch)

    def _rates(self) -> list[Any]:
        if self._is_initial:
            return option(self.optimizer, "lr")
        return [group["lr"] * factor(self.last_epoch)
                for factor, group in zip(self.lr_lambdas, self.optimizer.param_groups, strict=True)]


class StepLR(Schedule):
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

    def _rates(self) -> list[Any]:
        due = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return self._scaled(self.gamma if due else 1)

    def _get_closed_form_lr(self) -> list[Any]:
        return self._of_base(self.gamma ** (self.last_epoch // self.step_size))


class MultiStepLR(Schedule):
    """Multiplies the learning rates by `gamma` at each of the epochs in `milestones`."""

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1,
                 last_epoch: int = -1) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Any]:
        return self._scaled(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self) -> list[Any]:
        return self._of_base(self.gamma ** bisect_right(sorted(self.milestones.elements()), self.last_epoch))


class ConstantLR(Schedule):
    """Multiplies the learning rates by `factor` in the first `total_iters` epochs.

    Raises ValueError for a factor that is not between 0 and 1.
    """

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5,
                 last_epoch: int = -1) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Any]:
        if self.last_epoch == 0:
            return self._scaled(self.factor)
        return self._scaled(1.0 / self.factor if self.last_epoch == self.total_iters else 1)

    def _get_closed_form_lr(self) -> list[Any]:
        return self._of_base(self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor))


class LinearLR(Schedule):
    """Moves the factor of the learning rates from `start_factor` to `end_factor` in `total_iters` epochs.

    Raises ValueError for factors that are not between 0 and 1.
    """

    def __init__(self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0,
                 total_iters: int = 5, last_epoch: int = -1) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Any]:
        if self.last_epoch == 0:
            return self._scaled(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._scaled(1)
        rise = self.end_factor - self.start_factor
        return self._scaled(1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise))

    def _get_closed_form_lr(self) -> list[Any]:
        rise = self.end_factor - self.start_factor
        return self._of_base(self.start_factor + rise * min(self.total_iters, self.last_epoch) / self.total_iters)


class ExponentialLR(Schedule):
    """Multiplies the learning rates by `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Any]:
        return self._scaled(1 if self._is_initial else self.gamma)

    def _get_closed_form_lr(self) -> list[Any]:
        return self._of_base(self.gamma ** self.last_epoch)


class PolynomialLR(Schedule):
    """Moves the learning rates to 0 in `total_iters` epochs, along a polynomial of degree `power`."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _left(self, epoch: int) -> float:
        return 1.0 - epoch / self.total_iters

    def _rates(self) -> list[Any]:
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._scaled(1)
        return self._scaled((self._left(self.last_epoch) / self._left(self.last_epoch - 1)) ** self.power)

    def _get_closed_form_lr(self) -> list[Any]:
        return self._of_base(self._left(min(self.total_iters, self.last_epoch)) ** self.power)


class CosineAnnealingLR(Schedule):
    """Moves the learning rates along half a cosine to `eta_min` in `T_max` epochs, and back."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch: int) -> float:
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def _rates(self) -> list[Any]:
        epoch, rates = self.last_epoch, option(self.optimizer, "lr")
        if self._is_initial:
            return rates
        if self._step_count == 1 and epoch > 0:
            return self._get_closed_form_lr()
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [lr + (base - self.eta_min) * rise for lr, base in zip(rates, self.base_lrs, strict=True)]
        factor = self._height(epoch) / self._height(epoch - 1)
        return [factor * (lr - self.eta_min) + self.eta_min for lr in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        return [self.eta_min + (base - self.eta_min) * self._height(self.last_epoch) / 2 for base in self.base_lrs]
