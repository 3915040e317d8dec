// The client against a real `earshot up`, which the stage starts: go test ./clients
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeEach, test } from "node:test";
import { Declined, Denied, Earshot, Expired, Failed, forModels, NotDone, Refused, type Session, Stopped, Unreachable } from "../src/index.js";
import * as person from "./person.js";

let before: string[];
beforeEach(() => { before = person.lines(); });

const opened = (label: string): Promise<Session> => new Earshot().open({ request: "Add a line.", label });

/** What box.add has added since the test began. */
function added(): string[] {
  const lines = person.lines();
  assert.deepEqual(lines.slice(0, before.length), before);
  return lines.slice(before.length);
}

/** What a promise was rejected with. It is looked at before anything else is awaited, so that it is never unhandled. */
const failure = (promise: Promise<unknown>): Promise<unknown> => promise.then(() => undefined, (error: unknown) => error);

test("reads", async () => {
  const session = await opened("reads");
  assert.equal(session.name, "helper, reads");
  const { output } = await session.call<{ output: string }>("box.read");
  assert.equal(output, before.map((line) => line + "\n").join(""));
  await session.end("Read.");
  assert.equal(await person.ended(session), "success");
  assert.ok((await failure(session.call("box.read"))) instanceof Refused);
});

test("a yes is one effect", async () => {
  const session = await opened("yes");
  const call = session.call("box.add", { line: "one" }, { says: "It is missing.", key: "step-1" });
  await person.accept(session);
  const result = await call;
  assert.deepEqual(await session.call("box.add", { line: "one" }, { key: "step-1" }), result);
  const other = await failure(session.call("box.add", { line: "two" }, { key: "step-1" }));
  assert.ok(other instanceof Refused && other.code === "conflict", String(other));
  assert.match(await person.record(session), /It is missing\./);
  assert.deepEqual(added(), ["one"]);
});

test("a no", async () => {
  const session = await opened("no");
  const call = failure(session.call("box.add", { line: "no" }));
  await person.reject(session);
  const error = await call;
  assert.ok(error instanceof Declined && error instanceof NotDone, String(error));
  assert.equal(error.code, "consent_declined");
  assert.match(error.callId, /^tc_/);
  assert.equal(error.name, "Declined");
  assert.deepEqual(added(), []);
});

test("what is denied or invalid", async () => {
  const session = await opened("denied");
  assert.ok(!(await new Earshot().tools()).some((tool) => tool.name === "box.clear"));
  assert.ok((await failure(session.call("box.clear"))) instanceof Denied);
  const invalid = await failure(session.call("box.add", { lines: "one" }));
  assert.ok(invalid instanceof Failed && invalid.code === "bad_request", String(invalid));
});

test("language models", async () => {
  const session = await opened("models");
  const tools = await session.tools();
  const add = tools.find((tool) => tool.modelName === "box_add");
  assert.ok(add);
  assert.deepEqual([add.name, add.effect, add.asks], ["box.add", "irreversible", true]);
  const { description, parameters } = add;
  assert.deepEqual(forModels.openai([add]), [{ type: "function", function: { name: "box_add", description, parameters } }]);
  assert.deepEqual(forModels.openaiResponses([add]), [{ type: "function", strict: false, name: "box_add", description, parameters }]);
  assert.deepEqual(forModels.anthropic([add]), [{ name: "box_add", description, input_schema: parameters }]);
  assert.match(await session.callForModel(tools, "box_read", ""), /"output":/);
  for (const [name, args, code] of [
    ["box_none", "{}", "unknown_tool"], ["box_add", "{", "bad_request"], ["box_add", "[]", "bad_request"], ["box_add", '{"line":"A"}', "bad_request"],
  ] as const) {
    const told = JSON.parse(await session.callForModel(tools, name, args)) as { error: { code: string } };
    assert.equal(told.error.code, code, `${name} ${args}`);
  }
  assert.deepEqual(added(), []);
});

test("the server is killed while a call waits", async () => {
  const session = await opened("killed");
  const call = session.call("box.add", { line: "killed" });
  const number = await person.question(session);
  await person.restart();
  assert.equal(await person.accept(session), number);
  await call;
  assert.deepEqual(added(), ["killed"]);
});

test("the server is killed after the yes", async () => {
  const session = await opened("killed after");
  const call = session.call("box.add", { line: "late" });
  const number = await person.accept(session);
  await person.restart();
  assert.equal(await person.accept(session), number); // it is asked for again
  await call;
  assert.deepEqual(added(), ["late"]);
});

test("nothing starts for an agent that does not wait any more", async () => {
  const session = await opened("gone");
  const leave = new AbortController();
  const call = failure(session.call("box.add_soon", { line: "gone" }, { signal: leave.signal }));
  await person.question(session);
  leave.abort();
  assert.equal(((await call) as Error).name, "AbortError");
  await person.accept(session);
  await person.until(async () => (await person.record(session)).includes("did not wait for it any more"));
  assert.deepEqual(added(), []);
});

