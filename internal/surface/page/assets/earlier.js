// Earlier lines load above on demand. Whoever reads stays where they are: the line that was first keeps its place on the
// screen, and has the focus, so that reading goes on upwards from there.

import { offerSorting } from "./sort.js";
import { tr } from "./phrases.js";

const status = document.getElementById("view-status");

async function fetched(address) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) throw new Error("no page");
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

function placeCalls(next) {
  const fresh = next.getElementById("calls");
  if (!fresh) return;
  const here = document.querySelector("#calls tbody");
  if (here) {
    here.prepend(...fresh.querySelectorAll("tbody tr"));
    for (const head of document.querySelectorAll("#calls [aria-sort]")) head.removeAttribute("aria-sort");
    return;
  }
  document.getElementById("output-heading").before(document.adoptNode(fresh));
  offerSorting(fresh);
}

function place(next, link) {
  const lines = [...next.querySelectorAll("#steps > li")];
  const steps = document.getElementById("steps");
  const first = steps.firstElementChild;
  const before = first.getBoundingClientRect().top;
  steps.prepend(...lines);
  placeCalls(next);
  const fresh = next.getElementById("earlier");
  first.tabIndex = -1;
  first.focus({ preventScroll: true });
  if (fresh) link.href = fresh.href;
  else link.parentElement.remove();
  status.textContent = tr("{n} earlier lines are above.", { n: lines.length }); // it takes a line itself
  scrollBy(0, first.getBoundingClientRect().top - before);
}

document.getElementById("earlier")?.addEventListener("click", async (event) => {
  const link = event.currentTarget;
  event.preventDefault();
  if (link.ariaBusy) return;
  link.ariaBusy = "true";
  try {
    place(await fetched(link.href), link);
  } catch {
    location.assign(link.href);
  }
  link.ariaBusy = null;
});
