"""Adds a number over two processes: the extra `distributed`."""

import subprocess
import sys
from pathlib import Path

Path("sum.py").write_text("""
import torch
torch.distributed.init_process_group("mpi")
x = torch.ones(1)
torch.distributed.all_reduce(x)
if torch.distributed.get_rank() == 0:
    print(x.item())
""")
launch = [sys.executable, "-m", "retrograd", "launch", "--nproc", "2", "sum.py"]
found = subprocess.run(launch, text=True, capture_output=True)
print(found.stderr)
assert found.stdout == "2.0\n"
