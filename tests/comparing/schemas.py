"""The schemas of public functions, by namespace and name."""

from __future__ import annotations

from operator import attrgetter

import retrograd

SPACES = ("", "linalg", "fft", "special", "nn.functional")


def schemas_in(space: str) -> dict[str, tuple[str, ...]]:
    """For each function of a namespace that has schemas, their texts."""
    module = attrgetter(space)(retrograd) if space else retrograd
    facts = {name: getattr(getattr(module, name), "public", None) for name in module.__all__}
    return {name: found.schemas for name, found in facts.items() if found is not None and found.schemas}
