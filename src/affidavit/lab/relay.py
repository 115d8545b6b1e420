"""A link between two processes of the rig, as a TCP relay that can be slowed down.

It stands where the network stands and says nothing: delay shows only as the difference between
what the caller waited and what the callee took. Stands in for netem, which needs privileges.
"""

import asyncio
import json
import sys
from contextlib import suppress

from affidavit.lab.lifeline import bind_to_parent, watch_parent
from affidavit.lab.nodes.upstream import LOOPBACK

_CHUNK_BYTES = 65_536
_DELAY_MAX_S = 10.0  # a slower link is a dead one; kill the callee for that


class Relay:
    """Relays bytes both ways; each chunk waits `delay_s` on its way."""

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._delay_s = 0.0

    def obey(self, line: str) -> None:
        """A line `{"delay_s": 0.3}` sets the delay from now on."""
        self._delay_s = min(_DELAY_MAX_S, max(0.0, float(json.loads(line)["delay_s"])))

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay one connection until either side ends it."""
        try:
            there, back = await asyncio.open_connection(LOOPBACK, self._target_port)
        except OSError:
            writer.transport.abort()  # refused there, reset here
            return
        async with asyncio.TaskGroup() as group:
            group.create_task(self._copy(reader, back))
            group.create_task(self._copy(there, writer))

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while chunk := await reader.read(_CHUNK_BYTES):
                if self._delay_s:
                    await asyncio.sleep(self._delay_s)
                writer.write(chunk)
                await writer.drain()
        writer.close()


async def _serve(port: int, relay: Relay) -> None:
    server = await asyncio.start_server(relay.connect, LOOPBACK, port, reuse_port=True)
    print("ready", flush=True)  # noqa: T201 - the rig waits for this line
    await server.serve_forever()


def main() -> None:
    """Read `{"port", "target_port"}` from standard input, then relay."""
    bind_to_parent()
    spec = json.loads(sys.stdin.readline())
    relay = Relay(spec["target_port"])
    watch_parent(sys.stdin, relay.obey)
    asyncio.run(_serve(spec["port"], relay))


if __name__ == "__main__":
    main()
