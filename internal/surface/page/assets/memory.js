// What this tab and this browser have heard outlives a reload. Without storage (it may be forbidden) the tab forgets with a reload,
// and hears a summary again.

const prefix = "earshot.";
const mostSaid = 500;
const kept = new Map();

export function recall(name) {
  try {
    return sessionStorage.getItem(prefix + name) ?? "";
  } catch {
    return kept.get(name) ?? "";
  }
}

export function remember(name, value) {
  try {
    sessionStorage.setItem(prefix + name, value);
  } catch {
    kept.set(name, value);
  }
}

const said = new Set(recall("said").split("\n").filter(Boolean));

// firstTime answers whether an announcement has not been said in this tab.
export function firstTime(id) {
  if (said.has(id)) return false;
  said.add(id);
  while (said.size > mostSaid) said.delete(said.values().next().value);
  remember("said", [...said].join("\n"));
  return true;
}

// When this browser last heard from the server: for the page that is shown when the server cannot be reached.
const heard = prefix + "heard";
const often = 1000; // ms within which it is not written again: thousands of events can come at once, and it is told by the minute
let noted = -often;

export function lastHeard() {
  try {
    const at = Number(localStorage.getItem(heard));
    return at ? new Date(at) : null;
  } catch {
    return null;
  }
}

export function heardNow() {
  const now = performance.now();
  if (now - noted < often) return;
  noted = now;
  try {
    localStorage.setItem(heard, String(Date.now()));
  } catch { /* the page that needs it says that it is not known */ }
}
