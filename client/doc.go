// Package client is the Go client of a running Earshot server. It follows what agents do, lists and answers their
// questions, starts and stops their sessions, and runs operator requests.
//
// [Dial] finds the server and checks the token. Then:
//
//   - [Client.Events] yields the events of every session that the token may access, or of one (Options.Session, or
//     [Client.ForSession]). It reconnects by itself, and resumes after the last event.
//   - [Client.Questions] lists the open questions, [Client.Reply] answers one, [Client.Undo] withdraws an accept before
//     its action starts, [Client.Extend] asks for more time, and [Client.StopSession] stops an agent.
//   - [Client.Start] starts a turn of an agent, exactly once, even if it has to repeat the request.
//   - [Client.Operate] runs an operator request.
//
// [Record] receives everything that any AAEP producer sends, Earshot or not, and validates nothing.
//
// A reply needs the current token of its question; [Client.Questions] and the question's event contain it. An accept of
// something irreversible requires that the person was shown every argument, or has read all of them with
// [Client.Arguments].
//
// Every failure is an [*Error] with a code, a sentence for a person and a hint. A failure never means consent: if a
// reply was lost on its way, request the question again.
package client
