"""retrograd: PyTorch's autograd in readable Python on NumPy.

`import retrograd as torch` runs an autograd program written for PyTorch.
"""

from __future__ import annotations

from . import autograd
from .autograd import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .devices import device
from .dtypes import dtype, finfo, get_default_dtype, iinfo, set_default_dtype
from .tensor.size import Size
from .tensor.tensor import Tensor

__version__ = "0.1.0"
