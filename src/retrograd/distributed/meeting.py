"""How processes that nobody launched together become processes of one MPI: they meet at an address.

The process of rank 0 starts a small server there (`meeting_server`), and all processes connect to it. Once all have
come, each hands a connection to the MPI library, which finds the other processes by it, as if mpiexec had started them.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from ..foundations.errors import noted
from ..foundations.launching import Everyone, Place, mpi
from .faults import DistBackendError, DistNetworkError

_LAUNCHERS = ("PMI_", "PMIX_", "MPI_LOCAL", "HYDI_", "HYDRA_")      # what a launcher of the parent process has said


class Meeting:
    """This process's connection to the server: what it hears of the others."""

    current: ClassVar[Meeting | None] = None
    servers: ClassVar[list[subprocess.Popen[bytes]]] = []

    def __init__(self, connection: socket.socket, rest: bytes) -> None:
        self.connection, self.pending = connection, rest
        connection.setblocking(False)

    def left(self) -> list[int]:
        """The ranks of processes that were heard to have left since the last question."""
        with suppress(OSError):                            # if nothing has come
            self.pending += self.connection.recv(65536)
        *lines, self.pending = self.pending.split(b"\n")
        return [json.loads(line)["left"] for line in lines]

    def end(self) -> None:
        """Say that this process ends as it should."""
        with suppress(OSError):                            # if there is nobody left who would hear it
            self.connection.sendall(b"ended\n")


def address_of(init_method: str | None) -> tuple[str, int] | None:
    """The address where the processes meet, by "tcp://host:port" or by MASTER_ADDR and MASTER_PORT; None without one.
    """
    scheme, _, place = (init_method or "env://").partition("://")
    if scheme == "tcp":
        host, _, port = place.partition("?")[0].rpartition(":")
    else:
        host, port = (os.environ.get(name, "") for name in ("MASTER_ADDR", "MASTER_PORT"))
    return (host, int(port)) if scheme in ("tcp", "env") and host and port.isdigit() else None


def join(address: tuple[str, int], rank: int, size: int, seconds: float) -> Place:
    """Meet the other processes, and begin MPI together. Returns the place of this process.

    Raises DistNetworkError if the address cannot be used, DistBackendError if not all processes come in time, and
    RuntimeError if MPI has begun in this process already.
    """
    if "mpi4py.MPI" in sys.modules:
        raise RuntimeError("MPI has begun in this process before init_process_group, so it cannot meet other "
                           "processes. Import mpi4py later, or start all processes together: retrograd launch "
                           f"--nproc {size} script.py")
    end = time.monotonic() + seconds
    if rank == 0:
        _serve(address, size, seconds)
    control = _connected(address, {"rank": rank, "size": size, "kind": "control", "host": socket.gethostname()}, end)
    hosts, rest = _hear_all(control, address, rank, size, seconds, end)
    _begin(_connected(address, {"rank": rank, "kind": "pmi"}, end), rank, size)
    Meeting.current = Meeting(control, rest)
    near = [each for each in range(size) if hosts[each] == hosts[rank]]
    return Place(rank, size, near.index(rank), len(near))


def _serve(address: tuple[str, int], size: int, seconds: float) -> None:
    """Start the server. Raises DistNetworkError if the address is not free."""
    try:
        listener = socket.create_server(address, backlog=size * 2)
    except OSError as error:
        raise DistNetworkError("The server socket has failed to listen on any local network address. port: "
                               f"{address[1]}, useIpv6: false, code: {error.errno}, name: EADDRINUSE, message: "
                               f"{error.strerror}. Choose another MASTER_PORT.") from None
    with listener:
        command = [sys.executable, "-I", "-S", str(Path(__file__).with_name("meeting_server.py")),
                   str(listener.fileno()), str(size), str(seconds)]
        Meeting.servers.append(subprocess.Popen(command, pass_fds=[listener.fileno()], stdin=subprocess.DEVNULL,
                                                stdout=subprocess.DEVNULL, start_new_session=True))


def _connected(address: tuple[str, int], hello: dict[str, Any], end: float) -> socket.socket:
    """A connection to the server, which may not be there yet."""
    while True:
        try:
            connection = socket.create_connection(address, timeout=max(0.1, end - time.monotonic()))
            break
        except OSError as error:
            if time.monotonic() > end:
                raise noted(
                    DistNetworkError(f"The client socket has failed to connect to {address[0]}:{address[1]}: {error}."),
                    instead="start the process of rank 0 there") from None
            time.sleep(0.02)
    connection.sendall(f"{json.dumps(hello)}\n".encode())
    return connection


def _hear_all(control: socket.socket, address: tuple[str, int], rank: int, size: int, seconds: float,
              end: float) -> tuple[list[str], bytes]:
    """The machines of all processes, once all have come; and what was heard after that."""
    heard = b""
    while b"\n" not in heard:
        control.settimeout(max(0.1, end - time.monotonic()))
        try:
            data = control.recv(65536)
        except TimeoutError:
            data = b""
        if not data:
            raise DistBackendError(
                f"Timed out waiting {seconds * 1000:.0f}ms for init_process_group to complete. Rank {rank} is here; "
                f"not all of the {size} processes came to {address[0]}:{address[1]}.")
        heard += data
    line, _, rest = heard.partition(b"\n")
    said = json.loads(line)
    if "problem" in said:
        raise DistBackendError(f"The processes that met at {address[0]}:{address[1]} do not agree: {said['problem']}.")
    return said["hosts"], rest


def _begin(connection: socket.socket, rank: int, size: int) -> None:
    """Begin MPI, which gets the connection. It must not see what a launcher told the parent process."""
    connection.setblocking(True)
    hidden = {name: os.environ.pop(name) for name in [*os.environ] if name.startswith(_LAUNCHERS)}
    given = {"PMI_FD": str(connection.detach()), "PMI_RANK": str(rank), "PMI_SIZE": str(size)}
    os.environ.update(given)
    try:
        mpi()
    finally:
        for name in given:
            del os.environ[name]
        os.environ.update(hidden)


def joined(address: tuple[str, int], rank: int, size: int, seconds: float) -> Place:
    """The place of this process among those that met. It is the same in each later group of all processes.

    Raises ValueError if the program says another rank or size later.
    """
    if Everyone.joined is None:
        Everyone.joined = join(address, rank, size, seconds)
    found: Place = Everyone.joined
    if (found.rank, found.size) != (rank, size):
        raise ValueError(f"MPI began with {found.size} processes, and this one has rank {found.rank}. It cannot begin "
                         f"again with rank {rank} of {size}.")
    return found
