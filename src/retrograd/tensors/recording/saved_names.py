"""PyTorch's names of the values that a node saved, such as `_saved_self` and `_saved_dim`.

Most names follow from the operator's: x is `self`, y is `other`, out is `result`, axes is `dim`, the shape of x is
`self_sym_sizes`. The table below has the names that do not follow. `saved_values` reads the values.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ...ops.framework import Op, Save

_USUAL = {"x": "self", "y": "other", "out": "result", "axes": "dim", "x.shape": "self_sym_sizes"}

# By the name of the node: each attribute, with the operator's name of the value if that is different. `x.shape` and
# `x.size` are read from the edges, and so is `x.shape.0`, the first size. `dim.parts` are the sizes of the results
# along `dim`. Of alternatives (`|`), the first that the operator has counts. A number stands for itself.
_LINES = """
AcoshBackward1
AdaptiveAvgPool2DBackward0
AdaptiveAvgPool3DBackward0
AdaptiveMaxPool2DBackward0 result1=indices
AdaptiveMaxPool3DBackward0 result1=indices
AddBackward0 alpha=alpha|1
AddbmmBackward0 alpha batch1 batch1_sym_argsize_0=batch1.shape.0 batch1_sym_argsize_1=batch1.shape.1 batch2 \
    batch2_sym_argsize_2=batch2.shape.2 beta
AddcdivBackward0 tensor1=y tensor2=z value
AddcmulBackward0 tensor1=y tensor2=z value
AddmmBackward0 alpha beta mat1 mat1_sym_sizes=mat1.shape mat1_sym_strides=mat1.strides mat2 \
    mat2_sym_sizes=mat2.shape mat2_sym_strides=mat2.strides
AddmvBackward0 alpha beta mat=mat1 vec=mat2
AffineGridGeneratorBackward0 align_corners=align
AsStridedBackward0 size storage_offset=start stride
AsStridedBackward0_copy size storage_offset=start stride
AsStridedBackward1 size storage_offset=start stride
AsStridedScatterBackward0 size storage_offset=start stride
AsinhBackward1
AtanhBackward1
AvgPool2DBackward0 ceil_mode count_include_pad divisor_override=divisor kernel_size=kernel padding stride
AvgPool3DBackward0 ceil_mode count_include_pad divisor_override=divisor kernel_size=kernel padding stride
BaddbmmBackward0 alpha batch1=mat1 batch2=mat2 beta
BinaryCrossEntropyBackward0 reduction self=x target=y weight
BinaryCrossEntropyWithLogitsBackward0 pos_weight reduction self=x target=y weight
BlockDiagBackward0
BmmBackward0 mat2=y self=x
CatBackward0 dim
CdistBackward0 p result=out x1=x x2=y
CeluBackward0 alpha self=x
CeluBackward1 alpha result=out
ChannelShuffleBackward0 groups
CholeskyBackward0 result=factor upper
CholeskyInverseBackward0 result=out self=factor upper
CholeskySolveBackward0 input2=factor result=out upper
ClampMaxBackward0 max self=x
ClampMinBackward0 min self=x
Col2ImBackward0 dilation kernel_size=kernel padding stride
ConstantPadNdBackward0 pad
ConvTbcBackward0 pad self=x weight
ConvolutionBackward0 dilation groups input=x padding stride transposed weight
CtcLossBackward0 log_probs zero_infinity
CummaxBackward0 dim indices
CumminBackward0 dim indices
DiagEmbedBackward0 dim1=dim0 dim2=dim1 offset
DiagonalBackward0 dim1=dim0 dim2=dim1 offset self_sym_sizes=x.shape
DiagonalBackward0_copy dim1=dim0 dim2=dim1 offset self_sym_sizes=x.shape
DiagonalScatterBackward0 dim1=dim0 dim2=dim1 offset
DivBackward1 other=number
DivBackward2 other=y rounding_mode self=x
DotBackward0 self=x tensor=y
EmbeddingBackward0 indices=index padding_idx=padding scale_grad_by_freq=by_count weight_sym_argsize_0=weight.shape.0
EmbeddingBagBackward0 indices=index mode padding_idx=padding per_sample_weights=scales weight
ErfinvBackward0
EuclideanDistBackward0 result=out x1=x x2=y
ExpandBackward0 self_sym_sizes=x.shape
ExpandBackward0_copy self_sym_sizes=x.shape
FftC2CBackward0 dim=dims forward normalization=scale
FftC2RBackward0 dim=dims normalization=scale
FftR2CBackward0 dim=dims normalization=scale onesided
FlipBackward0 dims=dims|dim
FractionalMaxPool2DBackward0 output_size=to result1=indices
FractionalMaxPool3DBackward0 output_size=to result1=indices
GatherBackward0 dim index sparse_grad=False
GeqrfBackward0
GridSampler2DBackward0 align_corners=align grid input=x interpolation_mode=mode padding_mode=padding
GridSampler3DBackward0 align_corners=align grid input=x interpolation_mode=mode padding_mode=padding
HuberLossBackward0 delta reduction self=x target=y
Im2ColBackward0 dilation kernel_size=kernel padding self_sym_argsize_minus_1=x.shape.-1 \
    self_sym_argsize_minus_2=x.shape.-2 stride
