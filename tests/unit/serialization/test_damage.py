"""Files that `torch.load` does not read: those of others, damaged ones, and ones that were made to do harm."""

from __future__ import annotations

import io
import pickle
import zipfile
from typing import Any

import pytest
from hypothesis import given, strategies as st

import retrograd as torch


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
    (zipped(readme_txt=b""), "it is a zip without data.pkl"),
    (zipped(), "it is a zip without data.pkl"),
    (zipped(structure_json=b"{}"), "written by retrograd before version 0.2"),
    (b"something else", "The file was not written by torch.save"),
    (b"\x93NUMPY\x01\x00v\x00", "numpy.load"),
    (zipped(archive__data_pkl=b""), "The file is damaged"),
    (zipped(archive__data_pkl=b"}"), "The file is damaged"),
])
def test_files_of_others(content: bytes, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        torch.load(io.BytesIO(content))


EXAMPLE = saved({"w": torch.arange(6.).reshape(2, 3), "n": [1, None, "text"]})


@given(st.integers(1, len(EXAMPLE) - 1))
def test_a_file_that_is_cut_off(length: int) -> None:
    with pytest.raises(RuntimeError, match="failed finding central directory|not a zip"):
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
