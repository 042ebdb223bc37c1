"""`GradScaler`: a loss times a large number, so that small gradients of lower precision do not become 0."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd.grad_mode import no_grad
from ..foundations.devices import CPU, device as Device
from ..foundations.dtypes import F16, Array, unimplemented
from ..foundations.errors import warn
from ..kernels.narrow import wide
from ..ops.basic import beyond
from ..tensors.functions.creation.creation import full, tensor
from ..tensors.state.base import TensorBase

if TYPE_CHECKING:
    from ..optim.optimizer import Optimizer

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """What was done with the gradients of an optimizer since the last `update`."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Scales a loss before its backward pass, and gradients back before the step of an optimizer.

    A step is left out if a gradient is infinite or NaN, and `update` then multiplies the scale by `backoff_factor`.
    After `growth_interval` steps in a row without such gradients, `update` multiplies the scale by `growth_factor`.

    >>> import retrograd as torch
    >>> w = torch.ones(1, requires_grad=True)
    >>> optimizer, scaler = torch.optim.SGD([w], lr=0.5), torch.GradScaler("cpu", init_scale=4.0)
    >>> scaler.scale(w.sum()).backward()
    >>> w.grad
    tensor([4.])
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> w
    tensor([0.5000], requires_grad=True)

    The default device is "cuda". Without CUDA this warns, and the scaler does nothing. Raises AssertionError unless the
    growth factor is greater than 1 and the backoff factor less than 1.
    """

    def __init__(self, device: str = "cuda", init_scale: float = 2.0**16, growth_factor: float = 2.0,
                 backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True) -> None:
        self._device, self._enabled = device, enabled
        if device == "cuda" and enabled:
            warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", UserWarning)
            self._enabled = False
        if not self._enabled:
            return
        if not growth_factor > 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if not backoff_factor < 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._scale = init_scale, None
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker, self._growth_tracker = 0, None
        self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(_refresh_per_optimizer_state)

    _scale: Any
    _growth_tracker: Any

    def _check_scale_growth_tracker(self, name: str) -> tuple[Any, Any]:
        said = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."
        if self._scale is None:
            raise AssertionError(f"Attempted {name} but _scale is None.  {said}")
        return self._scale, self._growth_tracker

    def _lazy_init_scale_growth_tracker(self) -> None:
        self._scale = tensor(float(self._init_scale)).float()
        self._growth_tracker = tensor(self._init_growth_tracker).int()

    def scale(self, outputs: Any) -> Any:
        """The outputs times the scale: a tensor, or an iterable of tensors. Raises ValueError for anything else."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, TensorBase):
            if self._scale is None:
                self._lazy_init_scale_growth_tracker()
            return outputs * self._scale
        if isinstance(outputs, Iterable):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _unscale_grads_(self, optimizer: Optimizer, inv_scale: TensorBase, found_inf: TensorBase,
                        allow_fp16: bool) -> dict[Device, Any]:
        """Multiply the gradients by `inv_scale`. Returns whether a gradient was not finite, as a number by device."""
        seen = False
        with no_grad():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    g = parameter.grad
                    if g is None:
                        continue
                    if not allow_fp16 and g._array.dtype == F16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    seen = True
                    if g.is_sparse:
                        if g._array.dtype == F16:
                            parameter.grad = g = g.coalesce()        # else the sum of two elements may overflow
                        g = g._values()
                    if g._array.dtype.kind == "c":
                        raise unimplemented("_amp_foreach_non_finite_check_and_unscale_cpu", g._array.dtype)
                    if not beyond(_all_finite, g._array):
                        found_inf.fill_(1.0)
                    g.mul_(inv_scale)
        return {CPU: found_inf} if seen else {}

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients of an optimizer by the scale, for example before they are clipped.

        `step` calls it if the program does not. Raises RuntimeError if it was called before, or after `step`.
        """
        if not self._enabled:
            return
        self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, self._inverse(), full((), 0.0), False)
        state["stage"] = OptState.UNSCALED

    def _inverse(self) -> TensorBase:
        inverse: TensorBase = self._scale.double().reciprocal().float()
        return inverse

    def _maybe_opt_step(self, optimizer: Optimizer, optimizer_state: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        if any(found.item() for found in optimizer_state["found_inf_per_device"].values()):
            return None
        return optimizer.step(*args, **kwargs)

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """Call `optimizer.step(*args, **kwargs)` with unscaled gradients, unless one of them is infinite or NaN.

        Returns what the step returns. Raises RuntimeError for a second call before `update`, and for a closure.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            result = self._step_that_unscales(optimizer, state, *args, **kwargs)
        else:
            fused = getattr(optimizer, "defaults", {}).get("fused")
            if state["stage"] is OptState.READY and fused:
                state["found_inf_per_device"] = self._unscale_grads_(optimizer, self._inverse(), full((), 0.0), True)
            elif state["stage"] is OptState.READY:
                self.unscale_(optimizer)
            if not (fused or state["found_inf_per_device"]):
                raise AssertionError("No inf checks were recorded for this optimizer.")
            result = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def _step_that_unscales(self, optimizer: Any, state: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Call the step of an optimizer that unscales gradients by itself, and leaves out steps.

        The optimizer has the scale and what was found as attributes, or its step takes the scaler.
        """
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warn("GradScaler is going to stop passing itself as a keyword argument to the passed optimizer. In the "
                 "near future GradScaler registers `grad_scale: Tensor` and `found_inf: Tensor` to the passed "
                 "optimizer and let the optimizer use them directly.", FutureWarning)
            return optimizer.step(*args, **kwargs, grad_scaler=self)
        given = getattr(optimizer, "grad_scale", None)
        if state["stage"] is OptState.READY:
            self._check_inf_per_device(optimizer)
            given = self._scale * (1 if given is None else given)
        optimizer.grad_scale, optimizer.found_inf = given, sum(state["found_inf_per_device"].values())
        result = optimizer.step(*args, **kwargs)
        del optimizer.grad_scale, optimizer.found_inf
        return result

    def update(self, new_scale: Any = None) -> None:
        """Change the scale by what `step` found, or set it to `new_scale`, a float or a 0-d tensor."""
        if not self._enabled:
            return
        scale, tracker = self._check_scale_growth_tracker("update")
        if new_scale is not None:
            self._set_scale(new_scale)
        else:
            found = [inf for state in self._per_optimizer_states.values()
                     for inf in state["found_inf_per_device"].values()]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            if any(inf.item() for inf in found):
                scale.mul_(self._backoff_factor)
                tracker.zero_()
            elif tracker.item() + 1 == self._growth_interval:
                grown = scale * self._growth_factor
                if grown.isfinite().item():
                    scale.copy_(grown)
                tracker.zero_()
            else:
                tracker.add_(1)
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def _set_scale(self, new_scale: Any) -> None:
        if isinstance(new_scale, float):
            self._scale.fill_(new_scale)
            return
        if new_scale.device.type != self._device or new_scale.numel() != 1 or new_scale.requires_grad:
            raise AssertionError("new_scale should be a float or a 1-element torch.cuda.FloatTensor or "
                                 "torch.FloatTensor with requires_grad=False.")
        if new_scale.ndim:
            raise RuntimeError(f"output with shape [] doesn't match the broadcast shape {[*new_scale.shape]}")
        self._scale.copy_(new_scale)

    def _get_scale_async(self) -> Any:
        return self._scale

    def get_scale(self) -> float:
        """The scale; 1.0 if the scaler does nothing."""
        if not self._enabled:
            return 1.0
        return float(self._init_scale) if self._scale is None else float(self._scale.item())

    def get_growth_factor(self) -> float:
        """The factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """The factor by which the scale shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """The number of steps after which the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the number of steps after which the scale grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

    def is_enabled(self) -> bool:
        """Whether the scaler does anything."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The scale, the options and the count of good steps, as numbers. Empty if the scaler does nothing."""
        if not self._enabled:
            return {}
        return {"scale": self.get_scale(), "growth_factor": self._growth_factor,
                "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
                "_growth_tracker": self._get_growth_tracker()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned. Raises RuntimeError for an empty one."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled "
                               "instance of GradScaler.")
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError("A GradScaler instance may only be pickled at the beginning of an iteration, or "
                                     "at the end after scaler.update().")
            state["_init_scale"], state["_scale"] = self.get_scale(), None
            state["_init_growth_tracker"], state["_growth_tracker"] = self._get_growth_tracker(), None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _check_inf_per_device(self, optimizer: Any) -> dict[Device, Any]:
        self._check_scale_growth_tracker("_check_inf_per_device")
        state = self._per_optimizer_states[id(optimizer)]
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, full((), 1.0), full((), 0.0), True)
        return self._found_inf_per_device(optimizer)

    def _found_inf_per_device(self, optimizer: Any) -> dict[Device, Any]:
        found: dict[Device, Any] = self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
        return found


def _all_finite(g: Array) -> Any:
    return np.asarray(np.isfinite(wide(g)).all())


class GradScalerOfDevice(GradScaler):
    """The old form of `GradScaler` for one type of devices, with a FutureWarning. A subclass names the type."""

    _kind: str

    def __init__(self, init_scale: float = 2.0**16, growth_factor: float = 2.0, backoff_factor: float = 0.5,
                 growth_interval: int = 2000, enabled: bool = True) -> None:
        warn(f"`torch.{self._kind}.amp.GradScaler(args...)` is deprecated. Please use "
             f"`torch.amp.GradScaler('{self._kind}', args...)` instead.", FutureWarning)
        super().__init__(self._kind, init_scale, growth_factor, backoff_factor, growth_interval, enabled)
