"""Reading the store away from the event loop: a pool of two threads, each with a connection of its own.

Every request belongs to a channel (one per thing on screen). A newer request on a channel supersedes the older
one: what has not begun is dropped, what is running is interrupted, and an answer that comes all the same is
thrown away. So a screen never shows an answer to a question it no longer asks.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from console.services import OpenArchive
    from storage.archive import Archive

Answer = TypeVar("Answer")


class Post(Protocol):
    """Has something called on the event loop; may itself be called from any thread."""

    def __call__(self, callback: Callable[..., Any], *args: Any) -> object: ...


class _Request:
    __slots__ = ("channel", "done", "failed", "job", "slow", "token")

    def __init__(
        self,
        channel: Hashable,
        token: int,
        job: Callable[[Archive], Any],
        done: Callable[[Any], None],
        failed: Callable[[Exception], None],
        slow: bool,
    ) -> None:
        self.channel = channel
        self.token = token
        self.job = job
        self.done = done
        self.failed = failed
        self.slow = slow


class ReadPool:
    """Runs reads in threads and hands the answers back on the event loop.

    The second thread takes only quick requests, so that a slow count never holds up the rows of a list.
    """

    SIZE = 2

    def __init__(self, open_archive: OpenArchive, post: Post) -> None:
        self._open = open_archive
        self._post = post
        self._generation = 0
        self._tokens: dict[Hashable, int] = {}
        self._next = 0
        self._waiting: deque[_Request] = deque()
        self._running: dict[int, tuple[_Request, Archive]] = {}
        self._wake = threading.Condition()
        self._closed = False
        self._unanswered = 0
        self._threads: list[threading.Thread] = []

    def ask(
        self,
        channel: Hashable,
        job: Callable[[Archive], Answer],
        done: Callable[[Answer], None],
        failed: Callable[[Exception], None],
        *,
        slow: bool = False,
    ) -> None:
        """Run ``job`` with an archive in a thread; then ``done`` or ``failed`` on the loop, unless superseded."""
        with self._wake:
            if self._closed:
                return
            self._supersede(channel)
            token = self._tokens[channel]
            self._waiting.append(_Request(channel, token, job, done, failed, slow))
            self._start()
            self._wake.notify_all()

    def forget(self, channel: Hashable) -> None:
        """Drop whatever is asked or running on a channel."""
        with self._wake:
            self._supersede(channel)

    def reopen(self, open_archive: OpenArchive | None = None) -> None:
        """Let every thread open its connection anew, on another store if one is given. Running reads finish stale."""
        with self._wake:
            if open_archive is not None:
                self._open = open_archive
            self._generation += 1
            for channel in list(self._tokens):
                self._supersede(channel)

    def close(self) -> None:
        """Stop every read and close the connections. Returns at once; the threads end by themselves."""
        with self._wake:
            self._closed = True
            self._waiting.clear()
            for _request, archive in self._running.values():
                archive.interrupt()
            self._wake.notify_all()

    @property
    def idle(self) -> bool:
        """Whether nothing waits, nothing runs, and every answer was handed over."""
        with self._wake:
            return not self._waiting and not self._unanswered

    def _supersede(self, channel: Hashable) -> None:
        self._next += 1
        self._tokens[channel] = self._next
        for request in [waiting for waiting in self._waiting if waiting.channel == channel]:
            self._waiting.remove(request)
        for request, archive in self._running.values():
            if request.channel == channel:
                archive.interrupt()

    def _start(self) -> None:
        if not self._threads:
            for number in range(self.SIZE):
                thread = threading.Thread(target=self._serve, args=(number,), name=f"read-{number}", daemon=True)
                self._threads.append(thread)
                thread.start()

    def _take(self, number: int) -> _Request | None:
        """The next request for a thread; waits for one. ``None`` when the pool is closed."""
        while True:
            if self._closed:
                return None
            for request in self._waiting:
                if not (request.slow and number > 0):
                    self._waiting.remove(request)
                    self._unanswered += 1
                    return request
            self._wake.wait()

    def _serve(self, number: int) -> None:
        archive: Archive | None = None
        generation = -1
        while True:
            with self._wake:
                request = self._take(number)
                wanted, opener = self._generation, self._open
            if request is None:
                break
            answer: Any = None
            error: Exception | None = None
            try:
                if archive is None or generation != wanted:
                    if archive is not None:
                        archive.close()
                        archive = None
                    archive = opener()
                    generation = wanted
                answer = self._run(number, request, archive)
            except Exception as caught:  # every failure is shown to the person, none ends the thread
                error = caught
            self._deliver(request, answer, error)
        if archive is not None:
            archive.close()

    def _run(self, number: int, request: _Request, archive: Archive) -> Any:
        # Registered and taken off under the lock that interrupting holds too, and SQLite forgets an interrupt
        # when no statement runs: so an interrupt never reaches the request after the one it was meant for.
        with self._wake:
            self._running[number] = (request, archive)
        try:
            return request.job(archive)
        finally:
            with self._wake:
                self._running.pop(number, None)

    def _deliver(self, request: _Request, answer: Any, error: Exception | None) -> None:
        with self._wake:
            current = not self._closed and self._tokens.get(request.channel) == request.token
            if not current:
                self._unanswered -= 1
        if current:
            self._post(self._hand_over, request, answer, error)

    def _hand_over(self, request: _Request, answer: Any, error: Exception | None) -> None:
        with self._wake:
            self._unanswered -= 1
        # On the loop now: asked again, because a newer request may have been made while this one was on its way.
        if self._tokens.get(request.channel) != request.token:
            return
        if error is not None:
            request.failed(error)
        else:
            request.done(answer)
