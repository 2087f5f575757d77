#!/usr/bin/python3
"""pg_isready -h HOST …, as far as health checks use it: whether the server answers the first message of a connection."""
import socket, struct, sys

host = sys.argv[sys.argv.index("-h") + 1] if "-h" in sys.argv else "127.0.0.1"
try:
    with socket.create_connection((host, 5432), timeout=3) as server:
        server.sendall(struct.pack("!ii", 8, 80877103))
        sys.exit(0 if server.recv(1) in (b"N", b"S") else 1)
except OSError:
    sys.exit(2)
