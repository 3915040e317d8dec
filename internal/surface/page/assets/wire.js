// What carries the page's stream: a WebSocket. Of requests, a browser keeps no more than six open to a server without TLS, and the
// seventh page would wait. Where all requests share a connection, or something in between lets no WebSocket through, it is
// server-sent events.

const [entry] = performance.getEntriesByType("navigation");
const longest = 20000; // ms that a WebSocket may take to come about; something in between can swallow it
const prompt = 5000; // ms within which a server that answers takes a request

let without = /^h[23]/.test(entry?.nextHopProtocol); // whether a WebSocket is not tried

// carry opens the stream. Take gets the name, the data and the id of each event, of those names; opened is called once it can be heard, and
// broken when it has ended by itself, with whether the server has refused it.
export function carry(query, names, { opened, take, broken }) {
  let carrier = null;
  let closed = false;

  const byEvents = (swallowed = false) => {
    const begun = performance.now();
    const events = carrier = new EventSource("/page/events?" + query);
    events.addEventListener("open", () => {
      // Had the server stood still, this would have taken as long.
      if (swallowed && performance.now() - begun < prompt) without = true;
      opened();
    });
    events.addEventListener("error", () => {
      if (closed) return;
      const refused = events.readyState === EventSource.CLOSED;
      events.close();
      broken(refused);
    });
    for (const name of names) events.addEventListener(name, ({ data, lastEventId }) => take(name, JSON.parse(data), lastEventId));
  };

  const bySocket = () => {
    const socket = carrier = new WebSocket(location.origin.replace(/^http/, "ws") + "/page/socket?" + query);
    let heard = false;
    let swallowed = false;
    const late = setTimeout(() => {
      swallowed = true;
      socket.close();
    }, longest);
    socket.addEventListener("open", () => {
      heard = true;
      clearTimeout(late);
      if (!closed) opened();
    });
    socket.addEventListener("message", ({ data }) => {
      const { event, id, data: content } = JSON.parse(data);
      if (!closed && names.includes(event)) take(event, content, id);
    });
    socket.addEventListener("close", () => {
      clearTimeout(late);
      if (closed) return;
      if (heard) broken(false);
      else byEvents(swallowed); // which also learns whether the server refuses
    });
  };

  if (without) byEvents();
  else bySocket();
  return {
    close() {
      closed = true;
      carrier.close();
    },
  };
}
