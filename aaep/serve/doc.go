// Package serve makes a program a producer of AAEP at level 3, on every transport.
//
//	p, err := serve.New(serve.Options{Producer: aaep.Producer{AgentID: "tidy"}, Allow: serve.Token(secret)})
//	go http.ListenAndServe("127.0.0.1:8080", p)      // server-sent events with POST, and a WebSocket
//	s, err := p.Begin(aaep.SessionStarted{SummaryNormal: "Tidying up."})
//	answer, err := s.Confirm(ctx, "files.delete", aaep.AwaitingConfirmation{…})
//	if answer.Accepted() {
//		call, err := answer.Tool(aaep.ToolInvoked{SummaryNormal: "Deleting."})
//		…
//	}
//	err = s.Complete(aaep.SessionCompleted{SummaryNormal: "Done."})
//
// A [Producer] is an [http.Handler], over which package aaep/serve/grpc serves gRPC too; [Producer.ServeListener] serves a Unix socket,
// and [Producer.ServeConn] any other connection. It grants each subscriber terms and keeps to them (package aaep/pacing), sends a late one
// what is under way, lets one that was cut off resume, and publishes a manifest.
//
// A [Session] is the agent's side. It builds legal events only (package aaep/session), and its questions wait for a person: the first
// valid reply of a subscriber that may answer counts, and silence, a lost program and an error are never a yes.
//
// What was told is kept in memory, and is gone with the program.
package serve
