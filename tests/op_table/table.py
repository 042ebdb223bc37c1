"""The table of operators: how each is called, on which inputs, where it is smooth. Checked without and with PyTorch.

A module for each family holds its entries; an operator of the package that no entry reaches is a failing test.
"""

from __future__ import annotations

from op_table.activations import ACTIVATIONS
from op_table.attention import ATTENTION
from op_table.composed import ALIASES, COMPOSED, OVER_THEMSELVES
from op_table.convolution import CONVOLUTION
from op_table.differences import DIFFERENCES
from op_table.dropout import DROPOUT
from op_table.elementwise import POINTWISE
from op_table.entry import DTYPES, Entry
from op_table.factorizations import MATRIX_FACTORS
from op_table.fake_quantization import FAKE_QUANTIZATION
from op_table.fourier import FOURIER
from op_table.images import IMAGES
from op_table.indexing import INDEXING
from op_table.inplace import INPLACE, RANDOM
from op_table.losses import LOSSES
from op_table.margins import MARGINS
from op_table.matrix import MATRIX
from op_table.normalization import NORMALIZATION
from op_table.piecewise import PIECEWISE
from op_table.places import PLACES
from op_table.pooling import POOLING
from op_table.products import PRODUCTS
from op_table.recurrent import RECURRENT
from op_table.reductions import REDUCTIONS
from op_table.sampling import SAMPLING
from op_table.shapes import SHAPES
from op_table.special import SPECIAL

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
    *FAKE_QUANTIZATION,
    *FOURIER,
    *PRODUCTS,
    *PLACES,
    *NORMALIZATION,
    *IMAGES,
    *ATTENTION,
    *RECURRENT,
    *COMPOSED,
    *ALIASES,
    *OVER_THEMSELVES,
]
BY_NAME = {entry.name: entry for entry in TABLE}
