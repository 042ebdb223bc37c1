"""The old form of `GradScaler("cuda")`."""

from ...amp.grad_scaler import GradScalerOfDevice

__all__ = ["GradScaler"]


class GradScaler(GradScalerOfDevice):
    """The same as `torch.amp.GradScaler("cuda")`, with a FutureWarning."""

    _kind = "cuda"
