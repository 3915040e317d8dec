package hub

import (
	"bytes"
	"sync"
	"weak"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
)

// entry is one event of a session, as the bytes of the ledger. It is decoded and translated on demand. Streams that
// deliver it at the same time share the results, and only freshest retains the latest of these afterwards. It is safe for
// concurrent use.
type entry struct {
	freshest *freshest // nil for an event that was read from the ledger
	seq      int64
	raw      []byte
	template string // of the message that it says, for other languages
	params   jsontext.Value

	mu         sync.Mutex
	decoded    weak.Pointer[content]
	translated map[Translation]weak.Pointer[entry]
}

// content is a decoded event. It is immutable.
type content struct {
	event aaep.Event
	// unreadable is set if the event cannot be decoded. It is then passed on unchanged.
	unreadable error
	// tokens is set if the event may name a reply token, also one that is written with escapes.
	tokens bool
}

// freshest holds the latest results of entries, so that streams that are a moment behind need not make them again.
type freshest struct {
	mu   sync.Mutex
	held [256]any
	next int
}

func (f *freshest) hold(what any) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held[f.next] = what
	f.next = (f.next + 1) % len(f.held)
}

func newEntry(row api.EventRow) *entry {
	return &entry{seq: row.Seq, raw: row.Body, template: row.Template, params: row.Params}
}

// size returns about how many bytes of memory it takes.
func (e *entry) size() int { return len(e.raw) + len(e.params) }

func (e *entry) content() *content {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := e.decoded.Value(); c != nil {
		return c
	}
	c := new(content)
	c.event, c.unreadable = aaep.DecodeEvent(e.raw)
	c.tokens = c.unreadable != nil || bytes.Contains(e.raw, []byte(replyToken)) || bytes.Contains(e.raw, []byte(`\u`))
	e.decoded = weak.Make(c)
	e.freshest.hold(c)
	return c
}

// in returns the event in another language.
func (e *entry) in(t Translation) (*entry, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if other := e.translated[t].Value(); other != nil {
		return other, nil
	}
	raw, err := t.Event(e.raw, e.template, e.params)
	if err != nil {
		return nil, err
	}
	other := &entry{seq: e.seq, raw: raw, freshest: e.freshest}
	if e.translated == nil {
		e.translated = map[Translation]weak.Pointer[entry]{}
	}
	e.translated[t] = weak.Make(other)
	e.freshest.hold(other)
	return other, nil
}

// asks reports whether the event may put a question.
func (c *content) asks() bool {
	switch c.event.Payload.(type) {
	case aaep.AwaitingConfirmation, aaep.AwaitingClarification:
		return true
	}
	return c.unreadable != nil
}
