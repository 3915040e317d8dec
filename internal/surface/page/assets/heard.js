// When this browser last heard from the server: for the page that is shown when the server cannot be reached.

const key = "earshot.heard";

export function lastHeard() {
  try {
    const at = Number(localStorage.getItem(key));
    return at ? new Date(at) : null;
  } catch {
    return null;
  }
}

export function heardNow() {
  try {
    localStorage.setItem(key, String(Date.now()));
  } catch { /* the page that needs it says that it is not known */ }
}
