// What this browser does besides the page when something happens: a notification of the system, a sound, a vibration.
// All of it is off until a person turns it on, for this browser only, and a notification tells nothing of a question's
// content unless they want it.

import { tr } from "./phrases.js";

const store = "earshot.alerts";
const none = { notify: false, words: false, sound: false, vibrate: false };

// alerts returns what is turned on.
export function alerts() {
  try {
    return { ...none, ...JSON.parse(localStorage.getItem(store) ?? "{}") };
  } catch {
    return none;
  }
}

// setAlerts turns one on or off, and answers whether this browser remembers it.
export function setAlerts(change) {
  try {
    localStorage.setItem(store, JSON.stringify({ ...alerts(), ...change }));
    return true;
  } catch {
    return false;
  }
}

// The tones of each sound: their frequency in Hz, and when they begin in seconds.
export const sounds = {
  question: [[660, 0], [880, 0.16]],
  end: [[523, 0]],
  problem: [[220, 0], [220, 0.22]],
};

let audio = null;

// play sounds. A browser that has not been pressed on since it was opened may stay silent.
export function play(name) {
  if (!window.AudioContext) return;
  audio ??= new AudioContext();
  void audio.resume().catch(() => {});
  for (const [frequency, begins] of sounds[name]) {
    const [tone, loudness] = [audio.createOscillator(), audio.createGain()];
    const at = audio.currentTime + begins;
    tone.frequency.value = frequency;
    loudness.gain.setValueAtTime(0, at);
    loudness.gain.linearRampToValueAtTime(0.2, at + 0.02);
    loudness.gain.linearRampToValueAtTime(0, at + 0.15);
    tone.connect(loudness).connect(audio.destination);
    tone.start(at);
    tone.stop(at + 0.16);
  }
}

// soundOf names the sound of an announcement; "" is none.
function soundOf({ kind, priority }) {
  if (kind === "question" || kind === "warning") return "question";
  if (kind === "end") return priority === "assertive" ? "problem" : "end";
  return "";
}

// alertTo does what is turned on for an announcement that has just been made.
export function alertTo(announcement) {
  const on = alerts();
  const sound = soundOf(announcement);
  if (!sound) {
    if (announcement.kind === "resolution") void withdraw(announcement.question);
    return;
  }
  if (on.sound) play(sound);
  if (sound !== "question") return;
  if (on.vibrate) navigator.vibrate?.([200, 100, 200]);
  if (on.notify && !(document.visibilityState === "visible" && document.hasFocus())) void notify(announcement, on.words);
}

const tag = (question) => "question-" + question;

async function notify({ question, text, language, direction }, words) {
  const here = await navigator.serviceWorker?.getRegistration();
  if (!here || Notification.permission !== "granted") return;
  const shown = { tag: tag(question), icon: "/page/icon-192.png", data: "/#questions" };
  if (words) Object.assign(shown, { body: text, lang: language ?? "", dir: direction || "auto" });
  await here.showNotification(tr("A question waits for you"), shown);
}

// withdraw takes back the notification of a question that is not open any more.
async function withdraw(question) {
  const here = await navigator.serviceWorker?.getRegistration();
  for (const one of await here?.getNotifications({ tag: tag(question) }) ?? []) one.close();
}

// showWaiting shows in the tab, and at the icon of an installed page, how many questions wait.
export function showWaiting(open) {
  const icon = document.querySelector("link[rel=icon]");
  const wanted = open ? "/page/waiting.svg" : "/page/mark.svg";
  if (icon.getAttribute("href") !== wanted) icon.href = wanted;
  void navigator.setAppBadge?.(open).catch(() => {});
}
