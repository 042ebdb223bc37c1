"""The compiler behind `retrograd.compile`: a program is traced once, planned, and run again without its Python.

- `state` finds what a function can reach: arguments, captured variables, modules, optimizers. `guards` checks later
  that nothing of this has changed, and `differences` says what has. `changes` compares two such walks: what a call has
  changed. They stand on `items` (what was found), `places` (where it stands), `kinds` (what is compared, and what is
  refused), `reading` (what code names) and `surroundings` (the modes). `rates` are learning rates, which may change.
- `tracing` runs the function once and writes down each call that passes the seam.
- `program` is what remains: calls and writes on numbered values.
- `passes` take calls apart, simplify the program, and join elementwise calls to loops.
- `execution` gives memory to each value and runs the plan: with NumPy alone, or as machine code that `native` makes.
  `stand_ins` are arrays without memory, by which a plan knows how the values lie.
- `recipe` is a call that can be repeated: the guard, the plan, and what the call leaves behind (`results`).
- Two traces make one plan for all sizes (`sized`).

Nothing imports this package before a program first calls a compiled function.
"""
