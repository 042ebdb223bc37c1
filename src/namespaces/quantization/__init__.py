"""torch.quantization: the former path of `torch.ao.quantization`."""

from typing import TYPE_CHECKING

from ..ao.quantization import *
from ..ao.quantization import __all__ as __all__

if not TYPE_CHECKING:
    from ..ao.quantization import __getattr__ as __getattr__
