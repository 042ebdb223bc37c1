"""The compiler behind `retrograd.compile`: a program is traced once, planned, and run again without its Python.

- `state` finds what a function can reach: arguments, captured variables, modules, optimizers. `guards` checks later
  that nothing of this has changed, and `differences` says what has. `changes` compares two such walks: what a call has
  changed. They stand on `items` (what was found), `places` (where it stands), `kinds` (what is compared, and what is
  refused), `reading` (what code names) and `surroundings` (the modes).
- `tracing` runs the function once and writes down each call that passes the seam.
- `program` is what remains: calls and writes on numbered values.
- The plan (`fusing`, `storage`) joins elementwise calls to loops (`loops`) and gives memory to each value. `stand_ins`
  are arrays without memory, by which a plan knows how the values lie.
- Two executors run the plan: `numpy_code` with NumPy alone, and `native` as machine code.
- Two traces make one plan for all sizes: `sizes` notes what a program does with sizes, `symbols` are numbers that
  depend on one size, `sized_guards`, `pairing` and `sized_recipes` compare the traces, `sized_plans` binds the plan.

Nothing imports this package before a program first calls a compiled function.
"""
