// Sends the forms without leaving the page. Without this script they work as they are.

import { say } from "./live.js";
import { tooSoon, placeNotice } from "./place.js";

const busy = new WeakSet();

// A press that was meant for something else must not decide: it is ignored, and said.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button || !tooSoon(button, event.detail > 0)) return;
  event.preventDefault();
  event.stopPropagation();
  say("Not taken: the question had only just appeared or changed. Press again to answer.");
}, true);

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const path = new URL(form.action, location.href).pathname;
  if (!path.startsWith("/questions/") && !path.startsWith("/sessions/")) return;
  event.preventDefault();
  if (tooSoon(form) || busy.has(form)) return;
  busy.add(form);
  try {
    const fields = new URLSearchParams(new FormData(form, event.submitter));
    const answer = await fetch(form.action, { method: "POST", body: fields, headers: { Accept: "application/json" } });
    if (answer.status === 401) {
      location.assign("/login");
      return;
    }
    const told = await answer.json();
    if (answer.ok) done(told);
    else failed(`${told.error.message}. ${told.error.hint ?? ""}`);
  } catch {
    failed("The server could not be reached, so it is not known whether this arrived. Try again when the connection is back.");
  } finally {
    busy.delete(form);
  }
});

// done shows what became of it. The person acted, so the focus may go to the result:
// the button that was pressed is about to vanish.
function done(told) {
  placeNotice(told).focus();
  if (told.refused) say(told.text, "assertive");
}

function failed(text) {
  placeNotice({ text });
  say(text, "assertive");
}
