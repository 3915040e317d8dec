package hub_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// counter is a kernel with one permission that waits for a person. It notes how requests for it are opened and closed.
type counter struct {
	mu    sync.Mutex
	noted []string
	ended bool
	busy  time.Duration // how long it takes for each answer
	late  time.Duration // how long the report that a request has closed takes to arrive
	open  bool          // it counts a request as open
}

func (c *counter) Request(ctx context.Context, op string, request []byte) ([]byte, error) {
	c.mu.Lock()
	busy := c.busy
	var q api.AwaitRequest
	if op == api.OpAwait && json.Unmarshal(request, &q) == nil && closes(q) {
		busy += c.late
	}
	c.mu.Unlock()
	if busy > 0 {
		select {
		case <-time.After(busy): // it does what it was asked for even if nobody waits for the answer any more
		case <-ctx.Done():
			defer c.do(op, request)
			return nil, ctx.Err()
		}
	}
	return c.do(op, request), nil
}

// closes reports whether a request closes, or lets the question go, of a program that waits.
func closes(q api.AwaitRequest) bool { return !q.Peek && (q.AwaitMS == 0 || q.Answered) }

func (c *counter) do(op string, request []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := api.CallStatus{Call: "tc_1", State: api.CallWaiting, Question: 1}
	if c.ended {
		s.State = api.CallEnded
	}
	var q api.AwaitRequest
	var asked api.InvokeRequest
	if op == api.OpInvoke && json.Unmarshal(request, &asked) == nil {
		c.open = !asked.Answered
	}
	if op == api.OpAwait && json.Unmarshal(request, &q) == nil && !q.Peek {
		c.open = !closes(q)
		switch {
		case q.Abandoned:
			c.noted = append(c.noted, "left")
		case q.Answered:
			c.noted = append(c.noted, "answered")
		case q.AwaitMS == 0:
			c.noted = append(c.noted, "closed")
		}
	}
	return api.EncodeAnswer(s, nil)
}

func (*counter) Broadcasts(context.Context, string, func([]byte)) (func(), error) {
	return func() {}, nil
}

func (c *counter) all() string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.noted, " ")
}

// waited reports whether a request counts as open.
func (c *counter) waited() bool {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

// end ends the call.
func (c *counter) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
}

// requester is an agent whose requests each have a goroutine.
type requester struct {
	t     *testing.T
	agent *hub.Agent
	stay  *hub.Agent // leaves its questions open
	all   sync.WaitGroup
}

// asks asks for the permission and waits for at most wait. The result hangs the request up.
func (r *requester) asks(agent *hub.Agent, wait time.Duration) (hangUp func(cause error)) {
	ctx, cancel := context.WithCancelCause(r.t.Context())
	r.all.Go(func() {
		q := api.InvokeRequest{OutsideRequest: api.OutsideRequest{Session: "sess_1"}, Tool: "Bash", Permission: true}
		if _, err := agent.Invoke(ctx, q, jsontext.Value(`{}`), wait); err != nil && !errors.Is(err, context.Canceled) {
			r.t.Error(err)
		}
	})
	synctest.Wait()
	return func(cause error) {
		cancel(cause)
		synctest.Wait()
	}
}

