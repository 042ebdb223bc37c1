"""Where a wrong call need not end as in PyTorch, each with its reason; a rule that accepts nothing is taken out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from comparing.schemas import SPACES, schemas_in


class Ends(NamedTuple):
    """A call, and how it ended in PyTorch and here: `ok ...`, or the error's type and first sentence."""

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
_ALIASES = r"special\.\w+|fix|square|true_divide|clip|broadcast_to|nn\.functional\.conv\w+|linalg\.norm"
_F = r"nn\.functional\."
_OTHER_FAULT = "|".join((
    r"repeat_interleave|index_\w+|mv|tensordot|einsum|cross|narrow|scatter_reduce|cdist|histc",
    r"linalg\.(cross|householder_product)",
    rf"{_F}(huber|multi_margin|multilabel_margin|nll|smooth_l1)_loss|{_F}\w*cross_entropy\w*",
    rf"{_F}(conv\w+|(avg|lp)_pool[23]d|interpolate|rms_norm|embedding_bag|hardtanh|normalize|pad)",
    r"nn\.(Bilinear|Embedding)"))
_MEANINGLESS = "|".join((
    r"bincount|split|take_along_dim|index_add|normal",
    rf"{_F}(ctc_loss|cross_entropy|soft_margin_loss|huber_loss|binary_cross_entropy_with_logits|batch_norm)",
    rf"{_F}(embedding_bag|scaled_dot_product_attention|local_response_norm)",
    r"nn\.(ConvTranspose|BatchNorm|InstanceNorm)\dd|nn\.PReLU"))
_ABSENT = rf"view_as_complex|linalg\.lstsq|{_F}avg_pool[23]d|nn\.Embedding(Bag)?"
_TAKEN = "|".join((
    r"ldexp|logsumexp|std|var|index_fill|linalg\.(lstsq|tensorinv)",
    rf"{_F}(rrelu|binary_cross_entropy\w*|huber_loss|soft_margin_loss|fold|batch_norm|embedding_bag|adaptive\w+)",
    r"nn\.\w+Loss"))
_OTHER_TYPE = rf"linalg\.(solve_triangular|vander)|{_F}(rms_norm|binary_cross_entropy_with_logits)"

ACCEPTED: dict[str, Callable[[Ends], bool]] = {
    "What is Python in PyTorch, or here alone, has Python's words for arguments that do not bind":
        lambda e: e.types == ("TypeError", "TypeError") and e.name not in _TABLED,
    "Of a function that has several names, the first is said":
        lambda e: e.types == ("TypeError", "TypeError") and e.of(_ALIASES),
    "How many arguments there are to be, Python says of recorded calls, which nothing is put around, and of overloads":
        lambda e: e.types == ("TypeError", "TypeError") and (
            "positional argument" in e.theirs + e.ours or "unrecognized keyword" in e.theirs
            or "but expected (" in e.theirs),
    "A NumPy array may stand for a tensor":
        lambda e: "numpy()" in e.call,
    "What is asked of something that is no tensor first is another attribute, or its type":
        lambda e: e.refused and "AttributeError" in e.types,
    "Kernels look for several faults of one call in another order, and name themselves":
        lambda e: e.refused and e.types[0] == e.types[1] != "TypeError",
    "PyTorch's Python functions hand wrong arguments to a function of C++, which names their types":
        lambda e: e.refused and e.types[0] == "TypeError" and e.name not in _TABLED,
    "An int given as `out` counts as an out of that dtype in some of PyTorch's functions":
        lambda e: (e.refused and "out=1" in e.call) or "1e-12, 1)" in e.call,
    "Python refuses to compare complex numbers; here a complex option beside real tensors is sometimes cut":
        lambda e: not e.theirs.startswith("ok") and "1j" in e.call,
    "A flag may be anything that is true or false; None for a dim, all dims":
        lambda e: e.taken and e.types[0] == "TypeError",
    "One function is the method too, of which sizes are given one by one":
        lambda e: e.theirs.startswith("TypeError") and e.of("flip|tile|reshape|broadcast_to"),
    "Of a list, later elements are looked at when they are used":
        lambda e: e.refused and e.theirs.startswith("TypeError") and e.of(r"roll|fft\.i?fftshift"),
    "Of unknown options PyTorch shows some in an order of its hash table":
        lambda e: e.types == ("TypeError", "TypeError") and "wrong=int" in e.theirs,
    "Of several faults another is found first, and that is of another type":
        lambda e: e.refused and e.of(_OTHER_FAULT),
    "PyTorch takes it by oversight: it reads foreign memory, or makes something of it that means nothing":
        lambda e: e.theirs.startswith("ok") and not e.ours.startswith("ok") and e.of(_MEANINGLESS),
    "PyTorch takes it, and it is not there":
        lambda e: e.theirs.startswith("ok") and not e.ours.startswith("ok") and e.of(_ABSENT),
    "It means something, and is taken here":
        lambda e: e.taken and e.of(_TAKEN),
    "Both take it; PyTorch's dtype or shape is that of one operand, against its own rules":
        lambda e: e.theirs.startswith("ok") and e.ours.startswith("ok") and e.of(_OTHER_TYPE),
    "A flag that is a tensor is asked for its truth":
        lambda e: e.refused and "Boolean value of Tensor" in e.theirs + e.ours,
}
