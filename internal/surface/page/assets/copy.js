// Buttons that copy: the code that they stand under, or the text at an address. They are shown where something can be copied.

import { tr } from "./phrases.js";

// tell says what came of it: in a line of its own, or as the page says all else.
let tell = (text) => { document.getElementById("copied").textContent = text; };

export function tellCopiesBy(say) {
  tell = say;
}

// offerCopies shows the buttons in a part of the page. Each listens for itself: were the page to listen for clicks, a screen
// reader would call its headings clickable.
export function offerCopies(part) {
  if (!navigator.clipboard) return; // not without a safe connection
  for (const button of part.querySelectorAll("[data-copy][hidden]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
}

async function text(button) {
  const address = button.dataset.copy;
  if (!address) return button.closest(".code").querySelector("code").textContent;
  const answer = await fetch(address);
  if (!answer.ok || answer.redirected) throw new Error("no text");
  return answer.text();
}

async function copy(button) {
  tell("");
  let outcome = tr("Copied.");
  try {
    await navigator.clipboard.writeText(await text(button));
  } catch {
    outcome = tr("It could not be copied. Select the text, and copy it with your browser.");
  }
  tell(outcome);
}

offerCopies(document);
