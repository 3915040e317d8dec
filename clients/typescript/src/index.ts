// A program as an agent of Earshot: it asks for tool calls, and a person hears and answers them. It needs `fetch`, and nothing
// else: Node 18 or newer, Deno, Bun, browsers. docs/agents.md says how to use it.

/** A value of JSON. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
/** The arguments of a call. */
export type Args = { [name: string]: unknown };

export interface EarshotOptions {
  /** Where the server is; default EARSHOT_URL of the environment. Plain http is for this machine only. */
  url?: string;
  /** The agent's token (`earshot token add NAME --role agent`); default EARSHOT_TOKEN of the environment. */
  token?: string;
  /** For how many milliseconds a server that is away is tried for again; default ten minutes. */
  patience?: number;
}

export interface OpenOptions {
  /** What the person asked for, in words. */
  request?: string;
  /** A few words after which the session is named. */
  label?: string;
  /** The person whose session it is, one of those that the token is for. */
  owner?: string;
  /** How long questions stay open; 0 leaves it to the tool. */
  answerSeconds?: number;
  /** After how many seconds without a request the session ends; default an hour. */
  idleSeconds?: number;
  /** The same request with the same key opens one session within a day. */
  key?: string;
  signal?: AbortSignal;
}

export interface CallOptions {
  /** The agent's own words about the call, which the person is shown as such. */
  says?: string;
  /** The language of those words, or of a question, its context and its choices, as a BCP 47 tag such as "es". */
  lang?: string;
  /** The same call with the same key is made once within a day, in whatever process; default a key of its own. */
  key?: string;
  /** Stops waiting. What has not started by then does not start. */
  signal?: AbortSignal;
}

export interface AskOptions extends Omit<CallOptions, "says"> {
  /** The kinds of answers that are taken; default freetext, or one of the choices. */
  kinds?: ("freetext" | "yes_no" | "multiple_choice" | "numeric")[];
  /** 2 to 32 values, each with what a person reads. */
  choices?: Record<string, string>;
  /** What helps to understand the question. */
  context?: string;
  /** The answer, as text, when nobody gives one in time. Without one that throws Expired. */
  default?: string;
  /** How long the question stays open; default 5 minutes. */
  seconds?: number;
}

/** What the person answered. Where `default` is true nobody answered in time. */
export interface Answer { value: string | boolean | number; by: string; default: boolean }

/** Whether the agent may do something by itself, this one time. */
export interface Permission {
  /** A person said yes. */
  yes: boolean;
  /** The operator's policy leaves it to the agent's own rules; nobody was asked. */
  ownRules: boolean;
  code: string;
  message: string;
}

/** The last word of a session. */
export interface End {
  summary?: string;
  /** The whole answer, as far as it was not said before. */
  output?: string;
  /** The language of the output, as a BCP 47 tag such as "es". */
  lang?: string;
  /** Default success. */
  status?: "success" | "partial" | "failed" | "canceled";
  /** Why it failed. */
  code?: string;
  fields?: Record<string, unknown>;
}

export interface Handoff {
  reason: string;
  /** The language of the reason, as a BCP 47 tag such as "es". */
  lang?: string;
  /** Default human. */
  to?: "human" | "specialist_agent" | "escalation_queue";
  uri?: string;
  urgency?: "low" | "medium" | "high";
  context?: Args;
}

/** A tool that the agent may ask for. */
export interface Tool {
  name: string;
  /** 1 to 64 of A-Z a-z 0-9 _ -, unique among the tools. */
  modelName: string;
  description: string;
  /** The JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
  effect: "read" | "idempotent" | "reversible" | "irreversible";
  /** A person is asked before it starts. */
  asks: boolean;
}

/** Everything that is thrown here, but for what an AbortSignal throws. `code` is one of docs/errors.md. */
export class EarshotError extends Error {
  readonly code: string;
  /** What to do. */
  readonly hint: string;
  /** The same request may be sent again without a second effect. */
  readonly retry: boolean;
  /** The call that it is about, and what its tool returned all the same. */
  callId = "";
  result: Json | undefined;

