// Places what the server sends. The focus stays where it is: what has not changed keeps
// its elements, and only when the element under the focus has gone is it put on the
// nearest heading, because it would otherwise be nowhere.

import { showWaiting } from "./alerts.js";
import { offerCopies, tellCopiesBy } from "./copy.js";
import { forget, say } from "./live.js";
import { placeBegun, placeUndo } from "./notice.js";
import { tr } from "./phrases.js";

const guard = 700; // ms in which a press cannot be meant for what has just come or changed
const since = new WeakMap();
let moved = -guard; // when the questions last came to stand elsewhere

tellCopiesBy(say);

export function changedNow(element) {
  since.set(element, performance.now());
}

// movedNow notes that the questions have moved: a pointer's press that was meant for one may
// meet another. A key meets what has the focus, wherever that stands.
export function movedNow() {
  moved = performance.now();
}

// tooSoon answers whether a press on something inside a question, or on what takes its answer back, comes before a person
// can have read it, or could have moved the pointer after it. Lists of sessions only move.
export function tooSoon(element, byPointer) {
  const question = element.closest("[data-question], #notice");
  if (question === null && element.closest("#sessions-lists") === null) return false;
  const changed = since.get(question) ?? -guard;
  return performance.now() - Math.max(changed, byPointer ? moved : -guard) < guard;
}

function parse(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content;
}

export function placeQuestions({ html, title, open }) {
  const here = document.getElementById("questions");
  const next = parse(html);
  const heading = here.querySelector("h2");
  const list = here.querySelector("ol");
  const had = document.activeElement;
  const inList = list.contains(had);
  heading.textContent = next.querySelector("h2").textContent;

  const wanted = new Map();
  for (const item of next.querySelectorAll("li[data-item]")) wanted.set(item.dataset.item, item);
  for (const item of list.querySelectorAll("li[data-item]")) {
    const fresh = wanted.get(item.dataset.item);
    if (!fresh) {
      item.remove();
      forget(Number(item.dataset.item));
      movedNow();
      continue;
    }
    wanted.delete(item.dataset.item);
    if (same(item, fresh)) continue;
    if (!renew(item, fresh)) replace(item, fresh);
    movedNow();
  }
  for (const item of wanted.values()) {
    list.append(item);
    watch(item);
    movedNow();
  }
  placeLink(here, next, "#together", (fresh) => heading.after(fresh));
  placeLink(here, next, "#more-questions", (fresh) => list.after(fresh));
  document.title = title;
  showWaiting(open);
  if (inList && !document.contains(had) && !list.contains(document.activeElement)) focusAfterLoss(heading);
}

// placeLink keeps the link to more, or to several questions at once.
function placeLink(here, next, id, add) {
  const [old, fresh] = [here.querySelector(id), next.querySelector(id)];
  if (!fresh) {
    old?.remove();
  } else if (!old) {
    add(fresh);
    movedNow();
  } else if (!old.isEqualNode(fresh)) {
    const [link, now] = [old.firstElementChild, fresh.firstElementChild];
    link.href = now.href;
    link.replaceChildren(...now.childNodes);
  }
}

const question = (item) => item.querySelector("[data-question]");

function same(item, fresh) {
  const { version, shown } = question(item).dataset;
  return version === question(fresh).dataset.version && shown === question(fresh).dataset.shown;
}

// renew gives a question that was asked again its new time and token, and leaves everything else
// as it is: what is typed, what is chosen, and the focus. It does nothing, and says so, where
// anything that is shown has changed.
function renew(item, fresh) {
  const [old, now] = [question(item), question(fresh)];
  const [fields, others] = [old, now].map((q) => [...q.querySelectorAll("input[type=hidden]")]);
  const [texts, news] = [old, now].map((q) => [...q.querySelectorAll("p:not(form p)")]);
  if (!now.dataset.shown || old.dataset.shown !== now.dataset.shown || fields.length !== others.length || texts.length !== news.length) return false;
  fields.forEach((field, i) => { field.value = others[i].value; });
  texts.forEach((text, i) => {
    if (!text.isEqualNode(news[i])) text.replaceChildren(...news[i].childNodes);
  });
  old.dataset.version = now.dataset.version;
  return true;
}

// replace puts a question of which something that is shown has changed in the place of the one
// before, and says so. Its details stay open, and what is typed stays; the focus leaves its
// controls for its heading, so that no press is meant for what was there before.
function replace(item, fresh) {
  const open = item.querySelector("details")?.open;
  const inside = item.contains(document.activeElement);
  const typed = new Map([...item.querySelectorAll("input[id]")].map((field) => [field.id, field.value]));
  item.replaceWith(fresh);
  if (open) fresh.querySelector("details")?.setAttribute("open", "");
  for (const field of fresh.querySelectorAll("input[id]")) field.value = typed.get(field.id) ?? "";
  watch(fresh);
  if (inside) fresh.querySelector("h3").focus();
  say(tr("Question {number} has changed. Read it again before you answer it.", { number: fresh.dataset.item }), "assertive");
}

