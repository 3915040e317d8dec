package hub

import (
	"bytes"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
)

// entry is one event of a session, as the bytes of the ledger. It is decoded and translated on demand, once for all streams that
// deliver it at about the same time: freshest has the results of those that the feed retains released. It is safe for concurrent use.
type entry struct {
	freshest *freshest // nil for an event that was read from the ledger
	seq      int64
	raw      []byte
	template string // of the message that it says, for other languages
	params   jsontext.Value

	mu         sync.Mutex // of those who make results
	decoded    atomic.Pointer[content]
	translated atomic.Pointer[translated]
}

// translated is an event in another language, and in further ones.
type translated struct {
	to    Translation
	entry *entry
	next  *translated
}

// content is a decoded event. It is immutable.
type content struct {
	event aaep.Event
	// unreadable is set if the event cannot be decoded. It is then passed on unchanged.
	unreadable error
	// tokens is set if the event may name a reply token, also one that is written with escapes.
	tokens bool
}

// freshest are the entries with results, the latest ones, so that streams that are a moment behind need not make them again.
type freshest struct {
	mu   sync.Mutex
	held [128]*entry
	next int
}

func (f *freshest) hold(e *entry) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if oldest := f.held[f.next]; oldest != nil {
		oldest.decoded.Store(nil)
		oldest.translated.Store(nil)
	}
	f.held[f.next] = e
	f.next = (f.next + 1) % len(f.held)
}

func newEntry(row api.EventRow) *entry {
	return &entry{seq: row.Seq, raw: row.Body, template: row.Template, params: row.Params}
}

// size returns about how many bytes of memory it takes.
func (e *entry) size() int { return len(e.raw) + len(e.params) }

func (e *entry) content() *content {
	if c := e.decoded.Load(); c != nil {
		return c
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := e.decoded.Load(); c != nil {
		return c
	}
	c := new(content)
	c.event, c.unreadable = aaep.DecodeEvent(e.raw)
	c.tokens = c.unreadable != nil || bytes.Contains(e.raw, []byte(replyToken)) || bytes.Contains(e.raw, []byte(`\u`))
	e.freshest.hold(e)
	e.decoded.Store(c)
	return c
}

// in returns the event in another language.
func (e *entry) in(t Translation) (*entry, error) {
	if other := e.already(t); other != nil {
		return other, nil
	}
	e.content() // by which it is held
	e.mu.Lock()
	defer e.mu.Unlock()
	if other := e.already(t); other != nil {
		return other, nil
	}
	raw, err := t.Event(e.raw, e.template, e.params)
	if err != nil {
		return nil, err
	}
	other := &entry{seq: e.seq, raw: raw}
	e.translated.Store(&translated{to: t, entry: other, next: e.translated.Load()})
	return other, nil
}

// already returns the event in another language, nil if it has not been translated.
func (e *entry) already(t Translation) *entry {
	for one := e.translated.Load(); one != nil; one = one.next {
		if one.to == t {
			return one.entry
		}
	}
	return nil
}

// asks reports whether the event may put a question.
func (c *content) asks() bool {
	switch c.event.Payload.(type) {
	case aaep.AwaitingConfirmation, aaep.AwaitingClarification:
		return true
	}
	return c.unreadable != nil
}
