"""A program that writes all kinds of events for TensorBoard, and prints the files, to compare with PyTorch."""

import os
import tempfile
import warnings
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import torch
from google.protobuf import text_format
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
from torch.utils.tensorboard import FileWriter, RecordWriter, SummaryWriter, summary

warnings.simplefilter("ignore")
matplotlib.use("agg")


def show(root):
    """Print every event and every other file below a folder."""
    for folder, _, files in sorted(os.walk(root)):
        print("FOLDER", os.path.relpath(folder, root))
        for name in sorted(files):
            path = os.path.join(folder, name)
            if ".tfevents." not in name:
                print(name, Path(path).read_bytes())
                continue
            print(name.split(".")[:3], name.split(".")[5:][-1][-4:])
            for raw in RawEventFileLoader(path).Load():
                event = Event.FromString(raw)
                if event.wall_time > 1000:
                    event.wall_time = 0
                event.ClearField("source_metadata")
                for value in event.summary.value:
                    if value.metadata.plugin_data.plugin_name == "hparams":
                        data = HParamsPluginData.FromString(value.metadata.plugin_data.content)
                        value.metadata.plugin_data.content = b""
                        print(text_format.MessageToString(data))
                print(text_format.MessageToString(event, as_one_line=True))


def say(call):
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, " ".join(str(error).split()))


def numbers(writer):
    for step in range(3):
        writer.add_scalar("loss", 1 / (step + 3), step, walltime=step)
    writer.add_scalar("tensor", torch.tensor([2.5], requires_grad=True), torch.tensor(3))
    writer.add_scalar("new", 1, 2, new_style=True)
    writer.add_scalar("double", 0.1, None, new_style=True, double_precision=True)
    writer.add_scalars("group/inner", {"a": 1, "b c": torch.tensor(2)}, 7)
    writer.add_scalars("group/inner", {"a": 3}, 8)
    for dtype in (torch.float16, torch.float32, torch.float64, torch.int8, torch.uint8, torch.int16, torch.int32,
                  torch.int64, torch.bool, torch.complex64, torch.complex128):
        writer.add_tensor(str(dtype), torch.arange(3).to(dtype).reshape(3, 1), 1)
    writer.add_text("text", "some *words* ä", 4)
    say(lambda: writer.add_scalar("wrong", torch.zeros(2)))
    say(lambda: writer.add_scalar("wrong", None))


def histograms(writer):
    torch.manual_seed(0)
    values = torch.randn(50)
    writer.add_histogram("normal", values, 1)
    writer.add_histogram("ints", np.arange(20) ** 2, 2, bins="auto")
    writer.add_histogram("few", np.arange(20) ** 2, 3, bins=7)
    writer.add_histogram("constant", torch.zeros(3, 2), 3)
    for bins, most in ((40, 10), (33, 10), (10, 10), (31, 7), (11, 10), (100, 1)):
        writer.add_histogram(f"{bins} {most}", values, 3, bins=bins, max_bins=most)
        writer.add_histogram(f"wide {bins} {most}", values, 3, bins=np.linspace(-9, 9, bins), max_bins=most)
    writer.add_histogram_raw("raw", 1, 2, 3, 4, 5, [1, 2], [3, 4], 5)
    say(lambda: writer.add_histogram("empty", torch.zeros(0)))
    say(lambda: writer.add_histogram("outside", torch.zeros(2), bins=[1, 2]))
    say(lambda: writer.add_histogram_raw("raw", 1, 2, 3, 4, 5, [1], [3, 4], 5))
    labels, predictions = torch.tensor([0, 1, 1, 0, 1]), torch.tensor([0.1, 0.8, 0.6, 0.4, 0.3])
    writer.add_pr_curve("curve", labels, predictions, 1, num_thresholds=5)
    writer.add_pr_curve("weighted", labels, predictions, 1, num_thresholds=4, weights=np.arange(5.0))
    rows = [np.arange(3.0)] * 6
    writer.add_pr_curve_raw("raw curve", *rows, global_step=2, num_thresholds=3)


