"""A gate before a real server: the client speaks to the gate, and the gate can close, delay, refuse and cut.

What a test does to the gate is, for the client, what happens to a server: it is killed, hangs, refuses the key, breaks
off. It passes bytes on and knows no protocol, except for the one reply with which it refuses.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time

HTTP_REFUSAL = (
    b"HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: 37\r\nConnection: close\r\n\r\n"
    b'{"error":"the key is not known here"}'
)
_STEP_S = 0.01
_SILENCE_S = 0.1
_RESET = struct.pack("ii", 1, 0)


class Gate:
    """Listens on 127.0.0.1 at `port` and passes on to another port there; `close` it at the end.

    `cut_tenths` of what is sent back are cut off: more than one where something follows a reply, as in HTTP/2.
    """

    def __init__(self, to_port: int, *, refusal: bytes = HTTP_REFUSAL, cut_tenths: int = 1) -> None:
        self.to_port = to_port
        self._cut_tenths = cut_tenths
        self._refusal = refusal
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._slow_s = 0.0
        self._refuses = False
        self._cuts = False
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        """Return the address as `http://127.0.0.1:PORT`."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Listen, on the same port as before; a gate that is open stays as it is."""
        if self._listener is not None:
            return
        listener = socket.create_server(("127.0.0.1", self.port))
        self.port = listener.getsockname()[1]
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), name="gate", daemon=True).start()

    def stop(self) -> None:
        """Break all connections and refuse new ones, as a killed server does."""
        listener, self._listener = self._listener, None
        if listener is not None:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        with self._lock:
            for one in self._open:
                _reset(one)

    def slow(self, seconds: float) -> None:
        """Hold every request back for so long from now on; 0 lets all pass, those that wait too."""
        self._slow_s = seconds

    def refuse(self, on: bool) -> None:
        """Answer every request with the refusal of its key."""
        self._refuses = on

    def cut(self, on: bool) -> None:
        """Break off every reply before its end."""
        self._cuts = on

    def close(self) -> None:
        """Stop for good."""
        self._slow_s = 0.0
        self.stop()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.to_port), timeout=10)
            except OSError:
                _reset(client)
                client.close()
                continue
            server.settimeout(None)
            with self._lock:
                self._open |= {client, server}
            threading.Thread(target=self._serve, args=(client, server), name="gate", daemon=True).start()

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        back = threading.Thread(target=self._replies, args=(server, client), name="gate", daemon=True)
        back.start()
        with contextlib.suppress(OSError):
            self._requests(client, server)
        for one in (client, server):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        back.join()
        with self._lock:
            self._open -= {client, server}
        client.close()
        server.close()

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        while data := client.recv(65536):
            began = time.monotonic()
            while time.monotonic() - began < self._slow_s:
                time.sleep(_STEP_S)
            if self._refuses:
                client.sendall(self._refusal)
                return
            server.sendall(data)

    def _replies(self, server: socket.socket, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                if self._cuts:
                    whole = data + _rest(server)
                    client.sendall(whole[: -max(2, len(whole) * self._cut_tenths // 10)])
                    break
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)


def _rest(server: socket.socket) -> bytes:
    """Return what else comes of a reply before the server falls silent."""
    found = b""
    server.settimeout(_SILENCE_S)
    with contextlib.suppress(TimeoutError):
        while data := server.recv(65536):
            found += data
    return found


def _reset(one: socket.socket) -> None:
    """Break a connection at once; whoever reads from it is woken and closes it."""
    with contextlib.suppress(OSError):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        one.shutdown(socket.SHUT_RDWR)