function focusAfterLoss(heading) {
  if (document.getElementById("notice").hidden) heading.focus();
  else document.getElementById("notice-text").focus();
}

// watch begins the guard of a question.
export function watch(item) {
  changedNow(question(item));
}

export function placeSessions({ html, where, state, when, ended }) {
  const here = document.getElementById("sessions-lists");
  const had = document.activeElement;
  const control = here.contains(had) ? had : null;
  placeLists(here, parse(html));
  if (control !== null && !document.contains(control)) {
    const now = alike(here, control) ?? document.getElementById("sessions-heading");
    if (now.localName !== "summary") now.closest("details")?.setAttribute("open", "");
    now.focus();
  }
  document.getElementById("whereami-text").textContent = where;
  const stateText = document.getElementById("session-state");
  if (stateText && state) stateText.textContent = state;
  const whenText = document.getElementById("session-when");
  if (whenText && when) whenText.textContent = when;
  const stop = document.getElementById("session-stop");
  if (stop && ended) {
    const inside = stop.contains(document.activeElement);
    stop.remove();
    if (inside) document.getElementById("session-heading").focus();
  }
}

// placeLists changes only the lines that have changed, where the same ones are listed.
function placeLists(here, next) {
  const order = (root) => [...root.querySelectorAll("ul")].map((list) => [...list.children].map((item) => item.dataset.item).join()).join("; ");
  if (order(here) !== order(next)) {
    if (here.querySelector("details[open]")) next.querySelector("details")?.setAttribute("open", "");
    here.replaceChildren(next);
    movedNow();
    return;
  }
  const fresh = [...next.querySelectorAll("[data-item]")];
  [...here.querySelectorAll("[data-item]")].forEach((item, i) => {
    if (!item.isEqualNode(fresh[i])) item.replaceWith(fresh[i]);
  });
}

// alike finds the control that does what another one did. A link to older sessions leads elsewhere once there is a newer
// one, and is the same link.
function alike(here, control) {
  const target = (e) => e.id || e.getAttribute("href") || e.form?.getAttribute("action");
  return [...here.querySelectorAll("a, button, summary")].find((e) => e.localName === control.localName && target(e) === target(control));
}

// placeSession shows a session on a page that had none to show, as a reload would.
export async function placeSession(id) {
  const answer = await fetch(`/?session=${encodeURIComponent(id)}`, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return false;
  const next = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = next.getElementById("session");
  if (next.documentElement.dataset.session !== id || !fresh) return false;
  const here = document.getElementById("session");
  const inside = here.contains(document.activeElement);
  here.replaceWith(document.adoptNode(fresh));
  offerCopies(fresh);
  Object.assign(document.documentElement.dataset, { session: id, from: next.documentElement.dataset.from });
  if (inside) document.getElementById("session-heading").focus();
  return true;
}

export function placeSteps({ session_id: session, last, html, outputs, progress, undo, yes, over }) {
  const root = document.documentElement;
  if (root.dataset.session !== session) return;
  const steps = document.getElementById("steps");
  const begun = Number(root.dataset.from || 0);
  for (const line of parse(html ?? "").querySelectorAll("li")) {
    if (Number(line.dataset.seq) > begun) steps.append(line);
  }
  for (const piece of outputs ?? []) placePiece(piece);
  document.getElementById("session-progress").textContent = progress;
  if (over) placeBegun(over);
  if (undo) placeUndo(undo, yes);
  if (last > begun) root.dataset.from = String(last);
}

// inLanguage is a text in another language than the output around it.
function inLanguage(text, lang, dir) {
  const span = Object.assign(document.createElement("span"), { lang, dir });
  span.append(text);
  return span;
}

// placePiece adds text to an output. The piece that completes it brings all of it, laid out.
function placePiece({ id, position, next, text, language = "", direction = "auto", html }) {
  const holder = document.getElementById("output");
  let output = [...holder.children].find((o) => o.dataset.output === id);
  if (!output) {
    output = document.createElement("div");
    output.className = "output";
    output.dataset.output = id;
    output.dataset.next = "0";
    Object.assign(output, { lang: language, dir: direction });
    holder.append(output);
  }
  if (position < Number(output.dataset.next)) return; // it is there already
  if (html) {
    output.classList.add("laid");
    output.replaceChildren(parse(html));
    offerCopies(output);
  } else if (text) {
    output.append(language === output.lang ? text : inLanguage(text, language, direction));
  }
  output.dataset.next = String(next);
}
