"""torch.cpu.amp: the old forms of `torch.amp.autocast` and `torch.amp.GradScaler` for the CPU."""

from . import autocast_mode, grad_scaler
from .autocast_mode import autocast
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast"]
