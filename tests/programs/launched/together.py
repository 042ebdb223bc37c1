"""Programs of this folder, one after the other in the same processes, each with a process group of its own."""

import json
import os
import runpy
import sys
from pathlib import Path

for program in sys.argv[1:]:
    if os.environ.get("RANK", "0") == "0":
        print(json.dumps(["program", program]), flush=True)
    if "MASTER_PORT" in os.environ:                                  # PyTorch's port of the group before may be taken
        os.environ["MASTER_PORT"] = str(int(os.environ["MASTER_PORT"]) + 1)
    runpy.run_path(str(Path(__file__).with_name(f"{program}.py")), run_name="__main__")
