// Package web serves a hub over HTTP: the events of sessions as a stream, the answers
// of people as posts (AAEP, Appendix B.1), an API for programs, and a page for people.
//
// # Who may do what
//
// A program shows a token in the Authorization header, a person's browser a cookie
// that a one-time code was exchanged for; a token never stands in an address. Every
// request must name this host (a page elsewhere cannot reach a local server by a
// trick with names), and every request that changes something must come from the page's
// own origin or, at the API, from one that the options allow. Forms carry a token of their
// session besides.
//
// The page has a name of its own ([Options.PageURL]), and only under it does a cookie count,
// because a browser sends the cookies of a name to every port of it: of 127.0.0.1 also to
// whatever another user of the machine serves there. Under the names of the loopback there
// is the API alone, which takes tokens. No answer there tells the page's name.
//
// # Streams
//
// Each stream has one writer, which sends an event or, every 15 s, a comment. A reader
// who does not take what is sent within half a minute is cut off, and resumes where it
// was with Last-Event-ID. A token or a page session that is revoked ends its streams.
//
// # The page
//
// The page is HTML that the server writes: it can be read, and every question
// answered, without scripts. With scripts a stream brings what is new: finished
// sentences for two live regions, and pieces of HTML that the script only places.
package web
