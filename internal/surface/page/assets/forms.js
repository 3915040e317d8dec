// Sends the forms without leaving the page. Without this script they work as they are.

import { say } from "./live.js";
import { isLost } from "./stream.js";
import { placeNotice, placeReason, tellsUndo, withdraw } from "./notice.js";
import { changedNow, tooSoon } from "./place.js";
import { tr } from "./phrases.js";

const slowest = 30000; // ms in which the server answers, or never will

const busy = new WeakSet();
let reasons = 0;

// byPointer is how the last press was made. A listener for clicks would know it, and have a screen reader call every heading
// of the page clickable.
let byPointer = false;
window.addEventListener("pointerup", () => { byPointer = true; }, true);
window.addEventListener("keydown", () => { byPointer = false; }, true);

// A press that was meant for something else must not decide: it is ignored, and said.
window.addEventListener("submit", (event) => {
  const form = event.target;
  if (!tooSoon(form, byPointer)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const text = form.closest("[data-question]") ? tr("Not taken: the question had only just appeared or changed. Press again to answer.")
    : form.closest("#notice") ? tr("Not taken: Undo had only just appeared or changed. Press again to take the yes back.")
      : tr("Not taken: the list had only just changed. Press again.");
  beside(form, event.submitter, text);
  say(text);
}, true);

// Enter begins a line in a request. With Control or Command it starts what stands there.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat || event.target.id !== "start-request") return;
  event.preventDefault();
  event.target.form.requestSubmit();
});
document.getElementById("start-request-help")?.removeAttribute("hidden");

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const path = new URL(form.action, location.href).pathname;
  if (path !== "/turns" && !path.startsWith("/questions/") && !path.startsWith("/sessions/")) return;
  event.preventDefault();
  if (busy.has(form)) return;
  busy.add(form);
  clear(form);
  const at = mark(form);
  const undoes = /^\/questions\/(\d+)\/undo$/.exec(path);
  let noted = () => {};
  if (undoes) tellsUndo(Number(undoes[1]), new Promise((resolve) => { noted = resolve; }));
  try {
    const answer = await send(form, new URLSearchParams(new FormData(form, event.submitter)));
    if (answer.status === 401) {
      location.assign("/login");
      return;
    }
    const told = await answer.json();
    if (!answer.ok) failed(form, event.submitter, [told.error.message, told.error.hint].filter(Boolean).map(sentence).join(" "));
    else if (told.refused) failed(form, event.submitter, told.text, told);
    else if (told.session) location.assign(`/?session=${encodeURIComponent(told.session)}#session-heading`);
    else {
      done(told, form, at);
      noted(told.text);
    }
  } catch {
    failed(form, event.submitter, tr("The server did not answer, so it is not known whether this arrived. Try again when the connection is back."));
  } finally {
    noted(""); // counts only if nothing came of it
    busy.delete(form);
    if (at?.nodeType === Node.COMMENT_NODE) at.remove();
  }
});

// mark marks where a question stands: its answer is noted there when it has gone. Undefined for what is no question; null
// where the answer stands already: in the bar.
function mark(form) {
  if (form.closest("#notice")) return null;
  const item = form.closest("li[data-item]:has([data-question])");
  if (!item) return undefined;
  const at = document.createComment("");
  item.after(at);
  return at;
}

async function send(form, body) {
  const unanswered = new AbortController();
  const timer = setTimeout(() => unanswered.abort(), slowest);
  try {
    return await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" }, signal: unanswered.signal });
  } finally {
    clearTimeout(timer);
  }
}

function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

// done shows what became of it. The person acted, so the focus may go to the result where the
// button that was pressed is about to vanish. Where it stays, so does the focus; the stream tells
// what has changed.
function done(told, form, at) {
  if (at === null) withdraw(form);
  const target = placeNotice(told, at);
  changedNow(document.getElementById("notice")); // a second press of the button that stood here takes nothing back
  if (!told.open) target.focus();
  if (isLost() && (told.open || told.undo)) say(told.text);
}

// failed tells why nothing came of a press: aloud, beside the field that it is about or else the button, and where the
// outcome of every act stands, because the question may go. The focus stays where it is.
function failed(form, submitter, text, { wrong = false, field = "" } = {}) {
  placeReason(text);
  if (form.isConnected) {
    const about = field ? form.elements[field] : wrong ? form.querySelector("input:not([type=hidden])") : null;
    beside(form, about ?? submitter ?? form.querySelector("button"), text, field && about);
    about?.setAttribute("aria-invalid", "true");
  }
  say(text, "assertive");
}

// beside puts a reason next to a control, and names it as what describes that, before what describes it anyway.
function beside(form, control, text, isField) {
  clear(form);
  const reason = document.createElement("p");
  reason.id = `reason-${++reasons}`;
  reason.className = "reason";
  reason.dir = "auto";
  reason.textContent = text;
  if (isField) (control.closest(".fields") ?? control).after(reason);
  else form.append(reason);
  control?.setAttribute("aria-describedby", [reason.id, ...described(control)].join(" "));
}

const described = (control) => (control.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => document.getElementById(id));

// clear takes the last reason away.
function clear(form) {
  for (const reason of form.querySelectorAll(".reason")) reason.remove();
  for (const control of form.querySelectorAll("[aria-describedby]")) {
    const left = described(control);
    if (left.length > 0) control.setAttribute("aria-describedby", left.join(" "));
    else control.removeAttribute("aria-describedby");
  }
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
}
