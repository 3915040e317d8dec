// The two live regions. A sentence is added and left for a while, so that what is being
// spoken is never cut off, and so that it can be read on a display that shows one line.

const kept = 5;
const regions = {
  polite: document.getElementById("live-polite"),
  assertive: document.getElementById("live-assertive"),
};
const again = document.getElementById("say-again");
let last = null;

export function say(text, priority = "polite", language = "", direction = "auto") {
  const region = regions[priority];
  if (!region || !text) return;
  const line = document.createElement("p");
  if (language) line.lang = language;
  line.dir = direction || "auto";
  line.textContent = text;
  region.append(line);
  while (region.children.length > kept) region.firstElementChild.remove();
  last = { text, language, direction };
  again.hidden = false;
}

again.querySelector("button").addEventListener("click", () => {
  if (last) say(last.text, "polite", last.language, last.direction);
});