// TestLeave: the question of a program that withdraws it by leaving ends when the last request for it has gone, and no other has come
// within a moment.
func TestLeave(t *testing.T) {
	t.Parallel()
	const soon, gone = 2 * time.Second, 10 * time.Second
	for name, tt := range map[string]struct {
		play func(r *requester, k *counter)
		want string
	}{
		"it hangs up": {func(r *requester, _ *counter) {
			r.asks(r.agent, time.Minute)(nil)
		}, "closed left"},
		"one of two hangs up": {func(r *requester, k *counter) {
			first, second := r.asks(r.agent, time.Minute), r.asks(r.agent, time.Minute)
			first(nil)
			<-time.After(gone)
			if got := k.all(); got != "" {
				r.t.Errorf("the other one still waits, and it was noted: %s", got)
			}
			second(nil)
		}, "closed left"},
		"it comes back": {func(r *requester, k *counter) {
			r.asks(r.agent, time.Minute)(nil)
			<-time.After(soon)
			again := r.asks(r.agent, time.Minute)
			<-time.After(gone)
			if got := k.all(); got != "closed" {
				r.t.Errorf("it waits again, and it was noted: %s", got)
			}
			again(nil)
		}, "closed closed left"},
		"it is killed between two requests": {func(r *requester, _ *counter) {
			r.asks(r.agent, time.Second)
			<-time.After(soon)
		}, "answered left"},
		"it asks again and again": {func(r *requester, _ *counter) {
			for range 5 {
				r.asks(r.agent, time.Second)
				<-time.After(soon)
			}
		}, "answered answered answered answered answered left"},
		"it looks again and again": {func(r *requester, k *counter) {
			for range 5 {
				r.asks(r.agent, 0)
				<-time.After(soon)
			}
			if got := k.all(); got != "" {
				r.t.Errorf("it has just looked, and it was noted: %s", got)
			}
		}, "left"},
		"another program of it looks again and again, and stays": {func(r *requester, k *counter) {
			r.asks(r.agent, time.Minute)(nil)
			for range 5 {
				<-time.After(soon)
				r.asks(r.stay, 0)
			}
		}, "closed"},
		"one comes while the report of another that has closed is on its way": {func(r *requester, k *counter) {
			k.late = time.Second
			r.asks(r.agent, time.Minute)(nil)
			r.asks(r.stay, time.Minute)
			<-time.After(soon)
			if !k.waited() {
				r.t.Error("one waits, and none counts as open")
			}
			k.end()
		}, "closed"},
		"one looks while another waits": {func(r *requester, k *counter) {
			r.asks(r.stay, time.Minute)
			r.asks(r.agent, 0)
			if !k.waited() {
				r.t.Error("one waits, and none counts as open")
			}
			k.end()
		}, ""},
		"one comes while the report of another that was answered is on its way": {func(r *requester, k *counter) {
			k.late = time.Second
			r.asks(r.agent, time.Second)
			<-time.After(time.Second + k.late/2)
			r.asks(r.stay, time.Minute)
			<-time.After(soon)
			if !k.waited() {
				r.t.Error("one waits, and none counts as open")
			}
			k.end()
		}, "answered"},
		"another program of it stays": {func(r *requester, k *counter) {
			stays := r.asks(r.stay, time.Minute)
			r.asks(r.agent, time.Minute)(nil)
			stays(nil)
			<-time.After(gone)
			if got := k.all(); got != "closed" {
				r.t.Errorf("it was noted: %s", got)
			}
		}, "closed"},
		"the call ends": {func(r *requester, k *counter) {
			r.asks(r.agent, time.Minute)
			k.end()
		}, ""},
		"the server closes": {func(r *requester, _ *counter) {
			r.asks(r.agent, time.Minute)(hub.ErrClosing)
		}, "closed"},
		"without leave": {func(r *requester, _ *counter) {
			r.asks(r.stay, time.Minute)(nil)
		}, "closed"},
		"the kernel is busy while it hangs up": {func(r *requester, k *counter) {
			k.busy = 4 * time.Second
			r.asks(r.agent, time.Minute)(nil)
			<-time.After(gone)
		}, "closed left"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				k := &counter{}
				h := hub.Open(hub.Options{Conn: k})
				who := access.Principal{Name: "claude", Roles: []access.Role{access.Agent}}
				r := &requester{t: t, agent: h.AsAgent(who).WithdrawOnLeave(), stay: h.AsAgent(who)}
				tt.play(r, k)
				<-time.After(gone)
				r.all.Wait()
				if got := k.all(); got != tt.want {
					t.Errorf("it was noted: %q; expected %q", got, tt.want)
				}
			})
		})
	}
}

// TestLeaveAtTheEnd: a hub that ends withdraws nothing.
func TestLeaveAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := &counter{}
		h := hub.Open(hub.Options{Conn: k})
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- h.Run(ctx) }()
		r := &requester{t: t, agent: h.AsAgent(access.Principal{Name: "claude", Roles: []access.Role{access.Agent}}).WithdrawOnLeave()}
		r.asks(r.agent, time.Minute)(nil)
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		r.asks(r.agent, time.Minute)(nil)
		<-time.After(time.Minute)
		r.all.Wait()
		if got := k.all(); slices.Contains(strings.Fields(got), "left") {
			t.Errorf("it was noted: %s", got)
		}
	})
}
