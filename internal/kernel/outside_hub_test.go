package kernel_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/utp"
)

// client is a program outside with requests that are open for as long as their contexts.
type client struct {
	w       *world
	hub     *hub.Hub
	agent   *hub.Agent
	session string
}

// client opens a session by a hub that runs.
func (w *world) client(t *testing.T) *client { return w.clientOver(t, w.person) }

func (w *world) clientOver(t *testing.T, conn hub.Conn) *client {
	t.Helper()
	h := hub.Open(hub.Options{Conn: conn, Owner: person})
	ctx, cancel := context.WithCancel(w.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := h.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	c := &client{w: w, hub: h, agent: h.AsAgent(access.Principal{Name: programName, Roles: []access.Role{access.Agent}})}
	a, err := c.agent.Open(w.ctx, api.OpenRequest{Request: "tidy up"})
	if err != nil {
		t.Fatal(err)
	}
	c.session = a.Session
	w.follow(a.Session)
	return c
}

func (c *client) ask(ctx context.Context, tool string, wait time.Duration) (api.CallStatus, error) {
	q := api.InvokeRequest{OutsideRequest: api.OutsideRequest{Session: c.session}, Tool: tool}
	return c.agent.Invoke(ctx, q, jsontext.Value(`{"name":"x"}`), wait)
}

func (c *client) close(t *testing.T) {
	t.Helper()
	if err := c.agent.Close(c.w.ctx, api.CloseRequest{OutsideRequest: api.OutsideRequest{Session: c.session}}); err != nil {
		t.Error(err)
	}
}

// TestRequestWaits: a request gets its result as soon as it is there, and an answer without one when its time is over; the next
// request goes on.
func TestRequestWaits(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		c := w.client(t)
		began := time.Now()
		read, err := c.ask(w.ctx, poller, time.Minute)
		if err != nil || read.Status != utp.StatusSuccess || time.Since(began) > time.Second {
			t.Errorf("%+v, %v after %v", read, err, time.Since(began))
		}
		began = time.Now()
		open, err := c.ask(w.ctx, burn, time.Minute)
		if err != nil || open.State != api.CallWaiting || time.Since(began) != time.Minute {
			t.Errorf("%+v, %v after %v", open, err, time.Since(began))
		}
		go w.accepts()
		done, err := c.agent.Await(w.ctx, c.session, open.Call, time.Minute)
		if err != nil || done.Status != utp.StatusSuccess || done.Question != 0 {
			t.Errorf("%+v, %v", done, err)
		}
		w.effectsAre(1)
		c.close(t)
	})
}

// counted counts the requests for the state of a call.
type counted struct {
	hub.Conn

	awaits atomic.Int32
}

func (c *counted) Request(ctx context.Context, operation string, data []byte) ([]byte, error) {
	if operation == api.OpAwait {
		c.awaits.Add(1)
	}
	return c.Conn.Request(ctx, operation, data)
}

// TestRequestAsksOnce: while a request waits for a call that nobody is asked about, the state of the call is asked for once, when it has
// ended. The kernel's answer includes the news of its own beginning, which makes nobody ask.
func TestRequestAsksOnce(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		conn := &counted{Conn: w.person}
		c := w.clientOver(t, conn)
		for range 5 {
			conn.awaits.Store(0)
			read, err := c.ask(w.ctx, poller, time.Minute)
			if err != nil || read.Status != utp.StatusSuccess || read.Last == 0 {
				t.Errorf("%+v, %v", read, err)
			}
			if n := conn.awaits.Load(); n != 1 {
				t.Errorf("the state of the call was asked for %d times, want once", n)
			}
			c.agent.Received(w.ctx, c.session, read.Call)
		}
		c.close(t)
	})
}

