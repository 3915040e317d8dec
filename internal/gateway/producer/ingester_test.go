package producer_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/gateway/producer"
)

// ledger stands for Earshot: what it is told under a key, it is told once. One request fails: the one after so many.
type ledger struct {
	mu    sync.Mutex
	fails int // which request fails; -1 is none
	told  []string
	keys  map[string]bool
}

func (l *ledger) tell(key, what string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails--; l.fails == -1 {
		return &client.Error{Code: client.CodeUnreachable, Message: "away", Retry: true}
	}
	if !l.keys[key] {
		l.keys[key] = true
		l.told = append(l.told, what)
	}
	return nil
}

func (l *ledger) Open(_ context.Context, q api.AgentOpen) (string, error) {
	return "sess_" + strings.TrimPrefix(q.Key, "ingest.sess_") + "here", l.tell(q.Key, "open")
}

func (l *ledger) Session(string) producer.Session { return ledgerSession{ledger: l} }

// ledgerSession is a session of the ledger.
type ledgerSession struct {
	producer.Session // what is not below is not asked for

	ledger *ledger
}

func (s ledgerSession) Report(_ context.Context, q api.AgentReport) error {
	return s.ledger.tell(q.Key, q.Doing+q.Text+q.Observed+strings.Repeat("missed ", q.Missed))
}

func (s ledgerSession) End(_ context.Context, q api.AgentEnd) error {
	return s.ledger.tell("end", "end: "+q.Summary)
}

func event(kind string, n int, members string) []byte {
	return fmt.Appendf(nil, `{"@context":"https://aaep-protocol.org/context/v1","aaep_version":"1.0.0","type":"aaep:agent.%s","event_id":"evt_%d","session_id":"sess_1",`+
		`"sequence_number":%d,"timestamp":"2026-11-21T12:00:00.000Z","producer":{"agent_id":"other"},%s}`, kind, n, n, members)
}

var whole = [][]byte{
	event("session.started", 0, `"summary_normal":"Tidying up."`),
	event("output.streaming", 1, `"chunk":"One.","position":0,"complete":false`),
	event("output.streaming", 2, `"chunk":"Two.","position":4,"complete":true`),
	event("session.completed", 4, `"summary_normal":"Done."`),
}

var wholeTold = []string{"open", "Tidying up.", "One.", "Two.", "missed ", "end: Done."}

// TestIngesterAway: whenever the server goes away, what was not accepted is sent again, and all is told once, in order.
func TestIngesterAway(t *testing.T) {
	t.Parallel()
	for at := range wholeTold {
		l := &ledger{keys: map[string]bool{}, fails: at}
		folder := producer.Folder(t.TempDir())
		accepted := 0
		for try := 0; accepted < len(whole); try++ {
			d := producer.NewIngester(producer.Options{Memory: folder}) // started again each time
			answer := d.Accept(t.Context(), producer.Caller{Agent: l, Name: "other"}, whole)
			accepted = 0
			for i, e := range answer.Events {
				if e.Status == api.IngestStatusAccepted || e.Status == api.IngestStatusRepeated {
					accepted++
				} else if e.Status != api.IngestStatusDeferred || accepted > i {
					t.Fatalf("event %d is %+v", i, e)
				}
			}
			if try > 2 {
				t.Fatalf("still %+v", answer)
			}
		}
		if !slices.Equal(l.told, wholeTold) {
			t.Errorf("failing at %d: told %q", at, l.told)
		}
	}
}

// TestIngesterAtOnce: events that come twice at the same time are told once.
func TestIngesterAtOnce(t *testing.T) {
	t.Parallel()
	l := &ledger{keys: map[string]bool{}, fails: -1}
	d := producer.NewIngester(producer.Options{Memory: producer.Folder(t.TempDir())})
	var both sync.WaitGroup
	var answers [8]api.Ingested
	for i := range answers {
		both.Go(func() { answers[i] = d.Accept(t.Context(), producer.Caller{Agent: l, Name: "other"}, whole) })
	}
	both.Wait()
	accepted := 0
	for _, a := range answers {
		for _, e := range a.Events {
			if e.Status == api.IngestStatusAccepted {
				accepted++
			} else if e.Status != api.IngestStatusRepeated {
				t.Errorf("an event is %+v", e)
			}
		}
	}
	if accepted != len(whole) || !slices.Equal(l.told, wholeTold) {
		t.Errorf("%d accepted, told %q", accepted, l.told)
	}
}

// TestIngesterBounds: more sessions than are kept in mind are served all the same, each in its own state.
func TestIngesterBounds(t *testing.T) {
	t.Parallel()
	l := &ledger{keys: map[string]bool{}, fails: -1}
	d := producer.NewIngester(producer.Options{Memory: producer.Folder(t.TempDir())})
	const sessions = 1100
	for _, want := range []string{api.IngestStatusAccepted, api.IngestStatusRepeated} {
		for i := range sessions {
			one := []byte(strings.Replace(string(whole[0]), "sess_1", fmt.Sprint("sess_", i), 1))
			if a := d.Accept(t.Context(), producer.Caller{Agent: l, Name: "other"}, [][]byte{one}); a.Events[0].Status != want {
				t.Fatalf("session %d: %+v, expected %s", i, a.Events[0], want)
			}
		}
	}
}

// TestIngesterUnreadable: where the state of a session cannot be read, no event is taken, and the hint says which file to remove. With it gone,
// nothing is told twice.
func TestIngesterUnreadable(t *testing.T) {
	t.Parallel()
	l, dir := &ledger{keys: map[string]bool{}, fails: -1}, t.TempDir()
	accept := func(events ...[]byte) api.IngestedEvent {
		d := producer.NewIngester(producer.Options{Memory: producer.Folder(dir)}) // started again each time
		return d.Accept(t.Context(), producer.Caller{Agent: l, Name: "other"}, events).Events[0]
	}
	accept(whole[0])
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("found the files %v, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte(`{"session":`), 0o600); err != nil {
		t.Fatal(err)
	}
	one := accept(whole[1])
	if one.Status != api.IngestStatusDeferred || one.Error == nil || !strings.Contains(one.Error.Hint, "file "+filepath.Base(files[0])+" of the folder producers") {
		t.Fatalf("found %+v, %+v", one, one.Error)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	for _, raw := range whole {
		if one := accept(raw); one.Status != api.IngestStatusAccepted {
			t.Errorf("found %+v, %+v", one, one.Error)
		}
	}
	if !slices.Equal(l.told, wholeTold) {
		t.Errorf("told %q", l.told)
	}
}
