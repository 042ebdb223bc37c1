"""A program that shows measured times in all ways, to compare retrograd with PyTorch. The times are given."""

import itertools
import random

import torch
from torch.utils import benchmark
from torch.utils.benchmark import Compare, Measurement, TaskSpec, Timer


def say(call):
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, str(error).partition("\n")[0])


def measured(*times, runs=1, **names):
    return Measurement(runs, list(times), TaskSpec(**{"stmt": "x + 1", "setup": "pass", "description": "d", **names}))


def shown(value):
    """A representation without the address in its first line."""
    return repr(value).partition("\n")[2]


print([benchmark.select_unit(10.0**power * digit) for power in range(-9, 3) for digit in (1, 2.5, 9.99999)])
print([benchmark.unit_to_english(unit) for unit in ("ns", "us", "ms", "s")])
print([benchmark.trim_sigfig(x, n) for x in (1.2345, 12345, 0.00123456, -5.55, 0.1, 99.96) for n in (1, 2, 3, 4)])
print(benchmark.ordered_unique([3, 1, 3, 2, 1]))
with benchmark.set_torch_threads(1):
    print(torch.get_num_threads())

specs = [TaskSpec("x", "pass"), TaskSpec("x", "y"), TaskSpec("x\ny", "y\nz"), TaskSpec("x", "a\nb", label="L"),
         TaskSpec("x\ny", "pass", "", "L", "S", "D", "E", 3), TaskSpec("x\ny", "pass", sub_label="S")]
for spec in specs:
    print(repr(spec.title), repr(spec.setup_str()), repr(spec.summarize()), spec == TaskSpec("x", "pass"))
say(lambda: setattr(specs[0], "stmt", "y"))

random.seed(0)
results = []
for count, runs, scale in itertools.product((1, 2, 3, 4, 5, 7, 10, 30), (1, 100), (1e-8, 3e-6, 2e-3, 1.5)):
    for spread in (0.0, 0.001, 0.05, 0.2, 0.6):
        times = [scale * runs * (1 + spread * random.random()) for _ in range(count)]
        results.append(measured(*times, runs=runs, num_threads=count, sub_label=str(spread), label="random"))
for result in results:
    print(shown(result))
    print(result.median, f"{result.mean:.9e}", result.iqr, result.significant_figures, result.has_warnings)
    print(result.title, result.env, result.as_row_name, result.meets_confidence(0.02), len(result.times),
          result.description)
print(shown(Measurement(2, [1.0, 2.0], specs[4])), Measurement(2, [1.0], specs[4]).as_row_name)
say(lambda: measured().median)
merged = Measurement.merge([measured(1.0), measured(2.0), measured(3.0, runs=2), measured(3.0, label="k")])
print([(result.number_per_run, result.raw_times, result.label, result.metadata) for result in merged])


def table(results, *options):
    found = Compare(results)
    for option in options:
        getattr(found, option)()
    print(found)


grid = []
for i, (threads, label, sub, env, description) in enumerate(
        itertools.product((1, 2), ("a", "b"), ("s1", "s2"), ("e", "env"), ("d1", "d2", "a long description"))):
    times = [1e-6 * (i + 1) ** 2 * (1 + 0.01 * j) for j in range(5)]
    grid.append(measured(*times, label=label, sub_label=sub, description=description, env=env, num_threads=threads))
missing = [result for i, result in enumerate(grid) if i % 3]
wide = [measured(1.0, 2.0, 3.0, 4.0, 5.0, env="e", label="a", sub_label="s1", description="new"),
        measured(1.0, 1.3, 1.5, 1.6, 1.7, env="e", label="a", sub_label="s3", description="new")]
for given in (grid, missing, missing + wide, results[::7]):
    for options in ((), ("trim_significant_figures",), ("colorize",), ("highlight_warnings",),
                    ("trim_significant_figures", "colorize", "highlight_warnings")):
        table(given, *options)
rowwise = Compare(missing)
rowwise.colorize(rowwise=True)
print(rowwise)
ratios = (1.0, 1.0001, 1.001, 1.009, 1.01, 1.011, 1.04, 1.05, 1.0999, 1.1, 1.1001, 1.9999, 2.0, 2.0001, 4.9, 5.0, 5.1)
table([measured(ratio, sub_label=str(ratio)) for ratio in ratios], "colorize")
table([measured(1e-3), measured(2e-3, stmt="a"), measured(2.0, label="a title that is longer than the table")])
table([measured(1e-3, stmt="q\nw"), measured(2.0, stmt="q\nw", num_threads=12)])
print(repr(str(Compare([]))))
say(lambda: Compare([3]))

timer = Timer("\n   a = 1\n   torch.ones(2) + x\n", setup="  x = 2 ", label="timed")
say(lambda: (timer.timeit(5).number_per_run, len(timer.timeit(5).raw_times), timer.timeit(3).task_spec.stmt))
say(lambda: Timer("x + 1", globals={"x": torch.ones(2)}).blocked_autorange(min_run_time=0.001).median > 0)
say(lambda: Timer("x + 1", "x = 1").adaptive_autorange(min_run_time=0.001, max_run_time=0.01).mean > 0)
say(lambda: Timer("x", language="y"))
say(lambda: Timer(3))
say(lambda: Timer("1", global_setup="x"))
say(lambda: Timer("nope").timeit(3))
say(lambda: Timer("1").repeat())
say(lambda: Timer("1").autorange())
