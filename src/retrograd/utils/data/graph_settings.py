"""Settings for all pipes of a graph: which part of the samples, whether to shuffle, and the random seeds."""

from __future__ import annotations

import inspect
from typing import Any

from ...foundations.errors import warn
from ...tensors.arguments.generator import Generator
from .datapipes.iter.sharding import SHARDING_PRIORITIES
from .graph import DataPipeGraph, traverse_dps
from .sampler import drawn_seed

__all__ = ["apply_random_seed", "apply_sharding", "apply_shuffle_seed", "apply_shuffle_settings",
           "get_all_graph_pipes"]


def get_all_graph_pipes(graph: DataPipeGraph) -> list[Any]:
    """Each pipe of a graph once."""
    return [*_pipes(graph).values()]


def _pipes(graph: DataPipeGraph) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for key, (pipe, below) in graph.items():
        found.setdefault(key, pipe)
        for other, value in _pipes(below).items():
            found.setdefault(other, value)
    return found


def apply_sharding(datapipe: Any, num_of_instances: int, instance_id: int,
                   sharding_group: SHARDING_PRIORITIES = SHARDING_PRIORITIES.DEFAULT) -> Any:
    """Give the pipe one of ``num_of_instances`` parts of the samples, where the graph has a `ShardingFilter`.

    Raises RuntimeError if two such pipes follow each other.
    """

    def apply(graph: DataPipeGraph, before: Any) -> None:
        for pipe, below in graph.values():
            applied = before
            if _has(pipe, "apply_sharding"):
                if before is not None:
                    raise RuntimeError("Sharding twice on a single pipeline is likely unintended and will cause data "
                                       f"loss. Sharding already applied to {before} while trying to apply to {pipe}")
                _shard(pipe, num_of_instances, instance_id, sharding_group)
                applied = pipe
            apply(below, applied)

    apply(traverse_dps(datapipe), None)
    return datapipe


def _shard(pipe: Any, num_of_instances: int, instance_id: int, group: SHARDING_PRIORITIES) -> None:
    """Call the method of a pipe, which may have no parameter for the group."""
    if len(inspect.signature(pipe.apply_sharding).parameters) < 3:
        pipe.apply_sharding(num_of_instances, instance_id)
    else:
        pipe.apply_sharding(num_of_instances, instance_id, sharding_group=group)


def _has(pipe: Any, *names: str) -> bool:
    return all(inspect.ismethod(getattr(pipe, name, None)) for name in names)


def apply_shuffle_settings(datapipe: Any, shuffle: bool | None = None) -> Any:
    """Make all pipes that can shuffle do so, or not. With None nothing changes.

    If none can, and ``shuffle`` is true, a pipe with a `Shuffler` at the end is returned, with a warning.
    """
    if shuffle is None:
        return datapipe
    shufflers = [pipe for pipe in get_all_graph_pipes(traverse_dps(datapipe)) if _has(pipe, "set_shuffle", "set_seed")]
    if not shufflers and shuffle:
        warn("`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at the end. Be aware "
             "that the default buffer size might not be sufficient for your task.")
        datapipe = datapipe.shuffle()
        shufflers = [datapipe]
    for pipe in shufflers:
        pipe.set_shuffle(shuffle)
    return datapipe


def apply_shuffle_seed(datapipe: Any, rng: Any) -> Any:
    """The old name of `apply_random_seed`."""
    warn("`apply_shuffle_seed` is deprecated since 1.12 and will be removed in the future releases. Please use "
         "`apply_random_seed` instead.", FutureWarning)
    return apply_random_seed(datapipe, rng)


def apply_random_seed(datapipe: Any, rng: Generator) -> Any:
    """Give each pipe with a method ``set_seed`` a seed that is drawn from the generator."""
    for pipe in get_all_graph_pipes(traverse_dps(datapipe)):
        if _has(pipe, "set_seed"):
            pipe.set_seed(drawn_seed(rng))
    return datapipe
