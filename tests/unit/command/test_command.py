"""The command line. What `retrograd run` does to a program is held to what Python itself does with it.

A script runs in an interpreter of its own. The other ways to name a program run the same code (see tests/forked.py).
"""

import importlib.metadata
import multiprocessing
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from forked import ran
from retrograd.command import cli

OURS = ("-m", "retrograd", "run")


def python(*arguments: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, text=True, timeout=120)


def run(cwd: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program that is told from another by what it does with torch."""
    (cwd / "program.py").write_text(program)
    return ran(*OURS, "program.py", *arguments, cwd=cwd)


def printed(cwd: Path, program: str) -> list[str]:
    """The lines that a program prints under `retrograd run`, where it must succeed."""
    result = run(cwd, program)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.splitlines()


# Each program must be unable to tell who runs it: same output, same errors, same status.
PROGRAMS = {
    "arguments": "import sys; print(sys.argv, sys.path, sys.orig_argv[-2:])",
    "namespace": (
        "names = {k: str(v).partition(' at ')[0] for k, v in globals().items() if k != '__annotations__'}\nprint(names)"
    ),
    "main module": "import sys; print(vars(sys.modules['__main__']) is globals(), len(sys.argv))",
    "pickle": "import pickle\nclass C: pass\nprint(pickle.loads(pickle.dumps(C())).__class__ is C, C.__module__)",
    "future import is its own": "def f(x: int): pass\nprint(f.__annotations__)",
    "declared encoding": "# coding: latin-1\nprint(ascii('\u00e9'))",
    "reads stdin": "print(input(), input())",
    "exit status": "import sys; sys.exit(3)",
    "exit message": "import sys; sys.exit('stopped')",
    "exit without": "raise SystemExit",
    "hard exit": "import os; os._exit(5)",
    "raises": "def f():\n    raise ValueError('bad')\n\nf()",
    "raises from another": "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise KeyError('k') from error",
    "raises a group": "raise ExceptionGroup('g', [ValueError(1)])",
    "assertion": "assert not 1, 'one'",
    "syntax error": "x = 1\nx = = 2\n",
    "interrupted": "raise KeyboardInterrupt",
    "deep recursion": "import sys\nsys.tracebacklimit = 2\ndef f(): f()\nf()",
    "own excepthook": (
        "import sys, traceback\n"
        "sys.excepthook = lambda k, e, t: print(k, e, [f.lineno for f in traceback.extract_tb(t)])\n1 / 0"
    ),
    "atexit": "import atexit\natexit.register(lambda: print('last', __name__))\nprint('first')",
    "thread raises": "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='t')\nt.start(); t.join()",
    "warns": "import warnings\nwarnings.simplefilter('always')\nwarnings.warn('careful')",
    "deprecated": "import warnings\nwarnings.warn('shown in __main__', DeprecationWarning)",
    "imports a neighbor": "import neighbor; print(neighbor.__name__, neighbor.__file__)",
    "missing module": "import no_such_module_anywhere",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working folder with the script in a folder of its own below, and a neighbor beside it."""
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "neighbor.py").touch()
    return tmp_path


def same(expected: subprocess.CompletedProcess[str], actual: subprocess.CompletedProcess[str]) -> None:
    assert actual.returncode == expected.returncode
    assert actual.stdout == expected.stdout
    assert actual.stderr == expected.stderr


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_script_runs_as_python_runs_it(name: str, folder: Path) -> None:
    script = folder / "below" / "script.py"
    script.write_text(PROGRAMS[name], encoding="latin-1" if "latin" in PROGRAMS[name] else "utf-8")
    arguments = ("below/../below/script.py", "--flag", "-m", "--help", "--")
    expected = python(*arguments, cwd=folder, stdin="one\ntwo\n")
    same(expected, python(*OURS, *arguments, cwd=folder, stdin="one\ntwo\n"))


@pytest.mark.parametrize("name", ["arguments", "main module", "raises", "reads stdin"])
def test_a_script_on_stdin_runs_as_python_runs_it(name: str, folder: Path) -> None:
    expected = python("-", "a", "-b", cwd=folder, stdin=PROGRAMS[name])
    same(expected, ran(*OURS, "-", "a", "-b", cwd=folder, stdin=PROGRAMS[name]))


