"""Names that few programs use: facts of the build, streams of the CPU, old switches, Sobol sequences, statistics."""

from __future__ import annotations

import re

import pytest
import torch

import retrograd
from comparing.same_expression import check

_SETUP = """
import datetime

class Named:
    title = torch.classproperty(lambda cls: cls.__name__)

def sobol(n=5, **options):
    engine = torch.quasirandom.SobolEngine(n, **options)
    return engine

def statistics(*added, most=3):
    kinds = [torch.monitor.SUM, torch.monitor.COUNT, torch.monitor.MEAN, torch.monitor.MAX, torch.monitor.MIN]
    seen = []
    handle = torch.monitor.register_event_handler(lambda event: seen.append((event.name, dict(event.data))))
    stat = torch.monitor.Stat("a", kinds, datetime.timedelta(hours=1), most)
    for value in added:
        stat.add(value)
    torch.monitor.unregister_event_handler(handle)
    return {one.name: value for one, value in stat.get().items()}, stat.count, stat.name, seen
"""
# Only for expressions that name them: a build for CUDA makes no streams where there is no GPU.
_STREAMS = "stream, event = torch.Stream(), torch.Event()\n"
_EXPRESSIONS = """
(torch.has_lapack, torch.has_spectral, torch.USE_GLOBAL_DEPS, torch.USE_RTLD_GLOBAL_WITH_LIBTORCH, torch.PRIVATE_OPS)
(repr(torch.AVG), str(torch.SUM), int(torch.AVG), torch.AVG == 1, torch.AVG.name, torch.AVG.value)
torch.init_num_threads()
torch.get_file_path("a", "b").endswith("site-packages/a/b") or torch.get_file_path("a", "b").endswith("src/a/b")
torch.prepare_multiprocessing_environment("")
torch.profiler_allow_cudagraph_cupti_lazy_reinit_cuda12()
[cls.__name__ for cls in (torch.FatalError, torch.JITException)]
(issubclass(torch.FatalError, Exception), torch.jit.Error is torch.JITException)
torch.Storage is torch.FloatStorage
torch.StorageBase(3)
issubclass(torch.UntypedStorage, torch.StorageBase)
(Named.title, Named().title)
torch.sym_fresh_size(3)
torch.sym_constrain_range(3, min=1, max=2)
torch.sym_constrain_range(3, min=1, max=5)
torch.sym_constrain_range(3, min=4)
torch.sym_constrain_range(3, min=5, max=4)
torch.sym_constrain_range(3.5, min=1, max=2)
torch.sym_constrain_range('a')
torch.sym_constrain_range(torch.tensor(3), min=1, max=2)
torch.sym_constrain_range_for_size(-1)
torch.sym_constrain_range_for_size(3, max=2)
torch.sym_constrain_range_for_size(3, min=5, max=4)
torch.sym_constrain_range_for_size(1, min=0, max=9)
(torch.get_autocast_ipu_dtype(), torch.get_autocast_xla_dtype())
(torch.is_autocast_ipu_enabled(), torch.is_autocast_xla_enabled())
torch.set_autocast_ipu_enabled(1)
torch.set_autocast_ipu_dtype(torch.float16)
torch.set_autocast_xla_enabled(False)
(repr(stream), repr(event), repr(torch.Event('cpu', enable_timing=True)))
(stream.query(), stream.synchronize(), stream.is_capturing(), stream.wait_event(event), stream.device, stream.stream_id)
(stream == torch.Stream('cpu'), hash(stream) == hash(torch.Stream()))
stream.record_event()
stream.wait_stream(stream)
torch.Stream('cuda')
torch.Stream(3)
(event.query(), event.synchronize(), event.wait(), event.device, event.event_id)
event.record()
event.elapsed_time(event)
torch.Event('cuda')
torch.Event(enable_timing=3)
(torch.mtia.is_available(), torch.DisableTorchFunction is torch._C.DisableTorchFunction)
statistics(1, 5)
statistics(1, 5, 2, 7)
torch.testing.FileCheck().check("b").check("a").run("x a b")
torch.FileCheck().check("a").check_not("c").check("b").run("a c b")
torch.FileCheck().check("a").check_not("c").check("b").run("a b c")
torch.FileCheck().check_count("a", 2, exactly=True).run("a a a")
torch.FileCheck().check_count("a", 2).run("a a a")
torch.FileCheck().check("a").check_next("b").run("a\\n\\nb")
torch.FileCheck().check_dag("b").check_dag("a").run("a b")
torch.FileCheck().check_regex("a+b").run("xaab")
torch.FileCheck().run("x")
(torch.thread_safe_generator(), torch.random.thread_safe_generator())
sobol()
sobol(2, scramble=True, seed=5)
sobol(0)
sobol().draw(9)
sobol().draw(1)
sobol(40).draw(70)[60:]
sobol(3).draw(4, dtype=torch.float64)
[sobol(3, scramble=True, seed=5).draw(n) for n in (1, 2, 17)]
[e.draw(n) for e in [sobol(3)] for n in (1, 2, 5)]
[(e.draw(3), e.reset().draw(2), e.num_generated) for e in [sobol(3, scramble=True, seed=1)]]
[(e.fast_forward(n).draw(3), e.num_generated) for n in (1, 5) for e in [sobol(3)]]
[(e.draw(2), e.fast_forward(4).draw(3)) for e in [sobol(3)]]
[e.draw_base2(2) for e in [sobol(3)]]
[(e.draw(3), e.draw_base2(2)) for e in [sobol(3)]]
(torch.manual_seed(3), sobol(2, scramble=True).draw(3), torch.rand(2))[1:]
sobol(2, scramble=True, seed=5).sobolstate
sobol(2).draw(3, out=torch.empty(0))
sobol(2, scramble=True, seed=5).draw(2, dtype=torch.float64)
sobol(2).draw(2, dtype=torch.int32)
sobol(2).draw(1, dtype=torch.int32)
[e.draw(1, dtype=torch.bfloat16) for e in [sobol(3, scramble=True, seed=1)] for _ in range(2)]
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", _EXPRESSIONS.split("\n")[1:-1])
def test_what_is_exact(expression: str) -> None:
    streams = _STREAMS if re.search(r"\b(stream|event)\b", expression) else ""
    check(torch, retrograd, _SETUP + streams, expression)
