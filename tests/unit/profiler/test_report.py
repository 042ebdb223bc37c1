"""What a profile shows: its table, its representations, its trace for a browser. Facts taken from PyTorch 2.13."""

import json
import re
from pathlib import Path

import pytest

import retrograd as torch
from retrograd.autograd import profiler
from retrograd.autograd.profiler import EventList, FunctionEvent, profile, record_function


def made(*calls: tuple[str, float, float, int | None]) -> EventList:
    """Events from (name, start, end, index of the parent)."""
    events: list[FunctionEvent] = []
    for i, (name, start, end, parent) in enumerate(calls):
        event = FunctionEvent(i + 1, name, 7, start, end, overload_name="", input_shapes=[], stack=[], flops=0)
        if parent is not None:
            event.cpu_parent = events[parent]
            events[parent].cpu_children.append(event)
        events.append(event)
    found = EventList(events)
    found._tree_built = True
    return found


TWO = (("aten::linear", 0., 2000., None), ("aten::addmm", 500., 2000., 0), ("aten::addmm", 2500., 3000., None))


def test_the_table_is_laid_out_as_pytorch_does() -> None:
    rule = "----------------" + "  ------------" * 6 + "  "
    assert made(*TWO).key_averages().table(sort_by="self_cpu_time_total").split("\n") == [
        rule,
        "            Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  ",
        rule,
        "     aten::addmm        80.00%       2.000ms        80.00%       2.000ms       1.000ms             2  ",
        "    aten::linear        20.00%     500.000us        80.00%       2.000ms       2.000ms             1  ",
        rule,
        "Self CPU time total: 2.500ms",
        "",
    ]


def test_options_of_the_table() -> None:
    events = made(*TWO)
    rows = [line.split()[0] for line in events.table().split("\n")[3:6]]
    assert rows == ["aten::linear", "aten::addmm", "aten::addmm"]
    assert str(events) == events.table()
    assert [len(events.table(row_limit=limit).split("\n")) - 6 for limit in (0, 1, 3, -1)] == [0, 1, 3, 3]
    top = events.table(header="HEAD", top_level_events_only=True, time_unit="s").split("\n")
    assert top[:4] == ["=" * 100, "HEAD", "=" * 100, "This report only display top-level ops statistics"]
    assert [line.split()[2] for line in top[7:9]] == ["0.001s", "0.001s"]
    assert top[9].startswith("---")
    for attribute in ("cpu_time", "cpu_time_total", "cuda_time_total", "self_cuda_memory_usage", "count"):
        assert len(events.table(sort_by=attribute)) == len(events.table())
    for table, kind in ((events.table, "FunctionEvent"), (events.key_averages().table, "FunctionEventAvg")):
        with pytest.raises(AttributeError, match=f"'{kind}' object has no attribute 'nope'"):
            table(sort_by="nope")


def test_long_names_are_cut() -> None:
    events = made(*[("n" * length, 0., 1., None) for length in (51, 52, 60)])
    lines = events.table().split("\n")
    assert [line[:57] for line in lines[3:6]] == [" " * 4 + "n" * 51 + "  ", "n" * 52 + "...  ", "n" * 52 + "...  "]
    assert lines[0].startswith("-" * 55 + "  ")
    assert events.table(max_name_column_width=None).split("\n")[5].startswith("    " + "n" * 60)
    assert events.table(max_name_column_width=20).split("\n")[3].startswith("n" * 17 + "...  ")


def test_times_choose_their_unit() -> None:
    times = [0., 999.9994, 1000., 999_999.6, 1e6]
    events = made(*[("t", 0., time, None) for time in times])
    assert [event.cpu_time_str for event in events] == ["0.000us", "999.999us", "1.000ms", "1000.000ms", "1.000s"]
    assert "NaN" in made(("t", 5., 5., None)).table()


