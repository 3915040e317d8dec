package stream

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// buffers are for the groups that are being written. A stream that has nothing to write needs none.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled is the largest buffer that is kept.
const maxPooled = 256 << 10

// Open opens a stream of server-sent events. It sends its header at once, so that the reader knows that it is connected.
// The server's own timeouts do not apply to it.
func Open(w http.ResponseWriter) *Sender {
	to := &eventWire{to: w, control: http.NewResponseController(w)}
	Head(w)
	_ = to.control.SetReadDeadline(time.Time{})
	w.WriteHeader(http.StatusOK)
	_ = to.control.Flush() // not every writer can; then the first frame takes the header along
	return &Sender{wire: to}
}

// Head sets the header of a stream, which is all that HEAD gets.
func Head(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no") // a proxy in between must not hold events back
}

// eventWire writes server-sent events.
type eventWire struct {
	to      http.ResponseWriter
	control *http.ResponseController
}

// write sends a group in one write (TR-SSE-06, C-92).
func (e *eventWire) write(group []Frame) error {
	buffer, _ := buffers.Get().(*bytes.Buffer)
	defer release(buffer)
	for _, f := range group {
		f.appendTo(buffer)
	}
	_ = e.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // by the real clock; not every writer supports a deadline
	if _, err := e.to.Write(buffer.Bytes()); err != nil {
		return fmt.Errorf("the stream: %w", err)
	}
	if err := e.control.Flush(); err != nil {
		return fmt.Errorf("the stream: %w", err)
	}
	return nil
}

func release(buffer *bytes.Buffer) {
	if buffer.Cap() <= maxPooled {
		buffer.Reset()
		buffers.Put(buffer)
	}
}

func (e *eventWire) beat() error { return e.write([]Frame{{Comment: "still here"}}) }

// appendTo writes the frame: the event's name, its id, the data on one line, an empty
// line, with single line feeds.
func (f Frame) appendTo(b *bytes.Buffer) {
	if f.Comment != "" {
		b.WriteString(": " + f.Comment + "\n\n")
		return
	}
	if f.Retry > 0 {
		fmt.Fprintf(b, "retry: %d\n\n", f.Retry.Milliseconds())
		return
	}
	if f.Event != "" {
		b.WriteString("event: ")
		b.WriteString(f.Event)
		b.WriteByte('\n')
	}
	if f.ID != "" {
		b.WriteString("id: ")
		b.WriteString(f.ID)
		b.WriteByte('\n')
	}
	b.WriteString("data: ")
	appendLine(b, f.Data)
	b.WriteString("\n\n")
}

// otherBreaks are characters that some readers treat as line breaks. JSON contains them only in strings, where an
// escape means the same.
var otherBreaks = []struct{ raw, escape string }{
	{"\u0085", `\u0085`},
	{"\u2028", `\u2028`},
	{"\u2029", `\u2029`},
}

// appendLine writes JSON on one line. Line breaks between tokens have no meaning.
func appendLine(b *bytes.Buffer, data []byte) {
	start := b.Len()
	if bytes.IndexByte(data, '\n') >= 0 || bytes.IndexByte(data, '\r') >= 0 {
		data = slices.DeleteFunc(bytes.Clone(data), func(c byte) bool { return c == '\n' || c == '\r' })
	}
	b.Write(data)
	if bytes.IndexByte(data, otherBreaks[0].raw[0]) < 0 && bytes.IndexByte(data, otherBreaks[1].raw[0]) < 0 {
		return // as nearly always, and found faster than each of them
	}
	for _, other := range otherBreaks {
		written := b.Bytes()[start:]
		if bytes.Contains(written, []byte(other.raw)) {
			line := bytes.ReplaceAll(written, []byte(other.raw), []byte(other.escape))
			b.Truncate(start)
			b.Write(line)
		}
	}
}
