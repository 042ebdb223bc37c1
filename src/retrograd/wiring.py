"""The one place where the layers are wired together: what a lower layer calls, and only a higher layer can define.

A layer imports only from the layers below it. Some classes in lower layers therefore only declare functions or classes,
and `wire` fills them in. The graph shows gradients to users' hooks without knowing tensors. Recorded calls make tensors
without importing the class. Errors name functions whose dotted names only `overrides` knows.
"""

from collections.abc import Iterable
from typing import Any

from .foundations.modes import Compiler
from .foundations.names import reached
from .graph.hooks import Users
from .graph.node import SavedReader
from .tensors.interim import Interim, by_elements
from .tensors.recording import calls, hooks, saved_values
from .tensors.recording.overriding import Attention, Words
from .tensors.state.base import Results
from .tensors.tensor import Tensor


def wire() -> None:
    """Fill in what the lower layers declare. The package calls `wire` once, at the end of its import."""
    Attention.begin(Tensor)                                  # which fills in `Results`, too
    Attention.spare(Interim)
    Results.interim, Results.by_elements = Interim, staticmethod(by_elements)
    Users.shown, Users.carried = staticmethod(hooks.shown), staticmethod(hooks.carried)
    Users.call, Users.node = staticmethod(hooks.call), staticmethod(hooks.call_node)
    SavedReader.attribute = staticmethod(saved_values.attribute)
    SavedReader.attributes = staticmethod(saved_values.attributes)
    Words.refused = staticmethod(_refused)
    Compiler.compile = staticmethod(_compile)


def _refused(function: Any, found: list[Any], mode: Any) -> TypeError:
    error: TypeError = reached("overrides").refused(function, found, mode)
    return error


def _compile(*args: Any, **kwargs: Any) -> Any:
    return reached("compilation.asking").compile(*args, **kwargs)


def say_where(functions: Iterable[Any], module: str) -> None:
    """Let recorded functions say the module under which programs know them, so that they can be pickled."""
    for function in functions:
        if getattr(function, "__module__", None) == calls.__name__:
            function.__module__ = module