def test_a_script_behind_a_link_finds_its_neighbors(folder: Path) -> None:
    (folder / "below" / "script.py").write_text(PROGRAMS["imports a neighbor"])
    (folder / "link.py").symlink_to("below/script.py")
    same(python("link.py", cwd=folder), ran(*OURS, "link.py", cwd=folder))


def test_safe_path_is_kept(folder: Path) -> None:
    (folder / "script.py").write_text("import sys; print(sys.path)")
    same(python("-P", "script.py", cwd=folder), python("-P", *OURS, "script.py", cwd=folder))
    (folder / "below" / "__main__.py").write_text("import sys; print(sys.path)")
    same(python("-P", "below", cwd=folder), python("-P", *OURS, "below", cwd=folder))


@pytest.mark.parametrize("name", ["arguments", "main module", "pickle", "exit status", "exit message"])
def test_a_module_runs_as_python_runs_it(name: str, folder: Path) -> None:
    package = folder / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    for module in ("inner", "__main__"):
        (package / f"{module}.py").write_text(PROGRAMS[name] + "\nprint(__package__, __spec__.name)")
    for module in ("package", "package.inner"):
        same(python("-m", module, "-x", cwd=folder), ran(*OURS, "-m", module, "-x", cwd=folder))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["arguments", "main module", "pickle", "exit status", "imports a neighbor"])
def test_a_folder_and_an_archive_run_as_python_runs_them(name: str, folder: Path) -> None:
    program = PROGRAMS[name] + "\nprint(repr(__package__), __spec__.name, __file__)"
    (folder / "below" / "__main__.py").write_text(program)
    with zipfile.ZipFile(folder / "app.pyz", "w") as archive:
        archive.writestr("__main__.py", program)
        archive.writestr("neighbor.py", "")
    for place in ("below", "below/../below/", "app.pyz"):
        same(python(place, "-x", cwd=folder), ran(*OURS, place, "-x", cwd=folder))


def test_a_module_of_torch_runs(folder: Path) -> None:
    result = ran(*OURS, "-m", "torch.utils.collect_env", cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    assert "PyTorch version" in result.stdout
    lines = "import runpy\nrunpy.run_module('torch.utils.collect_env', run_name='__main__')"
    assert "PyTorch version" in "\n".join(printed(folder, lines))


def test_the_traceback_of_a_module_starts_in_the_module(folder: Path) -> None:
    (folder / "inner.py").write_text("1 / 0")
    result = ran(*OURS, "-m", "inner", cwd=folder)
    assert result.returncode == 1
    assert result.stderr.splitlines()[1] == f'  File "{folder / "inner.py"}", line 1, in <module>'


def test_an_interrupt_ends_the_process_as_a_signal_does(folder: Path) -> None:
    # A shell may ignore interrupts for what it runs in the background, and child processes inherit that.
    heard = "import os, signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    (folder / "program.py").write_text(f"{heard}; os.kill(os.getpid(), signal.SIGINT)")
    result = python(*OURS, "program.py", cwd=folder)
    assert result.returncode == -signal.SIGINT


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("none.py",), 2, "can't open file '{folder}/none.py': [Errno 2] No such file or directory"),
        (("below",), 1, "can't find '__main__' module in '{folder}/below'"),
        (("-m", "nothing_here"), 1, "No module named nothing_here"),
        (("-m", "nothing_here.inner"), 1, "No module named nothing_here.inner"),
        (("-m", "below"), 1, "No module named below.__main__"),
        (("-m", "math"), 1, "No code object available for math"),
        (("-m", "torch.distributed.run"), 1, "No code object available for torch.distributed.run. PyTorch has "
         "`torch.distributed.run`; retrograd has not: start the processes with `retrograd launch`"),
    ],
)
def test_a_program_that_is_not_there_is_named(
    arguments: tuple[str, ...], status: int, message: str, folder: Path
) -> None:
    result = ran(*OURS, *arguments, cwd=folder)
    assert (result.returncode, result.stdout) == (status, "")
    assert result.stderr == f"retrograd: {message.format(folder=folder)}\n"


def test_a_module_that_lacks_something_itself_says_what(folder: Path) -> None:
    (folder / "broken").mkdir()
    (folder / "broken" / "__init__.py").write_text("import no_such_module_anywhere")
    result = ran(*OURS, "-m", "broken", cwd=folder)
    assert result.returncode == 1
    assert "No module named 'no_such_module_anywhere'" in result.stderr
    assert f'File "{folder / "broken" / "__init__.py"}", line 1' in result.stderr