test("a person stops it", async () => {
  const session = await opened("stop");
  const call = failure(session.call("box.add", { line: "stop" }));
  await person.question(session);
  await person.stop(session);
  assert.ok((await call) instanceof Stopped);
  assert.ok((await failure(session.callForModel(await session.tools(), "box_read", {}))) instanceof Stopped);
  assert.deepEqual(added(), []);
});

test("questions", async () => {
  const session = await opened("questions");
  const which = session.ask("¿Cuál?", { choices: { a: "La vieja", b: "La nueva" }, lang: "es" });
  await person.reply(session, { response: "b" });
  assert.equal((await which).value, "b");
  assert.ok((await person.record(session)).includes('"agent_language":"es"'));
  const deep = session.ask("Deeper?", { kinds: ["yes_no"] });
  await person.reply(session, { response: true });
  const { value, by, default: fallback } = await deep;
  assert.deepEqual([value, by !== "", fallback], [true, true, false]);
  const nobody = session.ask("Which one?", { default: "the first", seconds: 1 });
  await person.question(session); // the time to answer begins when somebody has seen it
  assert.deepEqual(await nobody.then((answer) => [answer.value, answer.default]), ["the first", true]);
  const late = failure(session.ask("Which one?", { seconds: 1 }));
  await person.question(session);
  assert.ok((await late) instanceof Expired);
});

test("permissions", async () => {
  const session = await opened("permissions");
  for (const [decision, yes] of [["accept", true], ["reject", false]] as const) {
    const asked = session.permission("Bash", { command: "rm -r build" });
    await person.reply(session, { decision });
    assert.equal((await asked).yes, yes);
  }
  const left = await session.permission("Read", { path: "a" });
  assert.deepEqual([left.yes, left.ownRules], [false, true]);
});

test("reports, a hand-off, and the end of run", async () => {
  let seen: Session | undefined;
  const result = await new Earshot().run({ label: "run" }, async (session) => {
    seen = session;
    await session.say("I have found one. ");
    await session.say("Hay una más. ", { lang: "es" });
    await session.say("", { lang: "es" });
    assert.ok(await failure(session.say("Never told.", { lang: "spanish" })) instanceof Refused);
    await session.doing("counting");
    await session.progress(40);
    await session.observed("Ran the tests.");
    await session.observed("Ha terminado.", { lang: "pt" });
    await session.handOff({ reason: "Only a person can sign this.", urgency: "low" });
    return 7;
  });
  assert.equal(result, 7);
  const record = await person.record(seen!);
  for (const words of ["I have found one.", '"language":"es"', '"agent_language":"pt"', "counting", "Ran the tests.", "Only a person can sign this."]) assert.ok(record.includes(words), words);
  const broken = await failure(new Earshot().run({ label: "broken" }, async (session) => { seen = session; throw new Error("a secret"); }));
  assert.equal((broken as Error).message, "a secret");
  assert.equal(await person.ended(seen!), "failed");
  assert.ok(!(await person.record(seen!)).includes("a secret"));
});

test("what cannot be used", async () => {
  for (const url of ["nowhere", "127.0.0.1:7411", "http://example.org", "http://127.0.0.1.example.org", "file:///etc/passwd"])
    assert.throws(() => new Earshot({ url, token: "t" }), TypeError, url);
  assert.throws(() => new Earshot({ token: "" }), TypeError);
  const stranger = await failure(new Earshot({ token: "earshot_nobody" }).open());
  assert.ok(stranger instanceof Refused && stranger.code === "authentication_required", String(stranger));
  assert.ok((await failure(new Earshot({ url: "http://127.0.0.1:9", token: "t", patience: 0 }).tools())) instanceof Unreachable);
  assert.equal(((await failure(new Earshot().tools(AbortSignal.abort()))) as Error).name, "AbortError");
});

test("a proxy that gives up: the request is sent again, under its key", async () => {
  const keys: (string | string[] | undefined)[] = [];
  const answers = [[504, "<html>"], [504, '{"error":{"code":"gateway_timeout","message":"no"}}'], [201, '{"session_id":"sess_1","name":"one"}']] as const;
  const proxy = createServer((request, response) => {
    const [status, body] = answers[keys.length]!;
    keys.push(request.headers["idempotency-key"]);
    request.resume();
    response.writeHead(status, { Connection: "close" }).end(body);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  try {
    const session = await new Earshot({ url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, token: "t" }).open();
    assert.deepEqual([session.id, keys.length, new Set(keys).size], ["sess_1", 3, 1]);
  } finally { proxy.close(); }
});
