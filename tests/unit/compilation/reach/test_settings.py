"""Settings of the process that a compiled function reads or changes: each call finds the present ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import retrograd as torch
import retrograd.__future__ as future
import retrograd.backends.cuda as cuda

pytestmark = pytest.mark.filterwarnings("ignore:torch.compile runs")
GENERATOR = torch.Generator()
INVARIANTS = torch.sparse.check_sparse_tensor_invariants
DTYPES = (torch.float16, torch.bfloat16)


@pytest.fixture(autouse=True)
def _settings() -> Iterator[None]:
    yield
    torch.set_float32_matmul_precision("highest")
    torch.use_deterministic_algorithms(False)
    torch.set_autocast_dtype("cpu", torch.bfloat16)
    torch.set_autocast_cache_enabled(True)
    INVARIANTS.disable()
    future.set_swap_module_params_on_conversion(False)
    cuda.enable_flash_sdp(True)


def under_autocast(x: Any) -> Any:
    with torch.autocast("cpu"):
        return (x @ x).dtype


# What a function reads, and what sets it to something else before each call.
READ: dict[str, tuple[Callable[[Any], Any], Callable[[bool], Any]]] = {
    "precision": (lambda x: torch.get_float32_matmul_precision(),
                  lambda on: torch.set_float32_matmul_precision("high" if on else "highest")),
    "warn only": (lambda x: torch.is_deterministic_algorithms_warn_only_enabled(),
                  lambda on: torch.use_deterministic_algorithms(True, warn_only=on)),
    "debug mode": (lambda x: torch.get_deterministic_debug_mode(),
                   lambda on: torch.use_deterministic_algorithms(True, warn_only=on)),
    "warn always": (lambda x: torch.is_warn_always_enabled(), torch.set_warn_always),
    "dtype": (lambda x: torch.get_autocast_dtype("cpu"), lambda on: torch.set_autocast_dtype("cpu", DTYPES[on])),
    "autocast": (under_autocast, lambda on: torch.set_autocast_dtype("cpu", DTYPES[on])),
    "cache": (lambda x: torch.is_autocast_cache_enabled(), torch.set_autocast_cache_enabled),
    "default stream": (lambda x: torch.get_rng_state().tolist(), torch.manual_seed),
    "stream": (lambda x: GENERATOR.get_state().tolist(), lambda on: GENERATOR.manual_seed(int(on))),
    "seed": (lambda x: GENERATOR.initial_seed(), lambda on: GENERATOR.manual_seed(int(on))),
    "default seed": (lambda x: torch.random.initial_seed(), torch.manual_seed),
    "sparse": (lambda x: INVARIANTS.is_enabled(), lambda on: INVARIANTS.enable() if on else INVARIANTS.disable()),
    "future": (lambda x: future.get_swap_module_params_on_conversion(), future.set_swap_module_params_on_conversion),
    "attention": (lambda x: cuda.flash_sdp_enabled(), cuda.enable_flash_sdp)}


@pytest.mark.parametrize("name", READ)
def test_settings_that_are_read(name: str) -> None:
    program, put = READ[name]
    compiled = torch.compile(lambda x: (x * 2, program(x)))
    for on in (False, False, True, True, False):
        put(on)
        x = torch.ones(2, 2)
        assert compiled(x)[1] == program(x)


@pytest.mark.parametrize("name", ["precision", "warn only", "warn always", "dtype", "cache", "sparse", "attention"])
def test_settings_that_are_changed(name: str) -> None:
    read, put = READ[name]

    def program(x: Any) -> Any:
        put(True)
        return x * 2

    compiled = torch.compile(program)
    for _ in range(3):
        put(False)
        before = read(None)
        compiled(torch.ones(2))
        assert read(None) != before
