"""A Python program as an agent of Earshot: it asks for tool calls, and a person hears and answers them.

    from earshot import Declined, Earshot

    with Earshot().open(request="Tidy my pictures.") as session:
        files = session.call("files.scan", root="/home/anna/Pictures")["files"]

Nothing here starts a thread, and everything may be used from several threads at once. docs/agents.md has the rest.
"""

from __future__ import annotations

import os
import uuid
from types import TracebackType
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Union

from .connection import Connection
from .errors import Declined, Denied, EarshotError, Expired, Failed, NotDone, OutcomeUnknown, Partial, Refused, Stopped, Unreachable, of_call
from .tools import Tool, Tools

__version__ = "0.1.0"
__all__ = [
    "Answer", "Declined", "Denied", "Earshot", "EarshotError", "Expired", "Failed", "NotDone", "OutcomeUnknown", "Partial",
    "Permission", "Refused", "Session", "Stopped", "Tool", "Tools", "Unreachable",
]


class Answer(NamedTuple):
    """What the person answered: a text, True or False, or a number. Where default is true nobody answered in time."""

    value: Union[str, bool, int, float]
    by: str
    default: bool


class Permission(NamedTuple):
    """Whether the agent may do something by itself, this one time. It is true where a person said yes, and only there."""

    yes: bool
    own_rules: bool  # the operator's policy leaves it to the agent's own rules; nobody was asked
    code: str  # why not
    message: str

    def __bool__(self) -> bool:
        return self.yes


class Earshot:
    """A server, and the token by which it knows this agent (`earshot token add NAME --role agent`).

    The url and the token are those of the environment (EARSHOT_URL, EARSHOT_TOKEN) unless they are given; ValueError where
    they cannot be used. Plain http is for this machine only. A server that is away is tried for again for as many seconds
    as patience says. Nothing is sent before the first request.
    """

    def __init__(self, url: str = "", token: str = "", *, patience: float = 600) -> None:
        url, token = url or os.environ.get("EARSHOT_URL", ""), token or os.environ.get("EARSHOT_TOKEN", "")
        self._connection = Connection(url, token, patience)
        self._holder = uuid.uuid4().hex

    def tools(self) -> Sequence[Tool]:
        """Lists the tools that the agent may ask for. What the operator's policy denies is not among them."""
        return [Tool.of(t) for t in self._connection.again("GET", "/tools")["tools"]]

    def open(
        self, request: str = "", label: str = "", *, owner: str = "", answer_seconds: int = 0, idle_seconds: int = 0, key: str = ""
    ) -> Session:
        """Opens a session. All that happens in it is told to the person whose session it is, and they can stop it.

        request is what they asked for, label a few words after which the session is named. Questions stay open for
        answer_seconds; 0 leaves it to the tool. The session ends when nothing is heard for idle_seconds (default an hour).
        The same request with the same key opens one session within a day: by it a program that was started again goes on.
        """
        body = _some(
            request=request, label=label, owner=owner, answer_seconds=answer_seconds, idle_seconds=idle_seconds, holder=self._holder
        )
        opened = self._connection.again("POST", "/sessions", body, key=key or _key())
        return Session(self._connection, opened)


