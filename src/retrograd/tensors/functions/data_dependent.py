"""The public functions that depend on the numbers in their tensors, and not on shapes and dtypes alone.

Such a function returns Python's numbers, or tensors of a shape that the numbers decide, or goes one way or another. A
transform, whose arrays may have no numbers to show, can refuse it by name. Other functions look at numbers only to
refuse wrong ones, such as an index that is out of bounds; they do so by way of an op.
"""

from __future__ import annotations

# By name what the numbers decide.
DATA_DEPENDENT = {
    "item": "a Python number",
    "tolist": "Python numbers",
    "numpy": "memory that NumPy reads",
    "equal": "a Python bool",
    "allclose": "a Python bool",
    "is_nonzero": "a Python bool",
    "nonzero": "how many rows the result has",
    "argwhere": "how many rows the result has",
    "masked_select": "how many elements the result has",
    "unique": "how many elements the result has",
    "unique_consecutive": "how many elements the result has",
    "bincount": "how many elements the result has",
    "repeat_interleave": "how many elements the result has, where the counts are a tensor",
    "one_hot": "how many classes there are, where no number is given",
    "embedding_bag": "where the last bag ends, where `include_last_offset` is set",
    "ctc_loss": "how long the words are",
    "cov": "whether there is a warning, where there are weights",
}
