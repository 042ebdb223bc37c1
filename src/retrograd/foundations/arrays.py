"""The names that signatures use for arrays and shapes."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]
