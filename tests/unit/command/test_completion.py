"""`retrograd completion`: a shell that reads the script completes what the parsers accept."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from retrograd.command import cli


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as end:
        cli.main(["completion", shell])
    assert not end.value.code
    return capsys.readouterr().out


def completed(source: str, line: str, folder: Path) -> set[str]:
    """What bash offers for the last word of a line."""
    words = line.split(" ")
    asked = (f"{source}\nCOMP_WORDS=({' '.join(repr(word) for word in words)})\nCOMP_CWORD={len(words) - 1}\n"
             "_retrograd\nprintf '%s\\n' \"${COMPREPLY[@]}\"")
    return set(subprocess.run(["bash", "-c", asked], cwd=folder, capture_output=True, text=True, check=True,
                              timeout=60).stdout.splitlines())


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed here")
def test_bash_completes_commands_options_choices_and_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").touch()
    (tmp_path / "my notes.py").touch()
    source = script("bash", capsys)
    assert completed(source, "retrograd ", tmp_path) == {
        *(each.name for each in cli.SUBCOMMANDS), "--help", "--version"}
    assert completed(source, "retrograd pro", tmp_path) == {"profile"}
    assert completed(source, "retrograd profile --s", tmp_path) == {"--sort", "--shapes"}
    assert completed(source, "retrograd profile --sort ca", tmp_path) == {"calls"}
    assert completed(source, "retrograd profile tr", tmp_path) == {"train.py"}
    assert completed(source, "retrograd run my", tmp_path) == {"my notes.py"}
    assert completed(source, "retrograd completion ", tmp_path) == {"bash", "zsh", "fish"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_names_every_subcommand_and_option(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    for each in cli.SUBCOMMANDS:
        assert each.name in text
        for action in cli.parser_of(each)._actions:
            for word in action.option_strings:
                assert word in text or f"-l {word[2:]}" in text or f"-s {word[1:]}" in text, (each.name, word)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_plain_text(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    assert text.isascii()
    assert ("PyTorch'\\''s" in text) == (shell != "bash")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed here")
@pytest.mark.parametrize("words", ["completion bash", "info", "check missing.py", "graph --text wide.py"])
def test_a_reader_that_stops_reading_is_no_error(words: str, tmp_path: Path) -> None:
    """The reader has closed the pipe before the command writes."""
    (tmp_path / "wide.py").write_text("import torch\ntorch.ones(2, requires_grad=True).sum().backward()\n")
    (tmp_path / "missing.py").write_text("import torch\n" + "".join([f"torch.no_such_name_{i}\n" for i in range(400)]))
    found = subprocess.run(
        ["bash", "-c", f"{{ sleep 0.2; {sys.executable} -m retrograd {words}; }} | true"], cwd=tmp_path,
        capture_output=True, text=True, timeout=60)
    assert found.stderr == ""


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["completion", "tcsh"])
    assert end.value.code == 2
    assert "invalid choice: 'tcsh'" in capsys.readouterr().err
