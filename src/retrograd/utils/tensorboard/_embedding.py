"""The files of TensorBoard's projector: the rows of a matrix, their labels, and their pictures."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo

from ._convert_np import make_np
from ._utils import make_grid


def write_matrix(matrix: Any, folder: str) -> None:
    """Write `tensors.tsv`."""
    _write_rows(folder, "tensors.tsv", ["\t".join([str(number) for number in row]) for row in matrix])


def write_labels(labels: list[Any], folder: str, header: list[str] | None) -> None:
    """Write `metadata.tsv`. With a header, a label is a list of values."""
    if header:
        if len(header) != len(labels[0]):
            raise AssertionError("len of header must be equal to the number of columns in metadata")
        rows = ["\t".join([str(value) for value in row]) for row in [header, *labels]]
    else:
        rows = [str(label) for label in labels]
    _write_rows(folder, "metadata.tsv", rows)


def _write_rows(folder: str, name: str, rows: list[str]) -> None:
    with open(os.path.join(folder, name), "wb") as file:
        file.write("".join([f"{row}\n" for row in rows]).encode())


def write_pictures(pictures: Any, folder: str) -> None:
    """Write `sprite.png`: all pictures in a square."""
    from PIL import Image

    array = make_np(pictures)
    side = int(np.ceil(array.shape[0] ** 0.5))
    if array.shape[2] * side > 8192:
        raise AssertionError("Sprite too large, see label_img shape limit")
    padded = np.concatenate((array, np.zeros((side**2 - len(array), *array.shape[1:]), array.dtype)))
    sprite = (make_grid(padded, ncols=side).transpose(1, 2, 0) * 255).astype(np.uint8)
    Image.fromarray(sprite).save(os.path.join(folder, "sprite.png"))


def described(labels: Any, pictures: Any, folder: str, step: str, tag: str) -> Any:
    """What the projector's configuration says of a matrix."""
    info = EmbeddingInfo(tensor_name=f"{tag}:{step}", tensor_path=f"{folder}/tensors.tsv")
    if labels is not None:
        info.metadata_path = f"{folder}/metadata.tsv"
    if pictures is not None:
        info.sprite.image_path = f"{folder}/sprite.png"
        info.sprite.single_image_dim.extend([pictures.shape[3], pictures.shape[2]])
    return info
