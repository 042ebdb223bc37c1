"""A correct call of every function of `nn.functional`, and of every module of `nn` with what it is made with.

The notation is that of `correct_calls`: a line is names and arguments; for a module, what it is made with stands before
the `|` and what it is called with after it.
"""

from __future__ import annotations

from collections.abc import Iterator

from comparing.correct_calls import FAMILIES

# The functions that `correct_calls` has no call of, and calls of others with more tensors.
FUNCTIONS = """
sigmoid tanh: f(3, 4)
celu_ elu_ hardtanh_ leaky_relu_ relu_ selu_ rrelu_: f(3, 4)
threshold_: f(3, 4), 0.5, 1.0
linear_cross_entropy: f(3, 4), f(5, 4), i(3), linear_bias=f(5), weight=f(5)
triplet_margin_with_distance_loss: f(3, 4), f(3, 4), f(3, 4)
mse_loss l1_loss: f(3, 4), f(3, 4), weight=f(3, 4)
conv_tbc: f(5, 2, 4), f(3, 4, 6), f(6), 1
max_pool1d: f(1, 2, 6), 2, return_indices=True
max_pool1d_with_indices adaptive_max_pool1d_with_indices: f(1, 2, 6), 2
max_pool2d max_pool2d_with_indices adaptive_max_pool2d_with_indices: f(1, 2, 6, 6), 2
max_pool3d_with_indices adaptive_max_pool3d_with_indices: f(1, 2, 4, 4, 4), 2
adaptive_avg_pool2d adaptive_avg_pool3d: f(1, 2, 4, 4, 4)[0], 3
fractional_max_pool2d fractional_max_pool2d_with_indices: f(1, 2, 6, 6), 2, 3, _random_samples=f(1, 2, 2)
fractional_max_pool3d fractional_max_pool3d_with_indices: f(1, 2, 6, 6, 6), 2, 3, _random_samples=f(1, 2, 3)
max_unpool1d: f(1, 2, 3), i(1, 2, 3) + torch.tensor([0, 2, 4]), 2
max_unpool2d: f(1, 2, 2, 2), i(1, 2, 2, 2) + torch.tensor([[0, 2], [8, 10]]), 2
max_unpool3d: f(1, 2, 1, 1, 1), i(1, 2, 1, 1, 1), 2
upsample upsample_nearest upsample_bilinear: f(1, 2, 4, 4), 6
channel_shuffle native_channel_shuffle: f(1, 4, 3), 2
pixel_unshuffle: f(1, 1, 4, 4), 2
multi_head_attention_forward: f(3, 2, 4), f(3, 2, 4), f(3, 2, 4), 4, 2, f(12, 4), f(12), f(1, 1, 4), f(1, 1, 4), \
False, 0.0, f(4, 4), f(4), key_padding_mask=f(2, 3), attn_mask=f(3, 3)
binary_cross_entropy_with_logits: f(3, 4), f(3, 4), f(3, 4), pos_weight=f(4)
batch_norm: f(3, 4), f(4), f(4), f(4), f(4), False
instance_norm: f(3, 4, 5), f(4), f(4), f(4), f(4), False
embedding: i(3), f(4, 5)
"""

