"""The table of operators: how each is called, on which inputs, where it is smooth. Checked without and with PyTorch.

A module for each family holds its entries; an operator of the package that no entry reaches is a failing test.
"""

from __future__ import annotations

from op_table_activations import ACTIVATIONS
from op_table_attention import ATTENTION
from op_table_composed import ALIASES, COMPOSED, OVER_THEMSELVES
from op_table_convolution import CONVOLUTION
from op_table_decompositions import MATRIX_FACTORS
from op_table_differences import DIFFERENCES
from op_table_dropout import DROPOUT
from op_table_entry import DTYPES, Entry
from op_table_fourier import FOURIER
from op_table_images import IMAGES
from op_table_indexing import INDEXING
from op_table_inplace import INPLACE, RANDOM
from op_table_losses import LOSSES
from op_table_margins import MARGINS
from op_table_matrix import MATRIX
from op_table_normalization import NORMALIZATION
from op_table_piecewise import PIECEWISE
from op_table_places import PLACES
from op_table_pointwise import POINTWISE
from op_table_pooling import POOLING
from op_table_products import PRODUCTS
from op_table_reductions import REDUCTIONS
from op_table_sampling import SAMPLING
from op_table_shapes import SHAPES
from op_table_special import SPECIAL

__all__ = ["BY_NAME", "DTYPES", "RANDOM", "TABLE", "Entry"]

TABLE = [
    *POINTWISE,
    *SPECIAL,
    *ACTIVATIONS,
    *PIECEWISE,
    *INPLACE,
    *RANDOM,
    *SAMPLING,
    *DROPOUT,
    *LOSSES,
    *MARGINS,
    *REDUCTIONS,
    *MATRIX,
    *MATRIX_FACTORS,
    *SHAPES,
    *INDEXING,
    *DIFFERENCES,
    *CONVOLUTION,
    *POOLING,
    *FOURIER,
    *PRODUCTS,
    *PLACES,
    *NORMALIZATION,
    *IMAGES,
    *ATTENTION,
    *COMPOSED,
    *ALIASES,
    *OVER_THEMSELVES,
]
BY_NAME = {entry.name: entry for entry in TABLE}