// TestRequestIsAnswered: a request that was answered without a result leaves the agent a moment to ask again. What has become
// due meanwhile begins, the same asked for at once is the same call, and when the moment is over nothing begins.
func TestRequestIsAnswered(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		c := w.client(t)
		first, err := c.ask(w.ctx, burn, time.Second)
		if err != nil || first.State != api.CallWaiting {
			t.Errorf("%+v, %v", first, err)
		}
		again, err := c.ask(w.ctx, burn, time.Second)
		if err != nil || again.Call != first.Call || !again.Joined {
			t.Errorf("the same asked for at once is %+v, %v; want %s", again, err, first.Call)
		}
		w.accepts()
		undoable, err := c.agent.Await(w.ctx, c.session, first.Call, 6*time.Second)
		if err != nil || undoable.State != api.CallAccepted {
			t.Errorf("%+v, %v", undoable, err)
		}
		w.pass(4 * time.Second)
		w.effectsAre(1)
		done, err := c.agent.Await(w.ctx, c.session, first.Call, time.Minute)
		if err != nil || done.Status != utp.StatusSuccess {
			t.Errorf("%+v, %v", done, err)
		}
		c.agent.Received(w.ctx, c.session, first.Call)
		left, err := c.ask(w.ctx, burn, time.Second)
		if err != nil || left.Call == first.Call {
			t.Errorf("%+v, %v", left, err)
		}
		w.pass(6 * time.Second)
		w.accepts()
		w.pass(10 * time.Minute)
		w.effectsAre(1)
		c.close(t)
	})
}

// TestRequestIsCut: a yes that comes after the request was cut starts nothing; the same call goes on when it is asked for again.
func TestRequestIsCut(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		c := w.client(t)
		ctx, cut := context.WithTimeout(w.ctx, 10*time.Second)
		defer cut()
		first, err := c.ask(ctx, burn, time.Minute)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%+v, %v", first, err)
		}
		w.accepts()
		w.pass(40 * time.Second)
		w.effectsAre(0)
		again, err := c.ask(w.ctx, burn, time.Minute)
		if err != nil || again.Status != utp.StatusSuccess || !again.Joined {
			t.Errorf("%+v, %v", again, err)
		}
		w.effectsAre(1)
		c.close(t)
	})
}

// hangsUp is a connection whose user hangs up when the kernel has done what an operation asks for, before the answer has come.
type hangsUp struct {
	hub.Conn

	operation string
	hangUp    func()
}

func (c *hangsUp) Request(ctx context.Context, operation string, data []byte) ([]byte, error) {
	answer, err := c.Conn.Request(ctx, operation, data)
	if operation == c.operation && c.hangUp != nil {
		c.hangUp()
		c.hangUp = nil
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return answer, err
}

// TestRequestIsCutBeforeItsAnswer: who hangs up between the request and the kernel's answer has left no request open, either.
func TestRequestIsCutBeforeItsAnswer(t *testing.T) {
	for _, operation := range []string{api.OpInvoke, api.OpAwait} {
		t.Run(operation, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				conn := &hangsUp{Conn: w.person, operation: operation}
				c := w.clientOver(t, conn)
				ctx, cut := context.WithCancel(w.ctx)
				defer cut()
				var err error
				if operation == api.OpAwait {
					var open api.CallStatus
					if open, err = c.ask(w.ctx, burn, time.Second); err != nil {
						t.Fatal(err)
					}
					w.pass(time.Minute)
					conn.hangUp = cut
					_, err = c.agent.Await(ctx, c.session, open.Call, time.Minute)
				} else {
					conn.hangUp = cut
					_, err = c.ask(ctx, burn, time.Minute)
				}
				if !errors.Is(err, context.Canceled) {
					t.Errorf("the request ended with %v", err)
				}
				w.accepts()
				w.pass(40 * time.Second)
				w.effectsAre(0)
				c.close(t)
			})
		})
	}
}

