"""Guards: whether all that a call can reach is as it was when the call was traced.

- `guard` makes the guard of a state: generated Python, which compares thing after thing.
- `items` writes the lines about single things, on `lines`. `numbers` asks about numbers that the program counts in,
  and `patched` about functions of libraries. `owned` says what need not be asked of modules and optimizers.
- `differences` has the words for what a guard has found.
"""
