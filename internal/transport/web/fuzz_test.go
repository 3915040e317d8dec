package web_test

import (
	"cmp"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// FuzzMessages: whatever is posted as a request or a reply, and by whom, is answered as the rules say and without a failure of the server: a
// request with accepted or rejected (HS-07), a reply with nothing, or with what is wrong with a text that cannot be read. What reaches the
// hub can be read and names the subscription that it was passed to. No goroutine stays behind.
func FuzzMessages(f *testing.F) {
	const mine = "sub_0000000000000001"
	for _, seed := range []string{
		wish, strings.Replace(wish, "1.0.0", "9.0.0", 1), "", "{", "[]", `{"type":1}`, confirmation(tokenA, "accept", mine), confirmation(tokenA, "maybe", mine),
		confirmation(tokenB, "reject", "sub_ffffffffffffffff"), `{"type":"subscription.close","subscription_id":"` + mine + `"}`,
		`{"type":"subscription.renegotiate","subscription_id":"` + mine + `","capabilities":{"max_events_per_second":7}}`,
		`{"type":"clarification.reply","reply_token":"` + tokenA + `","response":1e400,"subscription_id":"` + mine + `","timestamp":"2000-01-01T00:00:00.000Z"}`,
		`{"type":"earshot:question.extend","reply_token":"` + tokenA + `","subscription_id":"` + mine + `","timestamp":"2000-01-01T00:00:00.000Z"}`,
	} {
		f.Add(seed, true, "ada")
		f.Add(seed, false, "ada")
		f.Add(seed, false, "")
	}
	shared := &scene{room: newRoom(), doors: newDoors()}
	server, err := web.New(web.Options{PageURL: pageURL, Hub: shared.room, Access: shared.doors, Zone: time.UTC, Now: func() time.Time { return noon }})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(server.Close)
	runs, most := 0, 0
	f.Fuzz(func(t *testing.T, body string, subscribes bool, as string) {
		if as != "" {
			as = "ada" // or nobody
		}
		s := &scene{T: t, room: shared.room, doors: shared.doors, server: server}
		s.room.change(func() { s.room.subs, s.room.replies = map[string]*sub{}, nil })
		s.subscribe("ada")
		if subscribes {
			requested(t, s, as, body)
		} else {
			replied(t, s, as, body)
		}
		if runs++; runs%500 == 1 {
			most = within(t, most)
		}
	})
}

// requested posts a subscription.request.
func requested(t *testing.T, s *scene, as, body string) {
	t.Helper()
	w := s.do("POST", "/aaep/v1/subscriptions", as, body)
	_, no := aaep.DecodeSubscriptionAccepted(w.Body.Bytes())
	_, yes := aaep.DecodeSubscriptionRejected(w.Body.Bytes())
	switch {
	case w.Code >= http.StatusInternalServerError, no != nil && yes != nil, (w.Code == http.StatusCreated) != (no == nil), as == "" && no == nil:
		t.Fatalf("%d %s", w.Code, w.Body)
	}
}

// replied posts a reply.
func replied(t *testing.T, s *scene, as, body string) {
	t.Helper()
	w := s.do("POST", "/aaep/v1/replies", as, body)
	switch {
	case w.Code >= http.StatusInternalServerError, w.Code >= http.StatusBadRequest && !jsontext.Value(w.Body.Bytes()).IsValid(), w.Code == http.StatusNoContent && w.Body.Len() > 0:
		t.Fatalf("%d %s", w.Code, w.Body)
	case len(s.room.replies) > 0 && (as == "" || w.Code != http.StatusNoContent):
		t.Fatalf("%d, and the hub got %v", w.Code, s.room.replies)
	}
	for _, reached := range s.room.replies {
		to, raw, _ := strings.Cut(reached, " ")
		d := aaep.Read([]byte(raw))
		if id, _ := d.Text("subscription_id"); id != to || len(aaep.Errors(d.Validate(aaep.ModeProducer))) > 0 {
			t.Fatalf("the hub got %q for %s", raw, to)
		}
	}
}

// within demands that there are not many more goroutines than at most before, and returns how many there are, or were. What is ending is
// let end.
func within(t *testing.T, most int) int {
	t.Helper()
	const room = 10
	now := runtime.NumGoroutine()
	for i := 0; i < 1000 && most > 0 && now > most+room; i++ {
		runtime.Gosched()
		now = runtime.NumGoroutine()
	}
	if most > 0 && now > most+room {
		t.Fatalf("%d goroutines, %d in the beginning", now, most)
	}
	return cmp.Or(most, now)
}
