"""The old form of `autocast("cpu")`."""

from ... import amp
from ...foundations.dtypes import bfloat16, dtype as torch_dtype
from ...foundations.errors import warn

__all__ = ["autocast"]


class autocast(amp.autocast):
    """The same as `torch.amp.autocast("cpu")`, with a FutureWarning."""

    def __init__(self, enabled: bool = True, dtype: torch_dtype = bfloat16, cache_enabled: bool = True) -> None:
        warn("`torch.cpu.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cpu', args...)` "
             "instead.", FutureWarning)
        super().__init__("cpu", dtype, enabled, cache_enabled)
