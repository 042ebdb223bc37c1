"""PowerSGD (Vogels et al., 2019): each gradient matrix M is sent as two thin matrices, P and Q with M ≈ P Qᵀ.

One step of subspace iteration: P = M Q is summed over the processes and made orthonormal, then Q = Mᵀ P is summed.
What the product misses is kept in each process, and added to the next gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from ....foundations.errors import warn
from ....foundations.futures import Future
from ....foundations.names import missing
from ....tensors.arguments.generator import Generator
from ....tensors.functions.creation.creation import zeros
from ....tensors.functions.creation.random import randn
from ....tensors.functions.linalg.factorizations import linalg_qr as qr
from ....tensors.tensor import Tensor
from ...groups import ProcessGroup, member
from ...reducer import GradBucket
from .default_hooks import allreduce_hook, summed

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class PowerSGDState:
    """What PowerSGD keeps between steps: the options, the errors, and the last Q of each bucket.

    The first `start_powerSGD_iter` steps send whole gradients. A matrix (n, m) is compressed if
    (n + m) * `matrix_approximation_rank` * `min_compression_rate` is less than n * m. `use_error_feedback` adds what
    a step missed to the next gradients, and `warm_start` begins with the last Q. Raises ValueError if one of the two is
    on and PowerSGD begins before step 2.
    """

    def __init__(self, process_group: ProcessGroup | None, matrix_approximation_rank: int = 1,
                 start_powerSGD_iter: int = 1_000, min_compression_rate: float = 2, use_error_feedback: bool = True,
                 warm_start: bool = True, orthogonalization_epsilon: float = 0, random_seed: int = 0,
                 compression_stats_logging_frequency: int = 10_000,
                 batch_tensors_with_same_shape: bool = False) -> None:
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError("Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is enabled, "
                             "because PowerSGD can only be applied after the first two iterations in DDP.")
        self.process_group = process_group
        self.matrix_approximation_rank = matrix_approximation_rank
        self.start_powerSGD_iter = start_powerSGD_iter
        self.min_compression_rate = min_compression_rate
        self.use_error_feedback, self.warm_start = use_error_feedback, warm_start
        self.orthogonalization_epsilon, self.random_seed = orthogonalization_epsilon, random_seed
        self.batch_tensors_with_same_shape = batch_tensors_with_same_shape
        self.rng = Generator().manual_seed(random_seed)
        self.error_dict: dict[int, Tensor] = {}
        self.p_memory_dict: dict[int, list[Tensor]] = {}
        self.q_memory_dict: dict[int, list[Tensor]] = {}
        self.iter = 0
        self.total_numel_before_compression = self.total_numel_after_compression = 0
        self.compression_stats_logging_frequency = max(1, compression_stats_logging_frequency)
        self.next_stats_report = 0
        if use_error_feedback and start_powerSGD_iter < 100:
            warn("PowerSGD starts before step 100. The first gradients change quickly, and their errors are fed back.")

    def compression_stats(self) -> tuple[float, int, int]:
        """How many times fewer numbers were sent, the numbers of the gradients, and the numbers that were sent."""
        before, after = self.total_numel_before_compression, self.total_numel_after_compression
        return (before / after if after else 0.0), before, after

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Count a step, at its last bucket."""
        self.iter += bucket.is_last()

    def start(self, matrices: list[Tensor], index: int) -> list[Tensor]:
        """The Q that each matrix of a bucket begins with: the last one, or random columns, alike in all processes."""
        kept = self.q_memory_dict.get(index)
        if self.warm_start and kept is not None:
            return kept
        return [cast(Tensor, randn(m.shape[1], self._rank(m), generator=self.rng, dtype=m.dtype)) for m in matrices]

    def _rank(self, matrix: Tensor) -> int:
        return int(min(*matrix.shape, self.matrix_approximation_rank))

    def compresses(self, gradient: Tensor) -> bool:
        """Whether a gradient has a matrix that is worth compressing."""
        if gradient.dim() <= 1:
            return False
        rows, columns = gradient.view(gradient.shape[0], -1).shape
        rank = min(rows, columns, self.matrix_approximation_rank)
        return (rows + columns) * rank * self.min_compression_rate < rows * columns


