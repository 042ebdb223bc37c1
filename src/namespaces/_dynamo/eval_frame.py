"""torch._dynamo.eval_frame: a path from which programs import `OptimizedModule` and `disable`."""

from ..compilation.optimized import OptimizedModule
from ..compiler import disable

__all__ = ["OptimizedModule", "disable"]
