"""What the demonstration prints, on the landing pages. Run it to write the output into the pages:

    PYTHONPATH=tests python -m showing.demo

The pages leave out what differs from machine to machine: the time, and the profile below the graph.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile

from showing import pages

LANDING = (pages.ROOT / "docs" / "index.md", pages.ROOT / "docs" / "ko" / "index.md")
BEGINNING, END = "<!-- The demo, written by `make pages`. -->\n", "<!-- end -->\n"
PROGRAM = pages.ROOT / "examples" / "digits.py"


def kept(printed: str) -> str:
    """The part of the output that pages show."""
    above, _, _ = printed.partition("Where the time of one step goes:")
    return "".join(f"{line}\n" for line in above.strip().splitlines() if not line.startswith("trained in"))


def run() -> str:
    """What the demonstration prints."""
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([sys.executable, "-m", "retrograd", "run", str(PROGRAM)], cwd=folder, check=True,
                              capture_output=True, text=True, timeout=600).stdout


def updated(page: str, printed: str) -> str:
    """The page with this output."""
    above, _, rest = page.partition(BEGINNING)
    return f"{above}{BEGINNING}\n```text\n{kept(printed)}```\n\n{END}{rest.partition(END)[2]}"


def shown(page: str) -> str:
    """The output that a page shows."""
    return page.partition(BEGINNING)[2].partition("```text\n")[2].partition("```")[0]


if __name__ == "__main__":
    output = run()
    for path in LANDING:
        path.write_text(updated(pages.text_of(path), output), encoding="utf-8")
