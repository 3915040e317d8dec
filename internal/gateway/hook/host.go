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

// Host describes one of the programs that have hooks.
type Host struct {
	// Name is its name on the command line, and its agent name at Earshot.
	Name string
	// Title is its display name.
	Title string
	// Limit is its default timeout for a hook.
	Limit time.Duration
	// Blocks reports that it can be configured to block tools if its hook fails, is killed, or is missing.
	Blocks bool
	// Unhooked are tools before which it does not run a hook.
	Unhooked []string
	// FolderVariable is the environment variable of its hooks with the session's folder; "" if there is none.
	FolderVariable string

	events  map[string]Kind
	quiet   []string // tools that need no question
	gateway string   // the name prefix of the tools of an MCP server called earshot; "" if unknown
	answer  func(a Answer) any
	// noExit: no exit code blocks a tool, so that only JSON can.
	noExit   bool
	settings func(command string, limit time.Duration) Settings
}

// Hosts returns all of them.
func Hosts() []Host { return []Host{claude(), codex(), copilot(), cursor(), gemini(), qwen()} }

// Named returns the host with a name.
func Named(name string) (Host, bool) {
	for _, h := range Hosts() {
		if h.Name == name {
			return h, true
		}
	}
	return Host{}, false
}

// Reviewed returns a host whose own tools are known: one of [Hosts], or one without hooks.
func Reviewed(name string) (Host, bool) {
	if h := opencode(); h.Name == name {
		return h, true
	}
	return Named(name)
}

// Names returns the names of all hosts.
func Names() []string {
	hosts := Hosts()
	names := make([]string, 0, len(hosts))
	for _, h := range hosts {
		names = append(names, h.Name)
	}
	return names
}

// MaxInput is the maximum size of an input in bytes. Nobody could be shown more.
const MaxInput = 8 << 20

// input has the members of all hosts. If two hosts have different members for the same thing, one of them is empty.
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
	SessionCamel string         `json:"sessionId"`       // Copilot's, with its own event names
	ToolCamel    string         `json:"toolName"`        //
	ArgsCamel    jsontext.Value `json:"toolArgs"`        //
}

// Read parses an event. The text of an error can be given to the host's model.
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
	if e.Name == "" && in.ToolCamel != "" { // Copilot does not send the name of an event when it uses its own event names
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

// inputObject returns the input of a tool as an object. Some hosts encode the object in a string.
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

// Asks reports whether a person is asked before the tool is used. A tool that is not in the table needs a question.
func (h Host) Asks(tool string) bool { return !slices.Contains(h.quiet, tool) }

// OfGateway returns the name of a tool at the MCP server that the host calls earshot, or false for other tools. It
// cannot tell whether that server is really Earshot's.
func (h Host) OfGateway(tool string) (name string, is bool) {
	if h.gateway == "" {
		return "", false
	}
	return strings.CutPrefix(tool, h.gateway)
}

// Quiet returns the tools that need no question, by name.
func (h Host) Quiet() []string { return slices.Sorted(slices.Values(h.quiet)) }

// Write returns the output for an event that could be parsed.
func (h Host) Write(e Event, a Answer) Output {
	if e.Kind != Use || a.Verdict == NoDecision {
		return written(object{})
	}
	a.Reason = worded(a.Reason)
	return written(h.answer(a))
}

// Refuse returns the output if the event could not be parsed or the hook has failed: it blocks the tool.
func (h Host) Refuse(reason string) Output {
	if h.noExit {
		return written(h.answer(Answer{Verdict: Deny, Reason: worded(reason)}))
	}
	return blocked(reason)
}
