// The page's stream. It is opened again when it breaks, behind the last event, and when nothing
// has come for too long: the server sends a heartbeat every ten seconds.

import { firstTime, heardNow, recall, remember } from "./memory.js";
import { alertTo, showWaiting } from "./alerts.js";
import { forget, say } from "./live.js";
import { heardUndo, placeBegun } from "./notice.js";
import { newSessions, newSteps } from "./pause.js";
import { placeQuestions, placeSession } from "./place.js";
import { tr } from "./phrases.js";
import { carry } from "./wire.js";

const root = document.documentElement;
const connection = document.getElementById("connection");

const connected = tr("Connected.");
const noNews = tr("No news for 30 seconds. Earshot may have stopped.");

const silence = 30000; // ms without anything after which something has stopped
const patience = 4000; // ms after which a lost connection is said: a short one would only disturb
const soon = 1000; // ms until a connection that has broken is tried again
const slowest = 30000;

showWaiting(Number(root.dataset.open));

let source = null;
let quiet = 0; // the timer of the silence
let lost = false;
let lostSaid = false;
let choosing = false;
let wait = soon;

function query() {
  const query = new URLSearchParams();
  const after = recall("after");
  query.set("after", after || root.dataset.after || "");
  query.set("lang", root.lang); // of this page, whatever has been chosen elsewhere meanwhile
  if (!after) query.set("fresh", "true");
  if (root.dataset.session) {
    query.set("session", root.dataset.session);
    query.set("from", root.dataset.from || "0");
  }
  if (root.dataset.lists) query.set("lists", root.dataset.lists);
  delete root.dataset.lists; // from now on they are as the stream has sent them
  return query;
}

function state(text) {
  connection.textContent = text;
  connection.hidden = false;
}

// isLost answers whether nothing is heard at the moment.
export function isLost() {
  return lost;
}

// listen opens the stream. Returning says that the page has lost it, or was loaded: open questions
// are then told again, for anyone who comes again may not know of them.
export function listen(returning = true) {
  source?.close();
  const spoken = new Set(); // what this stream has said
  const takes = {
    "earshot.announce": (a) => {
      if (a.kind === "tool" && a.question) placeBegun(a.question);
      if (a.priority === "none" || !firstTime(a.id)) return;
      tell(a, a.priority, spoken);
      alertTo(a);
    },
    "earshot.open": ({ questions }) => {
      for (const a of questions) {
        if (!returning || spoken.has(a.id)) continue;
        const fresh = firstTime(a.id);
        tell(a, fresh ? a.priority : "polite", spoken);
        if (fresh) alertTo(a);
      }
    },
    "earshot.questions": placeQuestions,
    "earshot.sessions": async (sessions) => {
      newSessions(sessions);
      if (root.dataset.session || !sessions.chosen || choosing) return;
      choosing = true;
      const placed = await placeSession(sessions.chosen).catch(() => false); // the next list tries again
      choosing = false;
      if (placed && mine === source) listen(false); // the stream has to know what is shown
    },
    "earshot.steps": newSteps,
    "earshot.at": () => {},
    "earshot.heartbeat": () => {},
  };
  const mine = carry(query(), Object.keys(takes), {
    opened() {
      wait = soon;
      // A page that came with a summary must not be summed up again after a reload.
      if (!recall("after") && root.dataset.after) remember("after", root.dataset.after);
    },
    take(name, data, id) {
      heard();
      takes[name](data);
      if (id) remember("after", id);
    },
    broken(refused) {
      if (mine === source) void lose(refused);
    },
  });
  source = mine;
  expectNews();
}

// heard notes that something has come.
function heard() {
  expectNews();
  heardNow();
  // Only now: a connection that opens and breaks again is none.
  if (connection.textContent !== connected) state(connected);
  if (!lost) return;
  lost = lostSaid = false;
  say(tr("Connected again."));
}

async function tell(a, priority, spoken) {
  spoken.add(a.id);
  if (a.kind === "resolution") {
    forget(a.question);
    const heard = heardUndo(a.question, a.text);
    if (heard && await heard) return;
  }
  const asks = a.kind === "question" || a.kind === "warning" ? a.question : 0;
  say(a.text, priority, { language: a.language, direction: a.direction, asks });
}

// A browser can keep the connections of a page that was left for a minute, and it opens only so many to a server.
addEventListener("pagehide", () => {
  clearTimeout(quiet);
  source?.close();
});
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) listen();
});

// expectNews begins to wait for whatever comes next.
function expectNews() {
  clearTimeout(quiet);
  quiet = setTimeout(silent, silence);
}

// silent notices that nothing comes: the server stands still, or the way to it is cut. What was
// sent meanwhile is heard by the next connection.
function silent() {
  source.close();
  if (!lost) {
    lost = lostSaid = true;
    state(noNews);
    say(noNews, "assertive");
  }
  listen();
}

// lose tries again after the stream has ended. A server that cannot be reached is tried every second; one that refuses is
// asked more and more seldom.
async function lose(refused) {
  source = null;
  clearTimeout(quiet);
  if (!lost) {
    lost = true;
    state(tr("The connection is lost. Trying again."));
  }
  setTimeout(sayLost, patience);
  if (refused && await loggedOut()) {
    const link = document.createElement("a");
    link.href = "/login";
    link.textContent = tr("Log in again");
    connection.replaceChildren(tr("You are logged out.") + " ", link);
    connection.hidden = false;
    lostSaid = true;
    say(tr("You are logged out. There is a link to log in again at the top of the page."), "assertive");
    return;
  }
  if (refused) {
    setTimeout(listen, wait);
    wait = Math.min(wait * 2, slowest);
  } else {
    setTimeout(again, soon);
  }
}

// again listens once the server answers. A browser lets a page wait longer and longer for a WebSocket to a server that was away, but not for
// a request.
async function again() {
  if (source) return;
  if (await answers()) listen();
  else setTimeout(again, soon);
}

async function answers() {
  try {
    await fetch("/readyz", { cache: "no-store", signal: AbortSignal.timeout(5 * soon) });
    return true;
  } catch {
    return false;
  }
}

// sayLost says it once, to anyone who cannot see it: silence must not be taken for "no question".
function sayLost() {
  if (!lost || lostSaid) return;
  lostSaid = true;
  say(tr("The connection is lost. Questions may be waiting. The page tries again by itself."), "assertive");
}

async function loggedOut() {
  try {
    const answer = await fetch("/api/v1/me", { headers: { Accept: "application/json" } });
    return answer.status === 401;
  } catch {
    return false;
  }
}
