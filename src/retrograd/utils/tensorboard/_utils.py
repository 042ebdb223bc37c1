"""Pictures as arrays: figures of Matplotlib, grids of pictures, and orders of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import Array


def figure_to_image(figures: Any, close: bool = True) -> Any:
    """A figure of Matplotlib as an array (3, height, width), or several figures of one size as (n, 3, …)."""
    if isinstance(figures, Sequence):
        return np.stack([_drawn(figure, close) for figure in figures])
    return _drawn(figures, close)


def _drawn(figure: Any, close: bool) -> Any:
    import matplotlib.backends.backend_agg as agg
    import matplotlib.pyplot as plt

    canvas: Any = agg.FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba(), dtype=np.uint8)
    if close:
        plt.close(figure)
    return np.moveaxis(pixels[:, :, :3], 2, 0)


def make_grid(pictures: Any, ncols: int = 8) -> Any:
    """Pictures (n, channels, height, width) side by side, as one picture with three channels.

    Raises AssertionError for other arrays.
    """
    if not isinstance(pictures, np.ndarray):
        raise AssertionError("plugin error, should pass numpy array here")
    if pictures.ndim != 4 or (pictures.shape[1] not in (1, 3)):
        raise AssertionError("Input should be a 4D numpy array with 3 channels")
    if pictures.shape[1] == 1:
        pictures = np.repeat(pictures, 3, axis=1)
    n, _, height, width = pictures.shape
    columns = min(n, ncols)
    grid = np.zeros((3, height * -(-n // columns), width * columns), dtype=pictures.dtype)
    for i, picture in enumerate(pictures):
        row, column = divmod(i, columns)
        grid[:, row * height:(row + 1) * height, column * width:(column + 1) * width] = picture
    return grid


def convert_to_HWC(tensor: Array, input_format: str) -> Any:
    """A picture, or a grid of pictures, as (height, width, channels).

    `input_format` names the dimensions, such as "CHW", "HW" or "NCHW". Raises AssertionError for wrong names.
    """
    names = input_format.upper()
    if len(set(names)) != len(names):
        raise AssertionError(f"You can not use the same dimension shorthand twice.         input_format: {names}")
    if tensor.ndim != len(names):
        raise AssertionError("size of input tensor and input format are different. "
                             f"        tensor shape: {tensor.shape}, input_format: {names}")
    if len(names) == 4:
        return make_grid(tensor.transpose([names.find(name) for name in "NCHW"])).transpose(1, 2, 0)
    if len(names) == 3:
        picture = tensor.transpose([names.find(name) for name in "HWC"])
        return np.concatenate([picture] * 3, 2) if picture.shape[2] == 1 else picture
    picture = tensor.transpose([names.find(name) for name in "HW"])
    return np.stack([picture] * 3, 2)
