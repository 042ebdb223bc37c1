"""Runs a tutorial that draws a picture: the extra `plot`."""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).parents[3] / "docs" / "learn" / "ten_minutes.py"))
assert "<svg" in Path("wave.svg").read_text(encoding="utf-8")
