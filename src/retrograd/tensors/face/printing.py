"""The text of a tensor, with exactly PyTorch's characters: layout, summary, suffixes, and the print options.

The functions here take arrays and facts about a tensor, and return text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ...foundations import dtypes
from ...foundations.dtypes import Array
from .formatting import cells


class PrintOptions(NamedTuple):
    """How tensors are printed; `set_printoptions` says what each field means."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_DEFAULT = PrintOptions()
_PROFILES = {
    "default": _DEFAULT,
    "short": _DEFAULT._replace(precision=2, edgeitems=2),
    "full": _DEFAULT._replace(threshold=math.inf),
}


class _Current:
    """The options in force, for the whole process, as in PyTorch. A text is made with one `PrintOptions` throughout."""

    options = _DEFAULT


def set_printoptions(precision: int | None = None, threshold: float | None = None, edgeitems: int | None = None,
                     linewidth: int | None = None, profile: str | None = None, sci_mode: bool | None = None) -> None:
    """Set how tensors are printed. An option of None stays unchanged, except `sci_mode`, for which None is a value.

    precision: digits after the point.
    threshold: a tensor of more elements than this is summarized.
    edgeitems: how many elements a summary shows at each end of a dimension; with 0 it shows only the size.
    linewidth: columns in a line.
    profile: "default", "short" or "full", which sets all of the above; any other text sets nothing, as in PyTorch.
    sci_mode: scientific notation for floats always (True), never (False), or as the values suggest (None).

    >>> import retrograd as torch
    >>> torch.set_printoptions(precision=2)
    >>> torch.get_printoptions()["precision"]
    2
    >>> torch.set_printoptions(profile="default")
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    start = _PROFILES.get(profile, _Current.options) if profile is not None else _Current.options
    _Current.options = start._replace(**changes, sci_mode=sci_mode)


def get_printoptions() -> dict[str, Any]:
    """The print options in force, by name."""
    return _Current.options._asdict()


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """`set_printoptions` within a `with` statement; afterwards all options are as they were.

    >>> import retrograd as torch
    >>> with torch.printoptions(precision=2, sci_mode=True):
    ...     torch.get_printoptions()["precision"]
    2
    """
    before = _Current.options
    try:
        set_printoptions(**options)
        yield
    finally:
        _Current.options = before


def repr_of(array: Array, *, requires_grad: bool = False, grad_fn_name: str | None = None,
            prefix: str = "tensor(", facts: Sequence[str] = ()) -> str:
    """The text of a tensor that has this array.

    grad_fn_name: the name of its grad_fn, such as "MulBackward0"; it is shown instead of requires_grad.
    prefix: the beginning of the text: for a subclass of Tensor, its name and a parenthesis.
    facts: further suffixes, such as the tangent of a dual tensor.

    >>> print(repr_of(np.eye(2), requires_grad=True))
    tensor([[1., 0.],
            [0., 1.]], dtype=torch.float64, requires_grad=True)
    """
    suffixes = ["requires_grad=True"] * requires_grad if grad_fn_name is None else [f"grad_fn=<{grad_fn_name}>"]
    suffixes += facts
    name = repr(dtypes.dtype.of[array.dtype])
    return format_tensor(array, dtype_name=name, show_dtype=_shows_dtype(array), suffixes=suffixes, prefix=prefix)


def sparse_text(parts: Mapping[str, Array], facts: Sequence[str], suffixes: Sequence[str], *, apart: bool,
                prefix: str = "tensor(") -> str:
    """The text of a sparse tensor: its `parts` by name, the values last, then `facts` about it.

    apart: whether the facts begin a new line in any case.
    """
    options, indent, texts = _Current.options, len(prefix), []
    for name, array in parts.items():
        head = f"{name}=tensor("
        shown = _elements(array, options, indent + len(head))
        texts.append(head + shown + (f", size={array.shape}" if not array.size else "") + ")")
    shows_dtype = array.dtype not in (dtypes.default_floating(), dtypes.default_complex(), dtypes.I64, dtypes.BOOL_)
    size, nnz, layout = facts
    told = [size, nnz, *[f"dtype={dtypes.dtype.of[array.dtype]!r}"] * shows_dtype, layout, *suffixes]
    text = prefix + (",\n" + " " * indent).join(texts)
    return _with_suffixes(text, told, options.linewidth, indent, apart)


def facts_text(text: str, facts: Sequence[str]) -> str:
    """The text of a tensor without numbers: `text`, which begins it, then facts about it."""
    return _with_suffixes(text, facts, _Current.options.linewidth, len("tensor("))


def _shows_dtype(array: Array) -> bool:
    """Whether the dtype is shown, since the elements do not tell it. An empty tensor is float by default."""
    if array.size and array.dtype.kind == "c":
        return dtypes.get_default_dtype() is dtypes.bfloat16 or array.dtype != dtypes.default_complex()
    return array.dtype not in (dtypes.default_floating(), *((dtypes.I64, dtypes.BOOL_) if array.size else ()))


def format_tensor(array: Array, *, dtype_name: str, show_dtype: bool, suffixes: Sequence[str] = (),
                  prefix: str = "tensor(") -> str:
    """`prefix`, the elements, the size and dtype if the elements do not tell them, the `suffixes`, a parenthesis."""
    options = _Current.options
    shown = []
    # Brackets without elements tell only the size of an empty vector. If edgeitems is 0, PyTorch also shows the size of
    # all tensors that are not empty, even if it shows all elements.
    if (array.ndim != 1) if array.size == 0 else (options.edgeitems == 0):
        shown.append(f"size={array.shape}")
    if show_dtype:
        shown.append(f"dtype={dtype_name}")
    text = prefix + _elements(array, options, len(prefix))
    return _with_suffixes(text, [*shown, *suffixes], options.linewidth, len(prefix))


def print_options() -> PrintOptions:
    """The options in force."""
    return _Current.options


def elements_text(array: Array, indent: int) -> str:
    """The elements in their brackets, with the options in force. The first bracket is in column `indent`."""
    return _elements(array, _Current.options, indent)


def _elements(array: Array, options: PrintOptions, indent: int) -> str:
    """The elements in their brackets. The first bracket is in column `indent`."""
    if array.size == 0:
        return "[]"
    summarized = array.size > options.threshold and array.ndim > 0
    if summarized and options.edgeitems < 1:
        return "[...]"
    edge = options.edgeitems
    cut = [summarized and size > 2 * edge for size in array.shape]
    # From here on only the shown elements count, for the notation too, so a tensor of any size prints in the same time.
    shown = np.asarray(_edges(array, cut, edge))             # numbers, if a traced array answers
    if shown.dtype in dtypes.NARROW:
        shown = shown.astype(np.float32)
    content = cells(shown, options.precision, options.sci_mode)
    if array.ndim == 0:
        return content.texts[0]
    depth = indent + array.ndim  # the column of the innermost elements, where continuation lines begin
    per_line = max(1, math.floor((options.linewidth - depth + 1) / (content.width + len(", "))))
    blocks = [_row(row, per_line, depth) for row in _groups(content.texts, shown.shape[-1], cut[-1], edge, " ...")]
    for axis in reversed(range(array.ndim - 1)):
        separator = "," + "\n" * (array.ndim - 1 - axis) + " " * (indent + axis + 1)
        groups = _groups(blocks, shown.shape[axis], cut[axis], edge, "...")
        blocks = [f"[{separator.join(group)}]" for group in groups]
    return blocks[0]


def _edges(array: Array, cut: Sequence[bool], edge: int) -> Array:
    """The shown elements: all, but along a cut dimension only the first and the last `edge`."""
    if not any(cut):
        return array
    ends = [[*range(edge), *range(size - edge, size)] if c else [*range(size)] for size, c in zip(array.shape, cut)]
    return array[np.ix_(*ends)]


def _groups(items: list[str], size: int, cut: bool, edge: int, ellipsis: str) -> list[list[str]]:
    """`items` in groups of `size`. If they were cut, an ellipsis follows the first `edge` items."""
    groups = [items[start : start + size] for start in range(0, len(items), size)]
    return [[*group[:edge], ellipsis, *group[edge:]] for group in groups] if cut else groups


def _row(texts: list[str], per_line: int, indent: int) -> str:
    lines = [", ".join(texts[start : start + per_line]) for start in range(0, len(texts), per_line)]
    separator = ",\n" + " " * indent
    return f"[{separator.join(lines)}]"


def _with_suffixes(text: str, suffixes: Sequence[str], linewidth: int, indent: int, apart: bool = False) -> str:
    """Append the suffixes and the closing parenthesis. A suffix that does not fit begins a new line.

    apart: whether the first suffix begins a new line in any case.
    """
    # PyTorch counts two columns too many for the line of the last elements, but not for a line that begins with a
    # suffix. A suffix of several lines counts with its full length.
    column = len(text) - (text.rfind("\n") + 1) + 2
    for suffix in suffixes:
        if apart or column + len(", ") + len(suffix) > linewidth:
            text += ",\n" + " " * indent + suffix
            column, apart = indent + len(suffix), False
        else:
            text += ", " + suffix
            column += len(", ") + len(suffix)
    return text + ")"


def parameter_text(text: str) -> str:
    """The text of an nn.Parameter, given the text of its tensor."""
    return f"Parameter containing:\n{text}"
