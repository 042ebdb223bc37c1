"""The documentation tells the truth: its programs print what it says, and its commands, links and paths exist.

tests/showing/pages.py says what a program of a page is. A ```console block holds commands behind a dollar sign.
"""

import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import pytest

import retrograd
from retrograd.command import cli
from retrograd.extras import PACKAGES
from showing import notebooks, pages
from showing.pages import DOCS, FENCE, ROOT, Program, in_one_line, name_of, text_of
from test_layers import LAYERS, PLAIN

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "examples" / "README.md", *DOCS]
TEXTS = [*PAGES, *notebooks.TUTORIALS]


def shown(page: Path) -> str:
    """A page as Markdown. A tutorial is a script, whose programs are run in test_learn.py."""
    text = text_of(page)
    return notebooks.as_page(text) if page in notebooks.TUTORIALS else text


def outside_blocks(page: Path) -> str:
    return FENCE.sub("", shown(page))


@pytest.fixture
def as_torch(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`import torch` means retrograd, whatever has been imported already."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    with retrograd.as_torch():
        yield


@pytest.mark.usefixtures("as_torch")
@pytest.mark.parametrize("program", [program for page in PAGES for program in pages.of(page)], ids=str)
def test_a_program_prints_what_the_page_says(program: Program) -> None:
    for block, one in zip(program.blocks, pages.said(program)):
        printed, expected = one.text, block.output
        if one.error is not None:
            printed, expected = in_one_line(printed), in_one_line(expected)
        assert printed == expected, f"{program.page}:{block.line}"


def wide_lines(text: str) -> list[str]:
    """The lines of a page's blocks that are wider than a page. A line of a ```text block that tests hold to the letter,
    or that has nothing but one long word, cannot be broken."""
    found = []
    for kind, body in FENCE.findall(text):
        exact = kind == "text" and not re.search(r"^[\w.]+(Error|Warning): ", body, re.MULTILINE)
        found += [line for line in body.splitlines() if len(line) > pages.WIDTH and not exact and len(line.split()) > 1]
    return found


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_the_blocks_fit_on_a_page(page: Path) -> None:
    assert wide_lines(shown(page)) == []


def extras() -> set[str]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        return set(tomllib.load(file)["tool"]["retrograd"]["extras"])


def targets() -> set[str]:
    return set(re.findall(r"^(\w+):", text_of(ROOT / "Makefile"), re.MULTILINE))


def understood(command: str) -> bool:
    """Whether a command that a page shows is one that works from the root of a checkout."""
    match shlex.split(command, comments=True):
        case ["make", target, *settings]:
            return target in targets() and all("=" in setting for setting in settings)
        case ["git", "clone", "ADDRESS", "retrograd"] | ["pip", "install", "./retrograd"]:
            return True
        case ["pip", "install", what] | ["pip", "install", "-e" | "--prefer-binary", what] if what.startswith("."):
            wanted = re.fullmatch(r"\.(?:\[([\w,]+)\])?", what)
            return wanted is not None and set(filter(None, (wanted[1] or "").split(","))) <= extras()
        case ["pip", "install", "--no-deps", package]:
            return any(f"\n{package}==" in text_of(path) for path in (ROOT / "examples" / "packages").glob("*.txt"))
        case ["pip", "install", *packages]:
            return {*packages} <= {package for extra in PACKAGES.values() for package in extra}
        case ["python", "-m", "retrograd", *arguments] | ["retrograd", *arguments]:
            return accepted(arguments)
        case ["python", "-m", module, *_] if module.partition(".")[0] == "benchmarks":
            return (ROOT / f"{module.replace('.', '/')}.py").exists() or (ROOT / module / "__main__.py").exists()
        case ["python", "-m", "pytest", *paths] | ["python", *paths]:
            return all(here(path) for path in paths if not path.startswith("-"))
    return False


def accepted(arguments: list[str]) -> bool:
    """Whether our command line takes these arguments; a mention of a command may leave them out."""
    if not arguments or arguments in ([each.name] for each in cli.SUBCOMMANDS):
        return True
    try:
        _, options = cli.read(arguments)
    except SystemExit as end:
        return not end.code
    script = getattr(options, "script", None)
    return script is None or here(script)


def here(path: str) -> bool:
    """Whether a file exists; a bare name such as script.py stands for a file of the reader's."""
    return "/" not in path or (ROOT / path).exists()


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_the_commands_exist(page: Path) -> None:
    found = [line[2:] for kind, body in FENCE.findall(shown(page)) if kind == "console"
             for line in body.splitlines() if line.startswith("$ ")]
    found += re.findall(r"`((?:make|pip|python -m|retrograd) [^`]+)`", outside_blocks(page))
    assert [command for command in found if not understood(command)] == []


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_the_links_lead_to_files(page: Path) -> None:
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", outside_blocks(page))]
    assert [link for link in links if link and "://" not in link and not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_the_paths_exist(page: Path) -> None:
    """A path is meant from the root of the checkout or from that of the package."""
    paths = re.findall(r"`([\w.]+/(?:[\w./]*)?|(?:[\w.]+/)*\w+\.py)`", outside_blocks(page))
    roots = (ROOT, ROOT / "src" / "retrograd", ROOT / "src" / "namespaces", page.parent)
    if page.name == "pytorch-tests.md":                    # whose paths are those of PyTorch's tests
        paths = [path for path in paths if not path.rpartition("/")[2].startswith("test_")]
    assert [path for path in paths if path != "script.py" and not any((root / path).exists() for root in roots)] == []


def test_what_is_said_to_be_missing_is_missing() -> None:
    """Whoever adds one of these takes it from the page."""
    section = text_of(ROOT / "docs" / "differences.md").partition("## What is not there")[2].partition("\n## ")[0]
    names = re.findall(r"`torch\.([\w.]+)`", FENCE.sub("", section))
    assert names
    assert [name for name in names if resolves(name)] == []


def resolves(name: str) -> bool:
    """Whether the package has this name, dots and all."""
    try:
        attrgetter(name)(retrograd)
    except AttributeError:
        return False
    return True


def test_the_table_of_layers_is_the_one_that_is_tested() -> None:
    """As far as there is anything in them: a page describes what is, and the test's table what may be."""
    rows = re.findall(r"^\| \d+ \| ([^|]+) \|", text_of(ROOT / "docs" / "architecture.md"), re.MULTILINE)
    shown = [re.findall(r"`([\w.]+)`", modules) for modules in rows]
    assert shown == [[name or "__init__" for name in layer if layer is not PLAIN and exists(name)] for layer in LAYERS]


def exists(module: str) -> bool:
    """Whether the package has this module; a folder counts where there is a module in it."""
    paths = [ROOT.joinpath("src", folder, *module.split(".")) for folder in ("retrograd", "namespaces")]
    return any([path.with_suffix(".py").exists() or any(path.glob("*.py")) for path in paths])


# The reader of the pages, held to a page with planted faults: a check that finds nothing anywhere would pass as well.


PLANTED = """
```python
import retrograd as torch
print(1)
```

prints

```text
1
```

```python
print(torch.__name__)
```

```python
import math
```

```text
math
```
"""


def test_the_reader_pairs_programs_with_their_output() -> None:
    first, second = pages.programs("page.md", PLANTED)
    assert [(block.output, block.line) for block in first.blocks] == [("1\n", 2), ("", 13)]
    assert [(block.source, block.output) for block in second.blocks] == [("import math\n", "math\n")]
    assert str(second) == "page.md:17"


def test_a_block_is_reported_with_its_error() -> None:
    broken, whole = pages.run("print(1)\n1 / 0", {}), pages.run("print(2)", {})
    assert (broken.text, type(broken.error)) == ("1\nZeroDivisionError: division by zero\n", ZeroDivisionError)
    assert whole == ("2\n", None)


def test_wide_lines_are_found() -> None:
    wide = "print(1" + " + 1" * 30 + ")"
    error = f"ValueError: {wide}"
    assert wide_lines(f"{wide}\n```python\n{wide}\n```\n") == [wide]
    assert wide_lines(f"```text\n{wide}\n```\n```text\n{error}\n{'a' * 99}\n```\n") == [error]


def test_labels_are_written_above_the_programs() -> None:
    page = PLANTED.replace("import math\n```", "import math\n```\n\nFails.\n\n**Works:**\n\n```python\n1 / 0\n```")
    labeled = pages.brought_up_to_date("page.md", page, labeled=True)
    assert [block.label for program in pages.programs("page.md", labeled) for block in program.blocks] == [
        "Works", "Works", "Works", "Fails"]
    assert "Fails.\n\n**Fails:**\n\n```python" in labeled
    assert pages.brought_up_to_date("page.md", labeled, labeled=True) == labeled


def test_what_programs_print_is_written_below_them() -> None:
    once = pages.brought_up_to_date("page.md", PLANTED.replace("1\n```", "old\n```"))
    assert once == PLANTED.replace("__name__)\n```", "__name__)\n```\n\n```text\nretrograd\n```")
    assert pages.brought_up_to_date("page.md", once) == once


def test_commands_that_do_not_exist_are_found() -> None:
    assert understood("python -m retrograd run examples/digits.py --epochs 3  # all of it")
    assert understood("pip install '.[plot]'")
    assert understood("pip install tensorboard pillow")
    wrong = ["make tests", "pip install '.[nothing]'", "pip install x", "rm -r .", "python -m retrograd jump",
             "python -m retrograd run examples/none.py", "python -m pytest tests/nowhere"]
    assert [command for command in wrong if understood(command)] == []
