package hub_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/utp"
)

// sessions is a kernel with one session, whose broadcasts a test sends as it likes.
type sessions struct {
	mu    sync.Mutex
	rows  []api.EventRow
	ended bool
	page  int // rows in a page
	fail  error
	ears  []func([]byte)
	asked map[string][]jsontext.Value
}

// listed is how many sessions the list of all has, one on each page.
const listed = 3

func newSessions() *sessions { return &sessions{page: 3, asked: map[string][]jsontext.Value{}} }

func (s *sessions) Request(_ context.Context, op string, request []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[op] = append(s.asked[op], request)
	var refused *api.Fault
	switch {
	case errors.As(s.fail, &refused):
		return api.EncodeAnswer(nil, refused), nil
	case s.fail != nil:
		return nil, s.fail
	case op == api.OpArguments:
		return api.EncodeAnswer(api.GetAnswer{Size: 5, Data: []byte("abc")}, nil), nil
	case op == api.OpEnqueue:
		return api.EncodeAnswer(api.EnqueueAnswer{Turn: "turn_1", Session: "sess_1"}, nil), nil
	case op == api.OpSessions:
		return answered(request, func(q api.SessionsRequest) ([]api.SessionRow, error) {
			n, _ := strconv.Atoi(strings.TrimPrefix(q.After, "turn_"))
			if n == listed {
				return nil, nil
			}
			return []api.SessionRow{{Session: fmt.Sprintf("sess_%d", n+1), Turn: fmt.Sprintf("turn_%d", n+1)}}, nil
		})
	case op != api.OpEvents:
		return api.EncodeAnswer(api.ReplyAnswer{Resolution: op}, nil), nil
	}
	var q api.EventsRequest
	if err := json.Unmarshal(request, &q); err != nil {
		return nil, err
	}
	a := api.EventsAnswer{Ended: s.ended}
	for _, r := range s.rows {
		if r.Seq <= q.After {
			continue
		}
		if len(a.Events) == s.page {
			a.More = true
			break
		}
		a.Events = append(a.Events, r)
	}
	return api.EncodeAnswer(a, nil), nil
}

func (s *sessions) Broadcasts(_ context.Context, _ string, receive func([]byte)) (func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ears = append(s.ears, receive)
	i := len(s.ears) - 1
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ears[i] = nil
	}, nil
}

// commit adds an event to the ledger and returns it as it would be broadcast.
func (s *sessions) commit(kind string) api.EventRow {
	s.mu.Lock()
	defer s.mu.Unlock()
	row := api.EventRow{Seq: int64(len(s.rows) + 1)}
	row.Body = jsontext.Value(fmt.Sprintf(`{"type":"aaep:agent.%s","n":%d}`, kind, row.Seq))
	s.rows = append(s.rows, row)
	if kind == "session.completed" || kind == "session.errored" || kind == "session.cancelled" {
		s.ended = true
	}
	return row
}

func (s *sessions) broadcast(row api.EventRow) {
	payload, err := json.Marshal(row)
	if err != nil {
		panic(err)
	}
	s.say(payload)
}

func (s *sessions) say(payload []byte) {
	s.mu.Lock()
	ears := slices.Clone(s.ears)
	s.mu.Unlock()
	for _, receive := range ears {
		if receive != nil {
			receive(payload)
		}
	}
}

func (s *sessions) count(op string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked[op])
}

// listener takes what Follow yields.
type listener struct {
	mu   sync.Mutex
	got  []int64
	err  error
	done chan struct{}
}

func follow(ctx context.Context, s *sessions, after int64) *listener {
	l := &listener{done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for row, err := range hub.New(s, 0).Follow(ctx, "sess_1", after) {
			l.mu.Lock()
			if l.err = err; err == nil {
				l.got = append(l.got, row.Seq)
			}
			l.mu.Unlock()
		}
	}()
	return l
}

func (l *listener) heard() []int64 {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.got)
}

func (l *listener) ended() bool {
	synctest.Wait()
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

func upTo(first, last int64) []int64 {
	var all []int64
	for i := first; i <= last; i++ {
		all = append(all, i)
	}
	return all
}

func bubble(t *testing.T, play func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, play)
}

// TestLive: broadcasts are delivered as they come, without asking the kernel, and the
// last one ends it at once.
func TestLive(t *testing.T) {
	for _, last := range []string{"session.completed", "session.errored", "session.cancelled"} {
		t.Run(last, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newSessions()
				l := follow(t.Context(), s, 0)
				synctest.Wait()
				before := s.count(api.OpEvents)
				for range 20 {
					s.broadcast(s.commit("state.changed"))
					synctest.Wait()
				}
				if got := l.heard(); !slices.Equal(got, upTo(1, 20)) || s.count(api.OpEvents) != before {
					t.Errorf("heard %v after %d requests", got, s.count(api.OpEvents)-before)
				}
				began := time.Now()
				s.broadcast(s.commit(last))
				if !l.ended() || time.Since(began) != 0 || l.err != nil {
					t.Errorf("it goes on after the last event: %v", l.err)
				}
				if got := l.heard(); !slices.Equal(got, upTo(1, 21)) {
					t.Errorf("heard %v", got)
				}
				if s.ears[0] != nil {
					t.Error("it still listens")
				}
			})
		})
	}
}

