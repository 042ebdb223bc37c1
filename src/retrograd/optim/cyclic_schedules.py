"""Schedules that rise and fall: cycles, one cycle, and half cosines with restarts."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypedDict

from .optimizer import Optimizer
from .schedules import Schedule, check_optimizer, for_groups, saved_function, set_option


class _WithMomentum(Schedule):
    """A schedule that also moves the momentum, or the first of the betas, against the learning rate."""

    cycle_momentum: bool
    use_beta1: bool

    def _start_momentum(self, base: Any, largest: Any, first: bool) -> tuple[list[Any], list[Any]]:
        """Set the momentum of all groups to the largest. Returns the least and the largest momentum of each group.

        Raises ValueError if the optimizer has no momentum.
        """
        defaults = self.optimizer.defaults
        if "momentum" not in defaults and "betas" not in defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in defaults
        limits = (for_groups("base_momentum", self.optimizer, base),
                  for_groups("max_momentum", self.optimizer, largest))
        if first:
            for group, low, high in zip(self.optimizer.param_groups, *limits):
                self._set_momentum(group, high)
                group.update(max_momentum=high, base_momentum=low)
        return limits

    def _set_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_WithMomentum):
    """Moves the learning rates up from `base_lr` to `max_lr` in `step_size_up` steps, and down in `step_size_down`.

    `mode` says how high a cycle is: always the same ("triangular"), half of the cycle before ("triangular2"), or
    `gamma ** step` ("exp_range"). Instead, `scale_fn` may be a function of the number of the cycle, or of the step if
    `scale_mode` is "iterations". With `cycle_momentum`, the momentum moves from `max_momentum` to `base_momentum` and
    back. Raises ValueError for an unknown mode, for lists of a wrong length, and if the optimizer has no momentum.
    """

    _unsaved = ("optimizer", "_scale_fn_custom", "_scale_fn_ref")

    def __init__(self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000,
                 step_size_down: int | None = None,
                 mode: Literal["triangular", "triangular2", "exp_range"] = "triangular", gamma: float = 1.0,
                 scale_fn: Callable[[float], float] | None = None,
                 scale_mode: Literal["cycle", "iterations"] = "cycle", cycle_momentum: bool = True,
                 base_momentum: Any = 0.8, max_momentum: Any = 0.9, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = for_groups("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                set_option(group, "lr", lr)
        self.max_lrs = for_groups("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        if scale_fn is None:
            self._scale_fn_ref = self._scale_of_mode()
        self.scale_mode = scale_mode if scale_fn else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            limits = self._start_momentum(base_momentum, max_momentum, last_epoch == -1)
            self.base_momentums, self.max_momentums = limits
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _scale_of_mode(self) -> Callable[[float], float]:
        if self.mode == "exp_range":
            return partial(self._exp_range_scale_fn, self.gamma)
        return self._triangular2_scale_fn if self.mode == "triangular2" else self._triangular_scale_fn

    def scale_fn(self, x: float) -> float:
        """How high the cycle, or the step, of this number is."""
        return self._scale_fn_ref(x) if self._scale_fn_custom is None else self._scale_fn_custom(x)

    # A saved schedule names these functions.

    @staticmethod
    def _triangular_scale_fn(x: float) -> float:
        return 1.0

    @staticmethod
    def _triangular2_scale_fn(x: float) -> float:
        return 1 / 2.0 ** (x - 1)

    @staticmethod
    def _exp_range_scale_fn(gamma: float, x: float) -> float:
        return gamma ** x

    def _rates(self) -> list[Any]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums):
                self._set_momentum(group, high - (high - low) * height * scale)
        return [low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Everything that the schedule holds, except for the optimizer and a function."""
        return {**super().state_dict(), "_scale_fn_custom": saved_function(self._scale_fn_custom)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` returned. The function of this schedule stays."""
        saved, function = state_dict["_scale_fn_custom"], self._scale_fn_custom
        super().load_state_dict({**state_dict, "_scale_fn_custom": function})
        if saved is not None:
            function.__dict__.update(saved)
        if function is None:
            self._scale_fn_ref = self._scale_of_mode()


class _Phase(TypedDict):
    """A part of `OneCycleLR`: its last step, and between which options of the groups rate and momentum move."""

    end_step: float
    start_lr: str
    end_lr: str
    start_momentum: str
    end_momentum: str


def _cosine(start: float, end: float, share: float) -> float:
    return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)


def _linear(start: float, end: float, share: float) -> float:
    return (end - start) * share + start


class OneCycleLR(_WithMomentum):
    """Moves the learning rates from `max_lr / div_factor` up to `max_lr`, and down again below where they began.

    The number of steps is `total_steps`, or `epochs * steps_per_epoch`; the share `pct_start` of them goes up. The last
    rate is the first one divided by `final_div_factor`. With `three_phase` the rate first comes back to its beginning.
    `anneal_strategy` is "cos" or "linear". With `cycle_momentum`, the momentum moves from `max_momentum` to
    `base_momentum` and back. Raises ValueError for an option out of range, and for a step after the last one.
    """

    def __init__(self, optimizer: Optimizer, max_lr: Any, total_steps: int | None = None, epochs: int | None = None,
                 steps_per_epoch: int | None = None, pct_start: float = 0.3,
                 anneal_strategy: Literal["cos", "linear"] = "cos", cycle_momentum: bool = True,
                 base_momentum: Any = 0.85, max_momentum: Any = 0.95, div_factor: float = 25.0,
                 final_div_factor: float = 1e4, three_phase: bool = False, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _count(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._schedule_phases = _phases(pct_start, self.total_steps, three_phase)
        self._anneal_func_type = anneal_strategy
        largest = for_groups("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, high in zip(optimizer.param_groups, largest, strict=True):
                first = high / div_factor
                group.update(initial_lr=first, max_lr=high, min_lr=first / final_div_factor)
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._start_momentum(base_momentum, max_momentum, last_epoch == -1)
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Any]:
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        start = 0.0
        for phase in self._schedule_phases:
            if step <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            start = phase["end_step"]
        share = (step - start) / (phase["end_step"] - start)
        between = _cosine if self._anneal_func_type == "cos" else _linear
        groups = self.optimizer.param_groups
        rates = [between(group[phase["start_lr"]], group[phase["end_lr"]], share) for group in groups]
        if self.cycle_momentum:
            for group in groups:
                momentum = between(group[phase["start_momentum"]], group[phase["end_momentum"]], share)
                self._set_momentum(group, momentum)
        return rates


def _count(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    """The number of steps of one cycle. Raises ValueError if it is not given, or is no positive int."""
    given: dict[str, int | None] = {"total_steps": total_steps} if total_steps is not None else {
        "epochs": epochs, "steps_per_epoch": steps_per_epoch}
    if None in given.values():
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, value in given.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return math.prod(value for value in given.values() if value is not None)


def _phases(share: float, steps: int, three: bool) -> list[_Phase]:
    up = _phase(float(share * steps) - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")
    if not three:
        return [up, _phase(steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
    return [up, _phase(float(2 * share * steps) - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
            _phase(steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum")]


def _phase(end_step: float, *options: str) -> _Phase:
    start_lr, end_lr, start_momentum, end_momentum = options
    return {"end_step": end_step, "start_lr": start_lr, "end_lr": end_lr, "start_momentum": start_momentum,
            "end_momentum": end_momentum}


class CosineAnnealingWarmRestarts(Schedule):
    """Moves the learning rates along half a cosine to `eta_min` in `T_0` epochs, and begins again.

    Each time, the number of epochs grows by the factor `T_mult`. `step(epoch)` takes any epoch, also a float, so the
    rate may change within an epoch. Raises ValueError if `T_0` or `T_mult` is no positive int.
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0,
                 last_epoch: int = -1) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min = T_0, T_0, T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Any]:
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Advance to the next epoch, or to the given one. Raises ValueError for a negative epoch."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur, self.T_i = self.T_cur % self.T_i, self.T_i * self.T_mult
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr)

    def _go_to(self, epoch: float) -> None:
        """Find the restart before an epoch."""
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult ** n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult ** n
