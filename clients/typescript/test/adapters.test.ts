// The adapters with the real packages that they are for, each driven by that package's own model for tests.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AIMessage, HumanMessage, type BaseMessage, type ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { Agent, run, setTracingDisabled, ToolCallError, Usage, type Model, type ModelRequest, type ModelResponse } from "@openai/agents";
import { generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { aiTools } from "../adapters/ai-sdk.js";
import { langchainTools } from "../adapters/langchain.js";
import { openaiTools } from "../adapters/openai-agents.js";
import { Earshot, Stopped } from "../src/index.js";
import * as person from "./person.js";

type Generated = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;
type Content = Generated["content"][number];

/** A model of the AI SDK that asks for box.add, then says what it got. */
function scripted(line: string): MockLanguageModelV4 {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined }, outputTokens: { total: 1, text: 1, reasoning: undefined },
  };
  const answer = (content: Content, unified: "stop" | "tool-calls"): Generated =>
    ({ content: [content], finishReason: { unified, raw: undefined }, usage, warnings: [] });
  let turn = 0;
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt, tools }) => {
      if (turn++ === 0) {
        assert.ok(tools?.some((tool) => tool.name === "box_add"), JSON.stringify(tools));
        return answer({ type: "tool-call", toolCallId: "c1", toolName: "box_add", input: JSON.stringify({ line }) }, "tool-calls");
      }
      return answer({ type: "text", text: JSON.stringify(prompt.at(-1)) }, "stop");
    },
  });
}

for (const [decision, want, count] of [["accept", /exit_code/, 1], ["reject", /consent_declined/, 0]] as const)
  test(`the AI SDK, ${decision}`, async () => {
    const before = person.lines().length;
    const session = await new Earshot().open({ label: "ai" });
    const result = generateText({ model: scripted("ai"), prompt: "Add a line.", tools: await aiTools(session), stopWhen: isStepCount(5) });
    await person.reply(session, { decision });
    assert.match((await result).text, want);
    assert.equal(person.lines().length - before, count);
    await session.end();
  });

test("the AI SDK, stopped", async () => {
  const before = person.lines().length;
  const session = await new Earshot().open({ label: "ai stop" });
  const abort = new AbortController();
  const model = scripted("ai");
  const tools = await aiTools(session, abort);
  const result = generateText({ model, prompt: "Add a line.", tools, stopWhen: isStepCount(5), abortSignal: abort.signal })
    .then(() => undefined, (error: unknown) => error);
  await person.question(session);
  await person.stop(session);
  assert.ok(await result, "the loop went on");
  assert.ok(abort.signal.reason instanceof Stopped);
  assert.equal(model.doGenerateCalls.length, 1);
  assert.equal(person.lines().length, before);
});

for (const [decision, want, count] of [["accept", /exit_code/, 1], ["reject", /consent_declined/, 0]] as const)
  test(`LangChain.js, ${decision}`, async () => {
    const before = person.lines().length;
    const session = await new Earshot().open({ label: "langchain" });
    const tools = await langchainTools(session);
    const model = fakeModel()
      .respondWithTools([{ id: "c1", name: "box_add", args: { line: "langchain" } }])
      .respond((messages) => new AIMessage(String(messages.at(-1)?.content)))
      .bindTools(tools);
    const messages: BaseMessage[] = [new HumanMessage("Add a line.")];
    const asked = await model.invoke(messages);
    const [call] = asked.tool_calls ?? [];
    assert.ok(call);
    const result = tools.find((tool) => tool.name === call.name)?.invoke({ ...call, type: "tool_call" });
    await person.reply(session, { decision });
    messages.push(asked, (await result) as ToolMessage);
    assert.match(String((await model.invoke(messages)).content), want);
    assert.equal(person.lines().length - before, count);
    await session.end();
  });

test("LangChain.js, stopped, and arguments that do not fit", async () => {
  const session = await new Earshot().open({ label: "langchain stop" });
  const add = (await langchainTools(session)).find((tool) => tool.name === "box_add")!;
  await assert.rejects(add.invoke({ lines: "one" }), /schema/);
  const call = add.invoke({ line: "stop" }).then(() => undefined, (error: unknown) => error);
  await person.question(session);
  await person.stop(session);
  assert.ok((await call) instanceof Stopped);
});

/** A model of the OpenAI Agents SDK, which ships none for tests: it asks for box.add, then says what it got. */
class Scripted implements Model {
  requests: ModelRequest[] = [];

  constructor(readonly args: object) {}

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    const usage = new Usage();
    if (this.requests.push(request) === 1) {
      assert.ok(request.tools.some((tool) => tool.type === "function" && tool.name === "box_add"), JSON.stringify(request.tools));
      return { usage, output: [{ type: "function_call", callId: "c1", name: "box_add", arguments: JSON.stringify(this.args), status: "completed" }] };
    }
    const text = JSON.stringify(request.input.at(-1));
    return { usage, output: [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] }] };
  }

  getStreamedResponse(): never {
    throw new Error("not streamed here");
  }
}

setTracingDisabled(true); // it would be sent to OpenAI

for (const [decision, want, count] of [["accept", /exit_code/, 1], ["reject", /consent_declined/, 0]] as const)
  test(`the OpenAI Agents SDK, ${decision}`, async () => {
    const before = person.lines().length;
    const session = await new Earshot().open({ label: "agents" });
    const agent = new Agent({ name: "helper", model: new Scripted({ line: "agents" }), tools: await openaiTools(session) });
    const result = run(agent, "Add a line.");
    await person.reply(session, { decision });
    assert.match(String((await result).finalOutput), want);
    assert.equal(person.lines().length - before, count);
    await session.end();
  });

test("the OpenAI Agents SDK, stopped, and arguments that do not fit", async () => {
  const before = person.lines().length;
  const session = await new Earshot().open({ label: "agents stop" });
  const tools = await openaiTools(session);
  const wrong = run(new Agent({ name: "helper", model: new Scripted({ lines: "one" }), tools }), "Add a line.");
  assert.match(String((await wrong).finalOutput), /bad_request/);
  const model = new Scripted({ line: "stop" });
  const result = run(new Agent({ name: "helper", model, tools }), "Add a line.").then(() => undefined, (error: unknown) => error);
  await person.question(session);
  await person.stop(session);
  const error = await result;
  assert.ok(error instanceof ToolCallError && error.error instanceof Stopped, String(error));
  assert.equal(model.requests.length, 1);
  assert.equal(person.lines().length, before);
});
