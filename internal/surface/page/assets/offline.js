// What a browser shows instead of the page while Earshot cannot be reached: since when it knows nothing.

import { lastHeard } from "./memory.js";

const at = lastHeard();
if (at) {
  const when = new Intl.DateTimeFormat(document.documentElement.lang, { weekday: "long", day: "numeric", month: "long", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" });
  const line = document.getElementById("heard");
  line.textContent = line.dataset.said.replace("{when}", when.format(at));
}

setInterval(async () => {
  try {
    const answer = await fetch("/readyz", { cache: "no-store" });
    if (answer.ok) location.reload();
  } catch { /* it is away still */ }
}, 5000);
