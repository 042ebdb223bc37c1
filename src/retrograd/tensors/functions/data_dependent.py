"""The public functions that depend on the numbers in their tensors, not only on shapes and dtypes.

Such a function returns Python numbers, or tensors whose shape depends on the numbers, or it branches on the numbers. A
transform whose arrays hold no numbers can refuse such a function by name. Other functions read numbers only to find
wrong numbers, such as an index out of bounds, and they do so in an op.
"""

from __future__ import annotations

# For the name of each function: what the numbers decide.
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
    "repeat_interleave": "how many elements the result has, if the counts are a tensor",
    "one_hot": "how many classes there are, if `num_classes` is not given",
    "embedding_bag": "where the last bag ends, if `include_last_offset` is set",
    "ctc_loss": "how long the sequences are",
    "_pack_padded_sequence": "how many elements the result has",
    "_pad_packed_sequence": "how long the sequences are",
    "lstm": "how long packed sequences are",
    "gru": "how long packed sequences are",
    "rnn_tanh": "how long packed sequences are",
    "rnn_relu": "how long packed sequences are",
    "fused_moving_avg_obs_fake_quant": "whether it observes, and the scale",
    "fbgemm_linear_quantize_weight": "the scale and the zero, which are Python numbers",
    "cov": "whether there is a warning, if there are weights",
}
