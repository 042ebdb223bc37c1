"""What a `DataLoader` is made of: how samples are fetched and collated, and what a worker process does."""

from . import collate, fetch, pin_memory, worker

__all__ = ["collate", "fetch", "pin_memory", "worker"]
