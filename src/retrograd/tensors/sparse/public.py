"""Brings the parts together: from here on, tensors over sparse arrays work."""

from __future__ import annotations

from . import (
    construction as construction,
    conversion as conversion,
    dimensions as dimensions,
    functions as functions,
    gradients as gradients,
    layouts as layouts,
    likes as likes,
    memory as memory,
    products as products,
    reductions as reductions,
)
from .face import begin
from .recording import TABLE as TABLE

begin()
