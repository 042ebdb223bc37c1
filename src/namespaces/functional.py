"""torch.functional: the functions that PyTorch keeps in this module. All of them are also in `torch`."""

from typing import TYPE_CHECKING

from .foundations.names import late
from .tensors.functions.indexing.scattering import unravel_index
from .tensors.functions.indexing.uniques import unique, unique_consecutive
from .tensors.functions.linalg.contraction import chain_matmul, einsum, tensordot
from .tensors.functions.linalg.distances import cdist
from .tensors.functions.linalg.low_rank import pca_lowrank, svd_lowrank
from .tensors.functions.linalg.norms import norm
from .tensors.functions.linalg.packed_factors import lu
from .tensors.functions.shapes.combining import block_diag, cartesian_prod
from .tensors.functions.shapes.joining import atleast_1d, atleast_2d, atleast_3d, split
from .tensors.functions.shapes.rearranging import broadcast_shapes, meshgrid
from .tensors.functions.shapes.shape import broadcast_tensors
from .tensors.functions.spectral import istft, stft

__all__ = ["atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors",
           "cartesian_prod", "cdist", "chain_matmul", "einsum", "istft", "lu", "meshgrid", "norm", "pca_lowrank",
           "split", "stft", "svd_lowrank", "tensordot", "unique", "unique_consecutive", "unravel_index"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, __all__, {"F": "nn.functional"})
