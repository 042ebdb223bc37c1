"""Which modules inside of a module are split, and how: plans by names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatch

from ....foundations.errors import noted, warn
from ....nn.modules.module import Module
from ...device_mesh import DeviceMesh
from .styles import ParallelStyle


def parallelize_module(module: Module, device_mesh: DeviceMesh | None = None,
                       parallelize_plan: ParallelStyle | Mapping[str, ParallelStyle] | None = None, *,
                       src_data_rank: int | None = 0) -> Module:
    """Split a module over a mesh of one dim. Returns the module.

    The plan is one style, or a style for each name of a module inside. A part of a name may have * and ?, as in
    "layers.*.linear". Raises TypeError for another plan.
    """
    mesh = device_mesh or DeviceMesh.entered()
    if mesh.ndim != 1:
        raise noted(
            ValueError(f"Tensor Parallel only accepts a 1D DeviceMesh, but found {mesh.ndim}D!"),
            instead="take one dim of the mesh by its name")
    if parallelize_plan is None:
        warn("No parallelize_plan is provided and auto-parallel is not supported at the moment, so this "
             "parallelize_module call will do nothing.", UserWarning)
        return module
    if isinstance(parallelize_plan, ParallelStyle):
        parallelize_plan.src_data_rank = src_data_rank
        return parallelize_plan._apply(module, mesh)
    if not isinstance(parallelize_plan, Mapping):
        raise TypeError("Expect Union[ParallelStyle, Dict[str, ParallelStyle]] for parallelize_plan, "
                        f"{type(parallelize_plan)} found!")
    for name, style in parallelize_plan.items():
        found = [*_matching(module, name.split("."))] if name else [module]
        if not found:
            warn(f"Parallelize plan key {name!r} could not be resolved: no submodule matching it was found, skipping "
                 "this plan entry.", UserWarning)
        for part in found:
            parallelize_module(part, mesh, style, src_data_rank=src_data_rank)
    return module


def _matching(module: Module, names: list[str]) -> Iterator[Module]:
    """The modules inside whose names match, part by part."""
    if not names:
        yield module
        return
    for name, child in module.named_children():
        if fnmatch(name, names[0]):
            yield from _matching(child, names[1:])


@contextmanager
def loss_parallel() -> Iterator[None]:
    """A context for losses of DTensors that are cut along the classes. The loss needs no context here: its numbers are
    right without one, and each process gets the scores of all classes.
    """
    yield
