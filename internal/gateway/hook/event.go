package hook

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the kind of a hook event, in terms that all hosts share.
type Kind int

const (
	// Use: the host is about to use a tool, and waits for an answer.
	Use Kind = iota
	// Prompted: the person has given the host a prompt.
	Prompted
	// Waiting: the host waits for the person.
	Waiting
	// Rested: the host has finished a turn.
	Rested
	// Closed: the host's session has ended.
	Closed
)

// Event is one event that a host sends to its hook.
type Event struct {
	Kind Kind
	// Name is the host's name of the event.
	Name string
	// Session is the host's id of its session; "" if there is none.
	Session string
	// Folder is the host's current folder.
	Folder string
	// Mode is the host's permission mode, by its own name; "" if there is none.
	Mode string
	// Message is what the host says to the person.
	Message string

	// Tool is the host's name of the tool that it is about to use, Input the exact input, Call its own id of this use.
	Tool  string
	Input jsontext.Value
	Call  string
}

// Verdict is a hook's decision on the use of a tool.
type Verdict int

const (
	// Deny: the tool is not used. It is the zero value, so that an unset verdict denies.
	Deny Verdict = iota
	// NoDecision: the host follows its own rules.
	NoDecision
	// Allow: a person has accepted.
	Allow
)

// Answer is the answer to the host. The reason is for its model, and is required for a denial.
type Answer struct {
	Verdict Verdict
	Reason  string
}

// Output is how the hook process ends.
type Output struct {
	Stdout []byte
	Stderr string
	Code   int
}

const (
	// exitBlocks is the exit code with which hosts block. With any other code that is not 0, the tool runs.
	exitBlocks = 2
	// maxReason limits a reason, in bytes. It is longer than any person's answer.
	maxReason = 4000
)

// worded returns a non-empty reason: some hosts ignore a denial without one.
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

// blocked ends the hook with the exit code that blocks. The reason goes to standard error; hosts ignore the code
// without one.
func blocked(reason string) Output {
	return Output{Stderr: "Earshot: " + worded(reason) + "\n", Code: exitBlocks}
}

// written returns an output with a value as the whole of standard output.
func written(value any) Output {
	raw, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		return blocked("the answer could not be written: " + err.Error())
	}
	return Output{Stdout: append(raw, '\n')}
}

// object is a JSON object.
type object = map[string]any
