"""The compiler behind `retrograd.compile`: a program is traced once, planned, and run again without its Python.

The folders, in their order. Each imports only from itself and from those before it (`tests/test_layers.py`):

- `program`: the words in which a traced program is said.
- `reach`: what a call of a function can reach, and whether it has changed.
- `passes`: programs made of programs, before they are run.
- `execution`: how a program is run: memory for its values, and Python that calls NumPy.
- `native`: the same as machine code, made by LLVM.
- `repeat`: a traced call that can be repeated.
- `trace`: one run, written down.
- `sized`: one plan for all sizes, from several traces.

In front of them stand `compiled`, which decides what a call does, `explaining`, which shows what was compiled, and
`turns`, by which one thread at a time traces. A call that no guard lets pass goes through the stages in this order:
`reach` walks, `trace` runs the function and writes a `program`, `passes` change it, `execution` or `native` make a plan
of it, and `repeat` repeats the call.

Nothing imports this package before a program first calls a compiled function.
"""
