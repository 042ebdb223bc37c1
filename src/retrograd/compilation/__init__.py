"""The compiler behind `retrograd.compile`: a program is traced once, planned, and run again without its Python.

The folders, in their order. Each imports only from itself and from those before it (`tests/test_layers.py`):

- `program`: the words in which a traced program is said.
- `reach`: what a call of a function can reach, and what the call has changed of it.
- `guards`: whether all of it is as it was when the call was traced.
- `numbers`: the numbers of Python's own that a call computes with.
- `passes`: programs made of programs, before they are run.
- `execution`: how a program is run: memory for its values, and Python that calls NumPy.
- `native`: the same as machine code, made by LLVM.
- `eager`: single kernels of programs that are not compiled, as machine code.
- `repeat`: a traced call that can be repeated.
- `trace`: one run, written down.
- `sized`: one plan for all sizes, from several traces.

In front of them stand `asking`, which is `torch.compile`, `optimized`, the module that it makes of a module,
`compiled`, which decides what a call does, `explaining`, which shows what was compiled, and `turns`, by which one
thread at a time traces. A call that no guard lets pass goes through the stages in this order:
`reach` walks, `trace` runs the function and writes a `program`, `passes` change it, `execution` or `native` make a plan
of it, and `repeat` repeats the call.

One word for one thing, on its way through the stages:

- An *item* is a thing that a function can reach, as a walk finds it. It stands in a *place*.
- A *traced array* stands behind a tensor while the function runs. What it computes is a numbered *value*.
- A *line* is a call of an operator on values. A *unit* is lines that run together; most units are *loops*.
- A value is *given* if its array may be another one in each call. The *outputs* are the values that a run returns.
- A *number* is a Python number that the program has from a tensor or counts in, and a *size* one that is a size.
- A *plan* runs a program. A *recipe* repeats a call with a plan, and a *guard* says for which calls.

Before a program first calls a compiled function, only `asking` and `optimized` are imported.
"""