IndexAddBackward0 alpha dim index
IndexCopyBackward0 dim index
IndexReduceBackward0 dim include_self reduce result=out self=x source=src
LerpBackward1 end=y self=x weight
LinalgCholeskyExBackward0 L=factor upper
LinalgCrossBackward0 dim other=y self=x
LinalgDetBackward0 A=a
LinalgEigBackward0 eigenvalues=values eigenvectors=vectors
LinalgEighBackward0 eigenvalues=values eigenvectors=vectors
LinalgHouseholderProductBackward0 input=a tau
LinalgInvExBackward0 inverse
LinalgLstsqBackward0 b self=a solution=x
LinalgLuBackward0 L=lower P=p U=upper
LinalgLuFactorExBackward0 LU=factors pivots=pivots
LinalgLuSolveBackward0 LU=x adjoint=adjoint_too left result=out
LinalgMatrixExpBackward0 self=x
LinalgPinvBackward0 result=out self=a
LinalgQrBackward0 Q=q R=r mode
LinalgSlogdetBackward0 A=a sign
LinalgSolveExBackward0 A=a left result=x
LinalgSolveTriangularBackward0 left result=out self=a unitriangular upper
LinalgSvdBackward0 S=s U=u Vh=vh
LinalgVectorNormBackward0 dim=axes keepdim ord=p self=x result=out
LuUnpackBackward0 LU_data_sym_argsize_minus_1=x.shape.-1 LU_data_sym_argsize_minus_2=x.shape.-2
MaskedScatterBackward0 mask source_sym_sizes=source.shape
MaskedSelectBackward0 mask
MaxPool2DWithIndicesBackward0 dilation kernel_size=kernel result1=indices stride
MaxPool3DWithIndicesBackward0 dilation kernel_size=kernel result1=indices stride
MaxUnpool2DBackward0 indices
MaxUnpool3DBackward0 indices
MeanBackward0 self_sym_numel=x.size self_sym_sizes=x.shape
MeanBackward1 dim=axes keepdim self_sym_numel=x.size self_sym_sizes=x.shape
MmBackward0 mat2=y mat2_sym_sizes=y.shape mat2_sym_strides=y.strides self=x \
    self_sym_sizes=x.shape self_sym_strides=x.strides
