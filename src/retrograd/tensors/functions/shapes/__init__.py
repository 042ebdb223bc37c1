"""Functions that change shape, join, split and rearrange."""
