"""A correct call of every module of `nn`, with what it is made with: text, which no package needs to be imported for.

A line is the names of modules and the arguments, in Python. What a module is made with stands before the `|`, and what
it is called with after it. `f`, `i` and `c` make tensors of a shape, of floats in (0, 1), ints and complex numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

MODULES = """
Identity Sequential: | f(3, 4)
DataParallel: torch.nn.Linear(4, 2) | f(3, 4)
Sigmoid Tanh LogSigmoid Softsign Tanhshrink RReLU Hardshrink Softshrink GLU: | f(3, 4)
ReLU ReLU6 SELU SiLU Mish Hardsigmoid Hardswish: False | f(3, 4)
ELU CELU LeakyReLU: 0.1, False | f(3, 4)
Hardtanh: -1.0, 1.0, False | f(3, 4)
GELU: "tanh" | f(3, 4)
PReLU: 4, 0.25 | f(3, 4)
Softplus: 1.0, 20.0 | f(3, 4)
Threshold: 0.5, 1.0, False | f(3, 4)
Softmax Softmin LogSoftmax: 1 | f(3, 4)
Softmax2d: | f(2, 3, 4)
MultiheadAttention: 4, 2, 0.0, True | f(3, 2, 4), f(3, 2, 4), f(3, 2, 4), attn_mask=f(3, 3)
TransformerEncoderLayer: 4, 2, 8, 0.0, "gelu" | f(3, 2, 4), f(3, 3), f(2, 3)
TransformerDecoderLayer: 4, 2, 8, 0.0, "gelu" | f(3, 2, 4), f(5, 2, 4), f(3, 3), f(3, 5), f(2, 3), f(2, 5)
TransformerEncoder: torch.nn.TransformerEncoderLayer(4, 2, 8, 0.0), 1, torch.nn.LayerNorm(4), False | \
f(3, 2, 4), f(3, 3), f(2, 3)
TransformerDecoder: torch.nn.TransformerDecoderLayer(4, 2, 8, 0.0), 1, torch.nn.LayerNorm(4) | \
f(3, 2, 4), f(5, 2, 4), f(3, 3), f(3, 5), f(2, 3), f(2, 5)
Transformer: 4, 2, 1, 1, 8, 0.0 | f(3, 2, 4), f(5, 2, 4), f(3, 3), f(5, 5), f(5, 3), f(2, 3), f(2, 5), f(2, 3)
Linear: 4, 5, True | f(3, 4)
Bilinear: 4, 5, 6, True | f(3, 4), f(3, 5)
RNN: 4, 5, 2, "relu", True, False, 0.0, False | f(3, 2, 4), f(2, 2, 5)
GRU: 4, 5, 1, True, True, 0.0, True | f(2, 3, 4), f(2, 2, 5)
LSTM: 4, 5, 1, True, False, 0.0, False, 3 | f(3, 2, 4), (f(1, 2, 3), f(1, 2, 5))
RNNCell: 4, 5, True, "tanh" | f(3, 4), f(3, 5)
GRUCell: 4, 5, True | f(3, 4), f(3, 5)
LSTMCell: 4, 5, True | f(3, 4), (f(3, 5), f(3, 5))
Flatten: 1, -1 | f(3, 4)
Unflatten: 1, (2, 2) | f(3, 4)
Embedding: 4, 5, 1, 2.0, 2.0, False, False | i(3)
EmbeddingBag: 4, 5, 2.0, 2.0, False, "sum" | i(6), i(2) * 0, f(6)
Dropout AlphaDropout FeatureAlphaDropout: 0.5, False | f(3, 4)
Dropout1d Dropout2d: 0.5, False | f(2, 3, 4)
Dropout3d: 0.5, False | f(2, 3, 4, 4)
CosineSimilarity PairwiseDistance: | f(3, 4), f(3, 4)
Conv1d: 4, 6, 3, 1, 1, 1, 2, True, "zeros" | f(2, 4, 5)
Conv2d: 4, 6, 3, 1, 1, 1, 2, True, "zeros" | f(2, 4, 5, 5)
Conv3d: 4, 6, 3, 1, 1, 1, 2, True, "zeros" | f(2, 4, 3, 3, 3)
ConvTranspose1d: 4, 6, 3, 2, 1, 1, 2, True, 1, "zeros" | f(2, 4, 5)
ConvTranspose2d: 4, 6, 3, 2, 1, 1, 2, True, 1, "zeros" | f(2, 4, 5, 5)
ConvTranspose3d: 4, 6, 3, 2, 1, 1, 2, True, 1, "zeros" | f(2, 4, 3, 3, 3)
Conv1d: 4, 6, 3, padding=1, padding_mode="circular" | f(2, 4, 5)
Unfold: 2, 1, 0, 1 | f(1, 2, 4, 4)
Fold: (4, 4), 2, 1, 0, 1 | f(1, 8, 9)
MaxPool1d: 2, 2, 1, 1, False, False | f(1, 2, 6)
AvgPool1d: 2, 2, 1, False, True | f(1, 2, 6)
AdaptiveAvgPool1d AdaptiveMaxPool1d: 3 | f(1, 2, 6)
MaxPool2d: 2, 2, 1, 1, False, False | f(1, 2, 6, 6)
AvgPool2d: 2, 2, 1, False, True | f(1, 2, 6, 6)
AdaptiveAvgPool2d AdaptiveMaxPool2d: 3 | f(1, 2, 6, 6)
MaxPool3d: 2, 2, 1, 1, False, False | f(1, 2, 6, 6, 6)
AvgPool3d: 2, 2, 1, False, True | f(1, 2, 6, 6, 6)
AdaptiveAvgPool3d AdaptiveMaxPool3d: 3 | f(1, 2, 6, 6, 6)
LPPool1d: 2.0, 2 | f(1, 2, 6)
LPPool2d: 2.0, 2 | f(1, 2, 6, 6)
LPPool3d: 2.0, 2 | f(1, 2, 6, 6, 6)
FractionalMaxPool2d: 2, 3 | f(1, 2, 6, 6)
FractionalMaxPool3d: 2, 3 | f(1, 2, 6, 6, 6)
MaxUnpool1d: 2 | f(1, 2, 3), i(1, 2, 3) + torch.tensor([0, 2, 4])
MaxUnpool2d: 2 | f(1, 2, 2, 2), i(1, 2, 2, 2) + torch.tensor([[0, 2], [8, 10]])
MaxUnpool3d: 2 | f(1, 2, 1, 1, 1), i(1, 2, 1, 1, 1)
BatchNorm1d: 4, 1e-5, 0.1, True, True | f(3, 4)
BatchNorm2d: 4, 1e-5, 0.1, True, True | f(3, 4, 2, 2)
BatchNorm3d: 4, 1e-5, 0.1, True, True | f(3, 4, 2, 2, 2)
InstanceNorm1d: 4, 1e-5, 0.1, True, True | f(3, 4, 2)
InstanceNorm2d: 4, 1e-5, 0.1, True, True | f(3, 4, 2, 2)
InstanceNorm3d: 4, 1e-5, 0.1, True, True | f(3, 4, 2, 2, 2)
SyncBatchNorm: 4, 1e-5, 0.1, True, True | f(3, 4, 2)
LazyLinear: 5, True | f(3, 4)
LazyConv1d: 6, 3, 1, 1, 1, 2, True, "zeros" | f(2, 4, 5)
LazyConv2d: 6, 3, 1, 1, 1, 2, True, "zeros" | f(2, 4, 5, 5)
LazyConv3d: 6, 3, 1, 1, 1, 2, True, "zeros" | f(2, 4, 3, 3, 3)
LazyConvTranspose1d: 6, 3, 2, 1, 1, 2, True, 1, "zeros" | f(2, 4, 5)
LazyConvTranspose2d: 6, 3, 2, 1, 1, 2, True, 1, "zeros" | f(2, 4, 5, 5)
LazyConvTranspose3d: 6, 3, 2, 1, 1, 2, True, 1, "zeros" | f(2, 4, 3, 3, 3)
LazyBatchNorm1d: 1e-5, 0.1, True, True | f(3, 4)
LazyBatchNorm2d: 1e-5, 0.1, True, True | f(3, 4, 2, 2)
LazyBatchNorm3d: 1e-5, 0.1, True, True | f(3, 4, 2, 2, 2)
LazyInstanceNorm1d: 1e-5, 0.1, True, True | f(3, 4, 2)
LazyInstanceNorm2d: 1e-5, 0.1, True, True | f(3, 4, 2, 2)
LazyInstanceNorm3d: 1e-5, 0.1, True, True | f(3, 4, 2, 2, 2)
LayerNorm RMSNorm: (4,), 1e-5, True | f(3, 4)
GroupNorm: 2, 4, 1e-5, True | f(3, 4)
LocalResponseNorm: 2, 1e-4, 0.75, 1.0 | f(3, 4, 2)
CrossMapLRN2d: 3, 1e-4, 0.75, 1.0 | f(3, 4, 2, 2)
Upsample: None, 2.0, "nearest" | f(1, 2, 4, 4)
UpsamplingNearest2d UpsamplingBilinear2d: 6 | f(1, 2, 4, 4)
ZeroPad1d CircularPad1d ReflectionPad1d ReplicationPad1d: 1 | f(2, 3, 4)
ZeroPad2d CircularPad2d ReflectionPad2d ReplicationPad2d: 1 | f(2, 3, 4, 4)
ZeroPad3d CircularPad3d ReflectionPad3d ReplicationPad3d: 1 | f(2, 3, 4, 4, 4)
ConstantPad1d ConstantPad2d ConstantPad3d: 1, 0.5 | f(2, 3, 4, 4)
PixelShuffle: 2 | f(1, 4, 2, 2)
PixelUnshuffle: 2 | f(1, 1, 4, 4)
ChannelShuffle: 2 | f(1, 4, 3)
L1Loss MSELoss: None, None, "mean" | f(3, 4), f(3, 4)
SmoothL1Loss HuberLoss KLDivLoss BCELoss BCEWithLogitsLoss PoissonNLLLoss: | f(3, 4), f(3, 4)
CrossEntropyLoss NLLLoss: f(4), None, -100, None, "mean" | f(3, 4), i(3)
MultiMarginLoss: | f(3, 4), i(3)
NLLLoss2d: | f(2, 4, 3, 3), i(2, 3, 3)
LinearCrossEntropyLoss: 4, 5 | f(3, 4), i(3)
MultiLabelMarginLoss: | f(3, 4), i(3, 4)
SoftMarginLoss HingeEmbeddingLoss: | f(3, 4), i(3, 4) * 2 - 1
MultiLabelSoftMarginLoss: | f(3, 4), f(3, 4)
CosineEmbeddingLoss: | f(3, 4), f(3, 4), i(3) * 2 - 1
MarginRankingLoss: | f(3), f(3), i(3)
TripletMarginLoss TripletMarginWithDistanceLoss: | f(3, 4), f(3, 4), f(3, 4)
GaussianNLLLoss: | f(3, 4), f(3, 4), f(3, 4)
AdaptiveLogSoftmaxWithLoss: 4, 9, [3, 5], 2.0, True | f(3, 4), i(3)
CTCLoss: | f(5, 2, 4).log(), i(2, 3) + 1, i(2) * 0 + 5, i(2) * 0 + 2
"""


def lines(text: str) -> Iterator[tuple[str, str]]:
    """Each name of a text with its arguments."""
    for line in text.strip().splitlines():
        names, _, arguments = line.partition(": ")
        for name in names.split():
            yield name, arguments


def modules() -> list[tuple[str, str, str]]:
    """The name of each class, what it is made with, and what the module is called with."""
    return [(name, *map(str.strip, arguments.split("|"))) for name, arguments in lines(MODULES)]
