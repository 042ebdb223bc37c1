"""Processes of which the second does something wrong, which the argument names. None may wait forever."""

import datetime
import os
import signal
import sys
import time
import warnings
from contextlib import suppress

import torch
import torch.distributed as dist

warnings.simplefilter("ignore")
if sys.argv[1].endswith("early") and os.environ["RANK"] == "1":
    (sys.exit if sys.argv[1] == "ends early" else os._exit)(0)
dist.init_process_group("mpi", timeout=datetime.timedelta(seconds=float(sys.argv[2])))
rank, fault = dist.get_rank(), sys.argv[1]
wrong = rank == 1
x = torch.ones(4)
dist.all_reduce(x)
match fault:
    case "shape":
        dist.all_reduce(torch.ones(3) if wrong else x)
    case "dtype":
        dist.all_reduce(x.double() if wrong else x, async_op=True).wait()
    case "kind":
        (dist.barrier if wrong else lambda: dist.broadcast(x, 0))()
    case "late":
        if wrong:
            time.sleep(60)
        dist.all_reduce(x)
    case "stopped":
        if wrong:
            os.kill(os.getpid(), signal.SIGSTOP)
        dist.all_gather([torch.ones(4) for _ in range(dist.get_world_size())], x)
    case "raises":
        if wrong:
            raise ValueError("bad data")
        dist.all_reduce(x)
    case "ends":
        if not wrong:
            dist.all_reduce(x)
    case "killed":
        if wrong:
            time.sleep(0.5)
            os.kill(os.getpid(), signal.SIGKILL)
        dist.all_reduce(x)
    case "no message":
        if rank == 0:
            dist.recv(x, 1)
        else:
            time.sleep(60)
    case "long message":
        if rank == 0:
            dist.recv(torch.ones(2), 1)
        elif wrong:
            dist.send(x, 0)
        else:
            dist.barrier()
    case "leaves":
        if wrong:
            os._exit(0)
        dist.all_reduce(x)
    case "leaves at the end":
        dist.all_reduce(x)
        if wrong:
            os._exit(0)
    case "gives up":
        if wrong:
            time.sleep(5)
        with suppress(dist.DistBackendError):
            dist.all_reduce(x)
        dist.barrier()
    case "other sizes":
        dist.all_to_all_single(torch.ones(3), torch.ones(6 if wrong else 3))
    case "other dtype":
        if rank == 0:
            dist.recv(x, 1)
        else:
            dist.send(x.int(), 0)
            dist.barrier()
    case "new group":
        dist.new_group([0] if wrong else [0, 1])
    case "saves half":
        from torch.distributed import checkpoint
        checkpoint.save({"x": x * 7, "bad": (i for i in "x") if wrong else 1}, checkpoint_id=sys.argv[3])
