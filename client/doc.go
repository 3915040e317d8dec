// Package client is the Go client of a running Earshot server: it follows what agents do, lists and answers their
// questions, starts and stops their sessions, and asks for what operators may.
//
// [Dial] finds the server and checks the token. Then:
//
//   - [Client.Events] yields the events of every session that the token may hear, or of one (Options.Session, or
//     [Client.ForSession]). It connects again by itself, without gaps or repeats.
//   - [Client.Questions] lists the open questions, [Client.Reply] answers one, [Client.Undo] takes an accept back before
//     its action starts, [Client.Extend] asks for more time, and [Client.StopSession] stops an agent.
//   - [Client.Start] starts a turn of an agent, once, even where it has to send the request again.
//   - [Client.Operate] asks for an operation of operators.
//
// [Record] receives everything that any AAEP producer sends, Earshot or not, and judges nothing.
//
// A reply needs the token that its question has now, which [Client.Questions] and the question's event carry. What cannot
// be undone is accepted only for somebody who was shown every argument, or has read all of them with [Client.Arguments].
//
// Every failure is an [*Error], with a code, a sentence for a person and a hint. A failure is never a yes: where a reply
// was lost on its way, ask for the question again.
package client
