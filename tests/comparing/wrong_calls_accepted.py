"""Where a wrong call need not end as in PyTorch: the reason, how many calls it is the reason of, and a rule.

A call counts for the first reason whose rule accepts it. A test compares the numbers, so that no rule hides a new
difference, and a rule that accepts nothing is taken out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from comparing.schemas import SPACES, schemas_in


class Ends(NamedTuple):
    """A call, and how it ended in PyTorch and here: `ok ...`, or the error's type and message."""

    call: str
    theirs: str
    ours: str

    @property
    def name(self) -> str:
        return self.call.partition("(")[0]

    @property
    def types(self) -> tuple[str, str]:
        return self.theirs.partition(":")[0], self.ours.partition(":")[0]

    @property
    def refused(self) -> bool:
        return not self.theirs.startswith("ok") and not self.ours.startswith("ok")

    @property
    def taken(self) -> bool:
        """Whether PyTorch refuses what is taken here."""
        return not self.theirs.startswith("ok") and self.ours.startswith("ok")

    def of(self, pattern: str) -> bool:
        """Whether the call is of a function whose name, without `torch.`, this pattern matches to its end."""
        return re.fullmatch(pattern, self.name.removeprefix("torch.")) is not None


_TABLED = {f"torch.{space}.{name}" if space else f"torch.{name}"
           for space in SPACES for name in schemas_in(space)}
_F = r"nn\.functional\."
_OTHER_FAULT = "|".join((
    r"repeat_interleave|index_(add|copy|put|reduce|select)|mv|tensordot|einsum|cross|narrow|scatter_reduce|cdist",
    r"linalg\.(cross|householder_product)",
    rf"{_F}(huber|multi_margin|multilabel_margin|nll|smooth_l1)_loss|{_F}cross_entropy",
    rf"{_F}(conv[123]d|conv_transpose[123]d|(avg|lp)_pool2d|interpolate|rms_norm|embedding_bag|hardtanh)",
    r"nn\.(Bilinear|Embedding)"))
_MEANINGLESS = "|".join((
    rf"bincount|split|take_along_dim|{_F}(ctc_loss|cross_entropy|soft_margin_loss|batch_norm|embedding_bag)",
    rf"{_F}local_response_norm|nn\.(((Lazy)?ConvTranspose|BatchNorm|InstanceNorm)[123]d|SyncBatchNorm|PReLU)"))
_ABSENT = r"view_as_complex|linalg\.lstsq|nn\.Embedding(Bag)?"
_TAKEN = "|".join((
    r"ldexp|logsumexp|std|var|linalg\.(lstsq|tensorinv)",
    rf"{_F}(rrelu|binary_cross_entropy(_with_logits)?|huber_loss|soft_margin_loss|batch_norm|embedding_bag)"))
_OTHER_TYPE = rf"linalg\.(solve_triangular|vander)|{_F}rms_norm"
_SINGLE = {
    "torch.scatter(x0, 1, x1, (x2)[0])", "torch.scatter(x0, 1, x1, (x2)[0], reduce='multiply')",
    "torch.scatter_add(x0, 1, x1, (x2)[0])",
    "torch.diff(x0, n=0, out=torch.ones(0, dtype=torch.complex64))",
    "torch.nanmean(x0, [*((0, 1))][:-1] + ['a'], True)", "torch.nanmean(x0, [*((0, 1))][:-1] + [None], True)",
    "torch.nn.functional.adaptive_avg_pool2d((x0).reshape(-1)[0], 1)",
    "torch.fft.ihfftn(x0, s=(5,), dim=(0,), out=torch.ones(0, dtype=torch.complex64))",
}

# How some of these end depends on the kernels that PyTorch chooses for the processor and the number of threads, and on
# memory that PyTorch reads by mistake. The table has the number on one machine. Up to a quarter more may occur.
VARYING = {
    "Kernels look for several faults of one call in another order, and name themselves",
    "PyTorch takes it by oversight: it reads foreign memory, or makes something of it that means nothing",
    "It means something, and is taken here",
}

