// The two live regions. A sentence is added and left for a while, so that what is being
// spoken is never cut off, and so that it can be read on a display that shows one line.

const kept = 5;
const regions = {
  polite: document.getElementById("live-polite"),
  assertive: document.getElementById("live-assertive"),
};
const again = document.getElementById("say-again");
let said = []; // what stands in the regions, oldest first

// say adds a sentence; one of no language is in that of the page. Asks is the number of the question that it puts, if it puts one.
export function say(text, priority = "polite", { language = "", direction = "auto", asks = 0 } = {}) {
  const region = regions[priority];
  if (!region || !text) return;
  const line = document.createElement("p");
  line.lang = language || document.documentElement.lang;
  line.dir = direction || "auto";
  line.textContent = text;
  region.append(line);
  said.push({ line, text, language, direction, asks });
  while (region.children.length > kept) region.firstElementChild.remove();
  settle();
}

// forget takes out what has put a question that is not open any more: what stands here is the
// latest, and must not be taken for a question that waits.
export function forget(question) {
  for (const one of said) if (one.asks === question) one.line.remove();
  settle();
}

// settle forgets what does not stand in a region any more.
function settle() {
  said = said.filter(({ line }) => line.isConnected);
  const none = said.length === 0;
  if (none && again.contains(document.activeElement)) document.getElementById("announcements-heading").focus();
  again.hidden = none;
}

again.querySelector("button").addEventListener("click", () => {
  const last = said.at(-1);
  if (last) say(last.text, "polite", last);
});
