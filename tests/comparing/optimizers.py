"""The names of the optimizers, asked of the package, so that a test of all of them lists none."""

from __future__ import annotations

import retrograd

# What other optimizers do not need: several looks at the loss in a step, sparse gradients, matrices.
_APART = {"LBFGS", "SparseAdam", "Muon"}


def usual_optimizers() -> list[str]:
    """The optimizers whose step needs nothing but dense gradients, of any shape."""
    kinds = {name: getattr(retrograd.optim, name) for name in retrograd.optim.__all__}
    return [name for name, kind in sorted(kinds.items())
            if isinstance(kind, type) and kind is not retrograd.optim.Optimizer
            and issubclass(kind, retrograd.optim.Optimizer) and name not in _APART]
