package hub

import (
	"sync"
	"weak"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
)

// entry is one event of a session, as the bytes of the ledger. It is decoded on demand. Streams that deliver it at the
// same time share the decoded form, and nothing retains that form afterwards. It is safe for concurrent use.
type entry struct {
	seq int64
	raw []byte

	mu      sync.Mutex
	decoded weak.Pointer[content]
}

// content is a decoded event. It is immutable.
type content struct {
	event aaep.Event
	// unreadable is set if the event cannot be decoded. It is then passed on unchanged.
	unreadable error
}

func newEntry(row api.EventRow) *entry { return &entry{seq: row.Seq, raw: row.Body} }

func (e *entry) content() *content {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := e.decoded.Value(); c != nil {
		return c
	}
	c := new(content)
	c.event, c.unreadable = aaep.DecodeEvent(e.raw)
	e.decoded = weak.Make(c)
	return c
}

// asks reports whether the event may put a question.
func (c *content) asks() bool {
	switch c.event.Payload.(type) {
	case aaep.AwaitingConfirmation, aaep.AwaitingClarification:
		return true
	}
	return c.unreadable != nil
}
