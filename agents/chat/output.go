package chat

import (
	"io"
	"strings"
)

// output writes what the person hears while the model answers, and keeps it for the end of the turn.
type output struct {
	to   io.Writer
	said strings.Builder
}

// text adds a piece of the model's answer.
func (o *output) text(text string) error {
	o.said.WriteString(text)
	_, err := io.WriteString(o.to, text)
	return err //nolint:wrapcheck // it is the worker's own
}

// note adds a sentence of the agent itself, as a paragraph.
func (o *output) note(sentence string) error {
	before := ""
	if o.said.Len() > 0 && !strings.HasSuffix(o.said.String(), "\n\n") {
		before = "\n\n"
	}
	return o.text(before + sentence + "\n\n")
}
