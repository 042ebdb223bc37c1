"""How a program is run: where its values lie, and the code that computes them.

- A `Plan` of `plan` makes its code when it first runs.
- `storage` gives memory to each value. Results are lent to the program (`leases`).
- `numpy_code` writes Python (`python_source`) that calls NumPy: large loops run in `blocks`, lines on small arrays as
  calls on `stacks`. The other executor is `native/machine_code`. `sized_units` is what both need for all sizes.
"""
