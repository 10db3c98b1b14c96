"""Reading ahead in a second process, so that two cores work on one import or one verification.

The child reads bytes, proves or packs them and makes records ready; this process derives and writes. What the child
says comes as length-prefixed :mod:`marshal` values over a pipe of our own. A child that dies is no loss: its work is
taken up again from where its last whole message ended.
"""

from __future__ import annotations

import marshal
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import Queue
from typing import Any, BinaryIO, cast

from storage.folds.sources import Voice
from storage.making_ready import Step, steps
from storage.opening import open_log
from storage.quiet import no_collecting
from storage.segments import Packed

WORTH_IT = 8 << 20
"""Bytes from which a second process repays its start."""

PIPE = 1 << 20
"""Bytes a pipe holds, where that can be asked for: the fewer pieces a message comes in, the fewer times two threads
wait for each other."""

QUEUE = 24
"""Messages that may wait: about 5 MiB of source."""


class Died(Exception):
    """The child ended before its work did."""


def can_help(size: int) -> bool:
    """Whether a second process would help with that many bytes on this machine."""
    return size >= WORTH_IT and len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else [0, 0]) > 1


class Child:
    """A process of this program that works ahead; iterate to get its messages, :meth:`tell` it what to do next."""

    def __init__(self, *words: str) -> None:
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "storage.ahead", *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:  # too many processes, or a name no argument can hold
            raise Died from error
        with suppress(ImportError, AttributeError, OSError):  # only Linux can, and lends a person only so much
            import fcntl

            fcntl.fcntl(self._process.stdout, fcntl.F_SETPIPE_SZ, PIPE)  # type: ignore[arg-type]
        self._queue: Queue[bytes | None] = Queue(QUEUE)
        self._stopped = False
        threading.Thread(target=self._receive, name="ahead", daemon=True).start()

    def _receive(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        try:
            while not self._stopped:
                head = pipe.read(4)
                if len(head) < 4:
                    break
                size = struct.unpack("<I", head)[0]
                body = pipe.read(size)
                if len(body) < size:
                    break
                self._queue.put(body)
        finally:
            self._queue.put(None)

    def tell(self, message: Any) -> None:
        """Say what is to be done next; raises :class:`Died`."""
        pipe = self._process.stdin
        assert pipe is not None
        try:
            _send(cast(BinaryIO, pipe), message)
        except OSError as error:
            raise Died from error

    def hear(self) -> Any:
        """The next message, ``None`` where it has said all; raises :class:`Died`."""
        body = self._queue.get()
        if body is None:
            self._queue.put(None)
            raise Died
        return marshal.loads(body)

    def __iter__(self) -> Iterator[Any]:
        try:
            while (message := self.hear()) is not None:
                yield message
        finally:
            self.stop()

    def stop(self) -> None:
        """End the child, whatever it is doing."""
        self._stopped = True
        self._process.kill()
        with suppress(OSError):  # what it was still to be told
            self._process.stdin.close()  # type: ignore[union-attr]
        while self._process.poll() is None:
            if not self._queue.empty():
                self._queue.get_nowait()
            try:
                self._process.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
        while not self._queue.empty():
            self._queue.get_nowait()


class Readahead:
    """A second process that reads one file after the other, as it is asked to."""

    def __init__(self) -> None:
        self._child = Child("import")
        self._asked = self._heard = 0

    def ask(self, path: str, offset: int, line: int, voice: Voice) -> int:
        """Have a file read; gives a number to get its steps by. Raises :class:`Died`."""
        self._child.tell((path, offset, line, *voice))
        self._asked += 1
        return self._asked

    def steps(self, number: int) -> Iterator[Step]:
        """:func:`storage.making_ready.steps` of the file asked for; what was asked before and not read is passed over.

        Raises :class:`Died`, and ``OSError`` where the file could not be read on.
        """
        while self._heard < number:
            said = self._child.hear()
            if said is None:
                self._heard += 1
            elif self._heard == number - 1:
                size, segments, pending, error = said
                if error is not None:
                    raise OSError(*error)
                yield Step(size, [(Packed._make((*packed, ())), ready) for packed, ready in segments], pending)

    def stop(self) -> None:
        """End the process."""
        self._child.stop()


def _send(pipe: BinaryIO, message: Any) -> None:
    body = marshal.dumps(message)
    pipe.write(struct.pack("<I", len(body)))
    pipe.write(body)
    pipe.flush()


def _import(pipe: BinaryIO) -> None:
    asking = os.fdopen(0, "rb")
    while head := asking.read(4):
        path, offset, line, *voice = marshal.loads(asking.read(struct.unpack("<I", head)[0]))
        try:
            file, _ = open_log(path)
            with file as stream:
                stream.seek(offset)
                for step in steps(stream, offset, line, Voice(*voice), os.urandom):
                    segments = [(tuple(packed)[:-1], ready) for packed, ready in step.segments]
                    _send(pipe, (step.bytes, segments, step.pending, None))
        except OSError as error:
            _send(pipe, (0, [], None, (error.errno, error.strerror)))
        _send(pipe, None)


def _records(pipe: BinaryIO, path: str, first: str, size: str, prove: str, read: str, share: str, shares: str) -> None:
    from storage import driver
    from storage.recorded import recorded

    connection = driver.connect_reader(path)
    part = {"share": int(share), "shares": int(shares)}
    for one in recorded(connection, int(first), int(size), prove=bool(prove), read=bool(read), **part):
        _send(pipe, tuple(one))


def main(words: list[str]) -> None:
    """Do one piece of work and say everything it gave, then ``None``."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    work: dict[str, Callable[..., None]] = {"import": _import, "records": _records}
    with no_collecting():
        work[words[0]](pipe, *words[1:])
    _send(pipe, None)


if __name__ == "__main__":
    main(sys.argv[1:])