  constructor(message: string, code: string, hint = "", retry = false) {
    super(message);
    this.name = new.target.name;
    this.code = code;
    this.hint = hint;
    this.retry = retry;
  }
}
/** Nothing was done, and nothing will be: the call ended before its tool started. */
export class NotDone extends EarshotError {}
/** A person said no. */
export class Declined extends NotDone {}
/** The operator's policy does not allow it. Nobody was asked. */
export class Denied extends NotDone {}
/** Nobody answered in time. */
export class Expired extends NotDone {}
/** A person stopped the session, or the call. Take no further step; `result` says what a running call had done. */
export class Stopped extends EarshotError {}
/** The call began, and nobody knows what it did. Do not repeat it without asking the person. */
export class OutcomeUnknown extends EarshotError {}
/** Some of it was done; `result` says what. */
export class Partial extends EarshotError {}
/** The call failed, or its arguments do not fit. Unless the code says otherwise, part of it may have been done. */
export class Failed extends EarshotError {}
/** The server did not take the request: the token, an address or a value is wrong, or the session has ended. */
export class Refused extends EarshotError {}
/** No server answered for as long as the patience lasted. What was asked for may or may not have been done. */
export class Unreachable extends EarshotError {}

/** A server, and the token by which it knows this agent. Nothing is sent before the first request. */
export class Earshot {
  readonly #connection: Connection;
  readonly #holder = newKey();

