package outbox

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// Headers of a row that are never sent with its message. NotAfter is the last instant at which the message may be
// sent. Once says that the message counts as sent before it is sent. ConsentGeneration is the generation of the
// consent to it: in a later one the message may not be sent.
const NotAfter, Once, ConsentGeneration = "Earshot-Not-After", "Earshot-Once", "Earshot-Agreed-In"

// tooOldError makes a message a dead letter.
type tooOldError struct{}

func (tooOldError) Error() string {
	return "the command was to leave before now; it would start what is too old"
}

// Unpublishable marks the error of a message that can never be sent, see [Bus].
func (tooOldError) Unpublishable() bool { return true }

// transmit publishes a row of the outbox, unless its time has passed.
func (p *Outbox) transmit(ctx context.Context, row store.Outgoing) error {
	limit := row.Header[NotAfter]
	if len(limit) == 0 {
		return p.o.Bus.Publish(ctx, row.Subject, row.Header, row.Payload)
	}
	var last turn.Timestamp
	err := json.Unmarshal([]byte(limit[0]), &last, jsonv1.FormatDurationAsNano(true))
	if err != nil || last.Passed(p.o.Now()) {
		p.forgetUnsent(row.ID)
		return tooOldError{}
	}
	if in := row.Header[ConsentGeneration]; in != nil && !slices.Equal(in, []string{p.o.Generation()}) {
		return tooOldError{} // the process that received the yes is gone, and the yes with it
	}
	header := maps.Clone(row.Header)
	delete(header, NotAfter)
	delete(header, Once)
	delete(header, ConsentGeneration)
	if row.Header[Once] != nil {
		if err := p.o.SaveIncarnation(ctx); err != nil { // no service asks for a start, which would check it again
			return store.Unexpected("writing the incarnation", err)
		}
		mine, err := p.claimOnce(ctx, row.ID)
		if err != nil || !mine {
			return err
		}
	}
	err = p.o.Bus.Publish(ctx, row.Subject, header, row.Payload)
	if err == nil || unpublishable(err) {
		p.forgetUnsent(row.ID)
	}
	return err
}

// claimOnce reports whether this kernel may send a message that may be sent only once. No start tolerates a second
// copy, so the message counts as sent before it is. If the kernel dies in between, nobody sends it, and a person
// is asked when its lease expires.
func (p *Outbox) claimOnce(ctx context.Context, id int64) (bool, error) {
	p.mu.Lock()
	_, mine := p.sendingOnce[id]
	p.mu.Unlock()
	if mine { // the bus was unreachable the last time
		return true, nil
	}
	err := p.o.Ledger.Update(context.WithoutCancel(ctx), func(tx store.Tx) error { return tx.Save(store.Batch{SendOnce: []int64{id}}) })
	p.o.Reached("command.leaving")
	if errors.Is(err, store.ErrConflict) { // it was sent, or is a dead letter
		return false, nil
	}
	if err != nil {
		return false, err
	}
	p.mu.Lock()
	p.sendingOnce[id] = struct{}{}
	p.mu.Unlock()
	return true, nil
}

func (p *Outbox) forgetUnsent(id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sendingOnce, id)
}
