package hub

import (
	"sync"
	"weak"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
)

// entry is one event of a session, kept as the bytes that the ledger has. It is decoded when somebody needs it: the
// streams that deliver it at the same time share what the first of them has decoded, and nothing keeps that for later.
// It is safe for concurrent use.
type entry struct {
	seq int64
	raw []byte

	mu      sync.Mutex
	decoded weak.Pointer[content]
}

// content is what an event says. Nobody changes it.
type content struct {
	event aaep.Event
	// unreadable: the event cannot be decoded. It is passed on as it is.
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
