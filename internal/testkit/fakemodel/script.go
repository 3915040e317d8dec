package fakemodel

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Script is what the model does, a turn for each request.
type Script []Turn

// Turn is one answer. Thinking, text and calls are sent in this order; a turn without any of them says nothing.
type Turn struct {
	// Aside makes it no turn but an answer to requests beside the conversation, such as for a title: to each whose system
	// prompt or news contain this text, as often as there is one, or never.
	Aside string `yaml:"aside"`
	// When is a text that the request must contain since the model's last answer, in a tool's result or in a message.
	When string `yaml:"when"`
	// Either replaces the turn by the first of these whose When holds. Its other fields are left empty.
	Either []Turn `yaml:"either"`
	// Wait names a gate: nothing is sent until the test opens it (Server.Open).
	Wait string `yaml:"wait"`
	// Pause names a gate that is half-way through the answer. It needs a streamed answer.
	Pause string `yaml:"pause"`

	Think Thought `yaml:"think"`
	Say   string  `yaml:"say"`
	Call  []Call  `yaml:"call"`
	Usage Usage   `yaml:"usage"`
	// Truncated ends the answer as one that has reached its limit of tokens.
	Truncated bool `yaml:"truncated"`

	// Cut breaks the connection half-way through the answer.
	Cut bool `yaml:"cut"`
	// Fail answers with an error of HTTP instead.
	Fail Failure `yaml:"fail"`
}

// Call is one call of a tool.
type Call struct {
	// Tool is a tool's name, or SERVER/NAME where several servers have one of that name.
	Tool string         `yaml:"tool"`
	Args map[string]any `yaml:"args"`
	// Raw is sent instead of Args, byte for byte, for arguments that no encoder writes. Anthropic whole and Gemini carry
	// arguments as JSON values, so that there it has to be valid JSON.
	Raw string `yaml:"raw"`
}

// Thought is a block of thinking. Clients give it back unchanged: its signature is all that they need not understand.
type Thought struct {
	Text      string `yaml:"text"`
	Signature string `yaml:"signature"`
	// Redacted is the data of a block that Anthropic has encrypted; it has neither text nor signature.
	Redacted string `yaml:"redacted"`
}

// Usage counts tokens. All zero means 10 of input and 5 of output.
type Usage struct {
	Input      int `yaml:"input"` // without those of the cache
	CacheRead  int `yaml:"cache_read"`
	CacheWrite int `yaml:"cache_write"`
	Output     int `yaml:"output"`    // with those of thinking
	Reasoning  int `yaml:"reasoning"` // of the output
}

// Failure is an error of HTTP. A status of zero means none.
type Failure struct {
	Status int `yaml:"status"`
	// Kind is the wire's own word for it; empty means the usual one of the status.
	Kind    string `yaml:"kind"`
	Message string `yaml:"message"`
	// RetryAfter is the header of this name, in seconds.
	RetryAfter string `yaml:"retry_after"`
}

// Texts is the script of a model that only talks: one turn for each text.
func Texts(texts ...string) Script {
	script := make(Script, 0, len(texts))
	for _, text := range texts {
		script = append(script, Turn{Say: text})
	}
	return script
}

// ReadFile reads a script in YAML. Each ${NAME} in it is replaced by the value of that name.
func ReadFile(path string, values map[string]string) (Script, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	script, err := Parse(raw, values)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return script, nil
}

// Parse is ReadFile of what was read.
func Parse(raw []byte, values map[string]string) (Script, error) {
	text := string(raw)
	for name, value := range values {
		text = strings.ReplaceAll(text, "${"+name+"}", value)
	}
	if i := strings.Index(text, "${"); i >= 0 {
		name, _, _ := strings.Cut(text[i+2:], "}")
		return nil, fmt.Errorf("found ${%s}, expected one of the names that were given a value", name)
	}
	var file struct {
		Turns Script `yaml:"turns"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("parse script: %w", err)
	}
	if len(file.Turns) == 0 {
		return nil, errors.New("found no turns, expected a list of them under turns")
	}
	for i, turn := range file.Turns {
		if err := turn.check(); err != nil {
			return nil, fmt.Errorf("turn %d: %w", i+1, err)
		}
	}
	return file.Turns, nil
}

func (t Turn) check() error {
	for i, call := range t.Call {
		if call.Tool == "" {
			return fmt.Errorf("call %d: found no tool, expected its name", i+1)
		}
	}
	for i, turn := range t.Either {
		if len(turn.Either) > 0 {
			return fmt.Errorf("choice %d: found either within either, expected a turn", i+1)
		}
		if err := turn.check(); err != nil {
			return fmt.Errorf("choice %d: %w", i+1, err)
		}
	}
	return nil
}

// choose is the turn that answers what has newly come in.
func (t Turn) choose(news string) (Turn, error) {
	if len(t.Either) == 0 {
		if !strings.Contains(news, t.When) {
			return Turn{}, fmt.Errorf("expected %q in what is new to the model, found %s", t.When, quote(news))
		}
		return t, nil
	}
	var expected []string
	for _, turn := range t.Either {
		if strings.Contains(news, turn.When) {
			return turn, nil
		}
		expected = append(expected, fmt.Sprintf("%q", turn.When))
	}
	return Turn{}, fmt.Errorf("expected %s in what is new to the model, found %s", strings.Join(expected, " or "), quote(news))
}

// tokens are the turn's own, or the usual ones.
func (t Turn) tokens() Usage {
	if t.Usage == (Usage{}) {
		return Usage{Input: 10, Output: 5}
	}
	return t.Usage
}

// quote is the end of a text: what is new stands there.
func quote(text string) string {
	const most = 600
	if runes := []rune(text); len(runes) > most {
		text = "…" + string(runes[len(runes)-most:])
	}
	return fmt.Sprintf("%q", text)
}