def pictures(writer):
    torch.manual_seed(1)
    picture = torch.rand(3, 4, 6)
    writer.add_image("floats", picture, 1)
    writer.add_image("bytes", (picture * 255).to(torch.uint8).numpy(), 1)
    writer.add_image("grey", picture[0], 1, dataformats="HW")
    writer.add_image("one channel", picture[:1], 1)
    writer.add_image("last", picture.permute(1, 2, 0), 1, dataformats="HWC")
    writer.add_images("grid", torch.rand(10, 3, 2, 2), 1)
    writer.add_images("grey grid", torch.rand(3, 1, 2, 2) * 3 - 1, 1)
    writer.add_images("last grid", torch.rand(3, 2, 2, 3), 1, dataformats="NHWC")
    writer.add_image_with_boxes("boxes", torch.rand(3, 40, 50), torch.tensor([[3.0, 4.0, 20.0, 30.0]]), 1)
    writer.add_image_with_boxes("labels", torch.rand(3, 40, 50), np.array([[3, 4, 20, 30]]), 1, rescale=2, labels="a")
    figures = []
    for i in range(2):
        figure = plt.figure(figsize=(1, 1), dpi=20)
        figure.add_subplot().plot([i, 2, 1])
        figures.append(figure)
    writer.add_figure("figure", figures[0], 2, close=False)
    writer.add_figure("figures", figures, 2)
    print(plt.get_fignums())
    for tensor, order in ((picture, "HW"), (picture, "CHH"), (torch.rand(2, 2, 2, 2), "NCHW")):
        say(lambda tensor=tensor, order=order: writer.add_image("wrong", tensor, dataformats=order))
    writer.add_audio("sound", torch.linspace(-1.5, 1.5, 9), 1, sample_rate=8000)
    say(lambda: writer.add_audio("wrong", torch.zeros(2, 3)))
    faces = torch.tensor([[[0, 1, 2]]])
    writer.add_mesh("mesh", torch.rand(1, 3, 3), torch.ones(1, 3, 3), faces, {"a": 1, "B": [2]}, 3)
    writer.add_mesh("points", torch.rand(1, 3, 3))


def others(writer):
    writer.add_custom_scalars({"first": {"both": ["Multiline", ["a", "b"]], "margin": ["Margin", ["a", "b", "c"]]}})
    writer.add_custom_scalars_multilinechart(["a", "b"])
    writer.add_custom_scalars_marginchart(["a", "b", "c"], "category", "title")
    say(lambda: writer.add_custom_scalars_marginchart(["a", "b"]))
    domain = {"depth": [1, 2], "name": ["x"], "flag": [True, False]}
    writer.add_hparams({"depth": 1, "rate": 0.5, "name": "x", "flag": True, "none": None, "t": torch.tensor([2])},
                       {"loss": 3, "accuracy": torch.tensor(0.5)}, domain, run_name="run", global_step=4)
    writer.add_hparams({"depth": 1}, {}, run_name="empty")
    for wrong in ((1, {}), ({"a": [1]}, {}), ({"a": 1}, {}, {"b": [1]}), ({"a": 1}, {}, {"a": ["x"]}),
                  ({"a": 1}, {}, [1])):
        say(lambda wrong=wrong: writer.add_hparams(*wrong))
    matrix = torch.arange(6.0).reshape(3, 2)
    writer.add_embedding(matrix, ["a", "b", "c"], global_step=3, tag="a b/c%d\\e")
    writer.add_embedding(matrix.numpy(), [[1, 2]] * 3, metadata_header=["x", "y"])
    torch.manual_seed(0)
    writer.add_embedding(torch.ones(4, 2), label_img=torch.rand(4, 3, 2, 2), global_step=6)
    writer.add_embedding(matrix, label_img=torch.rand(3, 3, 2, 2), global_step=7)
    for wrong in ({"metadata": ["a"]}, {"label_img": torch.zeros(1, 3, 2, 2)},
                  {"metadata": [[1]] * 3, "metadata_header": ["a", "b"]}):
        say(lambda wrong=wrong: writer.add_embedding(matrix, **wrong))
    say(lambda: writer.add_embedding(torch.zeros(2)))


for events in (numbers, histograms, pictures, others):
    with tempfile.TemporaryDirectory() as folder:
        with SummaryWriter(folder, purge_step=2 if events is numbers else None, filename_suffix=".end") as writer:
            events(writer)
        print(events.__name__, writer.file_writer, writer.all_writers)
        show(folder)

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with SummaryWriter(comment="-note") as writer:
        print(writer.get_logdir().startswith("runs/"), writer.get_logdir().endswith("-note"))
    writer.add_scalar("again", 1, 1)
    writer.flush()
    writer.close()
    print(len(os.listdir(writer.get_logdir())), writer.log_dir == writer.get_logdir(), len(writer.default_bins))
    files = FileWriter(folder)
    files.add_summary(summary.scalar("direct", 2), 5, 6.0)
    files.close()
    print(files.get_logdir() == folder, RecordWriter.__name__)
    print(summary.half_to_int(-1.5), summary.int_to_half(summary.half_to_int(0.25)))
