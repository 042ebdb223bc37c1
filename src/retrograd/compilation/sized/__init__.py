"""One plan for all sizes, from traces whose arguments differ in sizes.

- `guards`, `pairing` and `recipes` compare the traces. What differs must follow from the sizes.
- `plans` sets the arrays and the numbers of a plan for sizes, as NumPy calls or as `machine_code`. `storage` gives the
  memory, which grows with the sizes.
"""
