// <earshot-listener src="https://earshot.example" token="…">: says on another page what Earshot's agents do, and links
// to the questions that wait. It can answer none: a link opens Earshot's own page. The token must be a listener's; the
// server refuses one that may answer. It works under a strict policy: no inline style or script, nothing but requests
// to src.

const kept = 5;
const silence = 40_000; // ms without anything after which the connection has broken; the server speaks every 15 s
const soon = 1_000;
const slowest = 30_000;

const style = new CSSStyleSheet();
style.replaceSync(`
  :host { display: block; overflow-wrap: anywhere; }
  :host([hidden]) { display: none; }
  p { margin: 0.25em 0; }
  ul { margin: 0.5em 0; padding-inline-start: 1.5em; }
  a { display: inline-block; min-height: 1.5em; }
  .assertive p { font-weight: 650; }
`);

// Refused is an answer that another try does not change.
class Refused extends Error {}

class Listener extends HTMLElement {
  static observedAttributes = ["src", "token", "lang"];

  #token = null;
  #after = "";
  #ending = null;
  #parts = {};

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [style];
    const part = (name, element, role) => {
      const made = document.createElement(element);
      made.className = name;
      made.part.add(name);
      made.lang = "en";
      made.dir = "ltr";
      if (role) made.setAttribute("role", role);
      root.append(made);
      this.#parts[name] = made;
    };
    part("state", "p");
    part("questions", "ul");
    part("assertive", "div", "alert");
    part("polite", "div", "status");
    this.#parts.questions.setAttribute("aria-label", "Questions that wait in Earshot");
    this.#parts.questions.hidden = true;
  }

  // token can be set by a script, so that it is in no document.
  get token() { return this.#token ?? this.getAttribute("token") ?? ""; }
  set token(text) {
    this.#token = text;
    this.#restart();
  }

  connectedCallback() { this.#restart(); }
  disconnectedCallback() { this.#ending?.abort(); }
  attributeChangedCallback(name, before, now) { if (before !== now) this.#restart(); }

  #restart() {
    this.#ending?.abort();
    if (!this.isConnected) return;
    this.#ending = new AbortController();
    void this.#run(this.#ending.signal);
  }

  #state(text) { this.#parts.state.textContent = text; }

  #address(path) {
    const src = this.getAttribute("src") ?? "";
    if (!/^https?:/.test(src) || !URL.canParse(src)) throw new Refused("Earshot's address is missing: give it as src, such as https://earshot.example.");
    return new URL(path, src);
  }

  async #run(ended) {
    let wait = soon;
    let told = false;
    while (!ended.aborted) {
      try {
        await this.#stream(ended, () => {
          wait = soon;
          if (told) this.#say({ text: "Connected to Earshot again.", priority: "polite" });
          told = false;
        });
      } catch (problem) {
        if (ended.aborted) return;
        if (problem instanceof Refused) {
          this.#state(problem.message);
          this.#say({ text: problem.message, priority: "assertive" });
          return;
        }
      }
      if (ended.aborted) return;
      this.#state("Earshot cannot be reached. Trying again. Questions may be waiting.");
      if (!told && wait > soon) {
        this.#say({ text: "Earshot cannot be reached. Questions may be waiting.", priority: "assertive" });
        told = true;
      }
      await new Promise((go) => { setTimeout(go, wait); });
      wait = Math.min(wait * 2, slowest);
    }
  }

  async #get(path, signal, headers = {}) {
    const answer = await fetch(this.#address(path), { signal, headers: { ...headers, Authorization: "Bearer " + this.token }, credentials: "omit", cache: "no-store" });
    if (answer.ok) return answer;
    const { error } = await answer.json().catch(() => ({}));
    const text = [error?.message ?? `it answered ${answer.status}`, error?.hint].filter(Boolean).join("; ");
    throw answer.status === 401 || answer.status === 403 ? new Refused(`Earshot does not speak here: ${text}.`) : new Error(text);
  }

  // stream reads the announcements until the connection breaks, or nothing has come for too long.
  async #stream(ended, connected) {
    const broken = new AbortController();
    const signal = AbortSignal.any([ended, broken.signal]);
    let timer = 0;
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => broken.abort(), silence);
    };
    heard();
    try {
      const lang = this.lang ? "?lang=" + encodeURIComponent(this.lang) : "";
      const answer = await this.#get("/api/v1/announcements" + lang, signal, this.#after ? { "Last-Event-ID": this.#after } : {});
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader(); // not every browser iterates over a stream
      let rest = "";
      for (let first = true; ; first = false) {
        const { done, value } = await reader.read();
        if (done) return;
        if (first) {
          this.#state("Connected to Earshot.");
          connected();
          void this.#list(ended);
        }
        heard();
        const frames = (rest + value).split("\n\n");
        rest = frames.pop();
        for (const frame of frames) this.#take(frame, ended);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  #take(frame, ended) {
    const fields = {};
    for (const line of frame.split("\n")) {
      const at = line.indexOf(": ");
      if (at > 0) fields[line.slice(0, at)] = line.slice(at + 2);
    }
    if (fields.id) this.#after = fields.id;
    if (fields.event !== "announcement") return;
    const announcement = JSON.parse(fields.data);
    if (announcement.priority !== "none") this.#say(announcement);
    if (["question", "warning", "resolution"].includes(announcement.kind)) void this.#list(ended);
  }

  #say({ text, priority, language, direction }) {
    const region = this.#parts[priority] ?? this.#parts.polite;
    const line = document.createElement("p");
    line.lang = language || "en";
    line.dir = direction || "auto";
    line.textContent = text;
    region.append(line);
    while (region.children.length > kept) region.firstElementChild.remove();
  }

  // list shows the questions that wait, each as a link to Earshot's own page.
  async #list(ended) {
    const questions = await this.#get("/api/v1/questions?look=true", ended).then((answer) => answer.json()).then((all) => all.questions).catch(() => null);
    if (!questions || ended.aborted) return;
    const list = this.#parts.questions;
    const open = new Map(questions.map((question) => [String(question.number), question]));
    for (const item of [...list.children]) { // what stays keeps its place, and the focus
      const question = open.get(item.dataset.question);
      if (!question) item.remove();
      else item.querySelector("bdi").textContent = question.title;
      open.delete(item.dataset.question);
    }
    list.append(...[...open.values()].map((question) => this.#link(question)));
    list.hidden = questions.length === 0;
  }

  #link({ number, title }) {
    const item = document.createElement("li");
    item.dataset.question = number;
    const link = document.createElement("a");
    link.href = this.#address("/#question-" + number);
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    const words = document.createElement("bdi");
    words.textContent = title;
    link.append(`Question ${number} (opens Earshot): `, words);
    item.append(link);
    return item;
  }
}

customElements.define("earshot-listener", Listener);
