"""Text of LLVM as object code, which can be kept, and object code as functions of this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .compiling import compiling, optimized
from .host import binding


def _machine(level: int) -> Any:
    """This machine, for code that may lie anywhere."""
    llvm = binding()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=level, reloc="pic",
        codemodel="jitdefault")


def object_code(source: str) -> bytes:
    """The object code of a module. It is good for this processor, and for others that have its instructions."""
    with compiling:
        machine = _machine(2)
        code: bytes = machine.emit_object(optimized(source, machine))
    return code


class Linked:
    """Object code in memory. `addresses` are those of its functions of these names."""

    def __init__(self, code: bytes, names: Sequence[str]) -> None:
        with compiling:
            llvm = binding()
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(0))
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._engine.finalize_object()
            self.addresses: dict[str, int] = {name: self._engine.get_function_address(name) for name in names}
