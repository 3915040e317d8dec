package hints_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/hints"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// bus notes the events that are published, by the ends of their subjects and what they say of the status.
type bus struct {
	mu   sync.Mutex
	sent []string
}

func (b *bus) Publish(_ context.Context, subject string, _ map[string][]string, payload []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, rest, _ := strings.Cut(string(payload), `"status":"`)
	status, _, _ := strings.Cut(rest, `"`)
	b.sent = append(b.sent, subject[strings.LastIndex(subject, ".")+1:]+" "+status)
	return nil
}

func state(id string, s turn.Status) turn.State {
	return turn.State{Turn: id, Project: "home", Channel: "public", Agent: "tidy", Status: s, Epoch: 1}
}

// TestOrder: what is ready first waits for an earlier step of its turn, and not for other turns, nor for a step that was given up.
func TestOrder(t *testing.T) {
	t.Parallel()
	b := &bus{}
	p := hints.New(b, time.Now, slog.New(slog.DiscardHandler))
	one, other := "turn_"+strings.Repeat("a", 32), "turn_"+strings.Repeat("1", 32)
	first, lost, second := p.Reserve(one), p.Reserve(one), p.Reserve(one)
	elsewhere := p.Reserve(other)
	step := func(id string, was, is turn.Status) hints.Step {
		return hints.Step{Was: state(id, was), Is: state(id, is)}
	}
	p.Ready(t.Context(), second, step(one, turn.Running, turn.Suspended))
	p.Ready(t.Context(), elsewhere, step(other, turn.Running, turn.Suspended))
	if want := []string{"state suspended"}; !slices.Equal(b.sent, want) {
		t.Errorf("before the first step %q, want that of the other turn", b.sent)
	}
	b.sent = nil
	p.Ready(t.Context(), first, step(one, turn.Queued, turn.Running))
	if want := []string{"state running"}; !slices.Equal(b.sent, want) {
		t.Errorf("published %q, want %q", b.sent, want)
	}
	p.Drop(lost)
	if want := []string{"state running", "state suspended"}; !slices.Equal(b.sent, want) {
		t.Errorf("published %q, want %q", b.sent, want)
	}
}

// TestNone: without a publisher nothing is reserved.
func TestNone(t *testing.T) {
	t.Parallel()
	var p *hints.Publisher
	e := p.Reserve("turn_1")
	p.Drop(e)
	if e != nil {
		t.Error("a place was reserved")
	}
}