class Session:
    """One session of the agent. As a context manager it ends with its block: as a success, or as failed by an exception."""

    def __init__(self, connection: Connection, opened: Mapping[str, Any]) -> None:
        self.id: str = opened["session_id"]
        self.name: str = opened["name"]  # what people call it
        self._connection, self._path, self._ended = connection, "/sessions/" + self.id, False

    def tools(self) -> Tools:
        """Lists the tools, ready for a language model: see Tools."""
        return Tools([Tool.of(t) for t in self._connection.again("GET", "/tools")["tools"]], self.call)

    def call(
        self, tool: str, args: Optional[Mapping[str, Any]] = None, /, *, says: str = "", says_lang: str = "", key: str = "", **named: Any,
    ) -> Any:
        """Calls a tool and returns its result, a JSON value. It returns if and only if the call succeeded.

        The arguments are a mapping, or named. says are the agent's own words about it, which the person is shown as such;
        says_lang is their language, as a BCP 47 tag such as "es".
        Where a person is asked it waits for the answer, however long that takes. A lost connection or a server that starts
        again makes no second call: the request is repeated under its key. With a key of your own it is the same call, with
        the same result, in another process too, for a day. What has not started when you stop waiting does not start.

        Raises Declined, Denied, Expired (all of them NotDone), Stopped, OutcomeUnknown, Partial, Failed, Refused, Unreachable.
        """
        body = _some(tool=tool, args={**(args or {}), **named}, says=says, lang=says_lang if says else "")
        return self._done(self._connection.result(self._path, "/calls", body, key or _key()))

    def ask(
        self, question: str, *, choices: Optional[Mapping[str, str]] = None, kinds: Sequence[str] = (), context: str = "",
        default: str = "", seconds: int = 0, lang: str = "", key: str = "",
    ) -> Answer:
        """Asks the person for something that the agent does not know. It is not consent: no answer allows the use of a tool.

        kinds are freetext, yes_no, multiple_choice and numeric, any of them. choices maps 2 to 32 values to what a person
        reads. default, as text, is the answer when nobody gives one within so many seconds (default 5 minutes); without
        one that raises Expired. lang is the language of the question, the context and the labels, as a BCP 47 tag such as "es".
        Raises what call raises.
        """
        listed = [{"value": value, "label": label} for value, label in (choices or {}).items()]
        body = _some(question=question, choices=listed, kinds=list(kinds), context=context, default=default, seconds=seconds, lang=lang)
        answer = self._done(self._connection.result(self._path, "/questions", body, key or _key()))
        return Answer(answer["answer"], answer.get("by", ""), answer.get("default", False))

    def permission(self, tool: str, input: Mapping[str, Any], *, says: str = "", says_lang: str = "", key: str = "") -> Permission:
        """Asks whether the agent may do something by itself, once, with exactly this input, all of which is shown.

        says_lang is the language of says. It is advisory: Earshot starts nothing, and cannot hold the agent to the answer.
        Whatever is not a yes is a no. Raises Stopped, Failed, Refused, Unreachable.
        """
        body = _some(tool=tool, says=says, lang=says_lang if says else "")
        body["input"] = dict(input)
        ended = self._connection.result(self._path, "/permissions", body, key or _key())
        yes, own_rules = ended.get("status") == "success", ended.get("status") == "partial"
        if not yes and not own_rules and not isinstance(of_call(ended), NotDone):
            raise of_call(ended)
        return Permission(yes, own_rules, ended.get("code", ""), ended.get("message", ""))

    def say(self, text: str, *, lang: str = "") -> None:
        """Tells the person a piece of the agent's answer, at most 16 KiB. Pieces are told one after the other.

        lang is the language of the text, as a BCP 47 tag such as "es": voices and the direction of the text follow it.
        """
        self._report(**_some(text=text, lang=lang if text else ""))

    def doing(self, words: str, *, lang: str = "") -> None:
        """Tells the person in a few words, in the language lang, what the agent is at."""
        self._report(**_some(doing=words, lang=lang if words else ""))

    def observed(self, words: str, *, lang: str = "") -> None:
        """Tells the person, in the language lang, what the agent did by itself. It is told as the agent's word."""
        self._report(**_some(observed=words, lang=lang if words else ""))

    def progress(self, percent: float) -> None:
        """Tells the person how much of the whole work is done. It never falls."""
        self._report(progress=percent)

    def end(
        self, summary: str = "", *, output: str = "", lang: str = "", status: str = "success", code: str = "",
        fields: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """Ends the session with one sentence, and the whole answer where it was not said before. Open questions are withdrawn.

        lang is the language of output, as a BCP 47 tag.
        status is success, partial, failed or canceled; code says why it failed; fields are results by name.
        """
        named = [{"name": name, "value": value} for name, value in (fields or {}).items()]
        self._end(_some(summary=summary, output=output, lang=lang, status=status, code=code, fields=named))

    def hand_off(
        self, reason: str, *, to: str = "human", uri: str = "", urgency: str = "", context: Optional[Mapping[str, Any]] = None, lang: str = "",
    ) -> None:
        """Ends the session and asks that somebody else takes over: a human, a specialist_agent or an escalation_queue.

        lang is the language of the reason, as a BCP 47 tag.
        """
        self._end({"handoff": _some(reason=reason, lang=lang, to=to, uri=uri, urgency=urgency, context=dict(context or {}))})

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], _: Optional[TracebackType]) -> None:
        if self._ended:
            return
        if error is None:
            self.end()
            return
        code = error.code if isinstance(error, EarshotError) else ""
        word = error.message if isinstance(error, EarshotError) else f"The agent failed: {type(error).__name__}."
        try:
            self.end(word, status="failed" if isinstance(error, Exception) else "canceled", code=code)
        except EarshotError:
            pass  # the error that is under way says more

    def _done(self, ended: Mapping[str, Any]) -> Any:
        if ended.get("status") != "success":
            raise of_call(ended)
        return ended.get("result")

    def _report(self, **report: Any) -> None:
        if any(report.values()):  # else there is nothing to tell
            self._connection.again("POST", self._path + "/reports", report, key=_key())

    def _end(self, body: Mapping[str, Any]) -> None:
        self._connection.again("POST", self._path + "/end", body)
        self._ended = True


def _key() -> str:
    return uuid.uuid4().hex


def _some(**fields: Any) -> dict[str, Any]:
    """Leaves out what is empty."""
    return {name: value for name, value in fields.items() if value}
