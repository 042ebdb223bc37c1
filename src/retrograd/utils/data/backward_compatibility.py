"""The function that programs gave to workers before a `DataLoader` divided pipes among its workers by itself."""

from typing import Any

from ...foundations.errors import warn


def worker_init_fn(worker_id: Any) -> None:
    """Do nothing but warn."""
    warn("Usage of `backward_compatibility.worker_init_fn` is deprecated as `DataLoader` automatically applies "
         "sharding in every worker", FutureWarning)