MODULES = """
Identity Sequential: | f(3, 4)
Sigmoid Tanh LogSigmoid Softsign Tanhshrink ReLU ReLU6 SELU SiLU Mish Hardsigmoid Hardswish ELU CELU LeakyReLU \
Hardtanh GELU PReLU RReLU Hardshrink Softshrink GLU Softplus: | f(3, 4)
Threshold: 0.5, 1.0 | f(3, 4)
Softmax Softmin LogSoftmax: 1 | f(3, 4)
Softmax2d: | f(2, 3, 4)
MultiheadAttention: 4, 2 | f(3, 2, 4), f(3, 2, 4), f(3, 2, 4), attn_mask=f(3, 3)
Linear: 4, 5 | f(3, 4)
Bilinear: 4, 5, 6 | f(3, 4), f(3, 5)
Flatten: | f(3, 4)
Unflatten: 1, (2, 2) | f(3, 4)
Embedding: 4, 5 | i(3)
EmbeddingBag: 4, 5, mode="sum" | i(6), i(2) * 0, f(6)
Dropout AlphaDropout FeatureAlphaDropout: | f(3, 4)
Dropout1d Dropout2d: | f(2, 3, 4)
Dropout3d: | f(2, 3, 4, 4)
CosineSimilarity PairwiseDistance: | f(3, 4), f(3, 4)
Conv1d ConvTranspose1d: 4, 6, 3 | f(2, 4, 5)
Conv2d ConvTranspose2d: 4, 6, 3 | f(2, 4, 5, 5)
Conv3d ConvTranspose3d: 4, 6, 2 | f(2, 4, 3, 3, 3)
Conv1d: 4, 6, 3, padding=1, padding_mode="circular" | f(2, 4, 5)
Unfold: 2 | f(1, 2, 4, 4)
Fold: (4, 4), 2 | f(1, 8, 9)
MaxPool1d AvgPool1d AdaptiveAvgPool1d AdaptiveMaxPool1d: 2 | f(1, 2, 6)
MaxPool2d AvgPool2d AdaptiveAvgPool2d AdaptiveMaxPool2d: 2 | f(1, 2, 6, 6)
MaxPool3d AvgPool3d AdaptiveAvgPool3d AdaptiveMaxPool3d: 2 | f(1, 2, 6, 6, 6)
LPPool1d: 2.0, 2 | f(1, 2, 6)
LPPool2d: 2.0, 2 | f(1, 2, 6, 6)
LPPool3d: 2.0, 2 | f(1, 2, 6, 6, 6)
FractionalMaxPool2d: 2, 3 | f(1, 2, 6, 6)
FractionalMaxPool3d: 2, 3 | f(1, 2, 6, 6, 6)
MaxUnpool1d: 2 | f(1, 2, 3), i(1, 2, 3) + torch.tensor([0, 2, 4])
MaxUnpool2d: 2 | f(1, 2, 2, 2), i(1, 2, 2, 2) + torch.tensor([[0, 2], [8, 10]])
MaxUnpool3d: 2 | f(1, 2, 1, 1, 1), i(1, 2, 1, 1, 1)
BatchNorm1d: 4 | f(3, 4)
BatchNorm2d: 4 | f(3, 4, 2, 2)
BatchNorm3d: 4 | f(3, 4, 2, 2, 2)
InstanceNorm1d: 4 | f(3, 4, 2)
InstanceNorm2d: 4 | f(3, 4, 2, 2)
InstanceNorm3d: 4 | f(3, 4, 2, 2, 2)
LayerNorm RMSNorm: 4 | f(3, 4)
GroupNorm: 2, 4 | f(3, 4)
LocalResponseNorm: 2 | f(3, 4, 2)
Upsample: 6 | f(1, 2, 4, 4)
UpsamplingNearest2d UpsamplingBilinear2d: 6 | f(1, 2, 4, 4)
ZeroPad1d CircularPad1d ReflectionPad1d ReplicationPad1d: 1 | f(2, 3, 4)
ZeroPad2d CircularPad2d ReflectionPad2d ReplicationPad2d: 1 | f(2, 3, 4, 4)
ZeroPad3d CircularPad3d ReflectionPad3d ReplicationPad3d: 1 | f(2, 3, 4, 4, 4)
ConstantPad1d ConstantPad2d ConstantPad3d: 1, 0.5 | f(2, 3, 4, 4)
PixelShuffle: 2 | f(1, 4, 2, 2)
PixelUnshuffle: 2 | f(1, 1, 4, 4)
ChannelShuffle: 2 | f(1, 4, 3)
L1Loss MSELoss SmoothL1Loss HuberLoss KLDivLoss BCELoss BCEWithLogitsLoss PoissonNLLLoss: | f(3, 4), f(3, 4)
CrossEntropyLoss NLLLoss MultiMarginLoss: | f(3, 4), i(3)
NLLLoss2d: | f(2, 4, 3, 3), i(2, 3, 3)
LinearCrossEntropyLoss: 4, 5 | f(3, 4), i(3)
MultiLabelMarginLoss: | f(3, 4), i(3, 4)
SoftMarginLoss HingeEmbeddingLoss: | f(3, 4), i(3, 4) * 2 - 1
MultiLabelSoftMarginLoss: | f(3, 4), f(3, 4)
CosineEmbeddingLoss: | f(3, 4), f(3, 4), i(3) * 2 - 1
MarginRankingLoss: | f(3), f(3), i(3)
TripletMarginLoss TripletMarginWithDistanceLoss: | f(3, 4), f(3, 4), f(3, 4)
GaussianNLLLoss: | f(3, 4), f(3, 4), f(3, 4)
CTCLoss: | f(5, 2, 4).log(), i(2, 3) + 1, i(2) * 0 + 5, i(2) * 0 + 2
"""


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.strip().splitlines():
        names, _, arguments = line.partition(": ")
        for name in names.split():
            yield name, arguments


def functions() -> list[tuple[str, str]]:
    """The name of each function, and the arguments of a correct call; some have several."""
    return [*_lines(FAMILIES["torch.nn.functional"]), *_lines(FUNCTIONS)]


def modules() -> list[tuple[str, str, str]]:
    """The name of each class, what it is made with, and what the module is called with."""
    return [(name, *map(str.strip, arguments.split("|"))) for name, arguments in _lines(MODULES)]
