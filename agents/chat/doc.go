// Package chat is an agent that lets a language model decide: the person says what they want, and the model calls the
// tools of Earshot until it has an answer.
//
// The agent is a fold. Each step of the turn holds a model's answer ([worker.Decision].Data), saved in the same
// transaction as the calls that it asks for; the transcript gives both back, with the results. From these alone the
// agent makes the next request, so a process that is killed repeats neither a call nor a request whose answer had
// arrived whole.
//
//	transcript → history → request → (model) → answer → decision
//
// Everything but the model is pure. Package llm has the wire formats and HTTP.
//
// The model has no way around the gate: what it asks for are calls like any other, which policy may forbid and people
// are asked about. Results go to it as the results of its calls, quoted in JSON. Only the person's own reply is an
// answer to a question.
package chat
