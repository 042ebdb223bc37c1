"""Python numbers that a compiled function hands on: `.item()` of its tensors, and counters in its state.

While a call is traced, a `Number` stands for such a number (`stand_ins`). It is followed through simple arithmetic
(`expressions`). Where it stands at the end, each repetition puts a number of Python's own. `watching` has all numbers
of one trace.
"""
