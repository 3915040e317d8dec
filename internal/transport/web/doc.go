// Package web serves a hub over HTTP: the events of sessions as a stream, people's answers as POST requests (AAEP,
// Appendix B.1), an API for programs, and a page for people.
//
// # Authentication and access
//
// A program sends a token in the Authorization header. A person's browser sends a cookie, which it got in exchange for
// a one-time code. A token never appears in an address. Every request must name this host, which protects a local
// server against DNS rebinding. Every request that changes something must come from the page's own origin or, at the
// API, from one that the options allow. Forms also carry a token of their session.
//
// The page has a host name of its own ([Options.PageURL]), and a cookie counts only under it. The reason is that
// browsers send the cookies of a host to every port of it: those of 127.0.0.1 also to whatever another user of the
// machine serves there. Under loopback names there is only the API, which takes tokens. No answer there reveals the
// page's name.
//
// # Streams
//
// Each stream has one writer, which sends an event or, every 15 s, a comment. A reader that does not take the data
// within half a minute is disconnected, and resumes where it was with Last-Event-ID. Revoking a token or a page session
// ends its streams.
//
// A subscription can have a WebSocket instead: the request, the events and the replies on one connection, whose close code says why it
// ends. It takes a token only, never the cookie of the page, and no page of another origin opens one. To a stream, both are a wire.
//
// # The page
//
// The page is HTML rendered by the server: it can be read, and every question answered, without scripts. With scripts,
// a stream brings updates: finished sentences for two live regions, and HTML fragments that the script only inserts.
package web