def test_an_unfinished_and_an_empty_profile() -> None:
    prof = profile()
    with prof:
        assert (str(prof), repr(prof), prof.table()) == (
            "<unfinished torch.autograd.profile>", "<unfinished torch.autograd.profile>", "")
        with pytest.raises(RuntimeError, match="the profile has not ended"):
            prof.export_chrome_trace("nowhere")
    assert (str(prof), repr(prof), prof.table(), prof.key_averages(), prof.self_cpu_time_total) == ("", "[]", "", [], 0)
    assert repr(prof.total_average()) == (
        "<FunctionEventAvg key=Total self_cpu_time=0.000us cpu_time=0.000us  self_cuda_time=0.000us cuda_time=0.000us "
        "input_shapes=None cpu_memory_usage=0 cuda_memory_usage=0>")


def test_representations() -> None:
    events = made(*TWO)
    assert repr(events[0]) == (
        "<FunctionEvent id=1 name=aten::linear overload_name= device_type=DeviceType.CPU node_id=-1 cpu_time=2.000ms "
        "start_us=0.0 end_us=2000.0 cpu_children=[2] None_time=0.000us name=aten::linear thread=7 input_shapes=[] "
        "cpu_memory_usage=0 None_memory_usage=0 is_async=False is_remote=False seq_nr=-1 is_legacy=False>")
    total = events.total_average()
    assert (total.key, total.count, total.cpu_time_total, total.self_cpu_time_total) == ("Total", 3, 4000., 2500.)
    assert repr(events.key_averages()[0]).startswith(
        "<FunctionEventAvg key=aten::linear self_cpu_time=500.000us cpu_time=2.000ms  self_cuda_time=0.000us ")
    with pytest.raises(AssertionError, match="Expected keys to match, but got aten::addmm vs aten::linear"):
        events.key_averages()[0].add(events[1])


def test_shapes_of_inputs() -> None:
    x, w, b = torch.ones(2, 3), torch.ones(4, 3), torch.ones(4)
    with profile(record_shapes=True) as prof:
        torch.nn.functional.linear(x, w, b)
        (x * 2).add_(torch.ones(3))
        x[0] * 2
    shapes = {event.name: event.input_shapes for event in prof.function_events[:4]}
    assert shapes == {"aten::linear": [[2, 3], [4, 3], [4]], "aten::t": [[4, 3]],
                      "aten::addmm": [[4], [2, 3], [3, 4], [], []], "aten::mul": [[2, 3], []]}
    grouped = {(average.key, str(average.input_shapes)): average.count for average in prof.key_averages(True)}
    assert grouped["aten::mul", "[[2, 3], []]"] == grouped["aten::mul", "[[3], []]"] == 1
    by_name = {average.key: (average.count, average.input_shapes) for average in prof.key_averages()}
    assert by_name["aten::mul"] == (2, "")
    assert "  Input Shapes  " in prof.table().splitlines()[1]
    with profile() as prof:
        x * 2
    assert prof.function_events[0].input_shapes == []


def test_the_trace_is_what_chrome_reads(tmp_path: Path) -> None:
    with profile(record_shapes=True) as prof, record_function('quotes " and \\ and ü'):
        torch.ones(2).exp()
    prof.export_chrome_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    assert [event["name"] for event in trace] == ['quotes " and \\ and ü', "aten::ones", "aten::exp"]
    for event in trace:
        assert event["ph"] == "X"
        assert event["ts"] >= 0
        assert event["dur"] >= 0
        assert [type(event[name]) for name in ("pid", "tid")] == [int, int]
    assert trace[2]["args"] == {"Input Dims": [[2]]}


def test_options_that_have_nothing_to_watch() -> None:
    with pytest.warns(FutureWarning, match="`use_cuda` will be deprecated"), \
            pytest.warns(UserWarning, match="CUDA is not available"):
        prof = profile(use_cuda=True)
    assert (prof.use_cuda, prof.use_device) == (False, None)
    with pytest.warns(UserWarning, match="The abacus is not a valid device option"):
        profile(use_device="abacus")
    with pytest.raises(AssertionError, match="Device-only events supported only with Kineto"):
        profile(use_cpu=False)
    assert re.fullmatch("<unfinished.*>", str(profile(with_stack=True, profile_memory=True, with_flops=True)))
    assert torch.autograd.profiler is profiler
