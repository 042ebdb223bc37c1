"""torch.utils.data.datapipes: data sets that are put together of small steps, the data pipes."""

from . import datapipe, iter, map, utils

__all__ = ["datapipe", "iter", "map", "utils"]
