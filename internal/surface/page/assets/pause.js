// What changes by itself can be held still while somebody reads it (WCAG 2.2.2). Questions never are: an answer has to be to
// what is so now. Nor is what can be taken back; and what is said aloud is said.

import { say } from "./live.js";
import { placeSessions, placeSteps } from "./place.js";
import { tr } from "./phrases.js";

const most = 500; // changes that are kept; with more, the page is loaded again at the end

const button = document.getElementById("pause");
let held = null; // the steps that have come meanwhile; null while nothing is held
let lists = null; // the newest lists of sessions

export function newSteps(news) {
  if (held === null) {
    placeSteps(news);
    return;
  }
  if (held.length <= most) held.push(news);
  const progress = document.getElementById("session-progress")?.textContent;
  placeSteps({ ...news, html: "", outputs: [], progress, last: 0 });
}

export function newSessions(news) {
  if (held === null) placeSessions(news);
  else lists = news;
}

button.parentElement.hidden = false;
button.addEventListener("click", () => {
  if (held === null) {
    held = [];
    button.setAttribute("aria-pressed", "true");
    say(tr("Held still. Questions still come."), "polite");
    return;
  }
  const [steps, newest] = [held, lists];
  held = lists = null;
  button.setAttribute("aria-pressed", "false");
  if (steps.length > most) {
    location.reload();
    return;
  }
  for (const news of steps) placeSteps(news);
  if (newest) placeSessions(newest);
  say(tr("Up to date again."), "polite");
});
