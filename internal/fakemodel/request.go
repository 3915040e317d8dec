package fakemodel

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Wire is the format that a client speaks.
type Wire string

// The formats, each named after its API.
const (
	Anthropic Wire = "anthropic" // Messages
	Responses Wire = "responses" // of OpenAI
	Chat      Wire = "chat"      // Chat Completions, of OpenAI and of most others
	Gemini    Wire = "gemini"    // generateContent and streamGenerateContent
)

// Who speaks in a message, whatever a wire calls them.
const (
	RoleSystem = "system" // and developer
	RoleUser   = "user"   // results of tools come from here as well
	RoleModel  = "model"  // assistant
)

// Request is what a client has asked the model.
type Request struct {
	Wire   Wire
	Model  string
	Stream bool
	Header http.Header
	System string // the prompt that stands beside the messages
	Tools  []Tool
	// Messages are the conversation so far. Where a wire has items or blocks in a row, each is a message.
	Messages []Message
	Body     []byte
}

// Tool is one that the model may call.
type Tool struct {
	Namespace   string // Responses alone has them
	Name        string
	Description string
	Schema      []byte // of the arguments, in JSON
}

// Message is one part of the conversation.
type Message struct {
	Role     string
	Text     string
	Thoughts []Thought
	Calls    []ToolCall
	Results  []Result
}

// ToolCall is a call that the model has made.
type ToolCall struct {
	ID        string // of Gemini the client's own, where it has one
	Namespace string
	Tool      string
	Args      string // JSON
}

// Result is what a tool has answered.
type Result struct {
	ID    string // of its call
	Tool  string // Gemini alone says it
	Text  string
	Error bool // Anthropic alone says it
}

// News are the messages since the model spoke last.
func (r Request) News() []Message {
	for i, message := range slices.Backward(r.Messages) {
		if message.Role == RoleModel {
			return r.Messages[i+1:]
		}
	}
	return r.Messages
}

// Results are those of the tools that the model has called last.
func (r Request) Results() []Result {
	var results []Result
	for _, message := range r.News() {
		results = append(results, message.Results...)
	}
	return results
}

// Offers are the names of the tools, with their namespaces before them.
func (r Request) Offers() []string {
	names := make([]string, 0, len(r.Tools))
	for _, tool := range r.Tools {
		names = append(names, tool.full())
	}
	return names
}

// Find is the tool that a script means: the one of this very name, else the one whose name ends so. Hosts put the
// server's name before a tool's, each with other signs between them; a slash in the script stands for all of them.
func (r Request) Find(name string) (Tool, error) {
	var found []Tool
	for _, tool := range r.Tools {
		if tool.Name == name || tool.full() == name {
			return tool, nil
		}
		if strings.HasSuffix("_"+plain(tool.full()), "_"+plain(name)) {
			found = append(found, tool)
		}
	}
	offers := r.Offers()
	slices.Sort(offers)
	switch len(found) {
	case 0:
		return Tool{}, fmt.Errorf("the script calls %q, which is not offered; offered: %s", name, strings.Join(offers, ", "))
	case 1:
		return found[0], nil
	default:
		return Tool{}, fmt.Errorf("the script calls %q, which can mean %d of the tools offered (%s, %s); write SERVER/NAME",
			name, len(found), found[0].full(), found[1].full())
	}
}

func (t Tool) full() string {
	if t.Namespace == "" {
		return t.Name
	}
	return t.Namespace + "__" + t.Name
}

var separators = regexp.MustCompile(`[-_./: ]+`)

// plain is a name with the same sign between all of its parts.
func plain(name string) string { return separators.ReplaceAllString(name, "_") }

// news is the text of what is new to the model.
func (r Request) news() string {
	var text strings.Builder
	for _, message := range r.News() {
		fmt.Fprintln(&text, message.Text)
		for _, result := range message.Results {
			fmt.Fprintln(&text, result.Text)
		}
	}
	return text.String()
}

// summary says in a line what was asked, for a test that fails.
func (r Request) summary() string {
	return fmt.Sprintf("%s request of model %q with %d messages and %d tools; new: %s", r.Wire, r.Model, len(r.Messages), len(r.Tools), quote(r.news()))
}
