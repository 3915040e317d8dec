// The bar that says what became of a person's own act, and offers to take a yes back. It stands where the act was.

import { tr } from "./phrases.js";

// placeNotice shows what became of a person's own act, where that act was, and returns what the focus goes to: the button that
// takes it back, which saves a person who listens the way there while the time for it runs, or else the line.
export function placeNotice({ text, undo }, at) {
  const line = document.getElementById("notice-text");
  keepOffer(undo);
  line.textContent = text;
  offer(undo);
  const bar = document.getElementById("notice");
  bar.hidden = false;
  const before = bar.closest("li");
  if (at?.isConnected) {
    const item = document.createElement("li");
    item.append(bar);
    at.replaceWith(item);
  } else if (at === undefined) {
    document.getElementById("questions").before(bar);
  }
  if (before && before !== bar.parentElement) before.remove();
  return undo ? undoForm().querySelector("button") : line;
}

const told = new Map(); // what the bar tells of a yes that is taken back on this page, by its question

// tellsUndo notes that this page takes a yes back, and a promise of what the bar tells of it, which the focus leads to; "" if it failed.
export function tellsUndo(question, text) {
  told.set(question, text);
}

// heardUndo answers whether the bar tells the same of a question: then it is not said a second time. Undefined if nothing is awaited.
export function heardUndo(question, text) {
  return told.get(question)?.then((noted) => noted === text);
}

const undoForm = () => document.getElementById("notice-undo");

function offer(undo) {
  const form = undoForm();
  form.hidden = !undo;
  if (!undo) return;
  form.action = `/questions/${undo}/undo`;
  form.querySelector("button span").textContent = " " + tr("the yes to question {number}", { number: undo });
}

// keepOffer gives a yes that can still be taken back a row of its own, before the bar is about another.
function keepOffer(next) {
  const form = undoForm();
  if (form.hidden || offers(form, next)) return;
  let rows = document.getElementById("notice-rows");
  if (!rows) {
    rows = document.createElement("ul");
    rows.id = "notice-rows";
    document.getElementById("notice").append(rows);
  }
  const row = document.createElement("li");
  const copy = form.cloneNode(true);
  copy.removeAttribute("id");
  copy.querySelector(".reason")?.remove();
  row.append(document.getElementById("notice-text").textContent, copy);
  rows.append(row);
}

const offers = (form, question) => !form.hidden && new URL(form.action).pathname === `/questions/${question}/undo`;

function offered(question) {
  return [...document.querySelectorAll("#notice form")].filter((form) => offers(form, question));
}

// placeUndo offers to take a yes back, wherever it was given.
export function placeUndo(question, yes) {
  if (offered(question).length > 0) return; // by what stands there already
  placeNotice({ text: yes, undo: question }, null);
}

// placeReason shows why nothing came of an act. A yes that can be taken back still can be.
export function placeReason(text) {
  document.getElementById("notice-text").textContent = text;
  document.getElementById("notice").hidden = false;
}

// placeBegun takes the offer away to take a yes back whose work has begun, or is off.
export function placeBegun(question) {
  for (const form of offered(question)) withdraw(form);
}

// withdraw takes an offer away.
export function withdraw(form) {
  const inside = form.contains(document.activeElement);
  if (form === undoForm()) form.hidden = true;
  else form.remove();
  if (inside) document.getElementById("notice-text").focus();
}
