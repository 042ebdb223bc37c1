"""Loading of data: the same batches in the same order as PyTorch for the same seed, with and without workers."""

import pytest

from comparing.programs import same


@pytest.mark.parametrize("program", ["data_loading.py", "data_faults.py"])
def test_prints_the_same_as_on_pytorch(program: str) -> None:
    same(program, lines=40)