MseLossBackward0 reduction self=x target=y
MulBackward1 other=number
MultilabelMarginLossBackward0 reduction self=x
MvBackward0 self=x vec=y
NativeBatchNormBackward0 eps input=x result1=mean result2=rstd running_mean running_var weight
NativeDropoutBackward0 result1=mask
NativeGroupNormBackward0 C=x.shape.1 N=x.shape.0 eps group=groups input=x weight
NativeLayerNormBackward0 input=x result1=mean result2=rstd weight
NllLoss2DBackward0 ignore_index reduction target weight
NllLossBackward0 ignore_index reduction target weight
NormBackward1 dim=axes keepdim p result=out self=x
NormalBackward1 mean_sym_sizes=x.shape
NormalBackward2 std_sym_sizes=x.shape
NormalBackward3 mean_sym_sizes=x.shape std_sym_sizes=y.shape
OrmqrBackward0 input2=tau input3=c left self=a transpose
PdistBackward0 p result=out self=x
PixelShuffleBackward0 upscale_factor=factor
PixelUnshuffleBackward0 downscale_factor=factor
PowBackward0 exponent=exponent|2 self=x
PowBackward1 exponent=y self=x result=out
PowBackward2 exponent=y self=base result=out
PutBackward0 accumulate index
ReflectionPad1DBackward0 padding=pad
ReflectionPad2DBackward0 padding=pad
ReflectionPad3DBackward0 padding=pad
ReplicationPad1DBackward0 padding=pad
ReplicationPad2DBackward0 padding=pad
ReplicationPad3DBackward0 padding=pad
ResizeBackward
RreluWithNoiseBackward0 lower self=x upper
RreluWithNoiseBackward1 lower result=out upper
RsubBackward1 alpha
ScaledDotProductFlashAttentionForCpuBackward0 key=k query=q value=v
ScatterAddBackward0 dim index
ScatterBackward0 dim index
ScatterReduceBackward0 dim include_self index reduce result=out self=x src
SegmentReduceBackward0 axis=dim data=x initial result=out
SelectBackward0 dim=dim|0 index self_sym_sizes=x.shape
SliceBackward0 dim end=stop self_sym_sizes=x.shape start step
SliceBackward0_copy dim end=stop self_sym_sizes=x.shape start step
SliceScatterBackward0 dim end=stop start step
SmoothL1LossBackward0 beta reduction self=x target=y
SoftMarginLossBackward0 reduction self=x target=y
SplitBackward0 dim self_sym_sizes=x.shape split_size=dim.parts.0
SplitBackward0_copy dim self_sym_sizes=x.shape split_size=dim.parts.0
SplitWithSizesBackward0 dim self_sym_sizes=x.shape split_sizes=dim.parts
SplitWithSizesBackward0_copy dim self_sym_sizes=x.shape split_sizes=dim.parts
StdMeanBackward0 correction dim=axes keepdim self=x result0=std
SubBackward0 alpha=alpha|1
TakeBackward0 index
TriangularSolveBackward0 A=a solution transpose unitriangular upper
TrilinearBackward0 i1=x i2=weight i3=y
UnfoldBackward0 dimension=dim self_sym_sizes=x.shape size step
UnfoldBackward0_copy dimension=dim self_sym_sizes=x.shape size step
UnsafeSplitBackward0 dim self_sym_sizes=x.shape split_size=dim.parts.0
UnsafeSplitWithSizesBackward0 dim self_sym_sizes=x.shape split_sizes=dim.parts
UpsampleBicubic2DAaBackward0 self_sym_sizes=x.shape
UpsampleBicubic2DBackward0 self_sym_sizes=x.shape
UpsampleBilinear2DAaBackward0 self_sym_sizes=x.shape
UpsampleBilinear2DBackward0 self_sym_sizes=x.shape
UpsampleLanczos2DAaBackward0 self_sym_sizes=x.shape
UpsampleLinear1DBackward0 self_sym_sizes=x.shape
UpsampleNearest1DBackward0 self_sym_sizes=x.shape
UpsampleNearest2DBackward0 self_sym_sizes=x.shape
UpsampleNearest3DBackward0 self_sym_sizes=x.shape
UpsampleNearestExact1DBackward0 self_sym_sizes=x.shape
UpsampleNearestExact2DBackward0 self_sym_sizes=x.shape
UpsampleNearestExact3DBackward0 self_sym_sizes=x.shape
UpsampleTrilinear3DBackward0 self_sym_sizes=x.shape
"""
_TABLE = {node: attributes for node, *attributes in map(str.split, _LINES.strip().splitlines())}

# Attributes that PyTorch keeps as numbers of any type. It keeps all other numbers as unsigned integers, so -1 is
# 2**64 - 1.
SCALARS = frozenset(("alpha", "beta", "correction", "delta", "eps", "exponent", "input_scale", "max", "max_val", "min",
                     "min_val", "negative_slope", "ord", "scale", "self", "threshold", "value", "weight"))


class Attribute(NamedTuple):
    """Where a node keeps the value of an attribute.

    For the kinds 'saved' and 'strides', `place` is the index in `node.saved`. For 'shape' and 'size', `place` is the
    index of the edge. For 'parts', `place` is the index of the dim in `node.saved`. For 'constant', `place` is the
    value. `axis` chooses one of several sizes.
    """

    kind: str
    place: int
    axis: int | None = None


@cache
def attributes_of(op: Op) -> dict[str, Attribute]:
    """The attributes of the nodes of an op by PyTorch's names, in PyTorch's order: by name, results last."""
    declared = _TABLE.get(op.node_name)
    if declared is None:
        sources = [_source(op, save) for i, save in enumerate(op.saves) if i in _used(op)]
        declared = [f"{_USUAL.get(source, source)}={source}" for source in sources if not source.endswith(".dtype")]
    found: dict[str, Attribute] = {}
    for declaration in sorted(declared, key=lambda d: (d.partition("=")[2] in op.outputs, d)):
        name, _, source = declaration.partition("=")
        for choice in (source or name).split("|"):
            attribute = _attribute(op, choice)
            if attribute is not None:
                found[name] = attribute
                break
    return found


def _used(op: Op) -> frozenset[int]:
    return frozenset().union(*op.uses.values())


def _source(op: Op, save: Save) -> str:
    """The name of a saved value in the table."""
    if save.kind == "out":
        return op.outputs[save.place]
    name = op.arguments[save.place]
    return f"{name}.{save.attribute}" if save.attribute else name


def _attribute(op: Op, source: str) -> Attribute | None:
    if source.isdigit() or source == "False":
        return Attribute("constant", int(source) if source.isdigit() else False)
    name, _, property = source.partition(".")
    if property:
        return _size_attribute(op, name, *property.split("."))
    for place in _used(op):
        if _source(op, op.saves[place]) == source:
            return Attribute("saved", place)
    return None


def _size_attribute(op: Op, name: str, kind: str, axis: str | None = None) -> Attribute | None:
    """Where a node keeps sizes: those of the argument `name`, or those of the results along the dim of this name."""
    if name not in op.arguments:
        return None
    place = op.arguments.index(name)
    if kind in ("strides", "parts"):
        place = op.saves.index(Save(kind if kind == "strides" else "static", place))
    return Attribute(kind, place, None if axis is None else int(axis))


@cache
def packing_order(op: Op) -> tuple[int, ...]:
    """The indices of the saved values of a node of this op, in the order in which PyTorch packs and unpacks them."""
    named = [place for kind, place, _ in attributes_of(op).values() if kind == "saved"]
    return (*named, *[place for place in range(len(op.saves)) if place not in named])
