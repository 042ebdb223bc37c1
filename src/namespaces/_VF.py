"""torch._VF: the functions of `torch`, under the path at which PyTorch's own layers call them."""

import sys
from typing import Any

from .foundations.names import PACKAGE


def __getattr__(name: str) -> Any:
    return getattr(sys.modules[PACKAGE], name)