def test_the_collector_leaves_out_the_package_alone(folder: Path) -> None:
    program = """
import gc, weakref, torch
class Node: pass
node = Node()
node.own, seen = node, weakref.ref(node)
x = torch.ones(1)
print(gc.get_freeze_count() > 10_000, any(each is x for each in gc.get_objects()))
del node
gc.collect()
print(seen())
"""
    (folder / "program.py").write_text(program)
    result = python(*OURS, "program.py", cwd=folder)
    assert (result.stdout, result.stderr) == ("True True\nNone\n", "")


def test_torch_is_retrograd_in_every_form_of_import(folder: Path) -> None:
    (folder / "torch.py").write_text("raise RuntimeError('the wrong torch')")
    program = """
import importlib, importlib.util, sys
import torch, torch.nn as nn, torch.nn.functional as F
from torch.autograd import Function
from torch import optim
import retrograd, retrograd.nn.functional, retrograd.autograd, retrograd.optim
print(torch is retrograd, nn is retrograd.nn, F is retrograd.nn.functional, optim is retrograd.optim)
print(Function is retrograd.autograd.Function, importlib.import_module("torch.nn") is nn)
print(torch.__spec__.name, F.__spec__.name, importlib.reload(F) is F)
print(importlib.util.find_spec("torch.nn").name, importlib.util.find_spec("torch.no_such_module"))
"""
    assert printed(folder, program) == [
        "True True True True",
        "True True",
        "retrograd retrograd.nn.functional True",
        "retrograd.nn None",
    ]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (
            "import torch.nn.functionl",
            "ModuleNotFoundError: No module named 'torch.nn.functionl'\n  nearest    torch.nn.functional",
        ),
        (
            "from torch.autogrd import Function",
            "ModuleNotFoundError: No module named 'torch.autogrd'\n  nearest    torch.autograd",
        ),
        ("torch.tensr", "AttributeError: module 'torch' has no attribute 'tensr'\n  nearest    "),
        (
            "import torch.utils.mobile_optimizer",
            "ModuleNotFoundError: No module named 'torch.utils.mobile_optimizer'. PyTorch has "
            "`torch.utils.mobile_optimizer`; retrograd has not: leave it out",
        ),
        ("from torch.utils.mobile_optimizer import x", "ModuleNotFoundError: No module named 'torch.utils.mobile_o"),
        ("from torch.utils import mobile_optimizer", "ImportError: cannot import name 'mobile_optimizer' from "
                                                     "'torch.utils'. PyTorch has `torch.utils.mobile_optimizer`; "),
        ("torch.utils.mobile_optimizer", "AttributeError: module 'torch.utils' has no attribute 'mobile_optimizer'. "),
        ("torch.tensor(1.).to_mkldnn", "AttributeError: 'Tensor' object has no attribute 'to_mkldnn'. PyTorch has `to"),
        ("from torch import tensr", "ImportError: cannot import name 'tensr' from 'torch' ("),
    ],
)
def test_what_is_missing_is_named_with_the_nearest(line: str, error: str, folder: Path) -> None:
    result = run(folder, f"import torch\n{line}\n")
    assert result.returncode == 1
    assert result.stderr.splitlines()[1] == f'  File "{folder / "program.py"}", line 2, in <module>'
    said = re.sub(r"\. Did you mean: 'retrograd[.\w]*'\?", "", result.stderr)                   # Python 3.15 adds this
    last = said[said.index(error):].rstrip()
    assert len(last.splitlines()) <= 2
    assert re.search(r"tensor|torch\.nn\.functional|torch\.autograd|torch\.save|leave it out", last)
    if sys.version_info < (3, 15):                         # from then on Python names the nearest module, too
        assert "Did you mean" not in last


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_child_process_has_the_same_torch(method: str, folder: Path) -> None:
    program = f"""
import multiprocessing, torch
def where(_): return torch.__name__, torch.__spec__.name
if __name__ == "__main__":
    with multiprocessing.get_context("{method}").Pool(1) as pool:
        print(pool.map(where, [0]))
"""
    assert run(folder, program).stdout == "[('torch', 'retrograd')]\n"


