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
        token, _, rest = name.partition(".")
        found = [child for key, child in module.named_children() if fnmatch(key, token)] if name else [module]
        if not found:
            warn(f"Parallelize plan key '{name}' could not be resolved: no submodule matching token '{token}' in "
                 f"module {module}, skipping this plan entry.", UserWarning)
        for part in found:
            parallelize_module(part, mesh, {rest: style} if rest else style, src_data_rank=src_data_rank)
    return module


@contextmanager
def loss_parallel() -> Iterator[None]:
    """A context for losses of DTensors that are cut along the classes. The loss needs no context here: its numbers are
    right without one, and each process gets the scores of all classes.
    """
    yield
