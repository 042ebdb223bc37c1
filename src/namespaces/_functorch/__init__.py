"""torch._functorch: the modules from which PyTorch's own code takes the transforms of functions. Packages import them.

The transforms themselves are those of `func`. `functorch` is the package of this name that is installed with PyTorch.
"""

from typing import TYPE_CHECKING

from ..foundations.names import inside, late

__all__: list[str] = []
if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, __all__, inside({
        "": "apis autograd_function batch_norm_replacement config deprecated eager_transforms functional_call "
            "functorch make_functional utils vmap"}, __name__))
