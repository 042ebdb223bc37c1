"""Files as arrays: the bytes of a file are read when the array is used."""

import os
from mmap import ACCESS_COPY, ACCESS_WRITE, mmap

import numpy as np

from ..foundations.dtypes import Array


def mapped(filename: str, shared: bool, nbytes: int) -> Array:
    """The first bytes of a file as an array over the file. Writes reach the file if `shared`.

    Raises RuntimeError if the file cannot be opened, or is too short and not `shared`.
    """
    if not isinstance(filename, str):
        raise TypeError(f"argument 1 must be str, not {type(filename).__name__}")
    try:
        file = os.open(filename, os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY, 0o666)
    except OSError as error:
        mode = "read-write" if shared else "read-only"
        raise RuntimeError(f"unable to open file <{filename}> in {mode} mode: {error.strerror} "
                           f"({error.errno})") from None
    try:
        size = os.fstat(file).st_size
        if nbytes < 0:
            raise RuntimeError(f"unable to mmap {nbytes} bytes from file <{filename}>: Cannot allocate memory (12)")
        if size < nbytes and not shared:
            raise RuntimeError(f"file <{filename}> size <{size}> is smaller than the required mapping size <{nbytes}>")
        if size < nbytes:
            os.ftruncate(file, nbytes)
        if not nbytes:
            return np.empty(0, np.uint8)
        return np.frombuffer(mmap(file, nbytes, access=ACCESS_WRITE if shared else ACCESS_COPY), np.uint8)
    finally:
        os.close(file)
