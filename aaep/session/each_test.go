package session_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// TestEach: who writes the events adds to them, and what it refuses was not told, with all of
// its step.
func TestEach(t *testing.T) {
	t.Parallel()
	p := newProducer(t)
	p.start()
	var wrote [][]byte
	p.session.Each(func(e *aaep.Event) error {
		e.Urgency = aaep.UrgencyCritical
		raw, err := e.Encode()
		wrote = append(wrote, raw)
		return err
	})
	reported, err := p.session.Move(p.now, p.rand, aaep.StateThinking, aaep.StateChanged{SummaryNormal: "Thinking."})
	if err != nil || len(reported) != 1 || reported[0].Urgency != aaep.UrgencyCritical {
		t.Fatalf("got %+v, %v; want one event with what was added to it", reported, err)
	}
	if raw, err := reported[0].Encode(); err != nil || len(wrote) != 1 || !bytes.Equal(raw, wrote[0]) {
		t.Errorf("told\n%s\nand wrote\n%s (%v)", raw, wrote, err)
	}

	no := errors.New("no room")
	before := p.session.State()
	p.session.Each(func(e *aaep.Event) error {
		if e.Type() == aaep.TypeSessionCompleted { // the second event of the step
			return no
		}
		return nil
	})
	events, err := p.session.Complete(p.now, p.rand, aaep.SessionCompleted{SummaryNormal: "Done."}, session.Closing{})
	var refused *session.Error
	if !errors.As(err, &refused) || refused.Code != session.CodeBadEvent || !errors.Is(err, no) || events != nil {
		t.Errorf("got %v, %v; want nothing, and %s because of %v", events, err, session.CodeBadEvent, no)
	}
	if after := p.session.State(); after.Phase != before.Phase || after.Current != before.Current {
		t.Errorf("the session is %s at %s; want it as it was, %s at %s", after.Phase, after.Current, before.Phase, before.Current)
	}
}
