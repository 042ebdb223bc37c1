"""The correct calls that `wrong_calls` makes wrong calls of: of the table of operators, of modules, and some here.

What the table of operators calls is called as there: see `table_calls`. Here are only calls of functions that no entry
calls, nearly all of which take no tensor. A line is the names and the arguments of one call, in Python; `f` and `i`
make tensors of a shape, of floats in (0, 1) and of ints.
"""

from __future__ import annotations

from collections.abc import Iterator

from comparing import everyday
from comparing.module_calls import modules
from comparing.table_calls import table_calls
from comparing.wrong_calls import Call

LACKING = {
    "torch": """
normal: 0.0, 1.0, (3, 4)
multinomial: f(3, 4), 2, True
rand randn: 3, 4
rand randn: (3, 4), dtype=torch.float64, requires_grad=True
randint: 0, 10, (3, 4)
randint: 10, (3, 4), dtype=torch.int32
randperm: 5
rand_like randn_like: f(3, 4), dtype=torch.float64
randint_like: f(3, 4), 0, 10
tril_indices triu_indices: 3, 4, 1
""",
    "torch.fft": """
fftfreq rfftfreq: 5, 2.0
""",
}


def calls() -> list[Call]:
    """Correct calls of the everyday operators and of every module; some have several."""
    names = {name for names in everyday.names().values() for name in names}
    return [*(call for call in (*table_calls(), *lacking()) if call.name in names),
            *(Call(f"torch.nn.{name}", (made_with,)) for name, made_with, _ in modules() if made_with)]


def lacking() -> Iterator[Call]:
    """The calls that the table of operators does not have."""
    for space, text in LACKING.items():
        for line in text.strip().splitlines():
            names, _, arguments = line.partition(": ")
            for name in names.split():
                yield Call(f"{space}.{name}", (arguments,))
