"""`python -I -S fork_client.py ADDRESS WORD…`: a command for programs that want one to start, such as MCP clients.

It hands its standard streams to the fork server (`fork_server.py`), which runs `beforehand WORD…` on them; it passes
signals on, and ends as that ends. It imports only what the interpreter needs anyway, so it starts in a moment.
"""

import json
import os
import signal
import socket
import sys


def main(address: str, *words: str) -> int:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.connect(f"\0{address}")
    request = {"words": words, "folder": os.getcwd(), "environment": dict(os.environ), "session": False}  # noqa: PTH109
    socket.send_fds(line, [json.dumps(request).encode()], [0, 1, 2])
    pid = int(line.recv(32))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: os.kill(pid, number))
    code = os.waitstatus_to_exitcode(int(line.recv(32) or signal.SIGKILL))
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
