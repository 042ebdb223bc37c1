"""One plan for all sizes, from traces whose arguments differ in sizes.

- `guards`, `pairing` and `recipes` compare the traces. What differs must follow from the sizes.
- `plans` sets the arrays and the numbers of a plan for sizes, as the executors have written it.
"""
