"""`retrograd info`: the versions, the devices and the extras."""

import importlib.util
import subprocess
import sys
from pathlib import Path

from forked import ran


def rows(result: subprocess.CompletedProcess[str]) -> list[tuple[str, str]]:
    assert (result.returncode, result.stderr) == (0, "")
    return [(line[:12].rstrip(), line[13:]) for line in result.stdout.splitlines()]


def test_info_tells_what_is_here(tmp_path: Path) -> None:
    found = rows(ran("-m", "retrograd", "info", cwd=tmp_path))
    facts = dict(found)
    assert facts["Python"].startswith(".".join(map(str, sys.version_info[:3])))
    assert ("device", "cpu") in found
    for extra, package in {"plot": "matplotlib"}.items():
        absent = importlib.util.find_spec(package) is None
        assert facts[extra].startswith(f"not installed (pip install {package})" if absent else package)


def test_info_tells_how_to_get_an_extra_that_is_missing(tmp_path: Path) -> None:
    blind = "import sys; sys.path[:] = [p for p in sys.path if 'site-packages' not in p]; print(describe())"
    found = ran("-c", f"from retrograd.command.info import describe; {blind}", cwd=tmp_path)
    assert ("plot", "not installed (pip install matplotlib)") in rows(found)


def test_info_lists_what_cupy_reaches(tmp_path: Path) -> None:
    (tmp_path / "cupy.py").write_text(
        "class runtime:\n    CUDARuntimeError = RuntimeError\n    getDeviceCount = staticmethod(lambda: 2)\n"
        "class cuda:\n    runtime = runtime\n"
    )
    devices = [value for name, value in rows(ran("-m", "retrograd", "info", cwd=tmp_path)) if name == "device"]
    assert devices[0] == "cpu"
    assert [place.partition(" ")[0] for place in devices[1:]] == ["cuda:0", "cuda:1"]
