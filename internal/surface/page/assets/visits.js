// What came since the last visit to a session. The newest line that was seen is kept in this browser, for as many sessions.

import { tr } from "./phrases.js";

const name = "earshot.visits";
const most = 200;

function visits() {
  try {
    return new Map(JSON.parse(localStorage.getItem(name) ?? "[]"));
  } catch {
    return new Map(); // it is forbidden, or holds something else
  }
}

function keep(all) {
  try {
    localStorage.setItem(name, JSON.stringify([...all].slice(-most)));
  } catch {
    // it is forbidden: nothing is said the next time
  }
}

// visit says what is new, and notes that it was seen. A page that does not show the newest lines is no such visit.
export function visit() {
  const { session, last, newest } = document.documentElement.dataset;
  if (newest === undefined) return;
  const all = visits();
  const seen = all.get(session);
  if (seen < Number(last)) tell(seen);
  all.delete(session); // it comes last now
  all.set(session, Number(last));
  keep(all);
}

function tell(seen) {
  const lines = [...document.querySelectorAll("#steps > li")];
  const fresh = lines.filter((line) => Number(line.dataset.seq) > seen);
  if (fresh.length === 0) return;
  const more = fresh.length === lines.length && document.getElementById("earlier") !== null;
  const link = document.createElement("a");
  link.href = more ? `?at=${seen}#step-${seen}` : `#${fresh[0].id}`;
  link.textContent = tr("Go to the first of them");
  const n = fresh.length;
  const notice = document.getElementById("missed");
  const told = n === 1 ? tr("1 line is new since your last visit.") : tr("{n} lines are new since your last visit.", { n });
  notice.append((more ? tr("More than {n} lines are new since your last visit.", { n }) : told) + " ", link);
  notice.hidden = false;
  if (more) return;
  const mark = document.createElement("p");
  mark.className = "eyebrow";
  mark.textContent = tr("New since your last visit");
  fresh[0].prepend(mark);
}
