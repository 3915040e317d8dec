// Package subscribe hears a producer of AAEP, and answers it: over server-sent events and POST (http, https), a WebSocket (ws, wss),
// gRPC (grpc, grpcs), a Unix socket (unix:PATH) or a named pipe of Windows (its path).
//
//	s, err := subscribe.New(subscribe.Options{URL: "ws://127.0.0.1:7411/aaep/v1/ws", Token: token})
//	for event, err := range s.Events(ctx) { … }
//
// [Subscription.Events] dials, sends the request, and yields each event once, in order. A lost connection is made again, after the last
// event where the producer can resume: by Last-Event-ID over server-sent events, and by Earshot's capability resume on a connection. Where
// something may be missing all the same, it yields an [*Error] with [CodeLost] in that place and goes on. [Subscription.Messages] is the
// same with every message as it came, the terms included.
//
// Meanwhile any goroutine may answer ([Subscription.Confirm], [Subscription.Clarify]), ask for other terms
// ([Subscription.Renegotiate]), and leave with a reason ([Subscription.Close]).
//
// An answer is sent once, on the connection that there is, and never kept for a later one: a person decides about what is open now. A
// failure of one never means a yes, and does not say that the producer has not got it. What counts is the event that follows.
//
// Nothing is validated beyond what can be read: package aaep judges messages, aaep/session their order. Nothing here runs in the
// background: Events and Messages work in the goroutine that ranges over them, and have ended what they began when they return.
package subscribe
