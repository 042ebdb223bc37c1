"""Which things may be called in a traced run: a call depends on its arguments alone, or its own calls are seen.

A call is known if it is one of the program's own functions, whose own calls are seen, if it is one of the package's, or
if the tables of `known` have it. The walk asks about what code names, and the watch over a run about each call.
"""

from __future__ import annotations

import types
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from ...foundations.names import PACKAGE
from ..program.origins import LIBRARY, OWN, USER, is_made_in_c, is_type, made_by_c, whose
from .known import C_MODULES, LIBRARY_MODULES, MADE, NOT_OF_TYPES, OWN_STATE, PURE, of_library, of_numpy

# Functions of the package that read or change a state that is no tensor, by module and name.
_STATES = {
    "tensors.arguments.generator": ("Generator.clone_state", "Generator.get_state", "Generator.initial_seed",
                                    "get_rng_state", "initial_seed"),
    "tensors.face.threading": ("get_num_threads", "set_num_threads"),
    "tensors.face.settings": ("get_deterministic_debug_mode", "get_float32_matmul_precision", "get_num_interop_threads",
                              "is_deterministic_algorithms_warn_only_enabled", "set_deterministic_debug_mode",
                              "set_float32_matmul_precision", "set_num_interop_threads",
                              "use_deterministic_algorithms"),
    "foundations.errors": ("is_warn_always_enabled", "set_warn_always"),
    "autograd.anomaly_mode": ("is_anomaly_check_nan_enabled",),
    "__future__": ("get_overwrite_module_params_on_conversion", "get_swap_module_params_on_conversion",
                   "set_overwrite_module_params_on_conversion", "set_swap_module_params_on_conversion"),
    "sparse": ("check_sparse_tensor_invariants.disable", "check_sparse_tensor_invariants.enable",
               "check_sparse_tensor_invariants.is_enabled"),
    "backends.cuda": ("cudnn_sdp_enabled", "enable_cudnn_sdp", "enable_flash_sdp", "enable_math_sdp",
                      "enable_mem_efficient_sdp", "flash_sdp_enabled", "math_sdp_enabled", "mem_efficient_sdp_enabled"),
    "tensors.face.memory": ("frombuffer", "from_file"),
    "tensors.face.printing": ("get_printoptions", "set_printoptions"),
    "serialization.loading": ("load",),
    "serialization.saving": ("save",),
    "distributed.debugging": ("get_debug_level", "set_debug_level", "set_debug_level_from_env"),
    "distributed.groups": ("get_node_local_rank", "get_pg_count", "is_backend_available", "is_mpi_available",
                           "is_torchelastic_launched"),
}
_OF_STATES = {(f"{PACKAGE}.{module}", name) for module, names in _STATES.items() for name in names}
OF_STATES = frozenset([name.rpartition(".")[2] for _, name in _OF_STATES])
_OWN_STATE, _MADE = tuple(OWN_STATE), (*OWN_STATE, *MADE)


def unknown(thing: Any) -> bool:
    """Whether a call of `thing` may depend on more than its arguments, or may change more than them."""
    if isinstance(thing, MethodType):
        thing = thing.__func__
    if isinstance(thing, FunctionType):
        return python_is_unknown(thing.__module__, thing.__qualname__)
    if id(thing) in PURE:
        return False
    if is_type(thing):
        return _type_is_unknown(thing)
    module, name = getattr(thing, "__module__", None), getattr(thing, "__name__", "")
    module = module if isinstance(module, str) else ""
    if isinstance(thing, np.ufunc) or whose(module) == OWN:
        return False
    if whose(type(thing).__module__) != LIBRARY:             # a call of an object by Python code is seen
        return whose(type(thing).__module__) == USER and made_by_c(type(thing))
    holder = getattr(thing, "__self__", None)
    if holder is None or isinstance(holder, types.ModuleType):
        holder = getattr(thing, "__objclass__", None)
    if holder is not None:
        kind = holder if is_type(holder) else type(holder)
        known = kind is object or issubclass(kind, _OWN_STATE) or whose(kind.__module__) in (OWN, USER)
        known = known and not is_made_in_c(kind)
        return name in NOT_OF_TYPES or not known
    if module.partition(".")[0] == "numpy":
        return not of_numpy(module, name)
    return callable(thing) and module not in C_MODULES


def hidden(thing: Any) -> bool:
    """Whether calls of an unknown thing are not seen while it runs."""
    if isinstance(thing, FunctionType):
        return whose(thing.__module__) == OWN and unknown(thing)
    return callable(thing) and not isinstance(thing, BuiltinFunctionType) and unknown(thing)


def python_is_unknown(module: str | None, name: str) -> bool:
    """Whether a function written in Python is one of Python's or NumPy's library that may depend on more."""
    owner = whose(module)
    if owner == USER:
        return False                                         # its own calls are seen
    module = module or ""
    if owner == OWN:
        return (module, name) in _OF_STATES
    if module.partition(".")[0] == "numpy":
        return not of_numpy(module, name)
    return not of_library(module, name)


def _type_is_unknown(kind: type[Any]) -> bool:
    """Whether objects of a type may hold a state that the walk does not compare."""
    module = kind.__module__
    if any([whose(base.__module__) == LIBRARY and base.__module__ in LIBRARY_MODULES
            and not of_library(base.__module__, base.__qualname__) for base in kind.__mro__]):
        return True
    if whose(module) != LIBRARY:
        return is_made_in_c(kind)
    if module.partition(".")[0] == "numpy":
        return not of_numpy(module, kind.__name__)
    return not (issubclass(kind, _MADE) or module in LIBRARY_MODULES or module in C_MODULES)
