"""The one place where the layers are wired together: what a lower layer calls, and only a higher layer can define.

A layer imports only from the layers below it. Some classes in lower layers therefore only declare functions or classes,
and `wire` fills them in. The graph shows gradients to users' hooks without knowing tensors. Recorded calls make tensors
without importing the class. Errors name functions whose dotted names only `overrides` knows. `compile` wraps a module
in a class that stands above the modules.
"""

from collections.abc import Iterable
from typing import Any

from .compiling import Modules
from .graph.hooks import Users
from .graph.node import SavedReader
from .nn.modules.module import Module
from .optimized import OptimizedModule
from .overrides import refused
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
    Words.refused = staticmethod(refused)
    Modules.kind, Modules.optimized = Module, OptimizedModule


def say_where(functions: Iterable[Any], module: str) -> None:
    """Let recorded functions say the module under which programs know them, so that they can be pickled."""
    for function in functions:
        if getattr(function, "__module__", None) == calls.__name__:
            function.__module__ = module
