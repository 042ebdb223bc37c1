"""The old form of `GradScaler("cpu")`."""

from ...amp.grad_scaler import GradScalerOfDevice

__all__ = ["GradScaler"]


class GradScaler(GradScalerOfDevice):
    """The same as `torch.amp.GradScaler("cpu")`, with a FutureWarning."""

    _kind = "cpu"
