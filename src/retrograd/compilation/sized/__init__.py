"""One plan for all sizes, from traces whose arguments differ in sizes.

- `changing` says whether there are several sizes at all.
- `sizes` notes what a program does with the sizes that it sees. `forms` are numbers that depend on sizes, and `symbols`
  finds them in the lines of a program.
- `guards`, `pairing` and `recipes` compare the traces. What differs must follow from the sizes.
- `plans` sets the arrays and the numbers of a plan for sizes, as NumPy calls or as `machine_code`. `storage` gives the
  memory, which grows with the sizes.
"""
