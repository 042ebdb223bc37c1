"""The softmax of many classes in clusters: frequent classes at once, and rare classes only where they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...foundations.devices import DeviceLike
from ...foundations.dtypes import dtype as torch_dtype
from ...tensors.functions.reductions import argmax
from ...tensors.tensor import Tensor
from ..borrowed import borrowing
from ..functional.activation import log_softmax
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


class _ASMoutput(NamedTuple):
    """The log-probability of each target, and the loss: their mean, negated."""

    output: Tensor
    loss: Tensor


_ASMoutput.__module__ = __name__


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log-probabilities of targets among `n_classes` classes, which are sorted by frequency, and their loss.

    `cutoffs` are the classes at which clusters of rarer classes begin. The head chooses between the classes before the
    first cutoff and the clusters. Cluster i has a projection to in_features // div_value ** (i + 1) features. Calls
    take inputs (N, in_features) or (in_features), and targets (N) or (), and return a named tuple of `output` (N) and
    `loss`.

    >>> import retrograd as torch
    >>> layer = torch.nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs=[5, 10])
    >>> layer.log_prob(torch.zeros(2, 16)).shape
    torch.Size([2, 20])
    >>> layer(torch.zeros(2, 16), torch.tensor([3, 12])).output.shape
    torch.Size([2])

    Raises ValueError for cutoffs that do not rise from 1 to n_classes - 1, RuntimeError if a target does not fit.
    """

    def __init__(self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0,
                 head_bias: bool = False, device: DeviceLike | None = None, dtype: torch_dtype | None = None) -> None:
        super().__init__()
        limits = list(cutoffs)
        if not limits:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if limits != sorted(limits) or min(limits) <= 0 or max(limits) > n_classes - 1 or any(
                [int(c) != c for c in limits]) or len(set(limits)) != len(limits):
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                             "where each value is between 1 and n_classes-1")
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*limits, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = limits[0], len(limits)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // div_value ** (i + 1))
            self.tail.append(Sequential(
                Linear(in_features, hidden, False, device, dtype),
                Linear(hidden, self.cutoffs[i + 1] - self.cutoffs[i], False, device, dtype)))

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for cluster in self.tail:
            for layer in cluster.children():
                layer.reset_parameters()

    def _check(self, input: Tensor, target: Tensor) -> None:
        """Raises RuntimeError if input and target do not fit each other."""
        if target.dim() == 1 and input.size(0) != target.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if target.dim() == 0 and input.dim() != 1:
            raise RuntimeError("0D target tensor expects 1D input tensors, but found inputs with size "
                               f"{input.shape}")
        if target.dim() not in (0, 1):
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """The log-probability of each target, and their mean, negated."""
        self._check(input_, target_)
        alone = target_.dim() == 0
        input, target = (input_.unsqueeze(0), target_.unsqueeze(0)) if alone else (input_, target_)
        chosen = target.new_empty(target.shape[0])                   # the class of the head for each target
        output = input.new_zeros(target.shape[0])
        used = 0
        for i, (low, high) in enumerate(zip([0, *self.cutoffs], self.cutoffs)):
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if not rows.numel():
                continue
            used += rows.numel()
            if i == 0:
                chosen.index_copy_(0, rows, target[rows])
                continue
            inside = target[rows] - low
            found = log_softmax(self.tail[i - 1](input.index_select(0, rows)), 1)
            output.index_copy_(0, rows, found.gather(1, inside.unsqueeze(1)).squeeze(1))
            chosen.index_fill_(0, rows, self.shortlist_size + i - 1)
        if used != target.shape[0]:
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                               f"[{target.min().item()}, {target.max().item()}] were found. ")
        head = log_softmax(self.head(input), 1)
        output += head.gather(1, chosen.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if alone else output, loss)

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        """The log-probabilities of all classes, of inputs and of what the head makes of them."""
        head = log_softmax(head_output, 1)
        found: Tensor = input.new_empty((head_output.shape[0], self.n_classes))
        found[:, :self.shortlist_size] = head[:, :self.shortlist_size]
        for i, cluster in enumerate(self.tail):
            inside = log_softmax(cluster(input), 1)
            found[:, self.cutoffs[i]:self.cutoffs[i + 1]] = inside + head[:, self.shortlist_size + i].unsqueeze(1)
        return found

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities (N, n_classes) of all classes."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each input. Clusters are computed only for inputs whose head chooses a cluster."""
        head = self.head(input)
        output = argmax(head, 1)
        elsewhere = output >= self.shortlist_size
        if elsewhere.any():
            best = argmax(self._get_full_log_prob(input[elsewhere], head[elsewhere]), 1)
            output[elsewhere] = best
        return output
