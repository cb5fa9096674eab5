"""A Bolt server for the graph's contract tests: `python bolt_server.py FOLDER PASSWORD`.

Starts ArcadeDB with its Bolt plug-in on free loopback ports, prints one line of JSON when it answers, and stops when
its standard input closes: a test session that dies takes its server with it.
"""

import json
import socket
import sys

DATABASE = "cells"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main(folder: str, password: str) -> None:
    from arcadedb_embedded.server import ArcadeDBServer

    bolt = free_port()
    server = ArcadeDBServer(
        folder,
        root_password=password,
        config={
            "host": "127.0.0.1",
            "http_port": free_port(),
            "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "bolt_port": bolt,
            "bolt_defaultDatabase": DATABASE,
        },
        jvm_kwargs={"heap_size": "512m"},
    )
    server.start()
    server.create_database(DATABASE)
    sys.__stdout__.write(json.dumps({"port": bolt, "database": DATABASE}) + "\n")
    sys.__stdout__.flush()
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
