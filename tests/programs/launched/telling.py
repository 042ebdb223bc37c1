"""What the programs in this folder share: process 0 prints a line of JSON for each result or error."""

import json
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

warnings.simplefilter("ignore")                             # of old names, and of the backend
OURS = hasattr(dist, "allow_pickled_objects")


def plain(value: Any) -> Any:
    """A value as JSON has it: tensors as lists of floats with their dtype."""
    if isinstance(value, torch.Tensor):
        if value.is_complex():
            value = torch.view_as_real(value)
        return [str(value.dtype), [*value.shape], value.detach().double().flatten().tolist()]
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(value)


def tell(name: str, value: Any) -> None:
    """Print a result in process 0."""
    if dist.get_rank() == 0:
        print(json.dumps([name, plain(value)]), flush=True)


def case(name: str, call: Callable[..., Any], *args: Any) -> None:
    """Print what a call returns, or the type and the message of its error."""
    try:
        found = call(*args)
    except Exception as error:
        found = [type(error).__name__, str(error)]
    tell(name, found)
