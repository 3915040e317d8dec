package kernel_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// fed is a hub with its feed over the world's kernel, and one stream.
type fed struct {
	w      *world
	hub    *hub.Hub
	sub    *hub.Subscription
	cancel context.CancelFunc
	done   chan error
	leave  context.CancelFunc
	left   chan struct{}

	mu  sync.Mutex
	got []hub.Delivery
	err error
}

func (w *world) feed(who access.Principal, after string) *fed {
	w.t.Helper()
	f := &fed{w: w, done: make(chan error, 1), left: make(chan struct{})}
	f.hub = hub.Open(hub.Options{Conn: w.person, Offer: pacing.Offer{Producer: aaep.Producer{AgentID: "earshot"}}})
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	go func() { f.done <- f.hub.Run(ctx) }()
	yes := true
	sub, rejected, err := f.hub.Subscribe(ctx, who, aaep.SubscriptionRequest{AAEPVersion: aaep.Version, SubscriberID: "x", Capabilities: aaep.Capabilities{
		SupportsConfirmationReply: &yes, SupportsClarificationReply: &yes,
	}})
	if rejected != nil || err != nil {
		w.t.Fatalf("%+v, %v", rejected, err)
	}
	f.sub = sub
	hearing, leave := context.WithCancel(context.Background())
	f.leave = leave
	go func() {
		defer close(f.left)
		for d, err := range sub.Deliveries(hearing, after) {
			f.mu.Lock()
			if f.err = err; err == nil {
				f.got = append(f.got, d)
			}
			f.mu.Unlock()
		}
	}()
	synctest.Wait()
	return f
}

// end stops the stream and the hub.
func (f *fed) end() []hub.Delivery {
	f.w.t.Helper()
	f.leave()
	<-f.left
	f.cancel()
	if err := <-f.done; err != nil || f.err != nil {
		f.w.t.Errorf("the hub ended with %v, the stream with %v", err, f.err)
	}
	return f.got
}

// hears waits for an event of a type.
func (f *fed) hears(kind string) aaep.Event {
	f.w.t.Helper()
	var found aaep.Event
	f.w.until("the stream is to hear "+kind, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, d := range f.got {
			if e, err := aaep.DecodeEvent(d.Raw); err == nil && e.Type() == kind {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

// wholly checks that the deliveries hold every event of the session, in order, byte for
// byte, and none of another that it should not.
func (w *world) wholly(session string, all []hub.Delivery) {
	w.t.Helper()
	bodies := w.bodies(session)
	last := int64(0)
	for _, d := range all {
		if d.Session != session {
			continue
		}
		if d.First > last+1 {
			w.t.Errorf("%s/%d comes after %d", session, d.First, last)
		}
		last = max(last, d.Last)
		if string(d.Raw) != bodies[d.First-1] {
			w.t.Errorf("%s/%d was delivered as %s", session, d.First, d.Raw)
		}
	}
	if last != int64(len(bodies)) {
		w.t.Errorf("%s was heard up to %d of %d", session, last, len(bodies))
	}
}

func approver() access.Principal {
	return access.Principal{Name: person, Roles: []access.Role{access.Listener, access.Approver}, Surface: "page"}
}

// TestFeedAnswers: from the first event of a session that began while somebody listens to
// its last, with the answer given on the stream itself; with and without broadcasts.
func TestFeedAnswers(t *testing.T) {
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprintf("lost=%t", lost), func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				if lost {
					w.bus.fault(func(m message) sendResult { return sendResult{drop: m.kind == isBroadcast} })
				}
				f := w.feed(approver(), "")
				w.work(one(burn))
				a := w.begin()
				asked := f.hears(aaep.TypeAwaitingConfirmation).Payload.(aaep.AwaitingConfirmation)
				reply := fmt.Sprintf(`{"type":"confirmation.reply","reply_token":%q,"decision":"accept","subscription_id":%q,"timestamp":%q}`,
					asked.ReplyToken, f.sub.ID(), aaep.FormatTime(time.Now()))
				for range 2 { // the first counts
					if err := f.sub.Reply(w.ctx, []byte(reply)); err != nil {
						t.Error(err)
					}
				}
				w.succeeded(a.Turn)
				w.effectsAre(1)
				f.hears(aaep.TypeSessionCompleted)
				w.wholly(a.Session, f.end())
				receipt := w.cell(`SELECT given_by || ' ' || surface || ' ' || decision FROM receipts`)
				if receipt != person+" page accept" {
					t.Errorf("the receipt: %s", receipt)
				}
			})
		})
	}
}

// TestFeedResumes: kernel and hub are killed while a question is open; who comes again
// with the last id that counted hears the rest without a gap, also of a session that has
// ended meanwhile, and can answer.
func TestFeedResumes(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		f := w.feed(approver(), "")
		w.work(one(burn))
		a := w.begin()
		f.hears(aaep.TypeAwaitingConfirmation)
		before := f.end()
		point := before[len(before)/2]
		for _, d := range before[:len(before)/2+1] {
			if !d.Resumable {
				t.Errorf("%s/%d is not a point to resume from", d.Session, d.First)
			}
		}
		w.restart()
		w.work(one(burn)) // the first worker waits for its own turn
		b := w.begin()
		w.until("two questions are to be open", func() bool { return len(w.questions()) == 2 })
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: b.Session, By: person, Surface: "terminal"}); err != nil {
			t.Fatal(err)
		}
		w.cancelled(b.Turn)
		f = w.feed(approver(), point.EventID)
		f.hears(aaep.TypeSessionCancelled)
		w.accepts()
		w.succeeded(a.Turn)
		f.hears(aaep.TypeSessionCompleted)
		all := slices.Concat(before[:len(before)/2+1], f.end())
		w.wholly(a.Session, all)
		w.wholly(b.Session, all)
	})
}

