"""torch._dynamo.external_utils: a path from which programs import `is_compiling`."""

from ..compiler import is_compiling

__all__ = ["is_compiling"]