// TestNothingIsBroadcast: polling alone is enough.
func TestNothingIsBroadcast(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newSessions()
		l := follow(t.Context(), s, 0)
		for range 10 {
			s.commit("state.changed")
		}
		<-time.After(2100 * time.Millisecond)
		if got := l.heard(); !slices.Equal(got, upTo(1, 10)) {
			t.Errorf("heard %v after a poll", got)
		}
		s.commit("session.completed")
		<-time.After(2100 * time.Millisecond)
		if !l.ended() {
			t.Error("it does not end")
		}
	})
}

// TestGap: an event that was lost is read from the ledger as soon as the next one shows
// it, and those that are there already are not repeated.
func TestGap(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newSessions()
		l := follow(t.Context(), s, 0)
		synctest.Wait()
		first := s.commit("state.changed")
		s.broadcast(first)
		for range 8 {
			s.commit("state.changed") // lost
		}
		s.broadcast(s.commit("state.changed"))
		if got := l.heard(); !slices.Equal(got, upTo(1, 10)) {
			t.Errorf("heard %v", got)
		}
		s.broadcast(first) // late, and again
		s.broadcast(s.rows[4])
		s.say([]byte("what?"))
		s.say([]byte(`{"seq":"11"}`))
		if got := l.heard(); !slices.Equal(got, upTo(1, 10)) {
			t.Errorf("heard %v", got)
		}
	})
}

// TestAhead: a broadcast of what the ledger does not hold yet is not an event.
func TestAhead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newSessions()
		l := follow(t.Context(), s, 0)
		synctest.Wait()
		s.broadcast(api.EventRow{Seq: 5, Body: jsontext.Value(`{}`)})
		if got := l.heard(); len(got) != 0 {
			t.Errorf("heard %v", got)
		}
		s.broadcast(s.commit("state.changed"))
		if got := l.heard(); !slices.Equal(got, []int64{1}) {
			t.Errorf("heard %v", got)
		}
	})
}

// TestLate: who comes late, or again, hears the rest in pages; nothing is left of a
// session that has ended.
func TestLate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newSessions()
		for range 10 {
			s.commit("state.changed")
		}
		live := follow(t.Context(), s, 4)
		if got := live.heard(); !slices.Equal(got, upTo(5, 10)) {
			t.Errorf("from 4 on: %v", got)
		}
		s.broadcast(s.commit("session.completed"))
		if !live.ended() {
			t.Error("it does not end")
		}
		for after, want := range map[int64][]int64{0: upTo(1, 11), 10: {11}, 11: nil, 99: nil} {
			l := follow(t.Context(), s, after)
			if !l.ended() || !slices.Equal(l.heard(), want) {
				t.Errorf("after %d: %v", after, l.heard())
			}
		}
	})
}

// TestSlowConsumer: however slow, nothing is lost and nobody else waits for it.
func TestSlowConsumer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newSessions()
		var got []int64
		done := make(chan struct{})
		go func() {
			defer close(done)
			for row := range hub.New(s, 0).Follow(t.Context(), "sess_1", 0) {
				got = append(got, row.Seq)
				<-time.After(time.Second)
			}
		}()
		synctest.Wait()
		began := time.Now()
		for range 500 {
			s.broadcast(s.commit("state.changed"))
		}
		s.broadcast(s.commit("session.completed"))
		if time.Since(began) != 0 {
			t.Error("the broadcasts had to wait")
		}
		<-done
		if !slices.Equal(got, upTo(1, 501)) {
			t.Errorf("%d events came", len(got))
		}
	})
}

// TestConsumerLeaves: one that stops hears nothing more, and the subscription ends.
func TestConsumerLeaves(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newSessions()
		for range 10 {
			s.commit("state.changed")
		}
		n := 0
		for range hub.New(s, 0).Follow(t.Context(), "sess_1", 0) {
			if n++; n == 5 {
				break
			}
		}
		if n != 5 || s.ears[0] != nil {
			t.Errorf("%d events; it still listens: %v", n, s.ears[0] != nil)
		}
	})
}

// TestContextEnds: quietly, whatever it waits for.
func TestContextEnds(t *testing.T) {
	for name, fail := range map[string]error{"waiting": nil, "asking in vain": errors.New("no answer")} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newSessions()
				s.fail = fail
				ctx, stop := context.WithCancel(t.Context())
				l := follow(ctx, s, 0)
				<-time.After(time.Minute)
				stop()
				if !l.ended() || l.err != nil {
					t.Errorf("ended: %v, %v", l.ended(), l.err)
				}
			})
		})
	}
}

