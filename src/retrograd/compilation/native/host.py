"""What this machine can do: the width of its vectors, fused multiplication, the vector functions of its C library."""

from __future__ import annotations

import os
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...extras import imported, installed
from ...kernels.native import door

# For each width of vectors, in bits: the letter of x86-64's vector functions, and the feature that they need.
_WIDTHS = ((512, "e", "avx512f"), (256, "d", "avx2"), (128, "b", "sse2"))
_LIBRARY = "libmvec.so.1"


class Host(NamedTuple):
    """What generated code may use: vectors of so many bits, fused multiplication, the vector library.

    `letters` are those of the library's functions, with their widths in bits, the widest first. There are none if the C
    library is not glibc.
    """

    bits: int
    fma: bool
    letters: tuple[tuple[int, str], ...]

    def lanes(self, dtype: np.dtype[Any]) -> int:
        """How many numbers of a dtype are in a vector."""
        return self.bits // 8 // dtype.itemsize

    @property
    def registers(self) -> int:
        """How many registers of vectors there are."""
        return 32 if self.bits == 512 else 16


@cache
def available() -> bool:
    """Whether llvmlite is installed, and may be used."""
    return door.ctypes is not None and installed("compile")


@cache
def binding() -> Any:
    """llvmlite's binding of LLVM, ready for this machine. Raises ImportError if llvmlite is absent or off."""
    if door.why_off:
        raise ImportError(f"Machine code is off: {door.why_off}")
    llvm = imported("compile", "Machine code needs", "llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    _load(llvm, "")                                         # the C library's functions, which the process has
    return llvm


@cache
def host() -> Host:
    """This machine."""
    llvm = binding()
    features = llvm.get_host_cpu_features()
    if not is_x86():
        return Host(128, True, ())                          # all 64-bit ARM processors have these
    widths = tuple([(bits, letter) for bits, letter, feature in _WIDTHS if features.get(feature)])
    return Host(widths[0][0], bool(features.get("fma")), widths if _load(llvm, _LIBRARY) else ())


def library() -> str:
    """The C library and its version, which decides what vector functions there are; empty if it is not glibc."""
    name = "CS_GNU_LIBC_VERSION"
    return os.confstr(name) or "" if name in getattr(os, "confstr_names", ()) else ""


@cache
def is_x86() -> bool:
    """Whether the processor is an x86-64. Otherwise it is a 64-bit ARM processor."""
    return bool(binding().get_process_triple().startswith("x86_64"))


@cache
def pausing() -> str:
    """LLVM's name of a short pause of a thread that waits for another one; empty if this machine has none."""
    return "llvm.x86.sse2.pause" if is_x86() else ""


@cache
def has_symbol(name: str) -> bool:
    """Whether the process has a function of this name."""
    return binding().address_of_symbol(name) is not None


def _load(llvm: Any, library: str) -> bool:
    """Let generated code call the functions of a library. Says whether there is one of this name."""
    try:
        llvm.load_library_permanently(library)
    except RuntimeError:
        return False
    return True
