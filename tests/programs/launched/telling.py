"""What the programs in this folder share: process 0 prints a line of JSON for each result or error."""

import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
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


def ended() -> None:
    """End the process group when all processes are through. A barrier of gloo now and then raises the error of a
    collective that was refused before it, so PyTorch's processes each leave a file in the folder MEETING."""
    if "MEETING" in os.environ:
        group, folder = os.environ["MASTER_PORT"], Path(os.environ["MEETING"])
        left = [folder / f"{group}.{one}" for one in range(dist.get_world_size())]
        left[dist.get_rank()].touch()
        while not all(file.exists() for file in left):
            time.sleep(0.01)
    else:
        dist.barrier()
    dist.destroy_process_group()
