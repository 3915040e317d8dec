// The page works without scripts. With them it hears what is new, and says it.

import "./zone.js";
import { movedNow, watch } from "./place.js";
import { listen } from "./stream.js";
import { say } from "./live.js";
import { tellProblemsBy } from "./passkey.js";
import "./forms.js";
import "./copy.js";

tellProblemsBy(say);

for (const item of document.querySelectorAll("#questions li[data-item]")) watch(item);

// What stands above a question moves it when it grows.
const above = new ResizeObserver(movedNow);
for (const part of document.querySelectorAll("header, #notice")) above.observe(part);

// A link to a part of the page leads the focus to its heading, as links do. Escape decides nothing.
for (const link of document.querySelectorAll("header a[href^='#']")) {
  link.addEventListener("click", () => document.querySelector(link.hash)?.closest("details")?.setAttribute("open", ""));
}

// It notifies, and stands in for a server that cannot be reached. Without it the page does all else.
navigator.serviceWorker?.register("/worker.js").catch(() => {});

listen();
