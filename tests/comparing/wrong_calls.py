"""Wrong calls, made of correct ones: each argument exchanged in turn for what is wrong, left out, or one too many."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

# What takes the place of an argument, by what it was; `v` is the argument itself.
TENSOR = ("None", "'a'", "1.5", "[1.5]", "[v]", "v.long()", "v.bool()", "v.to(torch.complex64)", "v.half()",
          "v.double()", "v[..., :0]", "v.reshape(-1)[0]", "v[None]", "v[0]", "torch.cat([v, v], -1)",
          "torch.cat([v, v], 0)", "v.numpy()")
INDICES = (*TENSOR, "-v - 7", "v + 70")
INT = ("None", "'a'", "1.5", "torch.ones(2)", "torch.tensor(1.5)", "[1, 1]", "[]", "['a']", "0", "-1", "-9", "9", "1j",
       "float('nan')")
FLOAT = ("None", "'a'", "torch.ones(2)", "[0.5]", "1j", "0", "-1.0", "-2", "3.5", "float('nan')")
BOOL = ("None", "'a'", "2", "0.5", "torch.ones(2)", "[True]")
STRING = ("None", "'wrong'", "''", "1", "torch.ones(2)", "['a']", "'none'")
LIST = ("None", "'a'", "1", "0", "-9", "1.5", "torch.ones(2)", "[]", "['a']", "[1.5, 2.5]", "[None]", "[*v][:1]",
        "[*v, 1]", "[*v][:1] * 2", "[-9] * len(v)", "[9] * len(v)", "[-1] * len(v)", "[0] * len(v)",
        "[*v][:-1] + ['a']", "[*v][:-1] + [None]")
OTHER = ("1", "'a'", "[1]", "torch.ones(2)")
OUT = ("'a'", "1", "[torch.ones(2)]", "torch.ones(0, dtype=torch.int64)", "torch.ones(0, dtype=torch.bool)",
       "torch.ones(0)", "torch.ones(0, dtype=torch.complex64)", "torch.ones((), requires_grad=True)",
       "torch.ones(2, 2)")


class Call(NamedTuple):
    """A call by its full name, and its arguments as text."""

    name: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.arguments)})"


def maker(library: Any) -> dict[str, Any]:
    """The names that an argument may use: the library and its tensors of a shape, always of the same values."""
    def f(*shape: int) -> Any:
        return library.from_numpy(np.asarray(np.random.default_rng(0).uniform(0.1, 0.9, shape), np.float32))

    def i(*shape: int) -> Any:
        return library.from_numpy(np.asarray(np.random.default_rng(1).integers(0, 2, shape)))

    def b(*shape: int) -> Any:
        return i(*shape).bool()

    def c(*shape: int) -> Any:
        return f(*shape) + 1j

    def s(n: int) -> Any:
        return f(n, n) + n * library.eye(n)
    return {"torch": library, "f": f, "i": i, "b": b, "c": c, "s": s}


def function(library: Any, name: str) -> Any:
    return attrgetter(name.partition(".")[2])(library)


def wrong(value: Any, tensor: type[Any]) -> tuple[str, ...]:
    """What to try in the place of an argument."""
    if isinstance(value, tensor):
        return TENSOR if value.is_floating_point() else INDICES
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INT
    if isinstance(value, float):
        return FLOAT
    if isinstance(value, str):
        return STRING
    return LIST if isinstance(value, (list, tuple)) else OTHER


def wrong_calls(library: Any, name: str, arguments: str) -> Iterator[Call]:
    """All the calls with one thing wrong. The library says of what kinds the arguments are."""
    call = ast.parse(f"f({arguments})", mode="eval").body
    assert isinstance(call, ast.Call)
    texts = [ast.unparse(a) for a in call.args] + [f"{k.arg}={ast.unparse(k.value)}" for k in call.keywords]
    positional, space = len(call.args), maker(library)
    for place, text in enumerate(texts):
        key, _, plain = text.rpartition("=") if place >= positional else ("", "", text)
        before, after = texts[:place], texts[place + 1:]
        yield Call(name, (*before, *after))
        for other in wrong(eval(plain, space), library.Tensor):
            other = re.sub(r"\bv\b", f"({plain})", other)
            yield Call(name, (*before, f"{key}={other}" if key else other, *after))
    yield Call(name, (*texts[:positional], "1", *texts[positional:]))
    yield Call(name, (*texts[:positional], "'a'", "None", *texts[positional:]))
    yield Call(name, (*texts, "wrong=1"))
    for other in () if name.startswith(("torch.nn.", "torch.Tensor.")) and "functional" not in name else OUT:
        yield Call(name, (*texts, f"out={other}"))
