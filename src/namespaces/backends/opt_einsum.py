"""torch.backends.opt_einsum: a package that orders the products of `einsum`, which retrograd does not use."""

from __future__ import annotations

__all__ = ["enabled", "get_opt_einsum", "is_available", "strategy"]

enabled = False
strategy: str | None = None


def is_available() -> bool:
    """Whether `einsum` uses the package: no."""
    return False


def get_opt_einsum() -> None:
    """The package: None, as it is not used."""
