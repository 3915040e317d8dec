package forward_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/serve"
	"github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/gateway/forward"
)

// desk is a server of Earshot whose person says yes to everything.
type desk struct {
	mu     sync.Mutex
	got    []string            // the types of what it has taken
	first  []api.IngestedEvent // what the first events are answered with
	ended  chan struct{}       // closed when a session has ended
	cut    bool                // the answer to the first question's event is lost on its way
	taken  map[string]bool     // the ids of what it has taken
	replye error               // in place of an answer
}

func (d *desk) Ingest(_ context.Context, _ string, events [][]byte) (api.Ingested, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.first) > 0 {
		one := d.first[0]
		d.first = d.first[1:]
		return api.Ingested{Events: []api.IngestedEvent{one}}, nil
	}
	e := aaep.Read(events[0])
	kind, _ := e.Text("type")
	id, _ := e.Text("event_id")
	of, _ := e.Text("session_id")
	token, _ := e.Text("reply_token")
	one := api.IngestedEvent{ID: id, Session: of, Status: api.IngestStatusAccepted, Token: token}
	if token != "" {
		one.Question = 7
	}
	if d.taken[id] {
		one.Status = api.IngestStatusRepeated
		return api.Ingested{Events: []api.IngestedEvent{one}}, nil
	}
	if d.taken == nil {
		d.taken = map[string]bool{}
	}
	d.taken[id] = true
	d.got = append(d.got, kind)
	if d.cut && token != "" {
		return api.Ingested{}, &client.Error{Code: client.CodeUnreachable, Message: "the connection was lost", Retry: true}
	}
	if kind == aaep.TypeSessionCompleted {
		close(d.ended)
	}
	return api.Ingested{Events: []api.IngestedEvent{one}}, nil
}

func (d *desk) IngestReply(_ context.Context, _, token string, _ time.Duration) (api.IngestReply, error) {
	if d.replye != nil {
		return api.IngestReply{}, d.replye
	}
	raw, err := aaep.ConfirmationReply{ReplyToken: token, Decision: aaep.DecisionAccept, SubscriptionID: "sub_other", Timestamp: time.Now()}.Encode()
	return api.IngestReply{Outcome: api.IngestAccepted, Reply: raw}, err
}

// room is a producer, a gateway that listens to it, and what the person at it is told.
type room struct {
	producer *serve.Producer
	notices  chan string
	records  chan forward.Record
	stop     func() error
}

