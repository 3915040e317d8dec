// Package compat is the older form of AAEP over HTTP that its public conformance suite speaks, and an agent for that suite to judge. It
// is loopback only, knows one listener, and is not a surface for people: anybody who can connect answers.
//
//	GET  /events     what is told, as unnamed server-sent events without ids
//	POST /messages   a prompt {"kind":"user_input","text":…}, a subscription.request, a reply; always answered with 204
//	GET  /sessions   the ids of the sessions so far
//	GET  /healthz    204
//	GET  /           the same over a WebSocket, as messages both ways
//
// A [Mount] puts them before producers of package aaep/serve. What the protocol has no message for is told in one of its own:
// {"kind":"session","session_id":…} comes before the first event of the session of a prompt. Each subscription.request begins with
// a producer of its own, so that nothing of what went before is heard on the new terms.
package compat
