// Buttons that copy: the code that they stand under, or the text at an address. They are shown where something can be copied.

import { tr } from "./phrases.js";

// tell says what came of it: in a line of its own, or as the page says all else.
let tell = (text) => { document.getElementById("copied").textContent = text; };

export function tellCopiesBy(say) {
  tell = say;
}

// offerCopies shows the buttons in a part of the page.
export function offerCopies(part) {
  if (!navigator.clipboard) return; // not without a safe connection
  for (const button of part.querySelectorAll("[data-copy]")) button.hidden = false;
}

async function text(button) {
  const address = button.dataset.copy;
  if (!address) return button.closest(".code").querySelector("code").textContent;
  const answer = await fetch(address);
  if (!answer.ok || answer.redirected) throw new Error("no text");
  return answer.text();
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  tell("");
  let outcome = tr("Copied.");
  try {
    await navigator.clipboard.writeText(await text(button));
  } catch {
    outcome = tr("It could not be copied. Select the text, and copy it with your browser.");
  }
  tell(outcome);
});

offerCopies(document);
