"""torch._tensor_str: the options of printing and the text of the elements, for programs that write tensors to files."""

from typing import TYPE_CHECKING, Any

from .foundations.names import missing
from .tensors.face.printing import elements_text, print_options, printoptions, set_printoptions
from .tensors.tensor import Tensor

__all__ = ["PRINT_OPTS", "printoptions", "set_printoptions"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class _Present:
    """The options in force, by their names."""

    def __getattr__(self, name: str) -> Any:
        return getattr(print_options(), name)


PRINT_OPTS = _Present()


def _tensor_str(self: Tensor, indent: int) -> str:
    """The elements of a tensor in their brackets, as they are printed from the column `indent` on."""
    return elements_text(self.detach().resolve_conj().resolve_neg().numpy(force=True), indent)
