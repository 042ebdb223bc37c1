"""What programs see of a tensor beside its operators: text, memory, conversion, copies, NumPy."""