def test_as_torch_can_be_undone(folder: Path) -> None:
    program = """
import pickle, sys, retrograd
before = list(sys.meta_path)
with retrograd.as_torch() as installed:
    print(repr(installed))
    import torch.nn
    print(torch is retrograd)
    x = torch.nn.Parameter(torch.ones(1))
    print(type(x).__module__, type(x.data).__module__, pickle.loads(pickle.dumps(x)).tolist())
    with retrograd.as_torch():
        pass
    import torch.optim
print(sys.meta_path == before, [name for name in sys.modules if name.startswith("torch")])
print(type(x).__module__, type(x.data).__module__)
installed.undo()
"""
    result = ran("-c", program, cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "<`import torch` means retrograd; undo() takes it back>", "True", "torch.nn.parameter torch [1.0]", "True []",
        "retrograd.nn.parameter retrograd"]


def test_as_torch_refuses_beside_another_torch(folder: Path) -> None:
    (folder / "torch.py").touch()
    result = ran("-c", "import torch, retrograd\nretrograd.as_torch()", cwd=folder)
    assert result.returncode == 1
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"RuntimeError: another torch has been imported already, from {folder / 'torch.py'}")
    assert "restart the kernel" in last


def test_the_version_is_that_of_the_installed_package(folder: Path) -> None:
    result = python("-m", "retrograd", "--version", cwd=folder)
    assert result.stdout == f"retrograd {importlib.metadata.version('retrograd')}\n"


def test_programs_find_the_version_of_torch_as_metadata(folder: Path) -> None:
    program = """
import importlib.metadata as metadata, torch
found = metadata.distribution("torch")
print(found.version == torch.__version__, found.metadata["Name"], found.files, found.requires)
print([each.version for each in metadata.distributions() if each.name == "torch"][0] == torch.__version__)
print(metadata.version("numpy") == __import__("numpy").__version__, found.locate_file("version.py").exists())
"""
    assert printed(folder, program) == ["True torch None None", "True", "True True"]


def test_help_names_the_commands_and_a_call_without_one_is_an_error(folder: Path) -> None:
    shown = python("-m", "retrograd", "--help", cwd=folder)
    assert shown.returncode == 0
    assert "run " in shown.stdout
    assert "info " in shown.stdout
    assert "check " in shown.stdout
    assert ran("-m", "retrograd", cwd=folder).returncode == 2
    assert ran(*OURS, cwd=folder).returncode == 2


@pytest.mark.parametrize(("word", "said"), [
    ("runn", "'runn' is not a command; the nearest: run"), ("Explore", "; the nearest: explore"),
    ("absent.py", "'absent.py' is not a command; to run a program: retrograd run absent.py"),
    ("present", "'present' is not a command; to run a program: retrograd run present"),
    ("xyz", "'xyz' is not a command; the commands: run, launch, graph,"),
    ("", "'' is not a command; the commands: run"),
    ("--xyz", "the following arguments are required: COMMAND")])
def test_a_word_that_is_no_command_is_answered(word: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                               capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "present").write_text("print(1)")
    with pytest.raises(SystemExit) as end:
        cli.main([word])
    assert end.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("subcommand", cli.SUBCOMMANDS, ids=lambda each: each.name)
def test_a_subcommand_describes_itself_with_examples(
    subcommand: cli.Subcommand, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main([subcommand.name, "--help"])
    shown = capsys.readouterr().out
    assert end.value.code == 0
    assert shown.startswith(f"usage: retrograd {subcommand.name} ")
    assert "examples:" in shown
    assert f"  retrograd {subcommand.name}" in shown.partition("examples:")[2]


@pytest.mark.parametrize(
    ("words", "ours", "the_programs"),
    [
        (["a.py", "-m", "--", "-x"], {"script": "a.py", "module": None}, ["-m", "--", "-x"]),
        (["-m", "a", "-m", "b"], {"script": None, "module": "a"}, ["-m", "b"]),
        (["-", "-h"], {"script": "-", "module": None}, ["-h"]),
        (["-ma", "-h"], {"script": None, "module": "a"}, ["-h"]),
    ],
)
def test_the_arguments_after_a_program_are_its_own(
    words: list[str], ours: dict[str, str | None], the_programs: list[str]
) -> None:
    _, options = cli.read(["run", *words])
    assert {name: getattr(options, name) for name in ours} == ours
    assert options.arguments == the_programs