ACCEPTED: dict[str, tuple[int, Callable[[Ends], bool]]] = {
    "What is Python in PyTorch, or here alone, has Python's words for arguments that do not bind": (
        478, lambda e: e.types == ("TypeError", "TypeError") and e.name not in _TABLED),
    "How many arguments there are to be, Python says of overloads": (
        6, lambda e: e.types == ("TypeError", "TypeError") and (
            "positional argument" in e.theirs + e.ours or "unrecognized keyword" in e.theirs
            or "but expected (" in e.theirs)),
    "A NumPy array may stand for a tensor": (
        4, lambda e: "numpy()" in e.call and not e.theirs.startswith("ok")),
    "What is asked of something that is no tensor first is another attribute, or its type": (
        15, lambda e: e.refused and "AttributeError" in e.types),
    "Kernels look for several faults of one call in another order, and name themselves": (
        215, lambda e: e.refused and e.types[0] == e.types[1] != "TypeError"),
    "PyTorch's Python functions hand wrong arguments to a function of C++, which names their types": (
        115, lambda e: e.refused and e.types[0] == "TypeError" and e.name not in _TABLED),
    "An int given as `out` counts as an out of that dtype in some of PyTorch's functions": (
        17, lambda e: e.call.endswith("out=1)") and (e.refused or e.theirs.startswith("ok torch.int64 of"))),
    "Python refuses to compare complex numbers; here a complex option beside real tensors is sometimes cut": (
        12, lambda e: not e.theirs.startswith("ok") and "1j" in e.call),
    "A flag may be anything that is true or false; None for a dim, all dims": (
        253, lambda e: e.taken and e.types[0] == "TypeError"),
    "One function is the method too, of which sizes are given one by one": (
        11, lambda e: e.theirs.startswith("TypeError") and e.of("flip|tile|reshape|broadcast_to")),
    "Of unknown options PyTorch shows some in an order of its hash table": (
        5, lambda e: e.types == ("TypeError", "TypeError") and "wrong=int" in e.theirs),
    "Of several faults another is found first, and that is of another type": (
        78, lambda e: e.refused and e.of(_OTHER_FAULT)),
    "PyTorch takes it by oversight: it reads foreign memory, or makes something of it that means nothing": (
        54, lambda e: e.theirs.startswith("ok") and not e.ours.startswith("ok") and e.of(_MEANINGLESS)),
    "PyTorch takes it, and it is not there": (
        2, lambda e: e.theirs.startswith("ok") and not e.ours.startswith("ok") and e.of(_ABSENT)),
    "It means something, and is taken here": (
        22, lambda e: e.taken and e.of(_TAKEN)),
    "Both take it; PyTorch's dtype or shape is that of one operand, against its own rules": (
        2, lambda e: e.theirs.startswith("ok") and e.ours.startswith("ok") and e.of(_OTHER_TYPE)),
    "MKL has no transform of arrays without elements": (
        18, lambda e: e.theirs.startswith("RuntimeError: MKL FFT error") and "[..., :0]" in e.call),
    "PyTorch writes noise into an `out` that it has not resized": (
        5, lambda e: e.name == "torch.normal" and "out=torch.ones(" in e.call and "must match the size" in e.theirs),
    "There is no complex type of half precision": (
        1, lambda e: e.theirs.startswith("ok torch.complex32")),
    "PyTorch adds a bias of any dtype to a transposed convolution with dilation": (
        4, lambda e: e.name.endswith("conv_transpose2d") and "dilation=(2, 3)" in e.call and "(x2)." in e.call),
    "A method that takes its dims one by one is the function, too": (
        4, lambda e: e.name in ("torch.squeeze", "torch.count_nonzero")),
    "Single calls of which PyTorch makes something of its own": (
        6, lambda e: e.call in _SINGLE),
}