  constructor(options: EarshotOptions = {}) {
    this.#connection = new Connection(
      options.url ?? environment("EARSHOT_URL"), options.token ?? environment("EARSHOT_TOKEN"), options.patience ?? 600_000,
    );
  }

  /** Lists the tools that the agent may ask for. What the operator's policy denies is not among them. */
  tools(signal?: AbortSignal): Promise<Tool[]> {
    return this.#connection.tools(signal);
  }

  /** Opens a session. All that happens in it is told to the person whose session it is, and they can stop it. */
  async open(options: OpenOptions = {}): Promise<Session> {
    const { answerSeconds, idleSeconds, key, signal, ...rest } = options;
    const body = { ...rest, answer_seconds: answerSeconds, idle_seconds: idleSeconds, holder: this.#holder };
    const opened = await this.#connection.again("POST", "/sessions", body, key ?? newKey(), signal);
    return new Session(this.#connection, String(opened.session_id), String(opened.name));
  }

  /** Opens a session, does the work in it, and ends it: as a success, or as failed by what the work throws. */
  async run<T>(options: OpenOptions, work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.open(options);
    let done: T;
    try {
      done = await work(session);
    } catch (error) {
      let end: End = { status: options.signal?.aborted ? "canceled" : "failed", summary: "The agent failed." };
      if (error instanceof EarshotError) end = { status: "failed", summary: error.message, code: error.code };
      await session.end(end).catch(() => undefined); // the error says more
      throw error;
    }
    await session.end();
    return done;
  }
}

/** One session of the agent. Calls may run side by side. */
export class Session {
  readonly #connection: Connection;
  readonly #path: string;
  #ended = false;

  /** @internal */
  constructor(connection: Connection, readonly id: string, /** What people call it. */ readonly name: string) {
    this.#connection = connection;
    this.#path = `/sessions/${id}`;
  }

  /** Lists the tools that the agent may ask for. */
  tools(signal?: AbortSignal): Promise<Tool[]> {
    return this.#connection.tools(signal);
  }

  /**
   * Calls a tool and returns its result. It returns if and only if the call succeeded.
   *
   * Where a person is asked it waits for the answer, however long that takes. A lost connection or a server that starts again
   * makes no second call: the request is repeated under its key. What has not started when you stop waiting does not start.
   *
   * Throws Declined, Denied, Expired (all of them NotDone), Stopped, OutcomeUnknown, Partial, Failed, Refused, Unreachable.
   */
  async call<T = any>(tool: string, args: Args = {}, options: CallOptions = {}): Promise<T> {
    const ended = await this.#result("/calls", { tool, args, says: options.says, lang: options.says ? options.lang : undefined }, options);
    if (ended.status !== "success") throw ofCall(ended);
    return ended.result as T;
  }

  /** Runs what a language model asked for, by the tool's model name, and returns JSON text to give back to it: the result, or what
   * kept the call from one. Throws Stopped, Refused and Unreachable, so that the model's loop ends. */
  async callForModel(tools: Tool[], modelName: string, args: string | Args, options: CallOptions = {}): Promise<string> {
    const failure = (code: string, message: string, result?: Json) => JSON.stringify({ error: { code, message }, result });
    const tool = tools.find((one) => one.modelName === modelName);
    if (!tool) return failure("unknown_tool", `There is no tool ${modelName}. There are: ${tools.map((one) => one.modelName).join(", ")}.`);
    let parsed: unknown = args;
    try {
      if (typeof args === "string") parsed = JSON.parse(args || "{}");
    } catch (error) {
      return failure("bad_request", `The arguments are not JSON: ${String(error)}.`);
    }
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return failure("bad_request", "The arguments are not an object.");
    try {
      return JSON.stringify((await this.call<Json>(tool.name, parsed as Args, options)) ?? null);
    } catch (error) {
      if (!(error instanceof EarshotError) || error instanceof Stopped || error instanceof Refused || error instanceof Unreachable) throw error;
      return failure(error.code, error.message, error.result);
    }
  }

  /** Asks the person for something that the agent does not know. It is not consent: no answer allows the use of a tool. Throws what
   * call throws. */
  async ask(question: string, options: AskOptions = {}): Promise<Answer> {
    const { key, signal, choices, ...rest } = options;
    const listed = choices && Object.entries(choices).map(([value, label]) => ({ value, label }));
    const ended = await this.#result("/questions", { question, choices: listed, ...rest }, options);
    if (ended.status !== "success") throw ofCall(ended);
    const said = ended.result as { answer: string | boolean | number; by?: string; default?: boolean };
    return { value: said.answer, by: said.by ?? "", default: said.default ?? false };
  }

  /** Asks whether the agent may do something by itself, once, with exactly this input, all of which is shown. It is advisory:
   * Earshot starts nothing, and cannot hold the agent to the answer. Throws Stopped, Failed, Refused, Unreachable. */
  async permission(tool: string, input: Args, options: CallOptions = {}): Promise<Permission> {
    const ended = await this.#result("/permissions", { tool, input, says: options.says, lang: options.says ? options.lang : undefined }, options);
    const yes = ended.status === "success", ownRules = ended.status === "partial";
    if (!yes && !ownRules && !(ofCall(ended) instanceof NotDone)) throw ofCall(ended);
    return { yes, ownRules, code: ended.code ?? "", message: ended.message ?? "" };
  }

  /** Tells the person a piece of the agent's answer, at most 16 KiB. Pieces are told one after the other. The language is a BCP 47
   * tag such as "es": voices and the direction of the text follow it. */
  say(text: string, options: { lang?: string } = {}): Promise<void> { return this.#report({ text, ...options }); }
  /** Tells the person in a few words what the agent is at. */
  doing(words: string, options: { lang?: string } = {}): Promise<void> { return this.#report({ doing: words, ...options }); }
  /** Tells the person what the agent did by itself. It is told as the agent's word. */
  observed(words: string, options: { lang?: string } = {}): Promise<void> { return this.#report({ observed: words, ...options }); }
  /** Tells the person how much of the whole work is done, in percent. It never falls. */
  progress(percent: number): Promise<void> { return this.#report({ progress: percent }); }

  /** Ends the session. Open questions are withdrawn. Once it has ended, it does nothing. */
  async end(end: End | string = {}): Promise<void> {
    const { fields, ...rest } = typeof end === "string" ? { summary: end, fields: undefined } : { fields: undefined, ...end };
    await this.#end({ ...rest, fields: fields && Object.entries(fields).map(([name, value]) => ({ name, value })) });
  }

  /** Ends the session and asks that somebody else takes over. */
  handOff(handoff: Handoff): Promise<void> { return this.#end({ handoff }); }

  async #end(body: object): Promise<void> {
    if (this.#ended) return;
    await this.#connection.again("POST", `${this.#path}/end`, body, "");
    this.#ended = true;
  }

  async #report(body: { text?: string; lang?: string; doing?: string; observed?: string; progress?: number }): Promise<void> {
    if (!Object.values(body)[0]) return; // there is nothing to tell
    await this.#connection.again("POST", `${this.#path}/reports`, body, newKey());
  }

  #result(path: string, body: object, options: CallOptions): Promise<Ended> {
    return this.#connection.result(this.#path, path, body, options.key ?? newKey(), options.signal);
  }
}

const defined = ({ modelName: name, description, parameters }: Tool) => ({ name, description, parameters });

/** Tools in the forms that the APIs of language models take. */
export const forModels = {
  /** OpenAI's Chat Completions, and the servers that follow it. */
  openai: (tools: Tool[]) => tools.map((tool) => ({ type: "function" as const, function: defined(tool) })),
  /** OpenAI's Responses. */
  openaiResponses: (tools: Tool[]) => tools.map((tool) => ({ type: "function" as const, strict: false, ...defined(tool) })),
  /** Anthropic's Messages. */
  anthropic: (tools: Tool[]) =>
    tools.map(({ modelName: name, description, parameters: input_schema }) => ({ name, description, input_schema })),
};

interface Ended { call_id: string; tool: string; state: string; status?: string; code?: string; message?: string; result?: Json }
type Reply = Record<string, unknown>;

const waitSeconds = 60; // for which one request waits for a result, the most that the server allows
const answerTime = 30_000; // in which an answer comes when nothing is waited for

/** Requests: one at a time, or again and again under the same key until one is answered. */
class Connection {
  readonly #url: string;

  constructor(url: string, readonly token: string, readonly patience: number) {
    const parsed = /^https?:\/\/[^/]+/.test(url) ? new URL(url) : undefined;
    if (!parsed) throw new TypeError(`"${url}" is not the address of a server; expected http://127.0.0.1:7411 or https://NAME`);
    if (!token) throw new TypeError("there is no token; `earshot token add NAME --role agent` makes one");
    if (parsed.protocol === "http:" && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(parsed.hostname))
      throw new TypeError(`"${url}" is another machine, and the token would travel unencrypted; use https`);
    this.#url = url.replace(/\/+$/, "") + "/api/v1/agent";
  }

  async tools(signal?: AbortSignal): Promise<Tool[]> {
    const { tools } = (await this.again("GET", "/tools", undefined, "", signal)) as { tools: Reply[] };
    return tools.map(({ model_name, class: effect, description, ...rest }) =>
      ({ ...rest, modelName: model_name, effect, description: description ?? "" }) as Tool);
  }

  async once(method: string, path: string, body: unknown, key: string, wait: number, signal?: AbortSignal): Promise<Reply> {
    const own = new AbortController();
    const timer = setTimeout(() => own.abort(), answerTime + 1000 * wait);
    const leave = () => own.abort();
    signal?.addEventListener("abort", leave);
    try {
      signal?.throwIfAborted();
      const headers: Record<string, string> = { Authorization: `Bearer ${this.token}` };
      if (body !== undefined) headers["Content-Type"] = "application/json";
      if (key) headers["Idempotency-Key"] = key;
      const request: RequestInit = { method, headers, redirect: "error", signal: own.signal };
      if (body !== undefined) request.body = JSON.stringify(body);
      const answer = await fetch(this.#url + path + (wait ? `?wait=${wait}` : ""), request);
      const text = await answer.text();
      if (!answer.ok) throw ofAnswer(answer.status, text);
      return JSON.parse(text) as Reply;
    } catch (error) {
      if (error instanceof EarshotError) throw error;
      signal?.throwIfAborted();
      const hint = "see that `earshot up` runs there; what was asked for may or may not have been done";
      throw Object.assign(new Unreachable(`The server at ${this.#url} cannot be reached.`, "unreachable", hint, true), { cause: error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", leave);
    }
  }

  /** Makes a request, again with the same key where no answer comes, for half a minute at most. */
  async again(method: string, path: string, body: unknown, key: string, signal?: AbortSignal): Promise<Reply> {
    for (const attempts = new Attempts(Math.min(this.patience, answerTime), signal); ; )
      try {
        return await this.once(method, path, body, key, 0, signal);
      } catch (error) {
        await attempts.after(error);
      }
  }

  /** Asks for a call and waits until it has ended. The server may start what cannot be undone only while this runs. */
  async result(session: string, path: string, body: object, key: string, signal?: AbortSignal): Promise<Ended> {
    for (let attempts = new Attempts(this.patience, signal), call = ""; ; )
      try {
        const stands = (await (call
          ? this.once("GET", `${session}/calls/${call}`, undefined, "", waitSeconds, signal)
          : this.once("POST", session + path, body, key, waitSeconds, signal))) as unknown as Ended;
        if (stands.state === "ended") return stands;
        call = stands.call_id;
        attempts = new Attempts(this.patience, signal);
      } catch (error) {
        if (error instanceof EarshotError) error.callId ||= call;
        await attempts.after(error);
      }
  }
}

/** Attempts at one thing: after each failure a pause, and in the end the error. */
class Attempts {
  #pause = 200;
  #since = 0;

  constructor(readonly patience: number, readonly signal: AbortSignal | undefined) {}

  async after(error: unknown): Promise<void> {
    this.#since ||= Date.now();
    if (!(error instanceof EarshotError) || !error.retry || Date.now() - this.#since > this.patience) throw error;
    await new Promise<void>((resolve) => {
      const done = () => { clearTimeout(timer); this.signal?.removeEventListener("abort", done); resolve(); };
      const timer = setTimeout(done, this.#pause);
      this.signal?.addEventListener("abort", done);
    });
    this.signal?.throwIfAborted();
    this.#pause = Math.min(2 * this.#pause, 5_000);
  }
}

const byCode: Record<string, typeof EarshotError> = {
  consent_declined: Declined, denied_by_policy: Denied, consent_expired: Expired, consent_withdrawn: NotDone, consent_stale: NotDone,
  consent_retry_exhausted: NotDone, stopped: Stopped, outcome_unknown: OutcomeUnknown, tool_timeout: OutcomeUnknown,
};

function ofCall(call: Ended): EarshotError {
  const code = call.code ?? "", kind = call.status === "partial" ? Partial : (byCode[code] ?? Failed);
  const message = call.message || `The call of ${call.tool} ended as ${call.status} (${code || "no code"}).`;
  return Object.assign(new kind(message, code), { callId: call.call_id, result: call.result });
}

function ofAnswer(status: number, text: string): EarshotError {
  let said: { code?: string; message?: string; hint?: string; safe_to_retry?: boolean } = {};
  try {
    said = (JSON.parse(text) as { error?: typeof said }).error ?? {};
  } catch { /* it is not one of Earshot's */ }
  if (!said.code) return new Refused(`Got the HTTP status ${status} without an error of Earshot.`, "strange", "check the address", status >= 500);
  if (said.code === "stopped") return new Stopped(said.message ?? said.code, said.code, said.hint);
  // With an idempotency key, which every request with an effect has, one whose outcome is open may be sent again.
  const retry = (said.safe_to_retry === true && status !== 429) || [502, 503, 504].includes(status);
  return new Refused(said.message ?? said.code, said.code, said.hint, retry);
}

function environment(name: string): string {
  return (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[name] ?? "";
}

function newKey(): string {
  const random = globalThis.crypto ? Array.from(crypto.getRandomValues(new Uint32Array(4))) : [0, 0, 0, 0].map(() => Math.random() * 2 ** 32);
  return random.map((n) => Math.floor(n).toString(16).padStart(8, "0")).join("");
}
