"""SummaryWriter: writes numbers, pictures and texts of a training run, each with the number of a step."""

from __future__ import annotations

import os
import socket
import time
from datetime import datetime
from typing import Any

from google.protobuf import text_format
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig
from tensorboard.summary.writer.record_writer import RecordWriter

from . import summary as summaries
from ._convert_np import make_np
from ._embedding import described, write_labels, write_matrix, write_pictures
from ._file_writer import FileWriter, refuse_graphs
from ._utils import figure_to_image

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]


def _exponential_bins() -> list[float]:
    """The limits of TensorBoard's bins: each positive limit is 1.1 times the limit before it."""
    limits, limit = [], 1e-12
    while limit < 1e20:
        limits.append(limit)
        limit *= 1.1
    return [-limit for limit in reversed(limits)] + [0] + limits


class SummaryWriter:
    """Writes what a run reports to event files in `log_dir`, or in `runs/<time>_<host><comment>`.

    `purge_step` has TensorBoard forget earlier events from this step on. Each method takes a tag, a value, the number
    of a step and a time. The files have the same events as those of PyTorch.

    >>> import tempfile
    >>> from retrograd.utils.tensorboard import SummaryWriter
    >>> with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
    ...     for step in range(3):
    ...         writer.add_scalar("loss", 1 / (step + 1), step)
    """

    def __init__(self, log_dir: Any = None, comment: str = "", purge_step: int | None = None, max_queue: int = 10,
                 flush_secs: int = 120, filename_suffix: str = "") -> None:
        if not log_dir:
            log_dir = os.path.join("runs", f"{datetime.now():%b%d_%H-%M-%S}_{socket.gethostname()}{comment}")
        self.log_dir, self.purge_step = log_dir, purge_step
        self.max_queue, self.flush_secs, self.filename_suffix = max_queue, flush_secs, filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self.default_bins = _exponential_bins()
        self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        """The writer of the run's own file. The file is new after `close`."""
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = self._new_writer(self.log_dir)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                step = self.purge_step
                self.file_writer.add_event(Event(step=step, file_version="brain.Event:2"))
                self.file_writer.add_event(Event(step=step, session_log=SessionLog(status=SessionLog.START)))
                self.purge_step = None
        return self.file_writer

    def _new_writer(self, folder: Any) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _add(self, summary: Any, step: Any, walltime: float | None = None) -> None:
        self._get_file_writer().add_summary(summary, step, walltime)

    def get_logdir(self) -> Any:
        """The folder of the files."""
        return self.log_dir

    def flush(self) -> None:
        """Write to the disk what waits in the queues."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Close the files."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # Numbers

    def add_scalar(self, tag: str, scalar_value: Any, global_step: Any = None, walltime: float | None = None,
                   new_style: bool = False, double_precision: bool = False) -> None:
        """Write a number. Raises AssertionError for a tensor of several elements."""
        made = summaries.scalar(tag, scalar_value, new_style=new_style, double_precision=double_precision)
        self._add(made, global_step, walltime)

    def add_scalars(self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: Any = None,
                    walltime: float | None = None) -> None:
        """Write several numbers under one tag. Each number has a file in a folder of its own."""
        walltime = time.time() if walltime is None else walltime
        folder = self._get_file_writer().get_logdir()
        writers = self.all_writers or {}
        for tag, value in tag_scalar_dict.items():
            inner = os.path.join(folder, f"{main_tag.replace('/', '_')}_{tag}")
            if inner not in writers:
                writers[inner] = self._new_writer(inner)
            writers[inner].add_summary(summaries.scalar(main_tag, value), global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Write all elements of a tensor."""
        self._add(summaries.tensor_proto(tag, tensor), global_step, walltime)

    def add_hparams(self, hparam_dict: dict[str, Any], metric_dict: dict[str, Any],
                    hparam_domain_discrete: dict[str, list[Any]] | None = None, run_name: str | None = None,
                    global_step: Any = None) -> None:
        """Write the hyperparameters of a run, and its results, to the folder `run_name`. See `summary.hparams`."""
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        made = summaries.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        inner = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(log_dir=inner) as writer:
            for summary in made:
                writer._add(summary, global_step)
            for tag, value in metric_dict.items():
                writer.add_scalar(tag, value, global_step)

    def add_histogram(self, tag: str, values: Any, global_step: Any = None, bins: Any = "tensorflow",
                      walltime: float | None = None, max_bins: int | None = None) -> None:
        """Write a histogram of all elements. `bins` is "tensorflow", or what `numpy.histogram` takes."""
        chosen = self.default_bins if isinstance(bins, str) and bins == "tensorflow" else bins
        self._add(summaries.histogram(tag, values, chosen, max_bins), global_step, walltime)

    def add_histogram_raw(self, tag: str, min: Any, max: Any, num: Any, sum: Any, sum_squares: Any, bucket_limits: Any,
                          bucket_counts: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Write a histogram that the program has counted. Raises ValueError if limits and counts do not fit."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        made = summaries.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self._add(made, global_step, walltime)

    def add_pr_curve(self, tag: str, labels: Any, predictions: Any, global_step: Any = None,
                     num_thresholds: int = 127, weights: Any = None, walltime: float | None = None) -> None:
        """Write the curve of precision and recall, for labels 0 and 1 and predictions between 0 and 1."""
        made = summaries.pr_curve(tag, make_np(labels), make_np(predictions), num_thresholds, weights)
        self._add(made, global_step, walltime)

    def add_pr_curve_raw(self, tag: str, true_positive_counts: Any, false_positive_counts: Any,
                         true_negative_counts: Any, false_negative_counts: Any, precision: Any, recall: Any,
                         global_step: Any = None, num_thresholds: int = 127, weights: Any = None,
                         walltime: float | None = None) -> None:
        """Write a curve that the program has computed."""
        made = summaries.pr_curve_raw(tag, true_positive_counts, false_positive_counts, true_negative_counts,
                                      false_negative_counts, precision, recall, num_thresholds, weights)
        self._add(made, global_step, walltime)

    # Pictures, sounds and meshes

    def add_image(self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
                  dataformats: str = "CHW") -> None:
        """Write a picture: floats between 0 and 1, or uint8. Needs Pillow."""
        self._add(summaries.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_images(self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
                   dataformats: str = "NCHW") -> None:
        """Write several pictures as one grid. Needs Pillow."""
        self._add(summaries.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_image_with_boxes(self, tag: str, img_tensor: Any, box_tensor: Any, global_step: Any = None,
                             walltime: float | None = None, rescale: float = 1, dataformats: str = "CHW",
                             labels: Any = None) -> None:
        """Write a picture with boxes (left, top, right, bottom). Needs Pillow."""
        if isinstance(labels, str):
            labels = [labels]
        boxes = make_np(box_tensor)
        if labels is not None and len(labels) != boxes.shape[0]:
            labels = None
        made = summaries.image_boxes(tag, img_tensor, boxes, rescale, dataformats, labels)
        self._add(made, global_step, walltime)

    def add_figure(self, tag: str, figure: Any, global_step: int | None = None, close: bool = True,
                   walltime: float | None = None) -> None:
        """Write a figure of Matplotlib, or a list of figures as a grid, and close the figures. Needs Pillow."""
        picture = figure_to_image(figure, close)
        dataformats = "NCHW" if isinstance(figure, list) else "CHW"
        self.add_image(tag, picture, global_step, walltime, dataformats=dataformats)

    def add_video(self, tag: str, vid_tensor: Any, global_step: Any = None, fps: float = 4,
                  walltime: float | None = None) -> None:
        """Write videos (n, time, channels, height, width) side by side, as a GIF. Needs Pillow."""
        self._add(summaries.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(self, tag: str, snd_tensor: Any, global_step: Any = None, sample_rate: int = 44100,
                  walltime: float | None = None) -> None:
        """Write a sound: samples between -1 and 1."""
        self._add(summaries.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_mesh(self, tag: str, vertices: Any, colors: Any = None, faces: Any = None, config_dict: Any = None,
                 global_step: Any = None, walltime: float | None = None) -> None:
        """Write points (batch, n, 3), with colors (batch, n, 3) and with triangles (batch, m, 3) of their numbers."""
        self._add(summaries.mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    def add_embedding(self, mat: Any, metadata: Any = None, label_img: Any = None, global_step: Any = None,
                      tag: str = "default", metadata_header: list[str] | None = None) -> None:
        """Write the rows of a matrix for the projector, with labels and with pictures (n, channels, height, width).

        Raises AssertionError if the sizes do not fit.
        """
        matrix, step = make_np(mat), str(0 if global_step is None else global_step).zfill(5)
        inner = "/".join((step, tag.replace("%", "%25").replace("/", "%2f").replace("\\", "%5c")))
        root = self._get_file_writer().get_logdir()
        folder = os.path.join(root, inner)
        if os.path.exists(folder):
            print("warning: Embedding dir exists, did you set global_step for add_embedding()?")
        os.makedirs(folder, exist_ok=True)
        if metadata is not None:
            if len(metadata) != matrix.shape[0]:
                raise AssertionError("#labels should equal with #data points")
            write_labels(metadata, folder, metadata_header)
        if label_img is not None:
            if label_img.shape[0] != matrix.shape[0]:
                raise AssertionError("#images should equal with #data points")
            write_pictures(label_img, folder)
        if matrix.ndim != 2:
            raise AssertionError("mat should be 2D, where mat.size(0) is the number of data points")
        write_matrix(matrix.tolist(), folder)
        self.__dict__.setdefault("_projector_config", ProjectorConfig()).embeddings.extend(
            [described(metadata, label_img, inner, step, tag)])
        with open(os.path.join(root, "projector_config.pbtxt"), "w", encoding="utf-8") as file:
            file.write(text_format.MessageToString(self._projector_config))

    _projector_config: Any

    # Texts and layouts

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """Write a text. TensorBoard reads Markdown."""
        self._add(summaries.text(tag, text_string), global_step, walltime)

    def add_custom_scalars_multilinechart(self, tags: list[str], category: str = "default",
                                          title: str = "untitled") -> None:
        """Show several numbers in one chart."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(self, tags: list[str], category: str = "default",
                                       title: str = "untitled") -> None:
        """Show three numbers, a value with its lower and its upper bound, in one chart."""
        if len(tags) != 3:
            raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_custom_scalars(self, layout: dict[str, dict[str, list[Any]]]) -> None:
        """Write a layout: {category: {title of a chart: ["Multiline" or "Margin", tags]}}."""
        self._add(summaries.custom_scalars(layout), None)

    def add_graph(self, model: Any, input_to_model: Any = None, verbose: bool = False,
                  use_strict_trace: bool = True) -> None:
        """Raises NotImplementedError: no graph of a model is written."""
        refuse_graphs()

    def add_onnx_graph(self, prototxt: str) -> None:
        """Raises NotImplementedError: no graph of a model is written."""
        refuse_graphs()
