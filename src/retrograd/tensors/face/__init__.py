"""Everything about a tensor that is no operator: text, memory, conversion, copies, NumPy."""
