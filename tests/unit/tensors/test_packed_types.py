"""Types that hold several numbers in a byte, quantized types and their schemes: names without tensors.

The facts were taken from PyTorch 2.13.
"""

from __future__ import annotations

import copy
import pickle

import pytest

import retrograd as torch

BITS = {"bits8": "b8x1", "bits16": "b16x1", "bits1x8": "b1x8", "bits2x4": "b2x4", "bits4x2": "b4x2"}
QUANTIZED = {"qint8": (-128, 127), "quint8": (0, 255), "qint32": (-2**31, 2**31 - 1), "quint4x2": (0, 255),
             "quint2x4": (0, 255)}


@pytest.mark.parametrize("name", [*BITS, *QUANTIZED, *(f"int{n}" for n in range(1, 8)),
                                  *(f"uint{n}" for n in range(1, 8))])
def test_a_type_is_a_name_without_numbers(name: str) -> None:
    found = getattr(torch, name)
    assert repr(found) == f"torch.{name}"
    assert pickle.loads(pickle.dumps(found)) is found
    assert found.abbr == BITS.get(name, name)
    assert found.itemsize == {"bits16": 2, "qint32": 4}.get(name, 1)
    assert (found.is_floating_point, found.is_complex, found.to_real()) == (False, False, found)
    with pytest.raises(RuntimeError, match=f"torch.{name} is a name without numbers here"):
        torch.zeros(2, dtype=found)


def test_whether_a_type_is_signed() -> None:
    assert (torch.int3.is_signed, torch.uint3.is_signed, torch.bit) == (True, False, torch.uint1)
    with pytest.raises(RuntimeError, match="Bits types are undefined"):
        assert torch.bits8.is_signed
    with pytest.raises(RuntimeError, match="isSignedType not supported for quantized types"):
        assert torch.qint8.is_signed


@pytest.mark.parametrize("name", QUANTIZED)
def test_the_limits_of_a_quantized_type(name: str) -> None:
    found = torch.iinfo(getattr(torch, name))
    assert (found.min, found.max) == QUANTIZED[name]
    with pytest.raises(NotImplementedError, match='"dtype" not implemented for'):
        assert found.dtype


def test_packed_types_have_no_limits_and_can_be_cast() -> None:
    with pytest.raises(TypeError, match=r"torch.iinfo\(\) requires an integer input type"):
        torch.iinfo(torch.int4)
    assert torch.can_cast(torch.int4, torch.float32)
    assert not torch.can_cast(torch.float32, torch.qint8)


def test_schemes_and_layouts_are_constants() -> None:
    for name in ("per_tensor_affine", "per_tensor_symmetric", "per_channel_affine", "per_channel_symmetric",
                 "per_channel_affine_float_qparams"):
        found = getattr(torch, name)
        assert (repr(found), type(found)) == (f"torch.{name}", torch.qscheme)
        assert pickle.loads(pickle.dumps(found)) is found
        assert copy.deepcopy(found) is found
    assert torch.legacy_contiguous_format is torch.contiguous_format
    assert (repr(torch.jagged), type(torch.jagged)) == ("torch.jagged", torch.layout)
