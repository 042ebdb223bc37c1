"""Files that `torch.load` does not read: those of others, damaged ones, and ones that were made to do harm."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import retrograd as torch

STRUCTURE = "structure.json"


def saved(obj: Any) -> bytes:
    file = io.BytesIO()
    torch.save(obj, file)
    return file.getvalue()


class Trap:
    """Says so when it is unpickled."""

    def __reduce__(self) -> Any:
        return pytest.fail, ("the file was run",)


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return file.getvalue()


@pytest.mark.parametrize(("content", "message"), [
    (pickle.dumps(Trap()), "Weights only load failed. The file is a pickle"),
    (zipped(readme_txt=b""), "it is a zip without structure.json"),
    (zipped(), "it is a zip without structure.json"),
    (b"something else", "The file was not written by torch.save"),
    (b"\x93NUMPY\x01\x00v\x00", "numpy.load"),
    (zipped(structure_json=b"[]"), "The file is damaged"),
    (zipped(structure_json=b"{"), "The file is damaged"),
])
def test_files_of_others(content: bytes, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        torch.load(io.BytesIO(content))


EXAMPLE = saved({"w": torch.arange(6.).reshape(2, 3), "n": [1, None, "text"]})


@given(st.integers(1, len(EXAMPLE) - 1))
def test_a_file_that_is_cut_off(length: int) -> None:
    with pytest.raises(RuntimeError, match="cut off or damaged|not a zip"):
        torch.load(io.BytesIO(EXAMPLE[:length]))


@given(st.integers(0, len(EXAMPLE) - 1), st.integers(1, 255))
def test_a_file_with_a_wrong_byte(place: int, change: int) -> None:
    """It is refused, or the byte meant nothing (a date, say)."""
    content = bytearray(EXAMPLE)
    content[place] ^= change
    try:
        loaded = torch.load(io.BytesIO(content))
    except RuntimeError:
        return
    assert loaded.pop("w").tolist() == [[0, 1, 2], [3, 4, 5]]
    assert loaded == {"n": [1, None, "text"]}


def changed(**facts: Any) -> bytes:
    """The file of a tensor with other facts about the structure, or, by names in lower case, about the tensor."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved(torch.arange(6.)))) as source, zipfile.ZipFile(file, "w") as target:
        structure = json.loads(source.read(STRUCTURE))
        for name, value in facts.items():
            (structure if name in structure else structure["objects"][0])[name] = value
        target.writestr(STRUCTURE, json.dumps(structure))
        target.writestr("memory/0.npy", source.read("memory/0.npy"))
    return file.getvalue()


@pytest.mark.parametrize("facts", [
    {"offset": 4}, {"offset": -4}, {"shape": [7]}, {"shape": [-1]}, {"strides": [8]}, {"strides": [-4]},
    {"strides": [4, 4]}, {"dtype": "float64"}, {"dtype": "object"}, {"memory": 1}, {"kind": "eval"}, {"memories": 2},
    {"shape": [1 << 40]}, {"root": {"object": -1}}, {"root": {"object": 1}}, {"root": {"eval": "1"}}, {"objects": 3},
    {"dtype": "int32", "requires_grad": True}, {"attributes": 3}, {"root": {"float": []}},
], ids=str)
def test_structures_that_reach_outside(facts: dict[str, Any]) -> None:
    assert torch.load(io.BytesIO(changed())).tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(RuntimeError, match="The file is damaged"):
        torch.load(io.BytesIO(changed(**facts)))


@pytest.mark.parametrize("facts", [{"version": 2}, {"byteorder": "middle"}, {"format": "other"}], ids=str)
def test_formats_of_others(facts: dict[str, Any]) -> None:
    with pytest.raises(RuntimeError, match="The file is of another version or machine"):
        torch.load(io.BytesIO(changed(**facts)))


@pytest.mark.parametrize(("array", "compression"), [
    (np.zeros((2, 3), np.float32), zipfile.ZIP_STORED),
    (np.zeros(6, np.uint16), zipfile.ZIP_STORED),
    (np.zeros(6, np.float32), zipfile.ZIP_DEFLATED),
])
def test_memories_that_are_none_of_ours(array: Any, compression: int) -> None:
    file, member = io.BytesIO(), io.BytesIO()
    np.save(member, array)
    with zipfile.ZipFile(io.BytesIO(changed())) as source, zipfile.ZipFile(file, "w", compression) as target:
        target.writestr(source.getinfo(STRUCTURE), source.read(STRUCTURE))
        target.writestr("memory/0.npy", member.getvalue())
    with pytest.raises(RuntimeError, match="The file is damaged"):
        torch.load(io.BytesIO(file.getvalue()))
