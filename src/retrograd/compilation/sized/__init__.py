"""One plan for all sizes, from two traces whose arguments differ in one size.

- `changing` says whether there are several sizes at all.
- `sizes` notes what a program does with the sizes that it sees, and `symbols` are numbers that depend on one size.
- `guards`, `pairing` and `recipes` compare the two traces. What differs must follow from the size.
- `plans` sets the arrays and the numbers of a plan for a size, as NumPy calls or as `machine_code`. `storage` gives the
  memory, which grows with the size.
"""
