"""Programs made of programs, before they are run: `PASSES` of `order` has the passes, in their order.

- `simplify` removes constants, copies, repeated lines and unused lines.
- `expansions`, `networks`, `joins` and `products` take a line apart into simpler lines, written with a
  `LineWriter`. `formula_lines` computes the formula of an optimizer on objects that write lines.
- `effects` says which lines must stay in their order, and `fusing` joins elementwise lines to loops within this order.
- `stacks` are calls of one kind on small arrays, as one call.
- `absent` leaves out of a backward pass what computes with absent cotangents alone. It is no part of `PASSES`.
"""
