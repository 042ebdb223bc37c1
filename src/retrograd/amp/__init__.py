"""torch.amp: automatic mixed precision, with `autocast` and `GradScaler`."""

from . import autocast_mode, grad_scaler
from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from .grad_scaler import GradScaler
from ..foundations.names import hint_at_missing_names

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

hint_at_missing_names(__name__)
