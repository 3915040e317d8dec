package hook

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Host is one of the programs that have hooks.
type Host struct {
	// Name is what it is called on the command line. It is the agent's name at Earshot, too.
	Name string
	// Title is what people call it.
	Title string
	// Limit is how long it waits for a hook where its settings do not say otherwise.
	Limit time.Duration
	// Blocks reports that it can be told to use no tool where its hook fails, is killed, or is missing.
	Blocks bool
	// Unhooked are tools before which it runs no hook.
	Unhooked []string
	// FolderVariable is the variable in which its hooks find the folder that the session is about; "" where there is none.
	FolderVariable string

	events  map[string]Kind
	quiet   []string // tools that are not asked for
	gateway string   // how the names of the tools begin of an MCP server that is called earshot; "" where that is not known
	answer  func(a Answer) any
	// noExit: no exit code blocks a tool, so that only JSON can.
	noExit   bool
	settings func(command string, limit time.Duration) Settings
}

// Hosts are all of them.
func Hosts() []Host { return []Host{claude(), codex(), copilot(), cursor(), gemini()} }

// Named is the host of a name.
func Named(name string) (Host, bool) {
	for _, h := range Hosts() {
		if h.Name == name {
			return h, true
		}
	}
	return Host{}, false
}

// Names are the names of all hosts.
func Names() []string {
	hosts := Hosts()
	names := make([]string, 0, len(hosts))
	for _, h := range hosts {
		names = append(names, h.Name)
	}
	return names
}

// MaxInput is the largest input that is read, in bytes. Nobody could be shown more.
const MaxInput = 8 << 20

// input has the members of all hosts. Where two hosts have one for the same, one of them is empty.
type input struct {
	Event     string         `json:"hook_event_name"`
	Session   string         `json:"session_id"`
	Folder    string         `json:"cwd"`
	Mode      string         `json:"permission_mode"`
	Message   string         `json:"message"`
	Tool      string         `json:"tool_name"`
	ToolInput jsontext.Value `json:"tool_input"`
	Call      string         `json:"tool_use_id"`

	Conversation string         `json:"conversation_id"` // Cursor's session
	Roots        []string       `json:"workspace_roots"` // Cursor's folders
	SessionCamel string         `json:"sessionId"`       // Copilot's, where the event is named in its own way
	ToolCamel    string         `json:"toolName"`        //
	ArgsCamel    jsontext.Value `json:"toolArgs"`        //
}

// Read reads what the host has said. An error says what is wrong with it, in words that the host's model can be given.
func (h Host) Read(raw []byte) (Event, error) {
	switch {
	case len(raw) > MaxInput:
		return Event{}, fmt.Errorf("%s has said more than %d MiB to its hook, which nobody can be shown", h.Title, MaxInput>>20)
	case strings.TrimSpace(string(raw)) == "":
		return Event{}, fmt.Errorf("%s has said nothing to its hook", h.Title)
	}
	var in input
	if err := json.Unmarshal(raw, &in); err != nil {
		return Event{}, fmt.Errorf("what %s has said to its hook cannot be read: %w", h.Title, err)
	}
	e := Event{
		Name: in.Event, Session: cmp.Or(in.Session, in.SessionCamel, in.Conversation), Folder: in.Folder, Mode: in.Mode, Message: in.Message,
		Tool: cmp.Or(in.Tool, in.ToolCamel), Call: in.Call, Input: in.ToolInput,
	}
	if e.Folder == "" && len(in.Roots) > 0 {
		e.Folder = in.Roots[0]
	}
	if len(e.Input) == 0 {
		e.Input = in.ArgsCamel
	}
	kind, known := h.events[e.Name]
	if e.Name == "" && in.ToolCamel != "" { // Copilot does not name an event that it is asked for in its own way
		kind, known = Use, h.noExit
	}
	if !known {
		return e, fmt.Errorf("%s has run its hook at %q, which Earshot does not know; take the hook out there", h.Title, e.Name)
	}
	e.Kind = kind
	if kind != Use {
		return e, nil
	}
	var err error
	e.Input, err = inputObject(e.Input)
	if e.Tool == "" {
		err = errors.New("it names no tool")
	}
	if err != nil {
		return e, fmt.Errorf("what %s wants to do cannot be shown to anybody: %w", h.Title, err)
	}
	return e, nil
}

// inputObject is the input of a tool as an object. Some hosts write the object into a text.
func inputObject(raw jsontext.Value) (jsontext.Value, error) {
	if raw.Kind() == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, err //nolint:wrapcheck // the caller says what it is about
		}
		if inner := jsontext.Value(text); inner.Kind() == '{' && inner.IsValid() {
			return inner, nil
		}
		return nil, errors.New("the tool's input is a text, not an object")
	}
	if raw.Kind() != '{' {
		return nil, errors.New("the tool's input is not an object")
	}
	return raw, nil
}

// Asks reports whether a person is asked before the tool is used. What is not in the table is asked for.
func (h Host) Asks(tool string) bool { return !slices.Contains(h.quiet, tool) }

// OfGateway is the name that a tool has at the MCP server that the host calls earshot; false where it is of no such server. Whether
// that server is Earshot's is not known here.
func (h Host) OfGateway(tool string) (name string, is bool) {
	if h.gateway == "" {
		return "", false
	}
	return strings.CutPrefix(tool, h.gateway)
}

// Quiet are the tools that are not asked for, by name.
func (h Host) Quiet() []string { return slices.Sorted(slices.Values(h.quiet)) }

// Write is how the hook ends after an event that could be read.
func (h Host) Write(e Event, a Answer) Output {
	if e.Kind != Use || a.Verdict == NoDecision {
		return written(object{})
	}
	a.Reason = worded(a.Reason)
	return written(h.answer(a))
}

// Refuse is how the hook ends where it does not know what it was asked, or has failed: nothing is used.
func (h Host) Refuse(reason string) Output {
	if h.noExit {
		return written(h.answer(Answer{Verdict: Deny, Reason: worded(reason)}))
	}
	return blocked(reason)
}