// TestRefused: a refusal is the one error, and the last value.
func TestRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newSessions()
		s.fail = &api.Fault{Code: utp.CodeNotFound}
		l := follow(t.Context(), s, 0)
		var refused *api.Fault
		if !l.ended() || !errors.As(l.err, &refused) || refused.Code != utp.CodeNotFound || len(l.got) != 0 {
			t.Errorf("heard %v, %v", l.got, l.err)
		}
	})
}

// TestKernelAway: while nobody answers it waits, and then goes on where it was.
func TestKernelAway(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newSessions()
		l := follow(t.Context(), s, 0)
		synctest.Wait()
		s.mu.Lock()
		s.fail = errors.New("no answer")
		s.mu.Unlock()
		for range 5 {
			s.commit("state.changed")
		}
		<-time.After(5 * time.Minute)
		s.mu.Lock()
		s.fail = nil
		s.mu.Unlock()
		<-time.After(3 * time.Second)
		if got := l.heard(); !slices.Equal(got, upTo(1, 5)) {
			t.Errorf("heard %v", got)
		}
	})
}

// TestAnyWeather: whatever the bus loses, doubles and swaps, every follower hears
// every event once and in order.
func TestAnyWeather(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				chance := rand.New(rand.NewPCG(seed, 2))
				s := newSessions()
				s.page = 1 + chance.IntN(5)
				followers := []*listener{follow(t.Context(), s, 0)}
				for i := range 200 {
					kind := "state.changed"
					if i == 199 {
						kind = "session.completed"
					}
					row := s.commit(kind)
					for range chance.IntN(3) {
						time.AfterFunc(time.Duration(chance.IntN(5000))*time.Millisecond, func() { s.broadcast(row) })
					}
					if chance.IntN(20) == 0 {
						followers = append(followers, follow(t.Context(), s, 0))
					}
					<-time.After(time.Duration(chance.IntN(300)) * time.Millisecond)
				}
				<-time.After(10 * time.Second)
				for i, l := range followers {
					if !l.ended() || !slices.Equal(l.heard(), upTo(1, 200)) {
						t.Errorf("follower %d heard %v", i, l.heard())
					}
				}
			})
		})
	}
}

// TestWords: each word reaches the kernel as it was said; a word is not repeated by
// itself.
func TestWords(t *testing.T) {
	t.Parallel()
	s := newSessions()
	h := hub.New(s, 0)
	r := api.ReplyRequest{Question: 3, Decision: "accept", By: "ada", Surface: "page"}
	for op, say := range map[string]func(context.Context, api.ReplyRequest) (api.ReplyAnswer, error){
		api.OpAnswer: h.Answer, api.OpExtend: h.Extend, api.OpStop: h.Stop, api.OpUndo: h.Undo, api.OpAbsent: h.Absent,
	} {
		if a, err := say(t.Context(), r); err != nil || a.Resolution != op {
			t.Errorf("%s: %+v, %v", op, a, err)
		}
		want, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.asked[op]; len(got) != 1 || string(got[0]) != string(want) {
			t.Errorf("%s: asked %s; want %s", op, got, want)
		}
	}
	if a, err := h.Enqueue(t.Context(), api.EnqueueRequest{Agent: "a"}); err != nil || a.Session != "sess_1" {
		t.Errorf("enqueued %+v, %v", a, err)
	}
	if data, size, err := h.Arguments(t.Context(), api.ArgumentsRequest{Question: 3, Offset: 2}); err != nil || string(data) != "abc" || size != 5 {
		t.Errorf("arguments %q, %d, %v", data, size, err)
	}
	if rows, err := h.Sessions(t.Context(), true); err != nil || len(rows) != listed || rows[listed-1].Session != fmt.Sprintf("sess_%d", listed) {
		t.Errorf("sessions %v, %v", rows, err) // all of them, however many the kernel gives at once
	}
	if err := h.Ready(t.Context()); err != nil {
		t.Errorf("ready: %v", err)
	}
	s.fail = errors.New("no answer")
	if err := h.Ready(t.Context()); err == nil {
		t.Error("ready although nobody answers")
	}
	if _, err := h.Answer(t.Context(), r); err == nil || len(s.asked[api.OpAnswer]) != 2 {
		t.Errorf("%v, said %d times", err, len(s.asked[api.OpAnswer]))
	}
	if _, err := h.Enqueue(t.Context(), api.EnqueueRequest{}); err == nil || len(s.asked[api.OpEnqueue]) != 2 {
		t.Errorf("%v, begun %d times", err, len(s.asked[api.OpEnqueue]))
	}
}
