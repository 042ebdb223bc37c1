"""Entries of the table of operators that some kind of derivative or batch leaves out, each with the reason.

The tests of these kinds leave exactly these entries out, and docs/derivatives.md lists them.
"""

from __future__ import annotations

from op_table.entry import Entry
from op_table.table import TABLE


def listed(reason: str, names: str) -> dict[str, str]:
    """The reason by each name of a list that is separated by semicolons."""
    return dict.fromkeys((name.strip() for name in names.split(";")), reason)


# Recorded, but without a derivative. PyTorch raises an error, too.
WITHOUT_GRADIENT = {
    **listed("its derivative is 0 between steps and infinite at them",
             "floor_divide; x // 2; 7 // x; heaviside; heaviside_; floor_divide_(2); floor_divide_"),
    **listed("its derivative by the first argument has no closed form",
             "zeta with 2; igamma by both; igammac by both"),
    **listed("what is drawn are integers", "bernoulli like; binomial"),
    **listed("it is a sample, or the derivative of one", "_standard_gamma_grad; _dirichlet_grad; _sample_dirichlet"),
    **listed("factors in packed form have no unique derivative", "linalg.ldl_factor; linalg.ldl_solve; geqrf"),
    **listed("counts are constant between jumps",
             "histogram; histogram edges; histogram weight; histogramdd; histogramdd weight"),
    **listed("the number of results jumps", "unique; unique dim; unique_consecutive; unique_consecutive dim"),
    **listed("PyTorch states no derivative, and another name has one",
             "7 % x; scatter reduce=; scatter_ reduce=; scatter reduce= number; scatter_ reduce= number; "
             "native_channel_shuffle; embedding_renorm_; dequantize"),
    **listed("it is a constant by its meaning", "detach_copy"),
}

# Without a tangent that is the transposed gradient.
_KEPT = "a backward pass is part of it, and the input is no leaf"
WITHOUT_TANGENT = {
    **listed("the written result keeps the gradient of what it is written over, in PyTorch's reverse mode",
             "logical_and_; logical_or_; logical_xor_; logical_not_"),
    **listed("a convention about the gradient, which the tangent does not follow, as in PyTorch",
             "embedding padding_idx; embedding scale_grad_by_freq"),
    "a kept gradient": _KEPT,
}

# Not of a batch.
_STATISTICS = listed("what differs by sample is written over running statistics, which do not",
                     "batch_norm training; batch_norm training affine; batch_norm training momentum; "
                     "native_batch_norm; instance_norm affine; fused_moving_avg_obs_fake_quant")
_SHAPES = listed("the shape of the result depends on the numbers, and so differs by sample",
                 "unique; unique dim; unique_consecutive; unique_consecutive dim; nonzero; argwhere")
_CHECKS = listed("it looks at the numbers of the weights, as in PyTorch", "cov by weights; cov by weights of all")
_EVER = {**_STATISTICS, **_SHAPES, **_CHECKS}
_LEAVES = {**_EVER, "a kept gradient": "a backward pass inside of it asks for a leaf"}
UNBATCHED = {"values": _LEAVES, "nested": _LEAVES, "inside": _EVER, "outside": _LEAVES, "tangents": _LEAVES}


def without_second() -> dict[str, str]:
    """The entries whose second derivatives need not agree in every nesting."""
    once = "its derivative has no closed form that could be differentiated"
    return {entry.name: entry.conventional or (once if entry.once else WITHOUT_TANGENT[entry.name])
            for entry in TABLE if entry.conventional or entry.once or entry.name in WITHOUT_TANGENT}


def differentiable(entry: Entry) -> bool:
    """Whether an entry has inputs of numbers with a fraction, and a gradient."""
    return not entry.refused and not {"f", "c"}.isdisjoint(entry.kinds)
