// The person of the tests: answers and stops by the HTTP API, with an approver's token. The stage (clients/stage_test.go) says
// where everything is.
import { readFileSync } from "node:fs";
import type { Session } from "../src/index.js";

const place = (name: string): string => process.env[name] ?? "";

/** The lines that box.add has added. */
export const lines = (): string[] => readFileSync(place("STAGE_LINES"), "utf8").split("\n").slice(0, -1);

/** Kills the server (SIGKILL) and starts it again, at the same address. */
export async function restart(): Promise<void> {
  const answer = await fetch(`${place("STAGE_URL")}/restart`, { method: "POST" });
  if (!answer.ok) throw new Error(await answer.text());
}

export async function api(method: string, path: string, body?: object): Promise<string> {
  const headers = { Authorization: `Bearer ${place("STAGE_APPROVER")}`, "Content-Type": "application/json" };
  const answer = await fetch(`${place("EARSHOT_URL")}/api/v1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text;
}

interface Question { number: number; session_id: string; reply_token: string }

/** Waits for the open question of a session. */
const asked = (session: Session): Promise<Question> =>
  until(async () => (JSON.parse(await api("GET", "/questions")) as { questions: Question[] }).questions.find((q) => q.session_id === session.id));

/** Waits for the open question of a session and returns its number. */
export const question = async (session: Session): Promise<number> => (await asked(session)).number;

/** Answers the question as it stands now: its reply token changes when it is asked again. */
export async function reply(session: Session, answer: object): Promise<number> {
  const { number, reply_token } = await asked(session);
  await api("GET", `/questions/${number}/arguments`); // nobody accepts what they have not seen
  await api("POST", `/questions/${number}/reply`, { reply_token, ...answer });
  return number;
}

export const accept = (session: Session): Promise<number> => reply(session, { decision: "accept" });
export const reject = (session: Session): Promise<number> => reply(session, { decision: "reject" });
export const stop = (session: Session): Promise<string> => api("POST", `/sessions/${session.id}/stop`, {});
export const record = (session: Session): Promise<string> => api("GET", `/sessions/${session.id}/events`);

/** How a session ended. */
export const ended = (session: Session): Promise<string> =>
  until(async () => (JSON.parse(await api("GET", `/sessions/${session.id}`)) as { end?: { status: string } }).end?.status);

/** Looks again and again until there is something. The server has its own clock. */
export async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let i = 0; i < 1200; i++) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("waited in vain");
}
