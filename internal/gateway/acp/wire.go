package acp

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The messages of an agent, as far as they are used. The types of the SDK would lose the exact numbers of a tool's
// input, and refuse a whole message for one part that they do not know.

// Opened is an agent's answer to session/new.
type Opened struct {
	Session string         `json:"sessionId"`
	Modes   *ModeList      `json:"modes"`
	Options []ConfigOption `json:"configOptions"`
}

// ModeList are the modes that an agent names.
type ModeList struct {
	Current   string `json:"currentModeId"`
	Available []Mode `json:"availableModes"`
}

// Mode is one of them.
type Mode struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// ConfigOption is a setting of the agent's session. Newer agents have their modes there.
type ConfigOption struct {
	ID       string         `json:"id"`
	Category string         `json:"category"`
	Current  jsontext.Value `json:"currentValue"`
	Options  jsontext.Value `json:"options"`
}

// update is the content of session/update, of all kinds.
type update struct {
	Kind    string         `json:"sessionUpdate"`
	Mode    string         `json:"currentModeId"`
	Options []ConfigOption `json:"configOptions"`
	Entries []planEntry    `json:"entries"`
	toolCall
}

// toolCall is what a message says about a tool call. Members that are absent have not changed.
type toolCall struct {
	ID        string         `json:"toolCallId"`
	Title     string         `json:"title"`
	ToolKind  string         `json:"kind"`
	Status    string         `json:"status"`
	RawInput  jsontext.Value `json:"rawInput"`
	Locations []location     `json:"locations"`
	Content   jsontext.Value `json:"content"` // a list; a single block in a piece of the agent's text
}

type location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitzero"`
}

type planEntry struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// block is a piece of content: a text, or something that has one.
type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Name     string `json:"name"`
	URI      string `json:"uri"`
	Resource struct {
		URI  string `json:"uri"`
		Text string `json:"text"`
	} `json:"resource"`
}

// content is one item of a tool call's content: a block, a change of a file, or a terminal.
type content struct {
	Type    string `json:"type"`
	Content block  `json:"content"`
	Path    string `json:"path"`
	Old     string `json:"oldText"`
	New     string `json:"newText"`
}

// permissionRequest is the content of session/request_permission.
type permissionRequest struct {
	Session  string   `json:"sessionId"`
	ToolCall toolCall `json:"toolCall"`
	Options  []option `json:"options"`
}

// option is one of the answers that the agent offers.
type option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

const (
	kindAllowOnce  = "allow_once"
	kindRejectOnce = "reject_once"

	statusRunning   = "in_progress"
	statusCompleted = "completed"
	statusFailed    = "failed"
)

// readUpdate reads the parameters of session/update.
func readUpdate(params jsontext.Value) (update, error) {
	var message struct {
		Update update `json:"update"`
	}
	err := json.Unmarshal(params, &message)
	return message.Update, err //nolint:wrapcheck // the caller says what it is about
}
