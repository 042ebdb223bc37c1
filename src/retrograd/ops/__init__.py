"""One statement an operator: its kernel and its derivative rules. Must not know Tensor, nodes or the engine."""
