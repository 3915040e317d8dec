package command

import (
	"io"

	"github.com/earshot-dev/earshot/tool/settings"
)

// capture keeps the beginning and the end of a stream, and counts all bytes. It reads the stream to its end whatever
// its size, so that the writer never blocks.
type capture struct {
	limit, margin int
	head, tail    []byte
	total         int64
}

// tailSize is how many bytes of a stream's end are kept for an error.
const tailSize = 4 << 10

func newCapture(limit int, r *settings.Redactor) *capture {
	return &capture{limit: limit, margin: r.Margin()}
}

// read reads until the stream ends or fails.
func (c *capture) read(from io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		c.add(buffer[:n])
		if err != nil {
			return
		}
	}
}

func (c *capture) add(more []byte) {
	c.total += int64(len(more))
	if space := c.limit + c.margin - len(c.head); space > 0 {
		c.head = append(c.head, more[:min(space, len(more))]...)
	}
	c.tail = append(c.tail, more...)
	if most := tailSize + c.margin; len(c.tail) > most {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-most:]...)
	}
}

// cut reports whether the stream was longer than the limit.
func (c *capture) cut() bool { return c.total > int64(c.limit) }

// start returns the beginning of the stream without secrets, at most limit bytes.
func (c *capture) start(r *settings.Redactor) []byte {
	if int64(len(c.head)) == c.total {
		whole := r.Text(c.head)
		if !c.cut() {
			return whole
		}
		return whole[:min(c.limit, len(whole))]
	}
	head := r.Head(c.head)
	return head[:min(c.limit, len(head))]
}

// end returns the end of the stream without secrets, at most tailSize bytes.
func (c *capture) end(r *settings.Redactor) []byte {
	var text []byte
	if int64(len(c.tail)) == c.total {
		text = r.Text(c.tail)
	} else {
		text = r.Tail(c.tail)
	}
	return text[max(0, len(text)-tailSize):]
}
