// What a browser shows instead of the page while Earshot cannot be reached: since when it knows nothing.

import { lastHeard } from "./heard.js";

const at = lastHeard();
if (at) {
  const when = new Intl.DateTimeFormat("en", { weekday: "long", day: "numeric", month: "long", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" });
  document.getElementById("heard").textContent = `This browser last heard from it on ${when.format(at)}.`;
}

setInterval(async () => {
  try {
    const answer = await fetch("/readyz", { cache: "no-store" });
    if (answer.ok) location.reload();
  } catch { /* it is away still */ }
}, 5000);
