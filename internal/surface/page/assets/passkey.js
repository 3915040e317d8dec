// Signs with a passkey what takes one. The server says by data attributes what that is, and verifies what comes: nothing
// is sent before it is signed, and without this script nothing counts.

import { tr } from "./phrases.js";

const signed = new WeakSet(); // forms that are signed, and are being sent
const busy = new WeakSet();

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!needed(form) || signed.delete(form)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (!busy.has(form)) run(form, event.submitter);
}, true);

// needed answers whether what is about to be sent takes a passkey; of several answers only one may.
function needed(form) {
  const only = form.dataset.passkeyOnly;
  return Boolean(form.dataset.passkey) && (!only || new FormData(form).get("response") === only);
}

async function run(form, submitter) {
  busy.add(form);
  tell(form, "");
  try {
    if (!window.PublicKeyCredential) throw new Error(tr("This browser uses no passkeys on this page. Nothing was sent."));
    await steps[form.dataset.passkey](form);
    signed.add(form);
    form.requestSubmit(submitter);
  } catch (problem) {
    tell(form, reason(problem));
  } finally {
    busy.delete(form);
  }
}

const steps = {
  async accept(form) {
    const token = form.elements.token.value;
    await sign(form, { purpose: "accept", question: form.dataset.passkeyQuestion, token });
    if (!form.isConnected || form.elements.token.value !== token) {
      throw new Error(tr("The question was asked again meanwhile. Read it again. Nothing was sent."));
    }
  },
  async add(form) {
    const made = await make(form);
    if (form.dataset.first) return;
    await sign(form, { purpose: "add", ...made });
  },
  async remove(form) {
    await sign(form, { purpose: "remove", passkey: form.elements.remove.value });
  },
};

// sign has a passkey sign what the server asks for, and puts the signature into the form.
async function sign(form, purpose) {
  const asked = await ask(form, purpose);
  const { rawId, response } = await navigator.credentials.get({
    publicKey: {
      challenge: bytes(asked.challenge), rpId: asked.site, userVerification: "required",
      allowCredentials: asked.passkeys.map((id) => ({ type: "public-key", id: bytes(id) })),
    },
  });
  put(form, {
    signed_passkey: text(rawId), signed_authenticator: text(response.authenticatorData),
    signed_client: text(response.clientDataJSON), signed_signature: text(response.signature),
  });
}

// make has the browser make a passkey, and puts its public half into the form.
async function make(form) {
  const asked = await ask(form, { purpose: "register" });
  const { rawId, response } = await navigator.credentials.create({
    publicKey: {
      challenge: bytes(asked.challenge), rp: { id: asked.site, name: "Earshot" }, attestation: "none",
      user: { id: new TextEncoder().encode(asked.person).slice(0, 64), name: asked.person, displayName: asked.person },
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })),
      authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
      excludeCredentials: asked.passkeys.map((id) => ({ type: "public-key", id: bytes(id) })),
    },
  });
  const made = { new_passkey: text(rawId), new_attestation: text(response.attestationObject), new_client: text(response.clientDataJSON) };
  put(form, made);
  return made;
}

async function ask(form, what) {
  const body = new URLSearchParams({ form: form.elements.form.value, ...what });
  const answer = await fetch("/passkeys/challenge", { method: "POST", body, headers: { Accept: "application/json" } });
  if (answer.status === 401) location.assign("/login");
  const told = await answer.json();
  if (!answer.ok) throw new Error([told.error.message, told.error.hint].filter(Boolean).map(sentence).join(" "));
  return told;
}

function put(form, values) {
  for (const [name, value] of Object.entries(values)) {
    let field = form.elements.namedItem(name);
    if (!field) {
      field = Object.assign(document.createElement("input"), { type: "hidden", name });
      form.append(field);
    }
    field.value = value;
  }
}

function reason(problem) {
  switch (problem.name) {
    case "NotAllowedError":
    case "AbortError":
      return tr("Not signed: it was cancelled, took too long, or none of your passkeys is here. Nothing was sent.");
    case "InvalidStateError":
      return tr("This device has a passkey of yours already. Nothing was sent.");
    case "SecurityError":
      return tr("The browser uses no passkeys on this page. Nothing was sent.");
    case "TypeError":
      return tr("The server did not answer. Nothing was sent.");
    default:
      return problem.message;
  }
}

let aloud = null; // the pages of one question have no region of their own

// tellProblemsBy has problems said as the page says all else.
export function tellProblemsBy(say) {
  aloud = say;
}

// tell says why nothing was sent: beside what was pressed, and aloud. The focus stays where it is.
function tell(form, text) {
  form.querySelector(".reason")?.remove();
  if (!text) return;
  if (form.isConnected) {
    const line = document.createElement("p");
    line.className = "reason";
    if (!aloud) line.setAttribute("role", "alert");
    form.append(line);
    line.textContent = text; // after it is there, so that it is announced
  }
  aloud?.(text, "assertive");
}

function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

function bytes(base64url) {
  return Uint8Array.from(atob(base64url.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
}

function text(buffer) {
  return btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