// TestPermissionOfTwoRequests: where two requests wait for one permission of a program that withdraws its question by leaving, the one
// that stays gets the answer. When it has gone too, the question is withdrawn, and a late yes finds none.
func TestPermissionOfTwoRequests(t *testing.T) {
	for name, both := range map[string]bool{"one hangs up": false, "both hang up": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				c := w.client(t)
				may := func(ctx context.Context) (api.CallStatus, error) {
					q := api.InvokeRequest{OutsideRequest: api.OutsideRequest{Session: c.session}, Tool: "Bash", Permission: true, HostCall: "h1"}
					return c.agent.WithdrawOnLeave().Invoke(ctx, q, jsontext.Value(`{"command":"ls"}`), time.Minute)
				}
				ctx, hangUp := context.WithCancel(w.ctx)
				gone := make(chan error, 1)
				go func() {
					_, err := may(ctx)
					gone <- err
				}()
				stays := make(chan api.CallStatus, 1)
				later, leave := context.WithCancel(w.ctx)
				defer leave()
				go func() {
					s, _ := may(later)
					stays <- s
				}()
				asked := w.asked()
				w.pass(time.Second)
				hangUp()
				if err := <-gone; !errors.Is(err, context.Canceled) {
					t.Errorf("it hung up with %v", err)
				}
				w.pass(20 * time.Second)
				if both {
					leave()
					<-stays
					w.pass(20 * time.Second)
					if a, err := w.reply(asked, "accept"); err == nil && a.Resolution == "accepted" {
						t.Errorf("a late yes counts: %+v", a)
					}
				} else {
					w.say(asked, "accept")
					if s := <-stays; s.Status != utp.StatusSuccess {
						t.Errorf("found %+v", s)
					}
				}
				c.close(t)
			})
		})
	}
}

// TestRequestIsWatched: a program that watches a call hears of each change, and their watching keeps it waiting.
func TestRequestIsWatched(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		c := w.client(t)
		open, err := c.ask(w.ctx, burn, 0)
		if err != nil {
			t.Fatal(err)
		}
		go w.accepts()
		var states []string
		for s, err := range c.agent.Watch(w.ctx, c.session, open.Call) {
			if err != nil {
				t.Fatal(err)
			}
			states = append(states, s.State)
		}
		if n := len(states); n < 3 || states[0] != api.CallWaiting || states[1] != api.CallAccepted || states[n-1] != api.CallEnded {
			t.Errorf("the states were %v", states)
		}
		w.effectsAre(1)
		c.close(t)
	})
}

// TestRequestsRights: only an agent acts as one, in sessions of its own and for the people whom its token is for.
func TestRequestsRights(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		c := w.client(t)
		for name, who := range map[string]access.Principal{
			"a person": {Name: programName, Roles: []access.Role{access.Approver, access.Operator, access.Listener, access.Auditor}},
			"a tool":   {Name: programName, Roles: []access.Role{access.Tool}},
			"nobody":   {Name: programName},
		} {
			if _, err := c.hub.AsAgent(who).Open(w.ctx, api.OpenRequest{}); !errors.Is(err, hub.ErrNotAllowed) {
				t.Errorf("%s: %v", name, err)
			}
		}
		other := c.hub.AsAgent(access.Principal{Name: "other", Roles: []access.Role{access.Agent}, Owners: []string{"bob", "eve"}})
		if _, err := other.Invoke(w.ctx, api.InvokeRequest{OutsideRequest: api.OutsideRequest{Session: c.session}, Tool: poller}, jsontext.Value(`{}`), 0); err == nil {
			t.Error("another agent's session took a call")
		}
		if _, err := other.Session(w.ctx, c.session); !errors.Is(err, hub.ErrNotFound) {
			t.Errorf("another agent's session: %v", err)
		}
		for owner, want := range map[string]string{"": "bob", "eve": "eve", "ada": ""} {
			a, err := other.Open(w.ctx, api.OpenRequest{Owner: owner})
			if (err != nil) != (want == "") {
				t.Errorf("for %q: %v", owner, err)
			}
			if err != nil {
				continue
			}
			if st := w.turn(a.Turn); st.Owner != want {
				t.Errorf("for %q it is %q's", owner, st.Owner)
			}
			w.follow(a.Session)
			if err := other.Close(w.ctx, api.CloseRequest{OutsideRequest: api.OutsideRequest{Session: a.Session}}); err != nil {
				t.Error(err)
			}
		}
		c.close(t)
	})
}
