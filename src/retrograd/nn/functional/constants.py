"""Tables and notes of torch.nn.functional that programs import."""

from __future__ import annotations

from typing import Any

__all__ = ["GRID_SAMPLE_INTERPOLATION_MODES", "GRID_SAMPLE_PADDING_MODES", "assert_int_or_pair",
           "reproducibility_notes", "sparse_support_notes", "tf32_notes"]

GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}

# Sentences for docstrings. Every operator of this package is deterministic, dense, and computes in full precision.
reproducibility_notes = dict.fromkeys(
    ("forward_reproducibility_note", "backward_reproducibility_note", "cudnn_reproducibility_note"),
    "This operator is deterministic.")
sparse_support_notes = {"sparse_beta_warning": ""}
tf32_notes = {"tf32_note": "This operator computes in full precision."}


def assert_int_or_pair(arg: Any, arg_name: str, message: str) -> None:
    """Raise AssertionError, with the name put into the message, for what is neither an int nor of length 2."""
    if not isinstance(arg, int) and len(arg) != 2:
        raise AssertionError(message.format(arg_name))
