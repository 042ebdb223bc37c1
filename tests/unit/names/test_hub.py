"""Models of a local folder, and files of numbers behind URLs."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import retrograd as torch

HUBCONF = '''
import torch
from beside import WIDTH
dependencies = ["json"]

def net(outputs, *, bias=True):
    return torch.nn.Linear(WIDTH, outputs, bias=bias)

number = 3
'''


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "hubconf.py").write_text(HUBCONF.replace("import torch", "import retrograd as torch"))
    (tmp_path / "beside.py").write_text("WIDTH = 4\n")
    return str(tmp_path)


def test_a_model_of_a_local_folder_is_made(folder: str) -> None:
    model = torch.hub.load(folder, "net", 2, source="local", bias=False)
    assert repr(model) == "Linear(in_features=4, out_features=2, bias=False)"


def test_what_is_missing_is_named(folder: str) -> None:
    for name in ("nothing", "number"):
        with pytest.raises(RuntimeError, match=f"Cannot find callable {name} in hubconf"):
            torch.hub.load(folder, name, source="local")
    with pytest.raises(ValueError, match='Unknown source: "disk"'):
        torch.hub.load(folder, "net", source="disk")
    with pytest.raises(ValueError, match="Invalid input: model should be a string of function name"):
        torch.hub.load(folder, 3, source="local")  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="Clone pytorch/vision into a folder"):
        torch.hub.load("pytorch/vision", "resnet18")
    (Path(folder) / "hubconf.py").write_text('dependencies = ["json", "no_such_package"]\n')
    with pytest.raises(RuntimeError, match="Missing dependencies: no_such_package"):
        torch.hub.load(folder, "net", source="local")


def test_a_file_behind_a_url_is_fetched_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save({"weight": torch.ones(2)}, tmp_path / "numbers.pt")
    digest = hashlib.sha256((tmp_path / "numbers.pt").read_bytes()).hexdigest()
    (tmp_path / "numbers.pt").rename(source := tmp_path / f"numbers-{digest[:8]}.pt")
    kept = tmp_path / "kept"
    for _ in range(2):
        read = torch.hub.load_state_dict_from_url(source.as_uri(), str(kept), check_hash=True, weights_only=True)
        assert read["weight"].tolist() == [1., 1.]
        assert capsys.readouterr().err.startswith("Downloading" if source.exists() else "")
        source.unlink(missing_ok=True)


def test_a_file_with_another_hash_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "numbers").write_bytes(b"1")
    with pytest.raises(RuntimeError, match='invalid hash value \\(expected "00", got "6b86'):
        torch.hub.download_url_to_file((tmp_path / "numbers").as_uri(), str(tmp_path / "copy"), "00")
    assert [path.name for path in tmp_path.iterdir()] == ["numbers"]


def test_the_folder_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setattr(torch.hub._Folder, "chosen", None)             # an example of the reference sets the folder
    assert torch.hub.get_dir() == str(tmp_path / "hub")
    torch.hub.set_dir(tmp_path / "here")
    assert torch.hub.get_dir() == str(tmp_path / "here")
