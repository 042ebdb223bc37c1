"""One expression, evaluated with real PyTorch and with retrograd: values to the accuracy of their type, and errors.

`same_expression` wants every bit to be the same, as this does not: sums are taken in another order here.
"""

from __future__ import annotations

from typing import Any

from against_torch import compare


def check(setup: str, expression: str, *, names: bool = True) -> None:
    """Fail where the two outcomes differ."""

    def case(library: Any) -> Any:
        known: dict[str, Any] = {"torch": library}
        exec(setup, known)
        return eval(expression, known)

    compare(case, order=0, names=names)
