"""Machine code for loops, made by LLVM through llvmlite, the package of the optional extra `compile`.

- `machine_code` is the executor: it hands loops over (`lowered`), and the steps of recurrent layers (`walks`). What has
  machine code for all sizes is in `sized_lowering`.
- `machine` turns loops and matrix products into native functions on a table of addresses (`table`):
  `Builder().add(placed, slots)`. `nest` and `writing` put a loop into dims, blocks and rows, and `vectors` writes the
  vectors of a row. `products` and `tiles` write matrix products, and `recurrent` writes the steps of a layer, whose
  formulas stand in `cells`.
- `sharing` writes native functions whose loops and products threads share, `team` has the threads, and `words` the
  places in the memory of a team.
- `lowering` says which steps have machine code (`lowers`) and writes them. The formulas stand by family in
  `arithmetic`, `choices`, `elementary` and `activations`. Each is that of the op's kernel, in the same order.
- `lanes` is the language of these formulas: vectors of numbers with Python's operators, which write LLVM's text.
  `modules` has the text of a whole module.
- `vector_math` has exp, sin and the like: from glibc's vector library where it is, from `polynomials` elsewhere, and
  for the most usual functions from `single`.
- `compiling` has LLVM make the modules, and `objects` object code that can be kept. `host` is what this machine can do.
  Only these three touch llvmlite.
"""

from .host import available

__all__ = ["available"]
