"""Saved values that are kept in another form, which hooks on saved tensors made of them, until the node is run.

A node whose `saved` is a `Packed` goes the engine's long way, which asks it for the values. Must not know Tensor or
what the hooks do.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Parcel:
    """One packed value. Subclasses say how it is unpacked."""

    __slots__ = ()

    def unpack(self) -> np.ndarray[Any, Any]:
        """The value again."""
        raise NotImplementedError


class Packed(tuple[Any, ...]):
    """The saved values of a node, some of them parcels.

    That their memory was written to is not looked for: as in PyTorch, whoever packs a value answers for it.
    """

    __slots__ = ()

    def values(self) -> tuple[Any, ...]:
        """The saved values, unpacked."""
        return tuple([value.unpack() if isinstance(value, Parcel) else value for value in self])
