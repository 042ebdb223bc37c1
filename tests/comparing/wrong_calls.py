"""Wrong calls, made of correct ones: each argument exchanged in turn for what is wrong, left out, or one too many."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from comparing.against_torch import tensor_of

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


# What ends the process, since PyTorch reads foreign memory.
CRASHES = re.compile(r"embedding_bag\(.*offsets=\(x\d\)\[\.\.\., :0\]")


class Call(NamedTuple):
    """A call by its full name, its arguments as text, and the tensors that these name as x0, x1."""

    name: str
    arguments: tuple[str, ...]
    tensors: tuple[np.ndarray[Any, Any], ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.arguments)})"


def maker(library: Any, arrays: Sequence[np.ndarray[Any, Any]] = ()) -> dict[str, Any]:
    """The names that an argument may use: the library, its tensors of a shape, and those of the arrays as x0, x1.

    The values are always the same.
    """
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
    named = {f"x{place}": tensor_of(library, array) for place, array in enumerate(arrays)}
    return {"torch": library, "f": f, "i": i, "b": b, "c": c, "s": s} | named


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


def wrong_calls(library: Any, correct: Call) -> Iterator[Call]:
    """The calls with one thing wrong. The library says of what kinds the arguments are."""
    for arguments in _wrong_arguments(library, correct):
        call = correct._replace(arguments=arguments)
        if not CRASHES.search(str(call)):
            yield call


def _wrong_arguments(library: Any, correct: Call) -> Iterator[tuple[str, ...]]:
    call = ast.parse(f"f({', '.join(correct.arguments)})", mode="eval").body
    assert isinstance(call, ast.Call)
    texts = [ast.unparse(a) for a in call.args] + [f"{k.arg}={ast.unparse(k.value)}" for k in call.keywords]
    positional, space = len(call.args), maker(library, correct.tensors)
    for place, text in enumerate(texts):
        key, _, plain = text.rpartition("=") if place >= positional else ("", "", text)
        before, after = texts[:place], texts[place + 1:]
        yield *before, *after
        for other in wrong(eval(plain, space), library.Tensor):
            other = re.sub(r"\bv\b", f"({plain})", other)
            yield *before, f"{key}={other}" if key else other, *after
    yield *texts[:positional], "1", *texts[positional:]
    yield *texts[:positional], "'a'", "None", *texts[positional:]
    yield *texts, "wrong=1"
    if "functional" in correct.name or not correct.name.startswith(("torch.nn.", "torch.Tensor.")):
        yield from ((*texts, f"out={other}") for other in OUT)
