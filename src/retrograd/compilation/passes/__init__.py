"""What is done to a traced program before it is run: each pass makes a program from a program.

- `expansions`, `networks`, `joins` and `steps` take a line apart into simpler lines, written with a `LineWriter`.
- `simplify` removes constants, copies and repeated lines.
- `effects` says which lines must stay in their order, and `fusing` joins elementwise lines to loops within this order.
"""
