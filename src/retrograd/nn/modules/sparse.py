"""Embeddings as modules: tables of learned rows, taken by number, one by one and in bags."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ...autograd.grad_mode import no_grad
from ...foundations.devices import DeviceLike
from ...foundations.dtypes import dtype as torch_dtype
from ...foundations.errors import noted
from ...tensors.tensor import Tensor
from .. import init
from ..borrowed import borrowing
from ..functional.embeddings import embedding, embedding_bag
from ..parameter import Parameter
from .layer import uninitialized
from .module import Module
from .module.members import Member

__all__ = ["Embedding", "EmbeddingBag"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)

E = TypeVar("E", bound="Embedding")
B = TypeVar("B", bound="EmbeddingBag")


class _Table(Module):
    """What embeddings share: a matrix with a row for each number. One row may be the padding."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    weight = Member("_parameters")

    def _row(self, padding_idx: int | None) -> int | None:
        """The row of the padding, counted from the front. Raises AssertionError if there is no such row."""
        rows = self.num_embeddings
        if padding_idx and not -rows <= padding_idx < rows:
            word = "Padding_idx" if isinstance(self, Embedding) else "padding_idx"
            raise noted(
                AssertionError(f"{word} must be within num_embeddings"),
                given=f"it must be between {-rows} and {rows - 1}, and is {padding_idx}")
        return padding_idx + rows if padding_idx is not None and padding_idx < 0 else padding_idx

    def _set_weight(self, weight: Tensor | None, requires_grad: bool, device: DeviceLike | None, dtype: Any) -> None:
        shape = (self.num_embeddings, self.embedding_dim)
        if weight is None:
            self.weight = uninitialized(shape, device, dtype, requires_grad)
            self.reset_parameters()
        elif tuple(weight.shape) != shape:
            raise noted(
                AssertionError("Shape of weight does not match num_embeddings and embedding_dim"),
                given=f"the shape is {tuple(weight.shape)}, and {shape} is needed")
        else:
            self.weight = Parameter(weight, requires_grad)

    def reset_parameters(self) -> None:
        """Draw the rows anew from the standard normal distribution, and set the row of the padding to zeros."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _text(self, shown: Callable[[Any], str], options: dict[str, Any]) -> str:
        """The sizes, and the options that are not as usual. `options` has their names and usual values."""
        unusual = [f"{name}={shown(getattr(self, name))}" for name, usual in options.items()
                   if getattr(self, name) != usual]
        return ", ".join([shown(self.num_embeddings), shown(self.embedding_dim), *unusual])

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


def _sizes(embeddings: Tensor) -> tuple[int, int]:
    """Rows and columns. Raises AssertionError unless `embeddings` is a matrix."""
    if embeddings.dim() != 2:
        raise noted(
            AssertionError("Embeddings parameter is expected to be 2-dimensional"),
            given=f"this one has {embeddings.dim()} dimensions")
    rows, columns = embeddings.shape
    return rows, columns


class Embedding(_Table):
    """The rows of a table that ints of any shape (…) name: (…, embedding_dim). The rows are learned.

    The weight (num_embeddings, embedding_dim) starts with normal samples. The row `padding_idx` starts with zeros and
    gets no gradient. With `max_norm`, rows with a greater `norm_type`-norm are scaled down to it when they are taken.
    With `scale_grad_by_freq` the gradient of a row is divided by the number of times it is taken.

    >>> import retrograd as torch
    >>> words = torch.nn.Embedding(10, 3, padding_idx=0)
    >>> words
    Embedding(10, 3, padding_idx=0)
    >>> words(torch.tensor([[4, 7], [2, 0]])).shape
    torch.Size([2, 2, 3])

    With `sparse` the gradient of the weight is a sparse tensor, which stores only the rows that were taken.

    Raises AssertionError for a padding out of bounds and for a `_weight` of another shape, IndexError for an int out of
    bounds.
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
                 max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
                 sparse: bool = False, _weight: Tensor | None = None, _freeze: bool = False,
                 device: DeviceLike | None = None, dtype: torch_dtype | None = None) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = self._row(padding_idx)
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.sparse = sparse
        self._set_weight(_weight, not _freeze, device, dtype)

    @classmethod
    def from_pretrained(cls: type[E], embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None,
                        max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
                        sparse: bool = False) -> E:
        """A module over a given matrix, which shares the matrix's memory. It is learned if `freeze` is False.

        Raises AssertionError unless `embeddings` is a matrix.
        """
        rows, columns = _sizes(embeddings)
        return cls(num_embeddings=rows, embedding_dim=columns, _weight=embeddings, _freeze=freeze,
                   padding_idx=padding_idx, max_norm=max_norm, norm_type=norm_type,
                   scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)

    def forward(self, input: Tensor) -> Tensor:
        """`functional.embedding` of the numbers."""
        return embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                         self.sparse)

    def extra_repr(self) -> str:
        return self._text(str, {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False,
                                "sparse": False})


class EmbeddingBag(_Table):
    """The sums, means or maxima of bags of rows of a table: (bags, embedding_dim).

    Each row of an int matrix (N, L) is a bag. In an int vector the bags start at the `offsets`. The row `padding_idx`
    does not count. `Embedding` describes the other options.

    >>> import retrograd as torch
    >>> bags = torch.nn.EmbeddingBag(10, 3, mode="sum")
    >>> bags
    EmbeddingBag(10, 3, mode='sum')
    >>> bags(torch.tensor([4, 7, 2, 0]), torch.tensor([0, 3])).shape
    torch.Size([2, 3])

    Raises the errors of `Embedding`, and ValueError for shapes that do not fit.
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
                 scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
                 _weight: Tensor | None = None, include_last_offset: bool = False, padding_idx: int | None = None,
                 device: DeviceLike | None = None, dtype: torch_dtype | None = None) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.padding_idx = self._row(padding_idx)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset
        self._set_weight(_weight, True, device, dtype)

    @classmethod
    def from_pretrained(cls: type[B], embeddings: Tensor, freeze: bool = True, max_norm: float | None = None,
                        norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean",
                        sparse: bool = False, include_last_offset: bool = False, padding_idx: int | None = None) -> B:
        """A module over a given matrix, which shares the matrix's memory. It is learned if `freeze` is False.

        Raises AssertionError unless `embeddings` is a matrix.
        """
        rows, columns = _sizes(embeddings)
        bags = cls(num_embeddings=rows, embedding_dim=columns, _weight=embeddings, max_norm=max_norm,
                   norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq, mode=mode, sparse=sparse,
                   include_last_offset=include_last_offset, padding_idx=padding_idx)
        bags.weight.requires_grad = not freeze
        return bags

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """`functional.embedding_bag` of the numbers."""
        return embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                             self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx)

    def extra_repr(self) -> str:
        return self._text(repr, {"max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "mode": None,
                                 "padding_idx": None})