func open(t *testing.T, d *desk, save func(forward.Cursor) error) *room {
	t.Helper()
	p, err := serve.New(serve.Options{Producer: aaep.Producer{AgentID: "tidy"}, Allow: serve.Token("a secret")})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(p)
	from, err := subscribe.New(subscribe.Options{
		URL: server.URL, Token: "a secret", Request: aaep.SubscriptionRequest{Capabilities: aaep.Capabilities{SupportsConfirmationReply: new(true)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &room{producer: p, notices: make(chan string, 100), records: make(chan forward.Record, 100)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	g := forward.New(forward.Options{
		From: from, To: d, Save: save, Notice: func(text string) { r.notices <- text }, Record: func(one forward.Record) { r.records <- one },
	})
	go func() { done <- g.Run(ctx) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		err := <-done
		server.Close()
		return err
	})
	t.Cleanup(func() { _ = r.stop() })
	return r
}

// asks has the producer ask for a consent, and end.
func (r *room) asks(t *testing.T) aaep.Resolution {
	t.Helper()
	s, err := r.producer.Begin(aaep.SessionStarted{SummaryNormal: "Tidying up."})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.Confirm(t.Context(), "files.delete", aaep.AwaitingConfirmation{
		Action: "Delete 3 files.", Consequence: "They are gone.", SummaryNormal: "Delete 3 files?", RiskLevel: aaep.RiskHigh, Irreversible: true, TimeoutSeconds: 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Complete(aaep.SessionCompleted{SummaryNormal: "Done."}); err != nil {
		t.Fatal(err)
	}
	return answer.Resolution
}

func arrives[T any](t *testing.T, from <-chan T) (one T) {
	t.Helper()
	select {
	case one = <-from:
	case <-time.After(20 * time.Second):
		t.Error("it does not come")
	}
	return one
}

// TestGateway: each event arrives in its order, an answer goes back, and the cursor has no question left.
func TestGateway(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gateways", "one.json")
	d := &desk{ended: make(chan struct{})}
	r := open(t, d, func(p forward.Cursor) error { return p.Save(path) })
	if got := r.asks(t); got != aaep.ResolutionAccepted {
		t.Errorf("the producer hears %s", got)
	}
	arrives(t, d.ended)
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	cursor := forward.LoadCursor(path)
	if cursor.After == "" || len(cursor.Questions) != 0 {
		t.Errorf("the cursor is %+v", cursor)
	}
	if got := strings.Join(d.got, " "); !strings.HasPrefix(got, aaep.TypeSessionStarted) || !strings.Contains(got, aaep.TypeAwaitingConfirmation) {
		t.Errorf("it took %s", got)
	}
}

// recorded are the records, as lines of JSON. The gateway has ended.
func (r *room) recorded(t *testing.T) string {
	t.Helper()
	close(r.records)
	var lines strings.Builder
	for one := range r.records {
		raw, err := json.Marshal(one, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(raw, '\n'))
	}
	return lines.String()
}

// TestGatewayRecords: what becomes of each event and of the answer is recorded, without the token with which one could answer. An answer that
// is on its way when the gateway ends is waited for: the producer has it.
func TestGatewayRecords(t *testing.T) {
	t.Parallel()
	d := &desk{ended: make(chan struct{}), first: []api.IngestedEvent{{Status: api.IngestStatusDeferred}, {
		ID: "evt_1", Session: "sess_1", As: "sess_here", Status: api.IngestStatusRefused, Error: &api.IngestError{Code: api.IngestEnded, Message: "over"},
		Findings: []api.IngestFinding{{Rule: "SEQ-04", Severity: "error", Path: "/type", Message: "m", Spec: "s"}},
	}}}
	r := open(t, d, func(forward.Cursor) error { return nil })
	if got := r.asks(t); got != aaep.ResolutionAccepted {
		t.Errorf("the producer hears %s", got)
	}
	arrives(t, d.ended)
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	got := r.recorded(t)
	for _, want := range []string{
		`{"connection":{"peer":"earshot","state":"lost"}}`, `{"connection":{"peer":"earshot","state":"back"}}`,
		`{"event":{"event_id":"evt_1","session_id":"sess_1","status":"refused","as_session_id":"sess_here",` +
			`"findings":[{"rule":"SEQ-04","severity":"error","path":"/type","message":"m","spec":"s"}],"error":{"code":"session_ended","message":"over"}}}`,
		`"status":"accepted","question":7}}`, `"outcome":"accepted","delivered":true}}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("found no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "rpl_") {
		t.Errorf("a reply token is in\n%s", got)
	}
}

// TestGatewayCannotSave: where the cursor cannot be written the gateway says so, once, and goes on.
func TestGatewayCannotSave(t *testing.T) {
	t.Parallel()
	d := &desk{ended: make(chan struct{})}
	r := open(t, d, func(forward.Cursor) error { return errors.New("the disk is full") })
	if got := r.asks(t); got != aaep.ResolutionAccepted {
		t.Errorf("the producer hears %s", got)
	}
	arrives(t, d.ended)
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	close(r.notices)
	told := 0
	for text := range r.notices {
		if strings.Contains(text, "the disk is full") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("it is told %d times", told)
	}
}

// TestGatewayWaits: an event that the server cannot take now is sent again, and the person is told why.
func TestGatewayWaits(t *testing.T) {
	t.Parallel()
	d := &desk{ended: make(chan struct{}), first: []api.IngestedEvent{{
		Status: api.IngestStatusDeferred, Error: &api.IngestError{Code: "unreachable", Message: "the state cannot be read", Hint: "remove the file"},
	}}}
	r := open(t, d, func(forward.Cursor) error { return nil })
	if got := r.asks(t); got != aaep.ResolutionAccepted {
		t.Errorf("the producer hears %s", got)
	}
	want := "Earshot does not take events at the moment; the producer waits. The state cannot be read. Remove the file."
	if told := arrives(t, r.notices); told != want {
		t.Errorf("it is told %q", told)
	}
	arrives(t, d.ended)
}

// TestGatewayHeardTwice: where the server has taken a question and its word of that was lost, the question is sent again, and its answer still
// reaches the producer.
func TestGatewayHeardTwice(t *testing.T) {
	t.Parallel()
	d := &desk{ended: make(chan struct{}), cut: true}
	r := open(t, d, func(forward.Cursor) error { return nil })
	if got := r.asks(t); got != aaep.ResolutionAccepted {
		t.Errorf("the producer hears %s", got)
	}
	arrives(t, d.ended)
}

// TestGatewayCannotAnswer: an answer that cannot be had is never a yes, and it is said.
func TestGatewayCannotAnswer(t *testing.T) {
	t.Parallel()
	d := &desk{ended: make(chan struct{}), replye: &client.Error{Code: "not_found", Message: "no such question was sent."}}
	r := open(t, d, func(forward.Cursor) error { return nil })
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		s, err := r.producer.Begin(aaep.SessionStarted{SummaryNormal: "Tidying up."})
		if err != nil {
			t.Error(err)
			return
		}
		answer, _ := s.Confirm(t.Context(), "files.delete", aaep.AwaitingConfirmation{
			Action: "Delete 3 files.", Consequence: "They are gone.", SummaryNormal: "Delete 3 files?", RiskLevel: aaep.RiskHigh, Irreversible: true, TimeoutSeconds: 10,
		})
		if answer.Resolution == aaep.ResolutionAccepted {
			t.Error("silence is a yes")
		}
	}()
	if told := arrives(t, r.notices); told != "Question 7 has no answer that could be passed on: no such question was sent." {
		t.Errorf("it is told %q", told)
	}
	for answer := (*forward.Answer)(nil); answer == nil; {
		if answer = arrives(t, r.records).Answer; answer != nil && (answer.Delivered || answer.Question != 7 || answer.Error == "") {
			t.Errorf("it is recorded as %+v", answer)
		}
	}
	<-asked
}

// TestLoadCursor: a cursor that is not there, or is no cursor, is the beginning.
func TestLoadCursor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "folder", "one.json")
	want := forward.Cursor{After: "evt_1", Questions: []forward.Question{{Session: "sess_1", Token: "rpl_1", Number: 2}}}
	if got := forward.LoadCursor(path); got.After != "" {
		t.Errorf("found %+v", got)
	}
	if err := want.Save(path); err != nil {
		t.Fatal(err)
	}
	if got := forward.LoadCursor(path); got.After != want.After || len(got.Questions) != 1 || got.Questions[0] != want.Questions[0] {
		t.Errorf("found %+v", got)
	}
	if err := os.WriteFile(path, []byte(`{"after":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := forward.LoadCursor(path); got.After != "" {
		t.Errorf("found %+v", got)
	}
}
