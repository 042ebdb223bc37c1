"""The op table: one statement for each operator, with its kernel and its derivative rules.

Programs find the operators of PyTorch's core here, as `torch.ops.aten`, and those of `torch.library`.
"""

import os
import sys
from typing import TYPE_CHECKING, Any

from ..foundations.names import reached


class _Core:
    """What an operator of PyTorch's core calls. This layer does not know public functions, and `wiring` finds them."""

    apart: Any                                             # says whether an operator is unlike the function of its name
    function: Any                                          # gives the function or method of a name, or None
    called: Any                                            # calls an overload
    overloads: Any                                         # gives the schemas of a name by its overloads
    handler: Any = None                                    # asks modes and classes below autograd, once there are any
    schema: Any                                            # gives the schema of an overload, or None


def load_library(path: Any) -> None:
    """Have the operators of a compiled library: those of torchvision, which retrograd has itself.

    Raises OSError for another library, since it is compiled for PyTorch.
    """
    folder, name = os.path.split(os.fspath(path))
    if os.path.basename(folder) != "torchvision" or not name.startswith("_C"):
        raise OSError(f"{path}: the library is compiled for PyTorch, and retrograd cannot load it. Write its operators "
                      "in Python, with torch.library.")
    reached("library.vision")
    loaded_libraries.add(str(path))


loaded_libraries: set[str] = set()                         # those that programs have asked for


if not TYPE_CHECKING:
    def __getattr__(name: str) -> Any:
        # Without a hint: the import of each module of the table asks for its name first.
        defined = sys.modules.get(f"{__name__}.overloads")
        if name in ("aten", "prim") or (defined is not None and name in defined.NAMESPACES):
            return reached("ops.overloads").NAMESPACES[name]
        raise AttributeError(f"'_Ops' object 'torch.ops' has no attribute {name!r}")
