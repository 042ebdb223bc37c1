"""The numbers of Python's own that a traced call computes with, and how a repetition makes them again.

- `traced_numbers` has those that the program reads from tensors, and those that its state counts in. `operands` are
  numbers that operators take, and `math_names` are functions of `math` that follow numbers.
- `rates` are options of optimizers that a schedule changes, `followed` are learning rates that the program itself reads
  or writes, and `schedules` are the steps of schedules.
- `leaving_code` says whether a value only leaves a function. `settling` puts numbers of Python's own wherever a call
  has left a stand-in.
"""
