"""The person of the tests: answers and stops by the HTTP API, with an approver's token. The stage (clients/stage_test.go) says
where everything is."""

import json
import os
import time
import urllib.request

LINES = os.environ["STAGE_LINES"]  # the file to which box.add adds
STAGE = os.environ["STAGE_URL"]  # kills the server and starts it again


def lines():
    with open(LINES, encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def restart():
    """Kills the server (SIGKILL) and starts it again, at the same address."""
    urllib.request.urlopen(urllib.request.Request(STAGE + "/restart", method="POST")).close()


def api(method, path, body=None):
    request = urllib.request.Request(os.environ["EARSHOT_URL"] + "/api/v1" + path, method=method)
    request.add_header("Authorization", "Bearer " + os.environ["STAGE_APPROVER"])
    request.add_header("Content-Type", "application/json")
    request.data = json.dumps(body).encode() if body is not None else None
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


def asked(session):
    """Waits for the open question of a session."""
    return until(lambda: [q for q in json.loads(api("GET", "/questions"))["questions"] if q["session_id"] == session.id])[0]


def question(session):
    """Waits for the open question of a session and returns its number."""
    return asked(session)["number"]


def reply(session, **answer):
    """Answers the question as it stands now: its reply token changes when it is asked again."""
    q = asked(session)
    number = q["number"]
    api("GET", f"/questions/{number}/arguments")  # nobody accepts what they have not seen
    api("POST", f"/questions/{number}/reply", {"reply_token": q["reply_token"], **answer})
    return number


def accept(session):
    return reply(session, decision="accept")


def stop(session):
    api("POST", f"/sessions/{session.id}/stop", {})


def record(session):
    return api("GET", f"/sessions/{session.id}/events")


def described(session):
    return json.loads(api("GET", f"/sessions/{session.id}"))


def until(look):
    """Looks again and again until there is something. The server has its own clock."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("waited in vain")
