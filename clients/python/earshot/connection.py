"""Requests to the server: one at a time, or again and again under the same key until one is answered."""

from __future__ import annotations

import ipaddress
import json
import logging
import time
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPException
from typing import Any, Mapping, Optional

from .errors import EarshotError, Unreachable, of_answer

WAIT = 60  # seconds for which one request waits for a result; the most that the server allows
ANSWER = 30  # seconds in which an answer comes when nothing is waited for
PAUSES = (0.2, 5.0)  # seconds between two attempts, at first and at most
QUIET = 3.0  # seconds without a server until it is said that it is tried for

_log = logging.getLogger("earshot")  # without a handler of the program's own, Python writes its warnings to standard error


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token to another server."""

    def redirect_request(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: Any) -> None:
        return None


class Connection:
    def __init__(self, url: str, token: str, patience: float) -> None:
        self.url, self._token, self._patience = url.rstrip("/") + "/api/v1/agent", token, patience
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not the address of a server; expected http://127.0.0.1:7411 or https://NAME")
        if not token:
            raise ValueError("there is no token; `earshot token add NAME --role agent` makes one")
        handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
        if parts.scheme == "http":
            if not _loopback(parts.hostname):
                raise ValueError(f"{url!r} is another machine, and the token would travel unencrypted; use https")
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def once(self, method: str, path: str, body: Any = None, *, key: str = "", wait: Optional[int] = None) -> dict[str, Any]:
        """Makes one request. A result is waited for as many seconds as wait says, from 0 to 60."""
        query = "" if wait is None else f"?wait={wait}"
        request = urllib.request.Request(self.url + path + query, method=method)
        request.add_header("Authorization", "Bearer " + self._token)
        if body is not None:
            request.data = json.dumps(body, allow_nan=False).encode()
            request.add_header("Content-Type", "application/json")
        if key:
            request.add_header("Idempotency-Key", key)
        try:
            with self._opener.open(request, timeout=ANSWER + (wait or 0)) as answer:
                return dict(json.loads(answer.read()))
        except urllib.error.HTTPError as refused:
            with refused:
                raise of_answer(refused.code, _json(refused)) from None
        except (OSError, HTTPException, ValueError) as lost:
            raise Unreachable(
                f"The server at {self.url} cannot be reached: {getattr(lost, 'reason', lost)}", code="unreachable", retry=True,
                hint="see that `earshot up` runs there; what was asked for may or may not have been done",
            ) from lost

    def again(self, method: str, path: str, body: Any = None, *, key: str = "") -> dict[str, Any]:
        """Makes a request, again with the same key where no answer comes, for half a minute at most."""
        attempts = Attempts(min(self._patience, ANSWER))
        while True:
            try:
                return self.once(method, path, body, key=key)
            except EarshotError as error:
                attempts.after(error)

    def result(self, session: str, path: str, body: Mapping[str, Any], key: str) -> dict[str, Any]:
        """Asks for a call and waits until it has ended, however long that takes, over any number of lost connections.
        The server counts a request as open, and may start what cannot be undone, only while this runs."""
        attempts, call = Attempts(self._patience), ""
        while True:
            try:
                if call:
                    stands = self.once("GET", f"{session}/calls/{call}", wait=WAIT)
                else:
                    stands = self.once("POST", session + path, body, key=key, wait=WAIT)
            except EarshotError as error:
                error.call_id = error.call_id or call
                attempts.after(error)
                continue
            if stands["state"] == "ended":
                return stands
            attempts, call = Attempts(self._patience), stands["call_id"]


class Attempts:
    """Attempts at one thing: after each failure a pause, and in the end the error."""

    def __init__(self, patience: float) -> None:
        self._patience, self._pause, self._since, self._told = patience, PAUSES[0], -1.0, False

    def after(self, error: EarshotError) -> None:
        """Waits for the next attempt, or raises the error: where another attempt is no use, or patience is at its end."""
        now = time.monotonic()
        self._since = now if self._since < 0 else self._since
        if not error.retry or now - self._since > self._patience:
            raise error
        if not self._told and now - self._since >= QUIET:
            self._told = True
            _log.warning("Still trying: %s", error)
        time.sleep(self._pause)
        self._pause = min(2 * self._pause, PAUSES[1])


def _json(answer: Any) -> Any:
    try:
        return json.loads(answer.read())
    except (OSError, HTTPException, ValueError):
        return None


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
