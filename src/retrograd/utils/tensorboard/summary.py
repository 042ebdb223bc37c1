"""Summaries: what an event file holds of a number, a histogram, a text, a curve or a mesh."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData
from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData
from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

from ...foundations.dtypes import Array
from ._convert_np import make_np
from ._hparams import hparams as hparams
from ._media import (
    audio as audio,
    draw_boxes as draw_boxes,
    image as image,
    image_boxes as image_boxes,
    make_image as make_image,
    make_video as make_video,
    video as video,
)

__all__ = ["half_to_int", "int_to_half", "hparams", "scalar", "histogram_raw", "histogram", "make_histogram", "image",
           "image_boxes", "draw_boxes", "make_image", "video", "make_video", "audio", "custom_scalars", "text",
           "tensor_proto", "pr_curve_raw", "pr_curve", "compute_curve", "mesh"]

_LEAST_COUNT = 1e-7         # what a curve divides by at least
_MOST_THRESHOLDS = 127      # more thresholds make no plot


def half_to_int(f: float) -> int:
    """The bits of a number as an int. Like PyTorch, they are those of its float32."""
    return int(np.float32(f).view(np.int32))


def int_to_half(i: int) -> float:
    """The number with these bits: the inverse of `half_to_int`."""
    return float(np.int32(i).view(np.float32))


def _of(tag: str, plugin: str, content: bytes, tensor: Any) -> Any:
    """The summary of a tensor that a plugin shows."""
    data = SummaryMetadata.PluginData(plugin_name=plugin, content=content)
    return Summary(value=[Summary.Value(tag=tag, metadata=SummaryMetadata(plugin_data=data), tensor=tensor)])


def _shape(*sizes: int) -> Any:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


# Numbers


def scalar(name: str, tensor: Any, collections: Any = None, new_style: bool = False,
           double_precision: bool = False) -> Any:
    """The summary of a number: a float, or with `new_style` a tensor. Raises AssertionError for several numbers."""
    value = make_np(tensor).squeeze()
    if value.ndim != 0:
        raise AssertionError(f"Tensor should contain one element (0 dimensions). Was given size: {value.size} and "
                             f"{value.ndim} dimensions.")
    number = float(value)
    if not new_style:
        return Summary(value=[Summary.Value(tag=name, simple_value=number)])
    proto = (TensorProto(double_val=[number], dtype="DT_DOUBLE") if double_precision
             else TensorProto(float_val=[number], dtype="DT_FLOAT"))
    return _of(name, "scalars", b"", proto)


# The field of TensorProto that holds the elements of each dtype, and the name of the dtype there.
_TENSORS = {"float16": ("half_val", "DT_HALF"), "float32": ("float_val", "DT_FLOAT"),
            "float64": ("double_val", "DT_DOUBLE"), "int8": ("int_val", "DT_INT8"), "uint8": ("uint32_val", "DT_UINT8"),
            "int16": ("int_val", "DT_INT16"), "int32": ("int_val", "DT_INT32"), "int64": ("int64_val", "DT_INT64"),
            "complex64": ("scomplex_val", "DT_COMPLEX64"), "complex128": ("dcomplex_val", "DT_COMPLEX128"),
            "bool": ("bool_val", "DT_BOOL")}


def tensor_proto(tag: str, tensor: Any) -> Any:
    """The summary of a tensor with all its elements. Raises ValueError for a dtype that the files do not know."""
    array = make_np(tensor)
    if array.dtype.name not in _TENSORS:
        raise ValueError(f"{tag} has unsupported tensor dtype {tensor.dtype}")
    field, dtype = _TENSORS[array.dtype.name]
    flat = array.reshape(-1)
    if array.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    elements = [half_to_int(x) for x in flat] if field == "half_val" else flat.tolist()
    return _of(tag, "tensor", b"", TensorProto(**{field: elements}, dtype=dtype, tensor_shape=_shape(*array.shape)))


# Histograms


def histogram_raw(name: str, min: Any, max: Any, num: Any, sum: Any, sum_squares: Any, bucket_limits: Any,
                  bucket_counts: Any) -> Any:
    """The summary of a histogram that the program has counted."""
    counted = HistogramProto(min=min, max=max, num=num, sum=sum, sum_squares=sum_squares, bucket_limit=bucket_limits,
                             bucket=bucket_counts)
    return Summary(value=[Summary.Value(tag=name, histo=counted)])


def histogram(name: str, values: Any, bins: Any, max_bins: int | None = None) -> Any:
    """The summary of a histogram of all elements, with the bins of `numpy.histogram`."""
    counted = make_histogram(make_np(values).astype(float), bins, max_bins)
    return Summary(value=[Summary.Value(tag=name, histo=counted)])


def make_histogram(values: Array, bins: Any, max_bins: int | None = None) -> Any:
    """The histogram, without the empty bins at its ends but for one at the left.

    If there are more than `max_bins` bins, neighbors become one bin. Raises ValueError if there are no elements.
    """
    if values.size == 0:
        raise ValueError("The input has no element.")
    values = values.reshape(-1)
    counts, limits = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        step = len(counts) // max_bins
        counts = np.pad(counts, (0, -len(counts) % step)).reshape(-1, step).sum(1)
        ends = np.full(len(counts) + 1, limits[-1])
        ends[:-1] = limits[:-1:step]
        limits = ends
    (filled,) = np.nonzero(counts)
    if not filled.size and len(counts) > 1:
        raise ValueError("The histogram is empty, please file a bug report.")
    first, last = (int(filled[0]), int(filled[-1]) + 1) if filled.size else (1, 1)
    shown = np.concatenate([counts[first - 1:first] if first else [0], counts[first:last]])
    return HistogramProto(min=values.min(), max=values.max(), num=len(values), sum=values.sum(),
                          sum_squares=values.dot(values), bucket_limit=limits[first:last + 1].tolist(),
                          bucket=shown.tolist())


# Texts and layouts


def text(tag: str, text: str) -> Any:
    """The summary of a text."""
    content = TextPluginData(version=0).SerializeToString()
    tensor = TensorProto(dtype="DT_STRING", string_val=[text.encode()], tensor_shape=_shape(1))
    return _of(f"{tag}/text_summary", "text", content, tensor)


def custom_scalars(layout: dict[str, dict[str, list[Any]]]) -> Any:
    """The summary of a layout: charts of several numbers, by the titles of categories and of charts."""
    categories = []
    for category, charts in layout.items():
        made = []
        for title, (kind, tags) in charts.items():
            if kind == "Margin":
                if len(tags) != 3:
                    raise AssertionError("len(tags) != 3")
                series = layout_pb2.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])
                made.append(layout_pb2.Chart(title=title, margin=layout_pb2.MarginChartContent(series=[series])))
            else:
                made.append(layout_pb2.Chart(title=title, multiline=layout_pb2.MultilineChartContent(tag=tags)))
        categories.append(layout_pb2.Category(title=category, chart=made))
    content = layout_pb2.Layout(category=categories).SerializeToString()
    tensor = TensorProto(dtype="DT_STRING", string_val=[content], tensor_shape=TensorShapeProto())
    return _of("custom_scalars__config__", "custom_scalars", b"", tensor)


# Curves of precision and recall


def pr_curve_raw(tag: str, tp: Any, fp: Any, tn: Any, fn: Any, precision: Any, recall: Any, num_thresholds: int = 127,
                 weights: Any = None) -> Any:
    """The summary of a curve that the program has computed."""
    return _curve(tag, np.stack((tp, fp, tn, fn, precision, recall)), min(num_thresholds, _MOST_THRESHOLDS))


def pr_curve(tag: str, labels: Any, predictions: Any, num_thresholds: int = 127, weights: Any = None) -> Any:
    """The summary of the curve of precision and recall, for labels 0 and 1 and predictions between 0 and 1."""
    thresholds = min(num_thresholds, _MOST_THRESHOLDS)
    return _curve(tag, compute_curve(labels, predictions, thresholds, weights), thresholds)


def _curve(tag: str, rows: Any, thresholds: int) -> Any:
    content = PrCurvePluginData(version=0, num_thresholds=thresholds).SerializeToString()
    tensor = TensorProto(dtype="DT_FLOAT", float_val=rows.reshape(-1).tolist(), tensor_shape=_shape(*rows.shape))
    return _of(tag, "pr_curves", content, tensor)


def compute_curve(labels: Any, predictions: Any, num_thresholds: Any = None, weights: Any = None) -> Any:
    """Rows for each threshold: true and false positives, true and false negatives, precision and recall."""
    weights = 1.0 if weights is None else weights
    reached = np.int32(np.floor(predictions * (num_thresholds - 1)))
    truth = labels.astype(np.float64)
    positives = [np.histogram(reached, bins=num_thresholds, range=(0, num_thresholds - 1), weights=weight)[0]
                 for weight in (truth * weights, (1.0 - truth) * weights)]
    tp, fp = (np.cumsum(counts[::-1])[::-1] for counts in positives)
    tn, fn = fp[0] - fp, tp[0] - tp
    return np.stack((tp, fp, tn, fn, tp / np.maximum(_LEAST_COUNT, tp + fp), tp / np.maximum(_LEAST_COUNT, tp + fn)))


# Meshes


def mesh(tag: str, vertices: Any, colors: Any, faces: Any, config_dict: Any, display_name: str | None = None,
         description: str | None = None) -> Any:
    """The summary of points in space with their colors, and of the triangles between the points."""
    parts = [(array, kind, name) for array, kind, name in (
        (vertices, MeshPluginData.VERTEX, "VERTEX"), (faces, MeshPluginData.FACE, "FACE"),
        (colors, MeshPluginData.COLOR, "COLOR")) if array is not None]
    components = 0
    for _, kind, _ in parts:
        components |= 1 << kind
    config = json.dumps(config_dict, sort_keys=True) if config_dict is not None else "{}"
    summaries = []
    for values, kind, name in parts:
        array = make_np(values)
        content = MeshPluginData(version=0, name=tag, content_type=kind, components=components, shape=array.shape,
                                 json_config=config)
        data = SummaryMetadata.PluginData(plugin_name="mesh", content=content.SerializeToString())
        metadata = SummaryMetadata(display_name=display_name, summary_description=description, plugin_data=data)
        tensor = TensorProto(dtype="DT_FLOAT", float_val=array.reshape(-1).tolist(), tensor_shape=_shape(*array.shape))
        summaries.append((f"{tag}_{name}", tensor, metadata))
    return Summary(value=[Summary.Value(tag=name, tensor=tensor, metadata=metadata)
                          for name, tensor, metadata in summaries])
