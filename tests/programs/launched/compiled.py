"""Random programs that communicate, compiled and as they are, in several processes: each compares what it sees.

The arguments are the first seed, the one after the last, and the backends.
"""

import sys
import warnings
from pathlib import Path

import torch
import torch.distributed as dist

sys.path.append(str(Path(__file__).parents[2]))

from programs.communicating_programs import checked

warnings.simplefilter("ignore")
dist.init_process_group("mpi")
first, end, *backends = sys.argv[1:]
for seed in range(int(first), int(end)):
    for backend in backends:
        author, difference, reason = checked(torch, seed, backend)
        assert not difference, "\n".join([f"{backend} {seed} {author.specs}", *author.lines, difference, str(reason)])
        assert "its plan raises" not in str(reason)
dist.barrier()
print(f"compared by {dist.get_rank()}", flush=True)
dist.destroy_process_group()
