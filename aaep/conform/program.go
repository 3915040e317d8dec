package conform

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
)

// ErrProgram is what a judge that is another program returns once it cannot be talked to any more: it has ended, or writes
// what cannot be read. Do not ask it again.
var ErrProgram = errors.New("the judge cannot be asked")

// maxAnswer is how long an answer of a program may be, in bytes.
const maxAnswer = 4 << 20

// question is what a program is asked, as one line of JSON.
type question struct {
	ID       string     `json:"id"` // of the vector, for the program's own notes
	Kind     Kind       `json:"kind"`
	Mode     Mode       `json:"mode"`
	Options  Options    `json:"options"`
	Messages []envelope `json:"messages"`
}

// envelope is one message as it was: text where it is UTF-8, otherwise its bytes.
type envelope struct {
	Text   *string `json:"text,omitempty"`
	Base64 string  `json:"base64,omitempty"`
}

// answer is what it answers, as one line of JSON.
type answer struct {
	Findings    []finding `json:"findings"`
	Unsupported string    `json:"unsupported"` // why it cannot judge such a case
}

// finding is a violation, and the message that shows it.
type finding struct {
	Message  int           `json:"message"` // from 0; the number of messages is the end of a stream
	Rule     string        `json:"rule"`
	Also     []string      `json:"also"`
	Severity aaep.Severity `json:"severity"`
	Path     string        `json:"path"` // a JSON pointer
	Text     string        `json:"text"`
}

// Program returns a judge that is another program, in any language. For each case it reads one line of JSON from w's other
// end, and writes one line of JSON to r's; docs/conformance.md shows both. An answer with "unsupported" is [ErrUnsupported];
// one that cannot be read, and the end of r, is [ErrProgram], now and from then on.
func Program(w io.Writer, r io.Reader) Judge {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxAnswer)
	var broken error
	return func(c Case) ([][]aaep.Violation, error) {
		if broken != nil {
			return nil, broken
		}
		found, err := ask(w, lines, c)
		if errors.Is(err, ErrProgram) {
			broken = err
		}
		return found, err
	}
}

func ask(w io.Writer, lines *bufio.Scanner, c Case) ([][]aaep.Violation, error) {
	q := question{ID: c.ID, Kind: c.Kind, Mode: c.Mode, Options: c.Options, Messages: make([]envelope, len(c.Messages))}
	for i, raw := range c.Messages {
		if text := string(raw); utf8.Valid(raw) {
			q.Messages[i].Text = &text
		} else {
			q.Messages[i].Base64 = base64.StdEncoding.EncodeToString(raw)
		}
	}
	line, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("conform: the vector %s cannot be written: %w", c.ID, err)
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("%w: it does not read the vector %s: %w", ErrProgram, c.ID, err)
	}
	if !lines.Scan() {
		if errors.Is(lines.Err(), bufio.ErrTooLong) {
			return nil, fmt.Errorf("%w: its answer to the vector %s is a line of more than %d bytes", ErrProgram, c.ID, maxAnswer)
		}
		return nil, fmt.Errorf("%w: it has ended without an answer to the vector %s", ErrProgram, c.ID)
	}
	var a answer
	if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
		return nil, fmt.Errorf(`%w: its answer to the vector %s is not one line of JSON such as {"findings":[]}: %w`, ErrProgram, c.ID, err)
	}
	if a.Unsupported != "" {
		return nil, fmt.Errorf("%w: %s", ErrUnsupported, a.Unsupported)
	}
	return a.violations(c)
}

// violations sorts the findings by message.
func (a answer) violations(c Case) ([][]aaep.Violation, error) {
	found := make([][]aaep.Violation, len(c.Messages)+1)
	for _, f := range a.Findings {
		switch {
		case f.Message < 0 || f.Message >= len(found):
			return nil, fmt.Errorf("%w: it found something in message %d of the vector %s, which has %d", ErrProgram, f.Message, c.ID, len(c.Messages))
		case f.Severity != aaep.SeverityError && f.Severity != aaep.SeverityWarning && f.Severity != aaep.SeverityInfo:
			return nil, fmt.Errorf(`%w: the severity of a finding in the vector %s is %q; want "error", "warning" or "info"`, ErrProgram, c.ID, f.Severity)
		}
		found[f.Message] = append(found[f.Message], aaep.Violation{Rule: f.Rule, Also: f.Also, Severity: f.Severity, Path: f.Path, Message: f.Text})
	}
	return found, nil
}
