"""torch._VF: the functions of `torch`, under the path at which PyTorch's own layers call them."""

import sys
from typing import Any

from .foundations.names import PACKAGE
from .tensors.functions.indexing.uniques import unique_dim


def __getattr__(name: str) -> Any:
    if name == "unique_dim":                               # which `torch` itself does not have
        return unique_dim
    return getattr(sys.modules[PACKAGE], name)
