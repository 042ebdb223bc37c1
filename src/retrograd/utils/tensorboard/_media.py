"""Summaries of pictures, videos and sounds. Pictures and videos are written with Pillow."""

from __future__ import annotations

import io
import wave
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary

from ...foundations.dtypes import Array
from ...tensors.tensor import Tensor
from ._convert_np import make_np
from ._utils import convert_to_HWC


def _scaled(values: Array) -> Any:
    """Pixels from 0 to 255. Pixels of uint8 are so already, and other pixels lie between 0 and 1."""
    scale = 1 if values.dtype == np.uint8 else 255
    return (values.astype(np.float32) * scale).clip(0, 255).astype(np.uint8)


def image(tag: str, tensor: Tensor, rescale: float = 1, dataformats: str = "NCHW") -> Any:
    """The summary of a picture, or of a grid of pictures."""
    picture = _scaled(convert_to_HWC(make_np(tensor), dataformats))
    return Summary(value=[Summary.Value(tag=tag, image=make_image(picture, rescale=rescale))])


def image_boxes(tag: str, tensor_image: Any, tensor_boxes: Any, rescale: float = 1, dataformats: str = "CHW",
                labels: list[str] | None = None) -> Any:
    """The summary of a picture with red boxes (left, top, right, bottom), and a label below each box."""
    picture = _scaled(convert_to_HWC(make_np(tensor_image), dataformats))
    made = make_image(picture, rescale=rescale, rois=make_np(tensor_boxes), labels=labels)
    return Summary(value=[Summary.Value(tag=tag, image=made)])


def make_image(tensor: Array, rescale: float = 1, rois: Any = None, labels: list[str] | None = None) -> Any:
    """The picture (height, width, channels) as a PNG. `rois` are boxes to draw."""
    from PIL import Image

    height, width, channels = tensor.shape
    drawn = Image.fromarray(tensor)
    if rois is not None:
        draw_boxes(drawn, rois, labels)
    if rescale != 1:
        drawn = drawn.resize((int(width * rescale), int(height * rescale)), Image.Resampling.LANCZOS)
    written = io.BytesIO()
    drawn.save(written, format="PNG")
    return Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=written.getvalue())


def draw_boxes(disp_image: Any, boxes: Any, labels: list[str] | None = None) -> Any:
    """Draw boxes, and their labels, on a picture of Pillow."""
    from PIL import ImageDraw, ImageFont

    draw, font = ImageDraw.Draw(disp_image), ImageFont.load_default()
    for i, (left, top, right, bottom) in enumerate(np.asarray(boxes).tolist()):
        corners = [(left, top), (left, bottom), (right, bottom), (right, top), (left, top)]
        draw.line(corners, width=2, fill="Red")
        if labels is not None:
            box = font.getbbox(labels[i])
            wide, high = box[2] - box[0], box[3] - box[1]
            margin = np.ceil(0.05 * high)
            draw.rectangle([(left, bottom - high - 2 * margin), (left + wide, bottom)], fill="Red")
            draw.text((left + margin, bottom - high - margin), labels[i], fill="black", font=font)
    return disp_image


def video(tag: str, tensor: Any, fps: float = 4) -> Any:
    """The summary of a video (1, time, channels, height, width), as a GIF. Several videos stand side by side."""
    frames = _side_by_side(_scaled(make_np(tensor)))
    return Summary(value=[Summary.Value(tag=tag, image=make_video(frames, fps))])


def _side_by_side(videos: Any) -> Any:
    """Videos (n, time, channels, height, width) as one (time, height, width, channels)."""
    n, length, channels, height, width = videos.shape
    rows = 2 ** ((n.bit_length() - 1) // 2)
    while n % rows:
        rows -= 1
    split = videos.reshape(rows, n // rows, length, channels, height, width)
    return split.transpose(2, 0, 4, 1, 5, 3).reshape(length, rows * height, n // rows * width, channels)


def make_video(tensor: Any, fps: float) -> Any:
    """The frames (time, height, width, channels) as a GIF."""
    from PIL import Image

    _, height, width, channels = tensor.shape
    frames = [Image.fromarray(frame[:, :, 0] if channels == 1 else frame) for frame in tensor]
    written = io.BytesIO()
    frames[0].save(written, format="GIF", save_all=True, append_images=frames[1:], duration=1000 / fps, loop=0)
    return Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=written.getvalue())


def audio(tag: str, tensor: Any, sample_rate: int = 44100) -> Any:
    """The summary of a sound: samples between -1 and 1. Samples outside are cut, with a printed warning."""
    samples = make_np(tensor).squeeze()
    if abs(samples).max() > 1:
        print("warning: audio amplitude out of range, auto clipped.")
        samples = samples.clip(-1, 1)
    if samples.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes((samples * 32767.0).astype("<i2").tobytes())
    sound = Summary.Audio(sample_rate=sample_rate, num_channels=1, length_frames=len(samples),
                          encoded_audio_string=written.getvalue(), content_type="audio/wav")
    return Summary(value=[Summary.Value(tag=tag, audio=sound)])
