"""A way to the database that can be cut: what is sent on it waits, and no connection is closed.

It is a proxy on loopback, so that tests need no rights over the network. The kernel acknowledges what the proxy has
not passed on, which is what a proxy or a hanging server looks like; packets that are dropped are noticed by the kernel
instead, after the time that the connection's options say.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

_CHUNK = 65_536


class Way:
    """Passes connections on to a port on loopback."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._state = threading.Condition()
        self._connections: list[_Connection] = []
        self._is_cut = False
        self._silenced: set[bytes] = set()
        self._watched: dict[bytes, Callable[[], None]] = {}
        self.arrivals = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, url: str) -> str:
        """The address of a database, by this way."""
        return url.replace(f":{self._target}/", f":{self._listening.getsockname()[1]}/")

    def cut(self) -> None:
        """From now on nothing passes, in either direction."""
        self._set(is_cut=True)

    def mend(self) -> None:
        """Everything passes again, what has waited first."""
        self._set(is_cut=False)

    def lose(self, said: bytes) -> int:
        """Nothing passes any more on the connections where the client has said this. Returns how many they are."""
        with self._state:
            lost = [connection for connection in self._connections if said in connection.said]
            for connection in lost:
                connection.is_lost = True
            return len(lost)

    def silence(self, said: bytes) -> None:
        """Nothing passes behind these words, on any connection and for ever."""
        with self._state:
            self._silenced.add(said)

    def when(self, said: bytes, act: Callable[[], None]) -> None:
        """Acts once, before a client's next message with these words is passed on."""
        with self._state:
            self._watched[said] = act

    def close(self) -> None:
        """Ends every connection."""
        self._listening.close()
        with self._state:
            for connection in self._connections:
                connection.is_lost = True
                connection.end()
            self._state.notify_all()

    def _set(self, *, is_cut: bool) -> None:
        with self._state:
            self._is_cut = is_cut
            self._state.notify_all()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self.arrivals += 1
                connection = _Connection(client)
                with self._state:
                    self._connections.append(connection)
                threading.Thread(target=self._connect, args=[connection], daemon=True).start()

    def _connect(self, connection: _Connection) -> None:
        self._wait(connection)
        connection.server = socket.create_connection(("127.0.0.1", self._target))
        threading.Thread(target=self._pass_back, args=[connection], daemon=True).start()
        with contextlib.suppress(OSError):
            while data := connection.client.recv(_CHUNK):
                connection.said += data
                for act in self._acts_on(data):
                    act()
                self._wait(connection)
                connection.server.sendall(data)
        connection.end()

    def _pass_back(self, connection: _Connection) -> None:
        assert connection.server is not None
        with contextlib.suppress(OSError):
            while data := connection.server.recv(_CHUNK):
                self._wait(connection)
                connection.client.sendall(data)
        # That the server has closed it is not heard either as long as nothing passes.
        self._wait(connection)
        connection.end()

    def _acts_on(self, data: bytes) -> list[Callable[[], None]]:
        with self._state:
            return [self._watched.pop(said) for said in list(self._watched) if said in data]

    def _wait(self, connection: _Connection) -> None:
        """Waits until something may pass; for ever if the connection is lost."""
        with self._state:
            connection.is_lost |= any(said in connection.said for said in self._silenced)
            self._state.wait_for(lambda: connection.is_over or not (self._is_cut or connection.is_lost))


class _Connection:
    def __init__(self, client: socket.socket) -> None:
        self.client = client
        self.server: socket.socket | None = None
        self.said = bytearray()
        self.is_lost = False
        self.is_over = False

    def end(self) -> None:
        """Closes both sides."""
        self.is_over = True
        for side in (self.client, self.server):
            if side is not None:
                with contextlib.suppress(OSError):
                    side.shutdown(socket.SHUT_RDWR)
                side.close()