def _orthonormal(matrix: Tensor, epsilon: float) -> Tensor:
    """The columns of a matrix, made orthonormal. `epsilon` keeps columns of zeros finite."""
    return qr(matrix + epsilon if epsilon else matrix)[0]


def _compress(state: PowerSGDState, matrices: list[Tensor], index: int, whole: Tensor, group: ProcessGroup) -> None:
    """Replace each matrix by the mean of all processes' P Qᵀ, and the tensor `whole` by its mean."""
    size = group.size()
    sums = summed(whole, group)
    qs = [_orthonormal(q, state.orthogonalization_epsilon) for q in state.start(matrices, index)]
    ps = [summed(m @ q, group) for m, q in zip(matrices, qs)]
    found = [_orthonormal(p.wait(), state.orthogonalization_epsilon) for p in ps]
    waits = [summed(m.t() @ p, group) for m, p in zip(matrices, found)]
    state.q_memory_dict[index] = [wait.wait().div_(size) for wait in waits]
    state.p_memory_dict[index] = found
    for m, p, q in zip(matrices, found, state.q_memory_dict[index]):
        m.copy_(p @ q.t())
    sums.wait().div_(size)


def _gone(state: PowerSGDState, index: int, buffer: Tensor, matrices: list[Tensor], whole: Callable[[], Tensor],
          group: ProcessGroup) -> None:
    """One bucket: add the last errors, compress the matrices in the buffer, and keep the new errors."""
    given = None
    if state.use_error_feedback:
        if index in state.error_dict:
            buffer.add_(state.error_dict[index])
        given = buffer.clone()
    state.total_numel_before_compression += buffer.numel()
    state.total_numel_after_compression += sum(
        [(m.shape[0] + m.shape[1]) * min(*m.shape, state.matrix_approximation_rank) for m in matrices])
    rest = whole()
    state.total_numel_after_compression += rest.numel()
    _compress(state, matrices, index, rest, group)
    if given is not None:
        state.error_dict[index] = given - buffer


def _done(state: PowerSGDState, bucket: GradBucket) -> Future[Tensor]:
    state.maybe_increase_iter(bucket)
    done: Future[Tensor] = Future()
    done.set_result(bucket.buffer())
    return done


def powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Tensor]:
    """Send the gradients of matrices as thin matrices, and others whole. `state` is a `PowerSGDState`.

    >>> import retrograd as torch
    >>> from retrograd.distributed.algorithms.ddp_comm_hooks import powerSGD_hook
    >>> torch.distributed.init_process_group(store=object(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(30, 20))
    >>> state = powerSGD_hook.PowerSGDState(None, start_powerSGD_iter=100)
    >>> model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    >>> torch.distributed.destroy_process_group()
    """
    group = member(state.process_group)
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return allreduce_hook(group, bucket)
    gradients = bucket.gradients()
    thin = [g.view(g.shape[0], -1) for g in gradients if state.compresses(g)]
    others = [g for g in gradients if not state.compresses(g)]
    packed = cast(Tensor, zeros(sum([g.numel() for g in others]), dtype=bucket.buffer().dtype))

    def whole() -> Tensor:
        start = 0
        for g in others:
            packed[start:start + g.numel()] = g.reshape(-1)
            start += g.numel()
        return packed

    _gone(state, bucket.index(), bucket.buffer(), thin, whole, group)
    start = 0
    for g in others:
        g.copy_(packed[start:start + g.numel()].view(g.shape))
        start += g.numel()
    return _done(state, bucket)


def batched_powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Tensor]:
    """Send all gradients of a bucket as one square matrix, in thin matrices: faster, and less exact."""
    group = member(state.process_group)
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return allreduce_hook(group, bucket)
    buffer = bucket.buffer()
    side = math.ceil(math.sqrt(buffer.numel()))
    padded = cast(Tensor, zeros(side * side, dtype=buffer.dtype))
    padded[:buffer.numel()] = buffer
    _gone(state, bucket.index(), padded, [padded.view(side, side)], lambda: cast(Tensor, zeros(0, dtype=buffer.dtype)),
          group)
    buffer.copy_(padded[:buffer.numel()])
    return _done(state, bucket)
