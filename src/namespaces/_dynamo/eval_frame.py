"""torch._dynamo.eval_frame: a path from which programs import `OptimizedModule` and `disable`."""

from ..compiler import disable
from ..optimized import OptimizedModule

__all__ = ["OptimizedModule", "disable"]
