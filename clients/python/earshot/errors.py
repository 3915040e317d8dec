"""What can keep a call from its result. Every error of this package is an EarshotError."""

from __future__ import annotations

from typing import Any, Mapping


class EarshotError(Exception):
    """Something did not succeed.

    code is one of docs/errors.md, message a sentence that a language model can be given, hint what to do about it.
    call_id names the call where there is one, result is what its tool returned all the same. retry says that the same
    request may be sent again without a second effect; this package has then tried for as long as its patience lasted.
    """

    def __init__(
        self, message: str, *, code: str = "", hint: str = "", retry: bool = False, call_id: str = "", result: Any = None
    ) -> None:
        super().__init__(message + ("; " + hint if hint else ""))
        self.message, self.code, self.hint, self.retry = message, code, hint, retry
        self.call_id, self.result = call_id, result


class NotDone(EarshotError):
    """Nothing was done, and nothing will be: the call ended before its tool started."""


class Declined(NotDone):
    """A person said no. Do not ask for the same again unless they want it."""


class Denied(NotDone):
    """The operator's policy does not allow it. Nobody was asked."""


class Expired(NotDone):
    """Nobody answered in time."""


class Stopped(EarshotError):
    """A person stopped the session, or the call. Take no further step; result says what a running call had done."""


class OutcomeUnknown(EarshotError):
    """The call began, and nobody knows what it did. Do not repeat it without asking the person."""


class Partial(EarshotError):
    """Some of it was done; result says what."""


class Failed(EarshotError):
    """The call failed, or its arguments do not fit. Unless the code says otherwise, part of it may have been done."""


class Refused(EarshotError):
    """The server did not take the request: the token, an address or a value is wrong, or the session has ended."""


class Unreachable(EarshotError):
    """No server answered for as long as the patience lasted. What was asked for may or may not have been done."""


_BY_CODE: Mapping[str, type[EarshotError]] = {
    "consent_declined": Declined,
    "denied_by_policy": Denied,
    "consent_expired": Expired,
    "consent_withdrawn": NotDone,
    "consent_stale": NotDone,
    "consent_retry_exhausted": NotDone,
    "stopped": Stopped,
    "outcome_unknown": OutcomeUnknown,
    "tool_timeout": OutcomeUnknown,
}


def of_call(call: Mapping[str, Any]) -> EarshotError:
    """Returns the error of a call that has ended without success."""
    code = call.get("code", "")
    kind = Partial if call.get("status") == "partial" else _BY_CODE.get(code, Failed)
    message = call.get("message") or f"The call of {call.get('tool')} ended as {call.get('status')} ({code or 'no code'})."
    return kind(message, code=code, call_id=call.get("call_id", ""), result=call.get("result"))


def of_answer(status: int, said: Any) -> EarshotError:
    """Returns the error of an answer that is not a success."""
    try:
        error: Mapping[str, Any] = said["error"]
        code: str = error["code"]
    except (TypeError, KeyError):
        message = f"Got the HTTP status {status} without an error of Earshot."
        return Refused(message, code="strange", hint="check the address", retry=status >= 500)
    # With an idempotency key, which every request with an effect has, one whose outcome is open may be sent again.
    retry = (bool(error.get("safe_to_retry")) and status != 429) or status in (502, 503, 504)
    kind = Stopped if code == "stopped" else Refused
    return kind(error.get("message", code), code=code, hint=error.get("hint", ""), retry=retry and kind is Refused)
