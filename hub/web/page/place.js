// Places what the server sends. The focus stays where it is: what has not changed keeps
// its elements, and only when the element under the focus has gone is it put on the
// nearest heading, because it would otherwise be nowhere.

const guard = 700; // ms in which a press cannot be meant for what has just come or changed
const since = new WeakMap();
let moved = -guard; // when the questions last came to stand elsewhere

export function changedNow(element) {
  since.set(element, performance.now());
}

// movedNow notes that the questions have moved: a pointer's press that was meant for one may
// meet another. A key meets what has the focus, wherever that stands.
export function movedNow() {
  moved = performance.now();
}

// tooSoon answers whether a press on something inside a question comes before a person
// can have read it, or could have moved the pointer after it.
export function tooSoon(element, byPointer) {
  const question = element.closest("[data-question]");
  if (question === null) return false;
  const changed = since.get(question) ?? -guard;
  return performance.now() - Math.max(changed, byPointer ? moved : -guard) < guard;
}

function parse(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content;
}

export function placeQuestions({ html, title }) {
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
      movedNow();
      continue;
    }
    wanted.delete(item.dataset.item);
    if (version(item) !== version(fresh)) {
      replace(item, fresh);
      movedNow();
    }
  }
  for (const item of wanted.values()) {
    list.append(item);
    watch(item);
    movedNow();
  }
  document.title = title;
  if (inList && !document.contains(had)) focusAfterLoss(heading);
}

function version(item) {
  return item.querySelector("[data-question]").dataset.version;
}

// replace puts a question that was asked again in the place of the one before. If it was
// open it stays open, and the focus goes to its heading: its buttons are others now.
function replace(item, fresh) {
  const open = item.querySelector("details").open;
  const inside = item.contains(document.activeElement);
  item.replaceWith(fresh);
  fresh.querySelector("details").open = open;
  watch(fresh);
  if (inside) fresh.querySelector("h3").focus();
}

function focusAfterLoss(heading) {
  if (document.getElementById("notice").hidden) heading.focus();
  else document.getElementById("notice-text").focus();
}

// watch begins the guard of a question, and again whenever a person opens it; opening
// one leads to its heading.
export function watch(item) {
  const question = item.querySelector("[data-question]");
  changedNow(question);
  const details = question.querySelector("details");
  details.querySelector("summary").addEventListener("click", () => {
    details.dataset.opened = details.open ? "" : "yes";
  });
  details.addEventListener("toggle", () => {
    changedNow(question);
    if (details.open && details.dataset.opened === "yes") question.querySelector("h3").focus();
    details.dataset.opened = "";
  });
}

export function placeSessions({ html, where, state, ended }) {
  const here = document.getElementById("sessions-lists");
  const had = document.activeElement;
  const link = here.contains(had) ? had : null;
  here.replaceChildren(parse(html));
  if (link !== null) {
    // A link to older sessions leads elsewhere once there is a newer one, and is the same link.
    const same = [...here.querySelectorAll("a")].find((a) => link.id ? a.id === link.id : a.getAttribute("href") === link.getAttribute("href"));
    (same ?? document.getElementById("sessions-heading")).focus();
  }
  document.getElementById("whereami-text").textContent = where;
  const stateText = document.getElementById("session-state");
  if (stateText && state) stateText.textContent = state;
  const stop = document.getElementById("session-stop");
  if (stop && ended) {
    const inside = stop.contains(document.activeElement);
    stop.remove();
    if (inside) document.getElementById("session-heading").focus();
  }
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
  Object.assign(document.documentElement.dataset, { session: id, from: next.documentElement.dataset.from });
  if (inside) document.getElementById("session-heading").focus();
  return true;
}

export function placeSteps({ session_id: session, last, html, outputs, progress }) {
  const root = document.documentElement;
  if (root.dataset.session !== session) return;
  const steps = document.getElementById("steps");
  const begun = Number(root.dataset.from || 0);
  for (const line of parse(html ?? "").querySelectorAll("li")) {
    if (Number(line.dataset.seq) > begun) steps.append(line);
  }
  for (const piece of outputs ?? []) placePiece(piece);
  document.getElementById("session-progress").textContent = progress;
  if (last > begun) root.dataset.from = String(last);
}

function placePiece({ id, position, next, text, language, direction }) {
  const holder = document.getElementById("output");
  let output = [...holder.children].find((o) => o.dataset.output === id);
  if (!output) {
    output = document.createElement("div");
    output.className = "output";
    output.dataset.output = id;
    output.dataset.next = "0";
    if (language) output.lang = language;
    output.dir = direction || "auto";
    holder.append(output);
  }
  if (position < Number(output.dataset.next)) return; // it is there already
  output.append(text);
  output.dataset.next = String(next);
}

// placeNotice shows what became of a person's own act and returns the element to read.
export function placeNotice({ text, undo }) {
  const line = document.getElementById("notice-text");
  line.textContent = text;
  const form = document.getElementById("notice-undo");
  form.hidden = !undo;
  if (undo) {
    form.action = `/questions/${undo}/undo`;
    form.querySelector("button").textContent = `Take back the yes to question ${undo}`;
  }
  document.getElementById("notice").hidden = false;
  return line;
}

// placeBegun takes the offer away to take a yes back whose work has begun.
export function placeBegun(question) {
  const form = document.getElementById("notice-undo");
  if (form.hidden || new URL(form.action).pathname !== `/questions/${question}/undo`) return;
  const inside = form.contains(document.activeElement);
  form.hidden = true;
  if (inside) document.getElementById("notice-text").focus();
}
