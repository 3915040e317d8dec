// The page on which a person turns the alerts of this browser on and off.

import { alerts, play, setAlerts } from "./alerts.js";
import { tr } from "./phrases.js";

const said = document.getElementById("alerts-said");
const settings = document.getElementById("alerts");
const box = (name) => settings.querySelector(`[name=${name}]`);

function say(text) {
  said.textContent = text;
}

const refused = tr("This browser does not allow notifications from this address. Allow them in its settings, then turn them on here.");

async function mayNotify() {
  if (!("Notification" in window) || !navigator.serviceWorker) return false;
  return await Notification.requestPermission() === "granted";
}

function show() {
  const on = alerts();
  for (const name of Object.keys(on)) box(name).checked = on[name];
  box("words").disabled = !on.notify;
}

settings.addEventListener("change", async ({ target }) => {
  if (target.name === "notify" && target.checked && !await mayNotify()) {
    show();
    say(refused);
    return;
  }
  const kept = setAlerts({ [target.name]: target.checked });
  show();
  const what = { what: target.labels[0].textContent.trim() };
  const on = target.checked ? tr("{what}: on.", what) : tr("{what}: off.", what);
  say(kept ? on : tr("This browser keeps nothing for this address, so nothing was changed."));
});

for (const button of settings.querySelectorAll("[data-sound]")) {
  button.addEventListener("click", () => play(button.dataset.sound));
}

if (!navigator.vibrate) box("vibrate").closest("p").hidden = true;
if (!window.AudioContext) for (const part of settings.querySelectorAll("[data-audio]")) part.hidden = true;
show();
settings.hidden = false;
