package llm

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxEvent is the longest line of a stream.
const maxEvent = 16 << 20

// ErrIncomplete means that a stream ended before the answer did.
var ErrIncomplete = errors.New("the answer broke off before its end")

// ErrMalformed means that a server sent something else than its API says.
var ErrMalformed = errors.New("the server's answer cannot be read")

// events calls fn with the data of each server-sent event.
func events(stream io.Reader, fn func(data []byte) error) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, maxEvent)
	var data []byte
	some := false
	flush := func() error {
		if !some {
			return nil
		}
		event := data
		data, some = nil, false
		return fn(event)
	}
	for lines.Scan() {
		line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
		if len(line) == 0 {
			if err := flush(); err != nil {
				return err
			}
			continue
		}
		value, is := bytes.CutPrefix(line, []byte("data:"))
		if !is {
			continue // a comment, or the name of an event, which its data repeats
		}
		if some {
			data = append(data, '\n')
		}
		data, some = append(data, bytes.TrimPrefix(value, []byte(" "))...), true
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	return flush()
}
