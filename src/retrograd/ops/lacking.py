"""The operators that PyTorch's CPU does not compute in some rare types, and the names of its kernels in the messages.

`lacking.txt` has a line for each operator: its name, then the kernel that PyTorch lacks for unsigned integers beyond
uint8, the one for floats of 8 bits, and the one for bfloat16; or a dash where PyTorch computes. The file is read when a
program first uses such a type.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ..foundations.dtypes import UNSIGNED, bfloat16, dtype, unimplemented
from ..kernels.narrow import first_among
from .tables import Table, table


@cache
def kernels() -> Table[str, list[str]]:
    """The three columns of the file, by the name of the operator."""
    from pkgutil import get_data  # imported here, since few programs use such types

    text = get_data(__name__, "lacking.txt")
    assert text is not None
    return table("PyTorch's errors about unsigned integers, floats of 8 bits and bfloat16 name the kernels {}",
                 {name: lacking for name, *lacking in map(str.split, text.decode().splitlines())},
                 because="the operators of most lines are imported late, and the file later still")


def refuse_lacking(name: str, args: Sequence[Any], rare: set[np.dtype[Any]]) -> None:
    """Raise NotImplementedError if the first argument of a rare type has a type that PyTorch's operator lacks."""
    found = first_among(args, rare)
    lacking = kernels().get(name)
    if found is not None and lacking is not None:
        of = dtype.of[found]
        kernel = lacking[0 if of in UNSIGNED else 2 if of is bfloat16 else 1]
        if kernel != "-":
            raise unimplemented(kernel, found, "convert the tensor first, for example by .float() or .long()")
