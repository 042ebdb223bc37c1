"""Saved tensors against PyTorch: what hooks are given for every operator, and what nodes say that they saved."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.against_torch import as_array
from op_table.table import TABLE, Entry


def results_of(library: Any, entry: Entry, arrays: Any) -> list[Any]:
    """What an entry gives on leaves that require grad; nothing where it refuses."""
    leaves = [library.from_numpy(a.copy()).requires_grad_() for a in arrays]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = entry.call(library, *leaves)
    except (RuntimeError, NotImplementedError):
        return []
    found = [*found] if isinstance(found, (tuple, list)) else [found]
    return [r for r in found if isinstance(r, library.Tensor) and r.grad_fn is not None]


def _kind(node: Any) -> str:
    return str(node.name().rpartition("::")[2])


def pairs(theirs: Any, ours: Any) -> Iterator[tuple[Any, Any]]:
    """The nodes that two graphs of the same form have at the same places, up to where one composes otherwise."""
    if theirs is None or ours is None:
        return
    if _kind(theirs) != _kind(ours):
        assert (_kind(theirs), _kind(ours)) in OTHER_NODES
        return
    yield theirs, ours
    for (a, _), (b, _) in zip(theirs.next_functions, ours.next_functions, strict=False):
        yield from pairs(a, b)


# What PyTorch's nodes have and ours do not, since "naming is saving": no rule of ours needs the value. Alternatives,
# where two of our operators have a node of this name.
NOT_SAVED = {
    "AdaptiveAvgPool2DBackward0": "self",
    "AdaptiveAvgPool3DBackward0": "self",
    "AdaptiveMaxPool2DBackward0": "self",
    "AdaptiveMaxPool3DBackward0": "self",
    "AffineGridGeneratorBackward0": "size",
    "AsStridedBackward0": "|size storage_offset stride",
    "AvgPool2DBackward0": "self",
    "AvgPool3DBackward0": "self",
    "CholeskySolveBackward0": "self",
    "ComplexBackward0": "imag real",
    "ConvTbcBackward0": "bias",
    "ConvolutionBackward0": "bias_sym_sizes_opt output_padding",
    "CtcLossBackward0": "blank input_lengths result0 result1 target_lengths targets",
    "CummaxBackward0": "self",
    "CumminBackward0": "self",
    "DivBackward1": "|other",
    "EmbeddingBackward0": "sparse",
    "EmbeddingBagBackward0": "offsets result1 result2 result3 scale_grad_by_freq sparse weight_sym_argsize_0",
    "ErfinvBackward0": "self",
    "FftR2CBackward0": "self",
    "FractionalMaxPool2DBackward0": "kernel_size self",
    "FractionalMaxPool3DBackward0": "kernel_size self",
    "GatherBackward0": "self",
    "GeluBackward0": "approximate",
    "IndexAddBackward0": "source source_dim",
    "IndexCopyBackward0": "source source_dim",
    "IndexReduceBackward0": "index reduce|index reduce result self source",
    "LinalgDetBackward0": "LU pivots result",
    "LinalgHouseholderProductBackward0": "result",
    "LinalgLuBackward0": "pivot",
    "LinalgLuFactorExBackward0": "pivot",
    "LinalgLuSolveBackward0": "pivots",
    "LinalgSlogdetBackward0": "LU pivots",
    "LinalgSolveExBackward0": "LU pivots",
    "LinalgSvdBackward0": "S_sym_argsize_minus_1 full_matrices",
    "LogSigmoidBackward0": "buffer",
    "MaskedSelectBackward0": "self",
    "MaxPool2DWithIndicesBackward0": "ceil_mode padding self",
    "MaxPool3DWithIndicesBackward0": "ceil_mode padding self",
    "MulBackward1": "|other",
    "MultilabelMarginLossBackward0": "is_target target",
    "NativeBatchNormBackward0": "result1 result2 training|running_mean running_var training",
    "NativeDropoutBackward0": "p",
    "NativeGroupNormBackward0": "HxW result1 result2",
    "NativeLayerNormBackward0": "bias normalized_shape",
    "NllLoss2DBackward0": "self total_weight",
    "NllLossBackward0": "self total_weight",
    "OrmqrBackward0": "result",
    "PutBackward0": "source",
    "ReflectionPad1DBackward0": "self",
    "ReflectionPad2DBackward0": "self",
    "ReflectionPad3DBackward0": "self",
    "ReplicationPad1DBackward0": "self",
    "ReplicationPad2DBackward0": "self",
    "ReplicationPad3DBackward0": "self",
    "RreluWithNoiseBackward0": "noise training",
    "RreluWithNoiseBackward1": "noise training",
    "ScaledDotProductFlashAttentionForCpuBackward0": "attn_mask dropout_p is_causal logsumexp output scale",
    "ScatterReduceBackward0": "reduce|reduce result self src",
    "SegmentReduceBackward0": "data initial lengths offsets reduce result|initial lengths offsets reduce|"
                              "lengths offsets reduce",
    "SgnBackward0": "result",
    "SpecialLogNdtrBackward0": "result",
    "SqueezeBackward1": "dim",
    "SqueezeBackward1_copy": "dim",
    "SqueezeBackward2": "dim",
    "SqueezeBackward2_copy": "dim",
    "SqueezeBackward4": "dim",
    "SqueezeBackward5": "dim",
    "TakeBackward0": "self",
    "TriangularSolveBackward0": "self",
    "TrilinearBackward0": "expand1 expand2 expand3 sumdim",
    "UpsampleBicubic2DAaBackward0": "align_corners output_size scales_h scales_w",
    "UpsampleBicubic2DBackward0": "align_corners output_size scales_h scales_w",
    "UpsampleBilinear2DAaBackward0": "align_corners output_size scales_h scales_w",
    "UpsampleBilinear2DBackward0": "align_corners output_size scales_h scales_w",
    "UpsampleLanczos2DAaBackward0": "align_corners output_size scales_h scales_w",
    "UpsampleLinear1DBackward0": "align_corners output_size scales",
    "UpsampleNearest1DBackward0": "output_size scales",
    "UpsampleNearest2DBackward0": "output_size scales_h scales_w",
    "UpsampleNearest3DBackward0": "output_size scales_d scales_h scales_w",
    "UpsampleNearestExact1DBackward0": "output_size scales",
    "UpsampleNearestExact2DBackward0": "output_size scales_h scales_w",
    "UpsampleNearestExact3DBackward0": "output_size scales_d scales_h scales_w",
    "UpsampleTrilinear3DBackward0": "align_corners output_size scales_d scales_h scales_w",
}
# Where a function composes PyTorch's result of nodes of other kinds: PyTorch's, and ours. The first pair is of the
# graph of a gradient.
OTHER_NODES = {("MulBackward1", "MulBackward0"), ("NormBackward0", "LinalgVectorNormBackward0"),
               ("NormBackward1", "LinalgVectorNormBackward0")}
# Options that are kept as they are computed with: dimensions counted from the front, all of them where none is named,
# an end within the bounds, the usual correction and offset.
RESOLVED = {"dim", "dims", "dim0", "dim1", "dim2", "dimension", "end", "correction", "storage_offset"}
# The same, of single nodes: a stride that is as the kernel, a padding that is a word.
RESOLVED_IN = {"MaxPool2DWithIndicesBackward0.stride", "MaxPool3DWithIndicesBackward0.stride",
               "AvgPool2DBackward0.stride", "AvgPool3DBackward0.stride", "ConvolutionBackward0.padding"}
# What PyTorch saves always, and ours only for a gradient that is needed.
UNNEEDED = {"BaddbmmBackward0.beta", "NativeBatchNormBackward0.input", "NativeBatchNormBackward0.running_mean"}
# Made of other nodes than PyTorch's: where PyTorch writes over what a derivative needs, nothing is written here; what
# is joined to the ends of a dimension is sliced off it in another order; eigenvectors that PyTorch's Function gives
# come from `eigh` here; a recurrent layer is one node here; packed sequences and the gates of cells keep sizes under
# other names; the norms of a weight are computed again.
RECURRENT = ("lstm", "gru", "rnn_", "pack_padded", "pad_packed")
OTHER_FORMS = ("vander", "cond", "pad circular", "lobpcg", "_weight_norm", *RECURRENT)


def saved(node: Any) -> dict[str, Any]:
    """What a node says that it saved."""
    return {name.removeprefix("_saved_"): getattr(node, name) for name in dir(node) if name.startswith("_saved_")}


def same_saved(name: str, theirs: Any, ours: Any) -> None:
    if isinstance(theirs, torch.Tensor):
        if theirs.ndim == 0 and not ours.requires_grad:           # a number is kept in the type it is computed in
            assert ours.item() == theirs.item(), name
            return
        assert str(ours.dtype) == str(theirs.dtype), name
        values = np.broadcast_to(as_array(ours), theirs.shape)    # of a weight that PyTorch has spread out
        np.testing.assert_allclose(values, as_array(theirs), rtol=1e-6, atol=1e-9, err_msg=name)
        assert (ours.requires_grad, ours.grad_fn is None) == (theirs.requires_grad, theirs.grad_fn is None), name
    elif isinstance(theirs, tuple) and any(isinstance(t, torch.Tensor) for t in theirs):
        assert str(ours) == str(theirs), name
    elif not isinstance(theirs, int) or theirs < 2**63:           # else counted from the end, and so shown by PyTorch
        assert ours == theirs, name


@pytest.mark.parametrize("entry", [e for e in TABLE if not e.name.startswith(OTHER_FORMS)], ids=str)
def test_nodes_say_what_they_saved(entry: Entry) -> None:
    for arrays in islice(entry.samples(), 2):
        for library in (torch, retrograd):
            library.manual_seed(0)
        for t, o in zip(results_of(torch, entry, arrays), results_of(retrograd, entry, arrays), strict=False):
            for theirs, ours in pairs(t.grad_fn, o.grad_fn):
                node = _kind(theirs)
                if "Backward" not in node:
                    continue
                expected, found = saved(theirs), saved(ours)
                apart = [set(names.split()) for names in NOT_SAVED.get(node, "").split("|")]
                assert expected.keys() - found.keys() in apart, node
                assert found.keys() <= expected.keys(), node
                for name in found.keys() - RESOLVED:
                    if f"{node}.{name}" in RESOLVED_IN or (found[name] is None and f"{node}.{name}" in UNNEEDED):
                        continue
                    same_saved(f"{node}.{name}", expected[name], found[name])


class Packed(list[Any]):
    """What a pack hook was given, one after the other."""

    def __init__(self, library: Any, entry: Entry, arrays: Any) -> None:
        def pack(t: Any) -> Any:
            node = None if t.grad_fn is None else t.grad_fn.name().rpartition("::")[2]
            self.append((tuple(t.shape), str(t.dtype).removeprefix("torch."), t.requires_grad, node))
            return t

        library.manual_seed(0)
        with library.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
            self.results = results_of(library, entry, arrays)


# The table's entries that save something else than PyTorch's, by the nodes above, and by: a weight that is not spread
# out, results that are no tensors that require grad, an LU made again, functions that PyTorch composes of others,
# out-variants.
PACKED_APART = tuple(name.strip() for name in """
    _weight_norm
    div floor
    div trunc
    erfinv
    sgn
    isfinite
    isclose
    complex
    logsigmoid
    asinh_
    acosh_
    atanh_
    binary_cross_entropy weight
    nll_loss
    cross_entropy
    cummax
    cummin
    a kept gradient
    cov by weights
    gather
    index_add
    index_copy
    masked_select
    take
    linalg.det
    det
    linalg.slogdet
    slogdet
    logdet
    linalg.solve matrices
    linalg.solve of
    linalg.solve left
    linalg.solve_ex
    triangular_solve
    cholesky_solve
    linalg.lu_solve
    lu_solve
    linalg.householder_product
    orgqr
    ormqr
    special.log_ndtr
    special.erfinv
    quantile
    nanquantile
    gradient places
    renorm_
    conv_tbc
    max_pool
    max_unpool
    avg_pool
    adaptive
    F.adaptive
    lp_pool
    fractional
    fft
    ifft
    rfft
    ihfft
    stft
    istft
    cond
    vander
    matrix_rank
    tensorsolve
    nuclear_norm
    norm nuc
    matrix_norm nuc
    matrix_norm 2
    matrix_norm -2
    rrelu
    torch.alpha_dropout
    ctc_loss
    linear_cross_entropy
    segment_reduce
    norm_except_dim
    lobpcg
    hinge_embedding_loss
    margin_ranking_loss
    cosine_embedding_loss
    multilabel_
    poisson_nll_loss full
    poisson_nll_loss target
    layer_norm affine
    layer_norm bias
    native_
    group_norm
    batch_norm
    instance_norm
    interpolate area
    local_response_norm
    attention
    multi_head_attention_forward unweighted
    scatter_reduce
    index_reduce
    put
    embedding_bag
    pad reflect
    pad replicate
    combinations
""".strip().splitlines()) + RECURRENT


@pytest.mark.parametrize("entry", [e for e in TABLE if not e.name.startswith(PACKED_APART)], ids=str)
def test_hooks_are_given_what_pytorch_gives_them_in_its_order(entry: Entry) -> None:
    for arrays in islice(entry.samples(), 2):
        assert Packed(retrograd, entry, arrays) == Packed(torch, entry, arrays)
