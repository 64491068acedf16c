"""A TCP proxy in front of Redis that loses the reply to a script: carried out, but nobody is told."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread


class LossyProxy:
    """Passes everything on; when armed, the next EVALSHA is carried out, its reply thrown away and the line cut."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"
        self.armed = False
        self.lost = 0
        Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        """redis-py sends a request and waits for its reply, so strict turns are enough for small ones."""
        with client, socket.create_connection(("127.0.0.1", self._server_port)) as server:
            while request := client.recv(1 << 20):
                server.sendall(request)
                reply = server.recv(1 << 20)
                if self.armed and b"EVALSHA" in request:
                    self.armed = False
                    self.lost += 1
                    return
                client.sendall(reply)


@contextmanager
def lossy_proxy(server_port: int) -> Iterator[LossyProxy]:
    proxy = LossyProxy(server_port)
    try:
        yield proxy
    finally:
        proxy.close()
