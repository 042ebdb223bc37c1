"""Brings the parts together: from here on, tensors on the device `meta` work."""

from __future__ import annotations

from .creation import create as create, emptied as emptied, moved as moved
from .default import choose as choose, enter as enter
from .face import begin

begin()
