"""The old form of `GradScaler("cuda")`."""

from ... import amp
from ...errors import warn

__all__ = ["GradScaler"]


class GradScaler(amp.GradScaler):
    """The same as `torch.amp.GradScaler("cuda")`, with a FutureWarning."""

    def __init__(self, init_scale: float = 2.0**16, growth_factor: float = 2.0, backoff_factor: float = 0.5,
                 growth_interval: int = 2000, enabled: bool = True) -> None:
        warn("`torch.cuda.amp.GradScaler(args...)` is deprecated. Please use `torch.amp.GradScaler('cuda', args...)` "
             "instead.", FutureWarning)
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
