package acp

import (
	"bufio"
	"io"

	"github.com/coder/acp-go-sdk"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxMessage limits a message of an agent, as the SDK does.
const maxMessage = 10 << 20

// tap passes an agent's messages on to the SDK, all but the updates, which it hands over itself. The SDK would handle requests
// before the updates that came before them, and end the connection when a thousand updates wait; here each update
// has been processed before anything that follows it is passed on, and an agent that says much has to wait.
type tap struct {
	lines  *bufio.Scanner
	update func(params jsontext.Value)
	opened chan struct{} // closed when the connection is set up
	rest   []byte
}

func newTap(from io.Reader, update func(params jsontext.Value)) *tap {
	t := &tap{lines: bufio.NewScanner(from), update: update, opened: make(chan struct{})}
	t.lines.Buffer(nil, maxMessage)
	return t
}

// Read implements [io.Reader].
func (t *tap) Read(p []byte) (int, error) {
	<-t.opened
	for len(t.rest) == 0 {
		if !t.lines.Scan() {
			if err := t.lines.Err(); err != nil {
				return 0, err //nolint:wrapcheck // the SDK says what it is about
			}
			return 0, io.EOF
		}
		if !t.observe(t.lines.Bytes()) {
			t.rest = append(append(t.rest[:0], t.lines.Bytes()...), '\n')
		}
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

// observe hands an update over, and reports whether the line is one.
func (t *tap) observe(line []byte) bool {
	var message struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
		Params jsontext.Value `json:"params"`
	}
	if json.Unmarshal(line, &message) != nil || message.ID != nil || message.Method != acp.ClientMethodSessionUpdate {
		return false
	}
	t.update(message.Params)
	return true
}
