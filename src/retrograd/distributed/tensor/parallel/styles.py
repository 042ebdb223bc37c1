"""How a layer is split: by columns, by rows, or along the sequence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ....foundations.errors import noted
from ....nn.modules.linear import Linear
from ....nn.modules.module import Module
from ....nn.modules.sparse import Embedding
from ....nn.parameter import Parameter
from ....tensors.state.base import TensorBase
from ...device_mesh import DeviceMesh
from ..dtensor import DTensor
from ..making import distribute_module, distribute_tensor
from ..placement_types import Placement, Replicate, Shard


class ParallelStyle(ABC):
    """How a module is split over a mesh of one dim. `parallelize_module` applies it."""

    src_data_rank: int | None = 0

    @abstractmethod
    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        """Split the module. Returns it."""

    def _said(self) -> dict[str, Any]:
        """The options of the style."""
        return {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([f'{key}={value}' for key, value in self._said().items()])})"


def as_placed(value: Any, mesh: DeviceMesh, layout: Placement, wanted: Placement) -> Any:
    """A tensor as a DTensor in the placement `wanted`. A tensor that is no DTensor is a part in the placement `layout`.
    """
    if not isinstance(value, DTensor):
        value = DTensor.from_local(value, mesh, (layout,))
    return value if value.placements == (wanted,) else value.redistribute(placements=(wanted,))


def as_output(value: Any, layout: Placement, local: bool) -> Any:
    """A DTensor in a placement; if `local`, its part."""
    if value.placements != (layout,):
        value = value.redistribute(placements=(layout,))
    return value.to_local() if local else value


class _Split(ParallelStyle):
    """A layer with split weights. A style says how it takes its input and gives its output, and how weights are cut."""

    _usual: tuple[Placement, Placement]                  # of the input and of the output
    _name: str

    def __init__(self, *, input_layouts: Placement | None = None, output_layouts: Placement | None = None,
                 use_local_output: bool = True) -> None:
        self.input_layouts = (input_layouts or self._usual[0],)
        self.output_layouts = (output_layouts or self._usual[1],)
        self.use_local_output = use_local_output

    def _said(self) -> dict[str, Any]:
        return {"input_layouts": self.input_layouts, "output_layouts": self.output_layouts,
                "use_local_output": self.use_local_output}

    def _cuts(self, module: Module) -> tuple[dict[str, Placement], Placement]:
        """The placements of the parameters, and of the input that the layer computes with."""
        raise NotImplementedError

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        if not isinstance(module, (Linear, Embedding)):
            raise noted(
                NotImplementedError(f"{self._name} currently only support nn.Linear and nn.Embedding!"),
                given=type(module).__name__)
        cuts, wanted = self._cuts(module)

        def partition(name: str, part: Module, mesh: DeviceMesh) -> None:
            for key, parameter in [*part.named_parameters(recurse=False)]:
                part.register_parameter(key, Parameter(distribute_tensor(
                    parameter.detach(), mesh, (cuts[key],), src_data_rank=self.src_data_rank),
                    parameter.requires_grad))

        return distribute_module(
            module, device_mesh, partition,
            lambda _, inputs, mesh: (as_placed(inputs[0], mesh, self.input_layouts[0], wanted), *inputs[1:]),
            lambda _, output, mesh: as_output(output, self.output_layouts[0], self.use_local_output))


class ColwiseParallel(_Split):
    """Each process has some of the output features of a Linear, or some columns of an Embedding.

    By default it takes whole inputs, and gives the features of this process.
    """

    _usual = Replicate(), Shard(-1)
    _name = "ColwiseParallel"

    def _cuts(self, module: Module) -> tuple[dict[str, Placement], Placement]:
        cut = Shard(0) if isinstance(module, Linear) else Shard(1)
        return {"weight": cut, "bias": cut}, Replicate()


class RowwiseParallel(_Split):
    """Each process has some of the input features of a Linear, or some rows of an Embedding.

    By default it takes the features of this process, and gives whole outputs.
    """

    _usual = Shard(-1), Replicate()
    _name = "RowwiseParallel"

    def _cuts(self, module: Module) -> tuple[dict[str, Placement], Placement]:
        if isinstance(module, Linear):
            return {"weight": Shard(1), "bias": Replicate()}, Shard(-1)
        return {"weight": Shard(0)}, Replicate()


class SequenceParallel(ParallelStyle):
    """Each process has a part of the sequence, and whole weights: for LayerNorm, Dropout and similar layers."""

    def __init__(self, *, sequence_dim: int = 1, use_local_output: bool = False) -> None:
        self.sequence_sharding = (Shard(sequence_dim),)
        self.use_local_output = use_local_output

    def _said(self) -> dict[str, Any]:
        return {"sequence_dim": self.sequence_sharding[0].dim, "use_local_output": self.use_local_output}

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        cut = self.sequence_sharding[0]

        def take(_: Any, inputs: tuple[Any, ...], mesh: DeviceMesh) -> tuple[Any, ...]:
            if not isinstance(inputs[0], TensorBase):
                raise ValueError(f"expecting input of {module} to be a torch.Tensor or DTensor, but got {inputs[0]}")
            return (as_placed(inputs[0], mesh, cut, cut), *inputs[1:])

        def give(_: Any, output: Any, mesh: DeviceMesh) -> Any:
            return output.to_local() if self.use_local_output else output

        return distribute_module(module, device_mesh, None, take, give)
