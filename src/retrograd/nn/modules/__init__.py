"""torch.nn.modules: where PyTorch keeps its modules; here, the hooks on all modules."""

from . import module

__all__ = ["module"]
