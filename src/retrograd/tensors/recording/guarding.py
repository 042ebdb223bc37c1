"""How a public function comes to say of wrong arguments what PyTorch says: it is guarded.

A guarded function runs as before; only where it raises are its arguments held against the table. So a call that is
well costs one call more, about 60 ns, and checks nothing. Some functions would make something of what PyTorch refuses,
such as None for a bool; their arguments are looked at before, once for each combination of types. A function keeps its
identity, since methods and namespaces have taken it already: its code is exchanged for code that calls a copy of the
original. Must not know any function.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache, partial
from types import CodeType, FrameType, FunctionType
from typing import Any

from ...errors import PACKAGE
from ..arguments.signatures.checking import refusal
from ..arguments.signatures.reading import names
from ..state.base import TensorBase
from . import overriding

# What stands between a program and a function that is guarded. Modules hand on what a program calls them with.
_PASSED = (__file__, overriding.__file__, os.path.join(PACKAGE, "nn", "modules", ""))
# Whose arguments are looked at before the call. They take several microseconds, beside which that is little.
_BEFORE = {
    "": """argsort bernoulli bucketize cholesky_solve combinations cumulative_trapezoid
        index_reduce isin multinomial nan_to_num norm normal randint randint_like randperm roll rot90 scatter_reduce
        searchsorted std std_mean topk trapezoid tril tril_indices triu triu_indices vander var var_mean""",
    "linalg": "cholesky lu lu_factor lu_solve matrix_rank pinv solve solve_triangular svd vecdot",
    "fft": "fft2 hfft2 ifft2 ihfft2 irfft2 rfft2",
    "nn.functional": "avg_pool2d avg_pool3d cosine_similarity one_hot pairwise_distance",
}


def guard(spaces: dict[str, dict[str, Any]]) -> None:
    """Guard those functions among the members of namespaces that their tables have.

    What an operator's recorded call is, without a function around it, stays as it is: it is called most often, and
    has its own way to the table (`recording.operands`).
    """
    for space, members in spaces.items():
        before = _BEFORE.get(space, "").split()
        for name in names(space):
            function = members.get(name)
            # A function may have several names, and is guarded by the first.
            if (isinstance(function, FunctionType) and not function.__module__.endswith(".recording.calls")
                    and not hasattr(function, "__wrapped__")):
                _exchange(function, partial(_refusal, space, name), name in before)


def _refusal(space: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception | None:
    """PyTorch's error for the arguments of a call; None where they fit, and where it is the package's own call, which
    may have arguments that no program gives."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PASSED):
        frame = frame.f_back
    if frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        return None
    return refusal(space, name, args, kwargs)


def _exchange(function: FunctionType, refused: Callable[..., Exception | None], before: bool) -> None:
    original = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__,
                            function.__closure__)
    original.__kwdefaults__, original.__annotations__ = function.__kwdefaults__, function.__annotations__
    original.__qualname__ = function.__qualname__
    code = _code(len(function.__code__.co_freevars))
    function.__kwdefaults__ = {"__original": _looking(original, refused) if before else original, "__refusal": refused}
    function.__code__ = code.replace(co_name=function.__name__, co_qualname=function.__qualname__)
    function.__wrapped__ = original  # type: ignore[attr-defined]       # whose signature is shown


def _looking(original: FunctionType, refused: Callable[..., Exception | None]) -> Callable[..., Any]:
    """The function that looks at its arguments first. Types that fitted are remembered: they fit again, unless a tensor
    may have stood for a number."""
    known: set[tuple[Any, ...]] = set()

    def call(*args: Any, **kwargs: Any) -> Any:
        key = (*map(type, args), *kwargs, *map(type, kwargs.values()))
        if key not in known:
            error = refused(args, kwargs)
            if error is not None:
                raise error
            if not any(isinstance(x, TensorBase) and not x._array.ndim for x in (*args, *kwargs.values())):
                known.add(key)
        return original(*args, **kwargs)

    return call


@cache
def _code(cells: int) -> CodeType:
    """The code of a guarded function within another, of which it uses so many variables: Python wants as many here.

    What it calls it finds among its keyword defaults, since its globals are those of the original.
    """
    cell_names = ", ".join(f"cell{i}" for i in range(cells))
    source = (f"def outer({cell_names}):\n"
              " def guarded(*args, __original, __refusal, **kwargs):\n"
              "  try:\n"
              "   return __original(*args, **kwargs)\n"
              "  except Exception as error:\n"
              "   refused = __refusal(args, kwargs)\n"
              "   if refused is None:\n"
              "    raise\n"
              "  raise refused from None\n"
              f"  {cell_names}\n"
              " return guarded")
    module = compile(source, __file__, "exec")
    outer = next(code for code in module.co_consts if isinstance(code, CodeType))
    return next(code for code in outer.co_consts if isinstance(code, CodeType))
