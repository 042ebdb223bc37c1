"""Text of LLVM as machine code: the passes, and the modules that are kept."""

from __future__ import annotations

import re
import threading
import zlib
from functools import lru_cache
from typing import Any

from ...foundations.forks import held
from .host import binding

# A module that is not worth LLVM's whole effort has it nevertheless if it has fewer lines.
MANY = 2500
# How many modules are kept, since programs often have the same loops again.
_KEPT = 256
# Held while LLVM works.
compiling = threading.RLock()
held(compiling)


def optimized(source: str, machine: Any) -> Any:
    """A module after LLVM's passes: few, since the text has vectors and straight code already."""
    llvm = binding()
    module, passes = llvm.parse_assembly(source), llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    return module


class Compiled:
    """A module in the machine's language."""

    def __init__(self, packed: bytes, thorough: bool) -> None:
        llvm, self._packed = binding(), packed
        source = self.source
        names = re.findall(r"^define void @(\w+)", source, re.MULTILINE)
        self._level = 2 if thorough or source.count("\n") < MANY else 0
        machine = self._machine()
        module = self._optimized(machine)
        self.engine = llvm.create_mcjit_compiler(module, machine)
        self.engine.finalize_object()
        self.addresses: dict[str, int] = {name: self.engine.get_function_address(name) for name in names}
        self.engine.remove_module(module)                  # which the code no longer needs

    @property
    def source(self) -> str:
        """The text that was given to LLVM."""
        return zlib.decompress(self._packed).decode()

    def _optimized(self, machine: Any) -> Any:
        return optimized(self.source, machine)

    @property
    def optimized(self) -> str:
        """The text of the module after LLVM's passes."""
        return str(self._optimized(self._machine()))

    @property
    def assembly(self) -> str:
        """The text of the machine code."""
        machine = self._machine()
        text: str = machine.emit_assembly(self._optimized(machine))
        return text

    def _machine(self) -> Any:
        llvm = binding()
        target, features = llvm.Target.from_default_triple(), llvm.get_host_cpu_features().flatten()
        return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=self._level)


@lru_cache(_KEPT)
def _kept(packed: bytes, thorough: bool) -> Compiled:
    return Compiled(packed, thorough)


def compiled(source: str, thorough: bool) -> Compiled:
    """The compiled module of this text. LLVM is not asked to do two modules at once."""
    with compiling:
        return _kept(zlib.compress(source.encode(), 1), thorough)
