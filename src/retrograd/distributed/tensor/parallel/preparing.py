"""Styles that only change how the inputs and outputs of a module lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....nn.modules.module import Module
from ...device_mesh import DeviceMesh
from ..dtensor import DTensor
from ..placement_types import Placement
from .styles import ParallelStyle, as_placed

Layouts = Placement | tuple[Placement | None, ...] | None


def _listed(layouts: Any) -> tuple[Any, ...] | None:
    return None if layouts is None else layouts if isinstance(layouts, tuple) else (layouts,)


class PrepareModuleInput(ParallelStyle):
    """Make DTensors of the inputs of a module: parts in `input_layouts` become DTensors in `desired_input_layouts`.

    An input whose layout is None stays as it is. With `use_local_output`, the module gets the parts of the DTensors.
    Raises ValueError if there is not one layout for each input, and AssertionError for layouts that do not fit.
    """

    def __init__(self, *, input_layouts: Layouts = None, desired_input_layouts: Layouts = None,
                 input_kwarg_layouts: Mapping[str, Placement] | None = None,
                 desired_input_kwarg_layouts: Mapping[str, Placement] | None = None,
                 use_local_output: bool = False) -> None:
        self.input_layouts, self.desired_input_layouts = _listed(input_layouts), _listed(desired_input_layouts)
        self.input_kwarg_layouts = dict(input_kwarg_layouts or {})
        self.desired_input_kwarg_layouts = dict(desired_input_kwarg_layouts or {})
        self.use_local_output = use_local_output
        if self.input_layouts is not None:
            if self.desired_input_layouts is None:
                raise AssertionError("desired module inputs should not be None!")
            if len(self.input_layouts) != len(self.desired_input_layouts):
                raise AssertionError("input_layouts and desired_input_layouts should have same length!")
        if self.input_kwarg_layouts.keys() != self.desired_input_kwarg_layouts.keys():
            raise AssertionError("input_kwarg_layouts and desired_input_kwarg_layouts should have same length!")

    def _said(self) -> dict[str, Any]:
        return {"input_layouts": self.input_layouts, "desired_input_layouts": self.desired_input_layouts,
                "input_kwarg_layouts": self.input_kwarg_layouts,
                "desired_input_kwarg_layouts": self.desired_input_kwarg_layouts,
                "use_local_output": self.use_local_output}

    def _placed(self, value: Any, mesh: DeviceMesh, layout: Placement | None, wanted: Placement | None) -> Any:
        if layout is None or wanted is None or value is None:
            return value
        found = as_placed(value, mesh, layout, wanted)
        return found.to_local() if self.use_local_output else found

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        def prepare(_: Module, inputs: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Any]:
            if self.input_layouts is not None:
                if len(inputs) != len(self.input_layouts):
                    raise ValueError("module inputs and input_layouts should have same length!")
                inputs = tuple([self._placed(*each) for each in zip(
                    inputs, [device_mesh] * len(inputs), self.input_layouts, self.desired_input_layouts or ())])
            return inputs, {key: self._placed(value, device_mesh, self.input_kwarg_layouts.get(key),
                                              self.desired_input_kwarg_layouts.get(key))
                            for key, value in options.items()}

        module.register_forward_pre_hook(prepare, with_kwargs=True)
        return module


class PrepareModuleOutput(ParallelStyle):
    """Move the outputs of a module from `output_layouts` to `desired_output_layouts`. By default, it gives the parts.

    Raises ValueError if there is not one layout for each output.
    """

    def __init__(self, *, output_layouts: Layouts, desired_output_layouts: Layouts,
                 use_local_output: bool = True) -> None:
        self.output_layouts, self.desired_output_layouts = _listed(output_layouts), _listed(desired_output_layouts)
        self.use_local_output = use_local_output
        if len(self.output_layouts or ()) != len(self.desired_output_layouts or ()):
            raise AssertionError("output_layouts and desired_output_layouts should have same length!")

    def _said(self) -> dict[str, Any]:
        return {"output_layouts": self.output_layouts, "desired_output_layouts": self.desired_output_layouts,
                "use_local_output": self.use_local_output}

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        layouts, wanted = self.output_layouts or (), self.desired_output_layouts or ()

        def prepare(_: Module, inputs: Any, outputs: Any) -> Any:
            listed = outputs if isinstance(outputs, tuple) else (outputs,)
            if len(listed) != len(layouts):
                raise ValueError("module outputs and output_layouts should have same length!")
            found = []
            for value, layout, to in zip(listed, layouts, wanted):
                if layout is not None and to is not None:
                    value = as_placed(value, device_mesh, layout, to)
                    value = value.to_local() if self.use_local_output and isinstance(value, DTensor) else value
                found.append(value)
            return found[0] if len(found) == 1 else tuple(found)

        module.register_forward_hook(prepare)
        return module


class PrepareModuleInputOutput(ParallelStyle):
    """`PrepareModuleInput` and `PrepareModuleOutput` together."""

    def __init__(self, *, input_layouts: Layouts = None, desired_input_layouts: Layouts = None,
                 input_kwarg_layouts: Mapping[str, Placement] | None = None,
                 desired_input_kwarg_layouts: Mapping[str, Placement] | None = None, use_local_input: bool = False,
                 output_layouts: Layouts, desired_output_layouts: Layouts, use_local_output: bool = True) -> None:
        self.prepare_module_input = PrepareModuleInput(
            input_layouts=input_layouts, desired_input_layouts=desired_input_layouts,
            input_kwarg_layouts=input_kwarg_layouts, desired_input_kwarg_layouts=desired_input_kwarg_layouts,
            use_local_output=use_local_input)
        self.prepare_module_output = PrepareModuleOutput(
            output_layouts=output_layouts, desired_output_layouts=desired_output_layouts,
            use_local_output=use_local_output)

    def _said(self) -> dict[str, Any]:
        taken = {"use_local_input" if key == "use_local_output" else key: value
                 for key, value in self.prepare_module_input._said().items()}
        return taken | self.prepare_module_output._said()

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        return self.prepare_module_output._apply(self.prepare_module_input._apply(module, device_mesh), device_mesh)
