"""The old form of `autocast("cuda")`, and of the decorators for custom Functions."""

from collections.abc import Callable
from typing import Any

from ... import amp
from ...foundations.dtypes import dtype as torch_dtype, float16
from ...foundations.errors import warn

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


class autocast(amp.autocast):
    """The same as `torch.amp.autocast("cuda")`, with a FutureWarning."""

    def __init__(self, enabled: bool = True, dtype: torch_dtype = float16, cache_enabled: bool = True) -> None:
        warn("`torch.cuda.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cuda', args...)` "
             "instead.", FutureWarning)
        super().__init__("cuda", dtype, enabled, cache_enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: torch_dtype | None = None) -> Any:
    """The same as `torch.amp.custom_fwd(device_type="cuda")`, with a FutureWarning."""
    warn("`torch.cuda.amp.custom_fwd(args...)` is deprecated. Please use `torch.amp.custom_fwd(args..., "
         "device_type='cuda')` instead.", FutureWarning)
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable[..., Any]) -> Any:
    """The same as `torch.amp.custom_bwd(device_type="cuda")`, with a FutureWarning."""
    warn("`torch.cuda.amp.custom_bwd(args...)` is deprecated. Please use `torch.amp.custom_bwd(args..., "
         "device_type='cuda')` instead.", FutureWarning)
    return amp.custom_bwd(bwd, device_type="cuda")
