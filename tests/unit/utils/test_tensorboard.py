"""Event files for TensorBoard, read with TensorBoard. Facts taken from PyTorch 2.13."""

import importlib
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import absent, needs

if missing := absent("tensorboard", "PIL"):
    pytest.skip(missing, allow_module_level=True)

from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from retrograd.utils.tensorboard import FileWriter, SummaryWriter, _needs, summary

pytestmark = needs("tensorboard", "PIL")


def read(folder: Path) -> Any:
    found = EventAccumulator(str(folder), {"tensors": 0, "images": 0})
    found.Reload()
    return found


def test_numbers_have_their_tags_steps_and_times(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_scalar("loss", 1 / (step + 1), step, walltime=5.0 + step)
        writer.add_scalar("tensor", torch.tensor([2.5], requires_grad=True), torch.tensor(7))
        writer.add_scalars("a/b", {"x": 1, "y": 2}, 3)
    found = read(tmp_path)
    assert [(event.step, event.wall_time, event.value) for event in found.Scalars("loss")] == [
        (0, 5.0, 1.0), (1, 6.0, 0.5), (2, 7.0, pytest.approx(1 / 3))]
    assert [(event.step, event.value) for event in found.Scalars("tensor")] == [(7, 2.5)]
    assert [event.value for event in read(tmp_path / "a_b_y").Scalars("a/b")] == [2.0]
    with pytest.raises(AssertionError, match=r"Tensor should contain one element \(0 dimensions\)"):
        summary.scalar("x", torch.zeros(2))
    with pytest.raises(NotImplementedError, match="Got <class 'NoneType'>, but numpy array or torch tensor"):
        summary.scalar("x", None)


def test_a_writer_begins_a_new_file_after_it_is_closed(tmp_path: Path) -> None:
    writer = SummaryWriter(tmp_path, purge_step=4)
    writer.close()
    assert (writer.file_writer, writer.all_writers) == (None, None)
    writer.add_scalar("again", 1, 1)
    writer.close()
    assert len([*tmp_path.iterdir()]) == 2
    assert writer.get_logdir() == tmp_path


@pytest.mark.parametrize(("bins", "most", "limits", "counts"), [
    ([0, 1, 2, 3], None, [0, 1, 2], [0, 2, 1]),
    ([-2, -1, 0, 1, 2, 3], None, [0, 1, 2], [0, 2, 1]),
    ([0, 1, 2, 3], 1, [0, 3], [0, 3]),
    ([4, 5], None, [5], [0]),
])
def test_histograms(bins: list[int], most: int | None, limits: list[float], counts: list[float]) -> None:
    made = summary.make_histogram(np.array([[0.0, 0.5, 1.5]]), bins, most)
    assert ([*made.bucket_limit], [*made.bucket]) == (limits, counts)
    assert (made.min, made.max, made.num, made.sum, made.sum_squares) == (0.0, 1.5, 3, 2.0, 2.5)


def test_histograms_of_nothing() -> None:
    with pytest.raises(ValueError, match=r"The input has no element\."):
        summary.make_histogram(np.zeros(0), [0, 1])
    with pytest.raises(ValueError, match="The histogram is empty, please file a bug report"):
        summary.make_histogram(np.zeros(2), [1, 2, 3])


def test_a_curve_of_precision_and_recall() -> None:
    rows = summary.compute_curve(np.array([0, 1, 1, 0]), np.array([0.1, 0.9, 0.4, 0.6]), 3)
    assert rows.tolist() == [[2, 1, 0], [2, 1, 0], [0, 1, 2], [0, 1, 2], [0.5, 0.5, 0], [1, 0.5, 0]]


def test_pictures(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("one", torch.tensor([[[0.0, 0.5]], [[1.0, 2.0]], [[-1.0, 0.25]]]), 1)
        writer.add_images("grid", torch.ones(3, 1, 2, 2), 2)
        writer.add_video("video", torch.arange(48.).reshape(2, 2, 3, 2, 2) / 48, 3)
    found = read(tmp_path)
    (one,), (grid,), (video,) = (found.Images(tag) for tag in ("one", "grid", "video"))
    pixels = np.asarray(Image.open(io.BytesIO(one.encoded_image_string)))
    assert pixels.tolist() == [[[0, 255, 0], [127, 255, 63]]]
    assert (one.width, one.height, grid.width, grid.height, grid.step) == (2, 1, 6, 2, 2)
    with Image.open(io.BytesIO(video.encoded_image_string)) as film:
        assert (film.format, film.n_frames, film.size) == ("GIF", 2, (4, 2))  # type: ignore[attr-defined]
    with pytest.raises(AssertionError, match="size of input tensor and input format are different"):
        summary.image("x", torch.zeros(2, 2), dataformats="CHW")
    with pytest.raises(AssertionError, match="You can not use the same dimension shorthand twice"):
        summary.image("x", torch.zeros(2, 2, 2), dataformats="CHH")


def test_hyperparameters(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_hparams({"depth": 2, "name": "x"}, {"loss": 0.5}, run_name="run")
        with pytest.raises(TypeError, match=r"hparam_dict and metric_dict should be dictionary\."):
            writer.add_hparams([1], {})  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="value should be one of int, float, str, bool, or torch.Tensor"):
            writer.add_hparams({"a": [1]}, {})
    found = read(tmp_path / "run")
    assert [event.value for event in found.Scalars("loss")] == [0.5]
    assert sorted(found.PluginTagToContent("hparams")) == [
        "_hparams_/experiment", "_hparams_/session_end_info", "_hparams_/session_start_info"]


def test_rows_for_the_projector(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_embedding(torch.arange(4.).reshape(2, 2), ["a", "b"], global_step=3, tag="x/y")
        with pytest.raises(AssertionError, match="#labels should equal with #data points"):
            writer.add_embedding(torch.zeros(2, 2), ["a"])
    assert (tmp_path / "00003" / "x%2fy" / "tensors.tsv").read_text() == "0.0\t1.0\n2.0\t3.0\n"
    assert (tmp_path / "00003" / "x%2fy" / "metadata.tsv").read_text() == "a\nb\n"
    assert 'tensor_name: "x/y:00003"' in (tmp_path / "projector_config.pbtxt").read_text()


def test_graphs_are_refused(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(NotImplementedError, match="retrograd writes no graph of a model for TensorBoard"):
            writer.add_graph(torch.nn.Linear(1, 1), torch.ones(1, 1))
        with pytest.raises(NotImplementedError, match="retrograd writes no graph"):
            writer.add_onnx_graph("x")
    files = FileWriter(tmp_path)
    with pytest.raises(NotImplementedError, match="retrograd writes no graph"):
        files.add_graph(None)
    files.close()


def test_without_tensorboard_the_import_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(ModuleNotFoundError, match="needs the package tensorboard. Install it: pip install tensorboard"):
        importlib.reload(_needs)
