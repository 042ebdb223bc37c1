"""Where processes that nobody launched together find each other. The process of rank 0 runs this file as a program.

Each process has two connections. By the first, "control", it says its rank, and hears when all have come and when a
process has left. The second, "pmi", belongs to the MPI library, which asks by the protocol PMI-1 what other processes
have put there. MPICH and its relatives know this protocol. The file needs nothing but Python.
"""

from __future__ import annotations

import json
import os
import secrets
import selectors
import socket
import sys
import time
from contextlib import suppress
from typing import Any


class Client:
    """A connection. Lines come from it, and go to it."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection, self.pending = connection, b""
        self.rank, self.kind, self.ended = -1, "", False

    def say(self, line: str) -> None:
        """Send a line. A process that has gone hears nothing."""
        with suppress(OSError):
            self.connection.sendall(f"{line}\n".encode())


class Server:
    """The meeting of `size` processes on a socket. They have `seconds` to come."""

    def __init__(self, listener: socket.socket, size: int, seconds: float) -> None:
        self.listener, self.size, self.end = listener, size, time.monotonic() + seconds
        self.controls: dict[int, Client] = {}
        self.hosts: dict[int, str] = {}
        self.values: dict[str, str] = {}
        self.waiting: dict[int, Client] = {}
        self.left: set[int] = set()
        self.name = f"meeting_{os.getpid()}_{secrets.token_hex(4)}"        # MPI names its shared memory by it
        self.open = 0
        self.selector = selectors.DefaultSelector()
        self.selector.register(listener, selectors.EVENT_READ)

    def run(self) -> None:
        """Serve until all have gone, or until it is clear that not all will come."""
        while self.open or len(self.controls) < self.size:
            complete = len(self.controls) == self.size
            found = self.selector.select(None if complete else max(0.0, self.end - time.monotonic()))
            if not found and not complete:
                return
            for key, _ in found:
                if key.data is None:
                    connection, _ = self.listener.accept()
                    self.selector.register(connection, selectors.EVENT_READ, Client(connection))
                    self.open += 1
                else:
                    self.read(key.data)

    def read(self, client: Client) -> None:
        """Take in what has come from a client."""
        try:
            data = client.connection.recv(65536)
        except OSError:
            data = b""
        if not data:
            self.selector.unregister(client.connection)
            client.connection.close()
            self.open -= 1
            self.gone(client)
            return
        *lines, client.pending = (client.pending + data).split(b"\n")
        for line in lines:
            self.heard(client, line.decode())

    def heard(self, client: Client, line: str) -> None:
        """Answer a line."""
        if client.kind == "pmi":
            self.answer(client, line)
        elif client.kind == "control":
            client.ended = True                            # the only thing that is said there
        else:
            self.welcome(client, json.loads(line))

    def welcome(self, client: Client, said: dict[str, Any]) -> None:
        """Take a process in. Once all are here, all hear it."""
        client.rank, client.kind = said["rank"], said["kind"]
        if client.kind == "pmi":
            return
        if said["size"] != self.size or client.rank in self.controls:
            problem = (f"rank {client.rank} says that there are {said['size']} processes, and rank 0 says {self.size}"
                       if said["size"] != self.size else f"two processes have the rank {client.rank}")
            client.say(json.dumps({"problem": problem}))
            client.ended = True
            return
        self.controls[client.rank], self.hosts[client.rank] = client, said["host"]
        if len(self.controls) == self.size:
            for each in self.controls.values():
                each.say(json.dumps({"hosts": [self.hosts[rank] for rank in range(self.size)]}))

    def gone(self, client: Client) -> None:
        """A connection is closed. If its process did not say that it ends, all others hear that it has left."""
        if client.kind == "control" and not client.ended and self.controls.get(client.rank) is client:
            self.left.add(client.rank)
            for each in self.controls.values():
                each.say(json.dumps({"left": client.rank}))
            self.release()

    # PMI-1

    def answer(self, client: Client, line: str) -> None:
        """Answer a command of the MPI library."""
        said = dict(part.partition("=")[::2] for part in line.split(" "))
        match said.get("cmd"):
            case "init":
                client.say("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0")
            case "get_maxes":
                client.say("cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=4096")
            case "get_appnum":
                client.say("cmd=appnum rc=0 appnum=0")
            case "get_my_kvsname":
                client.say(f"cmd=my_kvsname rc=0 kvsname={self.name}")
            case "get_universe_size":
                client.say(f"cmd=universe_size rc=0 size={self.size}")
            case "put":
                self.values[said["key"]] = line.partition(" value=")[2]
                client.say("cmd=put_result rc=0 msg=success")
            case "get":
                value = self.value(said["key"])
                client.say("cmd=get_result rc=-1 msg=key_not_found value=unknown" if value is None else
                           f"cmd=get_result rc=0 msg=success value={value}")
            case "barrier_in":
                self.waiting[client.rank] = client
                self.release()
            case "finalize":
                client.say("cmd=finalize_ack rc=0")

    def value(self, key: str) -> str | None:
        """What a process has put under a key. All processes of one machine share memory."""
        if key == "PMI_process_mapping" and len({*self.hosts.values()}) == 1:
            return f"(vector,(0,1,{self.size}))"
        return self.values.get(key)

    def release(self) -> None:
        """End a barrier, if all have come to it but those that have left."""
        if self.waiting and self.waiting.keys() | self.left >= {*range(self.size)}:
            for each in self.waiting.values():
                each.say("cmd=barrier_out rc=0")
            self.waiting = {}


if __name__ == "__main__":
    Server(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]), float(sys.argv[3])).run()
