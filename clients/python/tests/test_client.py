"""The client against a real `earshot up`, which the stage starts: go test ./clients"""

import http.server
import json
import os
import subprocess
import sys
import threading
import types
import unittest
import urllib.error
from unittest import mock

import person
from earshot import (
    Declined, Denied, Earshot, EarshotError, Expired, Failed, Refused, Session, Stopped, Unreachable,
)


class Waiting:
    """A call that another thread waits for."""

    def __init__(self, work):
        self.value = self.error = None

        def run():
            try:
                self.value = work()
            except EarshotError as error:
                self.error = error

        self._thread = threading.Thread(target=run)
        self._thread.start()

    def result(self):
        self._thread.join()
        if self.error:
            raise self.error
        return self.value


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.session = Earshot().open(request="Add a line.", label=self._testMethodName)
        self.addCleanup(self.close, self.session)
        self.before = person.lines()

    @staticmethod
    def close(session):
        try:
            session.end()
        except EarshotError:
            pass

    def added(self):
        lines = person.lines()
        self.assertEqual(lines[: len(self.before)], self.before)
        return lines[len(self.before) :]

    def test_reads(self):
        self.assertEqual(self.session.name, "helper, test_reads")
        result = self.session.call("box.read")
        self.assertEqual(result["output"], "".join(line + "\n" for line in self.before))

    def test_accepted(self):
        call = Waiting(lambda: self.session.call("box.add", line="one", says="It is missing."))
        number = person.accept(self.session)
        call.result()
        self.assertEqual(self.added(), ["one"])
        self.assertIn("It is missing.", person.record(self.session))
        self.assertGreater(number, 0)

    def test_same_key_is_one_call(self):
        call = Waiting(lambda: self.session.call("box.add", {"line": "two"}, key="step-1"))
        person.accept(self.session)
        self.assertEqual(call.result(), self.session.call("box.add", {"line": "two"}, key="step-1"))
        with self.assertRaises(Refused) as caught:
            self.session.call("box.add", {"line": "three"}, key="step-1")
        self.assertEqual(caught.exception.code, "conflict")
        self.assertEqual(self.added(), ["two"])

    def test_declined(self):
        call = Waiting(lambda: self.session.call("box.add", line="no"))
        person.reply(self.session, decision="reject")
        with self.assertRaises(Declined) as caught:
            call.result()
        self.assertEqual(caught.exception.code, "consent_declined")
        self.assertTrue(caught.exception.call_id.startswith("tc_"))
        self.assertIn("Nothing was done", str(caught.exception))
        self.assertEqual(self.added(), [])

    def test_denied_and_invalid(self):
        self.assertNotIn("box.clear", [tool.name for tool in Earshot().tools()])
        with self.assertRaises(Denied):
            self.session.call("box.clear")
        with self.assertRaises(Failed) as caught:
            self.session.call("box.add", lines="one")
        self.assertEqual(caught.exception.code, "bad_request")
        self.assertEqual(self.added(), [])

    def test_server_killed_while_it_waits(self):
        call = Waiting(lambda: self.session.call("box.add", line="killed"))
        number = person.question(self.session)
        person.restart()
        self.assertEqual(person.accept(self.session), number)
        call.result()
        self.assertEqual(self.added(), ["killed"])

    def test_server_killed_after_the_yes(self):
        """A yes of which nothing came is asked for again; the agent waits on, and there is one effect."""
        call = Waiting(lambda: self.session.call("box.add", line="late"))
        number = person.accept(self.session)
        person.restart()
        self.assertEqual(person.accept(self.session), number)
        self.assertIn("Earshot restarted after your yes", person.record(self.session))
        call.result()
        self.assertEqual(self.added(), ["late"])

    def test_agent_gone(self):
        """Nothing is started for an agent that is gone, whatever the person answers."""
        script = "from earshot import Earshot; s = Earshot().open(); print(s.id, flush=True); s.call('box.add_soon', line='gone')"
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as agent:
            session = types.SimpleNamespace(id=agent.stdout.readline().strip())
            person.question(session)
            agent.kill()
        person.accept(session)
        person.until(lambda: "did not wait for it any more" in person.record(session))
        self.assertEqual(self.added(), [])

    def test_agent_started_again(self):
        """An agent that is killed and started again goes on with its call, by its keys: one question, one effect."""
        script = "from earshot import Earshot; Earshot().open(key='again').call('box.add', line='again', key='step-1')"
        session = Earshot().open(key="again")
        with subprocess.Popen([sys.executable, "-c", script]) as agent:
            number = person.question(session)
            agent.kill()
        with subprocess.Popen([sys.executable, "-c", script]) as agent:
            self.assertEqual(person.accept(session), number)
            self.assertEqual(agent.wait(), 0)
        self.assertEqual(self.added(), ["again"])
        self.close(session)

    def test_stopped(self):
        call = Waiting(lambda: self.session.call("box.add", line="stop"))
        person.question(self.session)
        person.stop(self.session)
        with self.assertRaises(Stopped):
            call.result()
        with self.assertRaises(Stopped):
            self.session.call("box.read")
        with self.assertRaises(Stopped):
            self.session.tools().run("box_read", {})
        self.assertEqual(self.added(), [])

    def test_asks(self):
        which = Waiting(lambda: self.session.ask("¿Cuál?", choices={"a": "La vieja", "b": "La nueva"}, lang="es"))
        person.reply(self.session, response="b")
        self.assertEqual(which.result()[0], "b")
        self.assertIn('"agent_language":"es"', person.record(self.session))
        deep = Waiting(lambda: self.session.ask("Deeper?", kinds=["yes_no"]))
        self.assertTrue(0 < person.asked(self.session)["seconds_left"] <= 300)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            person.reply(self.session, response=7)
        with refused.exception as answer:
            self.assertIn("it expects yes or no", answer.read().decode())
        person.reply(self.session, response=True)
        answer = deep.result()
        self.assertIs(answer.value, True)
        self.assertTrue(answer.by)
        self.assertFalse(answer.default)

    def test_nobody_answers(self):
        asked = Waiting(lambda: self.session.ask("Which one?", default="the first", seconds=1))
        person.question(self.session)  # the time to answer begins when somebody has seen it
        nobody = asked.result()
        self.assertEqual((nobody.value, nobody.default), ("the first", True))
        asked = Waiting(lambda: self.session.ask("Which one?", seconds=1))
        person.question(self.session)
        with self.assertRaises(Expired):
            asked.result()

    def test_permission(self):
        for decision, allowed in (("accept", True), ("reject", False)):
            asked = Waiting(lambda: self.session.permission("Bash", {"command": "rm -r build"}, says="Sobra.", says_lang="es"))
            person.reply(self.session, decision=decision)
            permission = asked.result()
            self.assertEqual((bool(permission), permission.yes, permission.own_rules), (allowed, allowed, False))
        self.assertEqual(permission.code, "consent_declined")
        left = self.session.permission("Read", {"path": "a"})
        self.assertEqual((bool(left), left.own_rules), (False, True))

    def test_tells(self):
        self.session.say("I have found one. ")
        self.session.say("Hay una más. ", lang="es")
        self.session.say("", lang="es")
        with self.assertRaises(Refused) as wrong:
            self.session.say("Never told.", lang="spanish")
        self.assertEqual(wrong.exception.code, "bad_request")
        self.session.doing("counting")
        self.session.progress(0)
        self.session.progress(40)
        self.session.observed("Ran the tests.")
        self.session.observed("Ha terminado.", lang="pt")
        self.session.end("One line was counted.", output="Une ligne.", lang="fr", fields={"count": 1})
        said = person.record(self.session)
        for words in ("I have found one.", "Hay una más.", '"language":"es"', '"language":"fr"', '"agent_language":"pt"', "counting", "Ran the tests.", "One line was counted."):
            self.assertIn(words, said)
        self.assertNotIn("Never told.", said)
        with self.assertRaises(Refused):
            self.session.call("box.read")

    def test_ends_with_its_block(self):
        with Earshot().open(label="whole") as whole:
            pass
        self.assertEqual(person.until(lambda: person.described(whole).get("end"))["status"], "success")
        with self.assertRaises(KeyError):
            with Earshot().open(label="broken") as broken:
                raise KeyError("a secret")
        self.assertEqual(person.until(lambda: person.described(broken).get("end"))["status"], "failed")
        self.assertNotIn("a secret", person.record(broken))
        with Earshot().open(label="over") as over:
            over.hand_off("Only a person can sign this.", urgency="low")
        self.assertIn("Only a person can sign this.", person.record(over))

    def test_forms_for_models(self):
        tools = self.session.tools()
        tool = tools["box_add"]
        self.assertEqual((tool.name, tool.effect, tool.asks), ("box.add", "irreversible", True))
        self.assertIn({"name": "box_add", "description": "Add a line.", "input_schema": tool.parameters}, tools.anthropic())
        function = {"name": "box_add", "description": "Add a line.", "parameters": tool.parameters}
        self.assertIn({"type": "function", "function": function}, tools.openai())
        self.assertIn({"type": "function", "strict": False, **function}, tools.openai_responses())
        self.assertEqual(len(list(tools)), len(tools))

    def test_calls_of_models(self):
        tools = self.session.tools()
        self.assertIn("output", json.loads(tools.run("box_read", "")))
        for name, arguments, code in (
            ("box_none", "{}", "unknown_tool"),
            ("box_add", "{", "bad_request"),
            ("box_add", "[]", "bad_request"),
            ("box_add", '{"line": "A"}', "bad_request"),
        ):
            with self.subTest(name=name, arguments=arguments):
                self.assertEqual(json.loads(tools.run(name, arguments))["error"]["code"], code)
        call = Waiting(lambda: tools.run("box_add", {"line": "x"}))
        person.reply(self.session, decision="reject")
        self.assertEqual(json.loads(call.result())["error"]["code"], "consent_declined")
        self.assertEqual(self.added(), [])

    def test_what_cannot_be_used(self):
        for url, token in (
            ("", "t"), ("127.0.0.1:7411", "t"), ("http://example.org", "t"), ("http://127.0.0.1.example.org", "t"),
            ("file:///etc/passwd", "t"),
        ):
            with self.subTest(url=url), self.assertRaises(ValueError):
                Earshot(url or "nowhere", token)
        with self.assertRaises(Refused) as caught:
            Earshot(token="earshot_nobody").open()
        self.assertEqual(caught.exception.code, "authentication_required")
        with self.assertRaises(Refused):
            Earshot(token=os.environ["STAGE_APPROVER"]).open()
        with self.assertRaises(Unreachable):
            Earshot("http://127.0.0.1:9", "t", patience=0).tools()
        with self.assertRaises(Refused):
            Session(self.session._connection, {"session_id": "sess_none", "name": ""}).call("box.read")

    def test_tells_that_it_waits(self):
        """A program that waits for a server says so, once; a short loss is not spoken of."""
        lost = Unreachable("The server cannot be reached.", code="unreachable", retry=True)
        for quiet, said in ((0, 1), (60, 0)):
            tried = iter((lost, lost, lost, {"tools": []}))

            def once(*_, **__):
                answer = next(tried)
                if isinstance(answer, Exception):
                    raise answer
                return answer

            earshot = Earshot("http://127.0.0.1:9", "t")
            with self.subTest(quiet=quiet), mock.patch("earshot.connection.PAUSES", (0, 0)), mock.patch("earshot.connection.QUIET", quiet), \
                    mock.patch.object(earshot._connection, "once", once), mock.patch("earshot.connection._log") as log:
                self.assertEqual(earshot.tools(), [])
                self.assertEqual(log.warning.call_count, said, log.warning.call_args_list)


class Proxy(http.server.BaseHTTPRequestHandler):
    """A proxy that gives up on the server a few times, each time in other words."""

    answers = ((504, "<html>"), (502, '{"error":"away"}'), (504, '{"error":{"code":"gateway_timeout","message":"no"}}'))

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        keys = self.server.keys
        status, body = (*self.answers, (201, '{"session_id":"sess_1","name":"one"}'))[len(keys)]
        keys.append(self.headers["Idempotency-Key"])
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


class ProxyTest(unittest.TestCase):
    def test_proxy_gives_up(self):
        """A request whose outcome a proxy does not know is sent again, under its key."""
        with http.server.HTTPServer(("127.0.0.1", 0), Proxy) as server, mock.patch("earshot.connection.PAUSES", (0, 0)):
            server.keys = []
            serving = threading.Thread(target=server.serve_forever)
            serving.start()
            try:
                session = Earshot(f"http://127.0.0.1:{server.server_port}", "t").open()
            finally:
                server.shutdown()
                serving.join()
        self.assertEqual((session.id, len(server.keys), len(set(server.keys))), ("sess_1", 4, 1))
        self.assertTrue(server.keys[0])


if __name__ == "__main__":
    unittest.main()
