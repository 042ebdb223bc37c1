"""Machine code for kernels of eager programs: `kernels.native.served` asks for it.

- `serving` finds or begins the machine code of a call, and runs it.
- `calls` says which calls have machine code: how their arrays are seen, and how large they must be.
- `statements` writes down what a kernel or a rule computes, as a program. `rows` makes one native function of it, which
  takes block after block of the rows through all loops, so that a block stays in the nearest cache.
- `ready` is a native function that can be called. `store` keeps its object code on disk.
"""
