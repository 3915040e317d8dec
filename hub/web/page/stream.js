// The page's stream. The browser comes back by itself when the connection breaks, with
// the id of the last event; where it has given up, this does.

import { recall, remember, firstTime } from "./memory.js";
import { say } from "./live.js";
import { placeBegun, placeQuestions, placeSession, placeSessions, placeSteps } from "./place.js";

const root = document.documentElement;
const connection = document.getElementById("connection");
const slowest = 30000;

const connected = "Connected: what is new is told here.";

const patience = 4000; // ms after which a lost connection is said: a short one would only disturb

let lost = false;
let lostSaid = false;
let choosing = false;
let wait = 1000;

function address() {
  const query = new URLSearchParams();
  const after = recall("after");
  query.set("after", after || root.dataset.after || "");
  if (!after) query.set("fresh", "true");
  if (root.dataset.session) {
    query.set("session", root.dataset.session);
    query.set("from", root.dataset.from || "0");
  }
  return "/page/events?" + query;
}

function state(text) {
  connection.textContent = text;
  connection.hidden = false;
}

export function listen() {
  const source = new EventSource(address());
  const on = (name, take) => source.addEventListener(name, (event) => {
    // Only now: a connection that opens and breaks again is none.
    if (connection.textContent !== connected) state(connected);
    if (lost) {
      lost = lostSaid = false;
      say("Connected again.");
    }
    take(JSON.parse(event.data));
    if (event.lastEventId) remember("after", event.lastEventId);
  });
  on("earshot.announce", (a) => {
    if (a.kind === "tool" && a.question) placeBegun(a.question);
    if (a.priority !== "none" && firstTime(a.id)) say(a.text, a.priority, a.language, a.direction);
  });
  on("earshot.questions", placeQuestions);
  on("earshot.sessions", async (sessions) => {
    placeSessions(sessions);
    if (root.dataset.session || !sessions.chosen || choosing) return;
    choosing = true;
    const placed = await placeSession(sessions.chosen).catch(() => false); // the next list tries again
    choosing = false;
    if (placed && source.readyState !== EventSource.CLOSED) {
      source.close();
      listen(); // the stream has to know what is shown
    }
  });
  on("earshot.steps", placeSteps);
  on("earshot.at", () => {});
  source.addEventListener("open", () => {
    wait = 1000;
    // A page that came with a summary must not be summed up again after a reload.
    if (!recall("after") && root.dataset.after) remember("after", root.dataset.after);
  });
  source.addEventListener("error", async () => {
    lost = true;
    state("The connection is lost. Trying again.");
    setTimeout(sayLost, patience);
    if (source.readyState !== EventSource.CLOSED) return; // the browser comes back by itself
    source.close();
    if (await loggedOut()) {
      connection.hidden = false;
      const link = document.createElement("a");
      link.href = "/login";
      link.textContent = "Log in again";
      connection.replaceChildren("You are logged out. ", link);
      say("You are logged out. There is a link to log in again at the top of the page.", "assertive");
      return;
    }
    setTimeout(listen, wait);
    wait = Math.min(wait * 2, slowest);
  });
}

// sayLost says it once, to whoever cannot see it: silence must not be taken for "no question".
function sayLost() {
  if (!lost || lostSaid) return;
  lostSaid = true;
  say("The connection is lost. Questions may be waiting. The page tries again by itself.", "assertive");
}

async function loggedOut() {
  try {
    const answer = await fetch("/api/v1/me", { headers: { Accept: "application/json" } });
    return answer.status === 401;
  } catch {
    return false;
  }
}
