// The service worker: it shows notifications, and a page that says since when nothing is known where Earshot cannot be
// reached. It keeps that page and what it is made of, never anything of a session or a question.

const shell = "earshot-shell";
const offline = "/page/offline";
const files = [offline, "/page/offline.js", "/page/mark.svg"];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(shell).then((cache) => cache.addAll(files)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin) return;
  if (request.mode === "navigate") event.respondWith(fetch(request).catch(() => caches.match(offline)));
  else if (files.includes(pathname)) event.respondWith(fresh(request));
});

// fresh answers from the server, and from what is kept where there is none.
async function fresh(request) {
  try {
    const answer = await fetch(request);
    if (answer.ok) await (await caches.open(shell)).put(request, answer.clone());
    return answer;
  } catch {
    return caches.match(request);
  }
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(toPage(event.notification.data));
});

// toPage brings a window of the page to the front, or opens one.
async function toPage(address) {
  for (const window of await self.clients.matchAll({ type: "window", includeUncontrolled: true })) {
    if (new URL(window.url).pathname === "/") return window.focus();
  }
  return self.clients.openWindow(address);
}
