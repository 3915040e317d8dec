package hook

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Kind is what a host tells its hook, in terms that all hosts share.
type Kind int

const (
	// Use: the host is about to use a tool, and waits for an answer.
	Use Kind = iota
	// Prompted: the person has given the host something to do.
	Prompted
	// Waiting: the host waits for the person.
	Waiting
	// Rested: the host has finished a turn.
	Rested
	// Closed: the host's session is over.
	Closed
)

// Event is what a host tells its hook.
type Event struct {
	Kind Kind
	// Name is the host's own word for it.
	Name string
	// Session is the host's id of its session; "" where it has said none.
	Session string
	// Folder is where the host works at the moment.
	Folder string
	// Mode is how the host itself treats its tools, in its own word; "" where it has said none.
	Mode string
	// Message is what the host says to the person.
	Message string

	// Tool is the host's name of the tool that it is about to use, Input the exact input, Call its own id of this use.
	Tool  string
	Input jsontext.Value
	Call  string
}

// Verdict is what a hook says to the use of a tool.
type Verdict int

const (
	// Deny: the tool is not used. It is the zero value, so that what was forgotten denies.
	Deny Verdict = iota
	// NoDecision: the host goes by its own rules.
	NoDecision
	// Allow: a person has said yes.
	Allow
)

// Answer is what the host is told. The reason is for its model, and is required where the answer denies.
type Answer struct {
	Verdict Verdict
	Reason  string
}

// Output is how the hook ends.
type Output struct {
	Stdout []byte
	Stderr string
	Code   int
}

const (
	// exitBlocks is the exit code by which hosts block. Any other one that is not 0 lets the tool run.
	exitBlocks = 2
	// maxReason bounds a reason, in bytes. It is more than a person's answer has.
	maxReason = 4000
)

// worded is a reason that every host takes: some hosts ignore a denial without one.
func worded(reason string) string {
	reason = strings.TrimSpace(strings.ToValidUTF8(reason, "�"))
	if reason == "" {
		return "Earshot did not allow it."
	}
	for len(reason) > maxReason {
		_, size := utf8.DecodeLastRuneInString(reason)
		reason = reason[:len(reason)-size]
	}
	return reason
}

// blocked ends the hook by the exit code that blocks. The reason is on standard error, since hosts ignore the code without one.
func blocked(reason string) Output {
	return Output{Stderr: "Earshot: " + worded(reason) + "\n", Code: exitBlocks}
}

// written writes a value as the whole of standard output.
func written(value any) Output {
	raw, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		return blocked("the answer could not be written: " + err.Error())
	}
	return Output{Stdout: append(raw, '\n')}
}

// object is a JSON object that is written as it stands.
type object = map[string]any