// TestQuestionRows: what a list says of an open question, with the very event that put
// it, also after it has been given more time.
func TestQuestionRows(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		if _, err := w.hub.Extend(w.ctx, api.ReplyRequest{Question: q.Number, By: person, Surface: "page"}); err != nil {
			t.Fatal(err)
		}
		for _, q := range []api.QuestionRow{q, w.asked()} {
			e, err := aaep.DecodeEvent(q.Body)
			asked, is := e.Payload.(aaep.AwaitingConfirmation)
			if err != nil || !is || asked.ReplyToken != q.Token || e.ID != q.Event || w.bodies(a.Session)[q.Seq-1] != string(q.Body) {
				t.Errorf("the event of %+v: %+v, %v", q, asked, err)
			}
			call := w.last(a.Turn)
			if q.Kind != "confirmation" || q.Call != call.ID || q.Tool != burn || q.Owner != person || q.Agent != agentName || !q.Asked.Equal(e.Time) {
				t.Errorf("%+v", q)
			}
		}
		if now := w.asked(); now.Extensions != 1 || now.Seq <= q.Seq {
			t.Errorf("after the extension: %+v", now)
		}
		w.accepts()
		w.succeeded(a.Turn)
		if rows := w.questions(); len(rows) != 0 {
			t.Errorf("open at the end: %+v", rows)
		}
	})
}

// TestSessionRows: a list in pages, by owner, newest first; one session by each of its
// names.
func TestSessionRows(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		list := func(r api.SessionsRequest) []api.SessionRow {
			var rows []api.SessionRow
			if err := rpc.Ask(w.ctx, w.person, api.OpSessions, r, &rows); err != nil {
				t.Errorf("%+v: %v", r, err)
			}
			return rows
		}
		for _, r := range []api.SessionsRequest{
			{}, {Session: a.Session}, {Token: q.Token}, {Question: q.Number}, {Owners: []string{person}}, {Open: true, Newest: true, Limit: 1},
		} {
			rows := list(r)
			if len(rows) != 1 || rows[0].Session != a.Session || rows[0].Owner != person || rows[0].Request != "tidy up" || rows[0].Ended ||
				rows[0].End != nil || rows[0].Last != int64(len(w.bodies(a.Session))) || rows[0].Status != string(turn.Suspended) {
				t.Errorf("%+v: %+v", r, rows)
			}
		}
		for _, r := range []api.SessionsRequest{
			{Session: "sess_x"}, {Token: "rpl_x"}, {Question: 99}, {Owners: []string{"bob"}}, {After: a.Turn}, {After: a.Turn, Newest: true},
		} {
			if rows := list(r); len(rows) != 0 {
				t.Errorf("%+v: %+v", r, rows)
			}
		}
		w.accepts()
		w.succeeded(a.Turn)
		if rows := list(api.SessionsRequest{}); len(rows) != 1 || !rows[0].Ended || rows[0].Summary == "" {
			t.Errorf("at the end: %+v", rows)
		}
		rows := list(api.SessionsRequest{Session: a.Session})
		if len(rows) != 1 || rows[0].End == nil || !reflect.DeepEqual(*rows[0].End, api.SessionEnd{Status: utp.StatusSuccess, Tally: api.Tally{Invoked: 1, Effects: 1}}) {
			t.Errorf("one at the end: %+v", rows)
		}
		if rows := list(api.SessionsRequest{Open: true}); len(rows) != 0 {
			t.Errorf("open at the end: %+v", rows)
		}
	})
}

// TestSince: what has gone on after an event, and an event that there is not.
func TestSince(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		since := func(q api.SinceRequest) (a api.SinceAnswer, err error) {
			err = rpc.Ask(w.ctx, w.person, api.OpSince, q, &a)
			return a, err
		}
		if a, err := since(api.SinceRequest{}); err != nil || a.Newest != "" || len(a.Sessions) != 0 {
			t.Errorf("of nothing: %+v, %v", a, err)
		}
		w.work(one(burn))
		a := w.begin()
		w.asked()
		now, err := since(api.SinceRequest{Now: true})
		if err != nil || now.Newest == "" || len(now.Sessions) != 0 {
			t.Errorf("now: %+v, %v", now, err)
		}
		at := int64(len(w.bodies(a.Session)))
		w.accepts()
		w.succeeded(a.Turn)
		end := int64(len(w.bodies(a.Session)))
		for what, c := range map[string]struct {
			q    api.SinceRequest
			want int64
		}{
			"since the event": {api.SinceRequest{Event: now.Newest}, at}, "since the beginning": {api.SinceRequest{}, 0},
			"its own session has no overlap": {api.SinceRequest{Event: now.Newest, OverlapMS: 1 << 62}, at},
		} {
			got, err := since(c.q)
			want := api.SinceRow{Session: a.Session, Seq: c.want, Last: end, Owner: person, Ended: true}
			if err != nil || len(got.Sessions) != 1 || got.Sessions[0] != want {
				t.Errorf("%s: %+v, %v", what, got, err)
			}
		}
		_, err = since(api.SinceRequest{Event: "evt_x"})
		wantFault(t, err, utp.CodeNotFound)
	})
}
