// Package producer puts any AAEP producer behind Earshot. Its events come in one by one; each of its sessions becomes a session
// of an agent here, which every surface tells and any listener can subscribe to on terms of its own.
//
// [Machine] decides what an event means here. It is pure: its inputs are the producer's events and what Earshot has answered, its outputs are
// effects, and its [State] can be stored as JSON between two events. [Ingester] is the shell around it: it judges the events, carries the effects
// out as a client of the agent's API, and stores the state. It is not a second kernel.
//
// # Names
//
// The agent is the principal of the token. A producer's session is found again by that agent and the producer's own id, and gets an id of ours;
// so do its events and its questions. Two producers that use the same ids never meet, unless they share a token.
//
// # Once
//
// An event is told once. The state remembers the last events, and what is asked of the kernel carries the event's id as its key, so that an
// event which was told before the state could be stored is not told again.
//
// # What a yes is
//
// A question of the producer is asked here as a permission: an answer is passed back to the producer, and whether it keeps to it, nobody here
// can see. It is of high risk and cannot be undone, whatever the producer says, and the sentence says that Earshot cannot stop it. Only a
// person's yes is an accept; a failure, an expired question and a stop are a reject.
package producer
