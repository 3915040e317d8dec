package invocation_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/invocation"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/testkit/ledgertest"
)

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestCheck: a request names a tool or asks a question, under a key and with times that the ledger takes.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		request api.InvokeRequest
		refused bool
	}{
		{"a tool", api.InvokeRequest{Tool: "box.add"}, false},
		{"a question", api.InvokeRequest{Question: &api.Question{}}, false},
		{"both", api.InvokeRequest{Tool: "box.add", Question: &api.Question{}}, true},
		{"neither", api.InvokeRequest{}, true},
		{"the agent's own tool", api.InvokeRequest{Tool: "Bash", Permission: true}, false},
		{"the agent's own tool, by a name that cannot be read aloud", api.InvokeRequest{Tool: "rm\x1b[2J", Permission: true}, true},
		{"too long a wait", api.InvokeRequest{Tool: "box.add", AwaitMS: api.MaxAwaitMS + 1}, true},
	} {
		err := invocation.Check(test.request)
		if _, is := errors.AsType[*api.Fault](err); is != test.refused || !is && err != nil {
			t.Errorf("%s: found %v", test.name, err)
		}
	}
}

// TestBefore: a request without a key joins the call that it has asked for before, while nobody waits for that call or where
// the host says that it is the same one; never one whose result was delivered, and never another.
func TestBefore(t *testing.T) {
	t.Parallel()
	ledger := ledgertest.Open(t)
	now := turn.Timestamp{Wall: at}
	ask := api.InvokeRequest{Tool: "box.add", Args: api.Body{Inline: jsontext.Value(`{"line":"one"}`)}, HostCall: "toolu_1"}
	other := ask
	other.Args.Inline = jsontext.Value(`{"line":"two"}`)
	permission := ask
	permission.Permission = true
	for _, test := range []struct {
		name    string
		request api.InvokeRequest
		change  func(*turn.Call)
		joins   bool
	}{
		{name: "nobody waits for it", request: ask, joins: true},
		{name: "somebody waits for it", request: ask, change: func(c *turn.Call) { c.Awaited, c.HostCall = now.Add(time.Minute), "toolu_9" }},
		{name: "somebody waits for it, and it is the same", request: ask, change: func(c *turn.Call) { c.Awaited = now.Add(time.Minute) }, joins: true},
		{name: "its result was delivered", request: ask, change: func(c *turn.Call) { c.Received = true }},
		{name: "it stands for another call", request: ask, change: func(c *turn.Call) { c.Replaces = "tc_0" }},
		{name: "other arguments", request: other},
		{name: "a permission is another thing", request: permission},
		{name: "it has ended", request: ask, change: func(c *turn.Call) { c.State, c.HostCall = turn.Resolved, "" }, joins: true},
	} {
		var first, second invocation.Invocation
		st := turn.State{Turn: "turn_1", Session: "sess_1"}
		err := ledger.View(t.Context(), func(tx store.Tx) (err error) {
			if first, err = invocation.Read(tx, st, at, ask); err != nil {
				return err
			}
			c := turn.Call{ID: "tc_1", Identity: first.Identity, HostCall: "toolu_1", State: turn.Asked}
			if test.change != nil {
				test.change(&c)
			}
			st.Calls = []turn.Call{c}
			if second, err = invocation.Read(tx, st, at, test.request); err != nil {
				return err
			}
			found, err := second.Before(tx, st, now)
			if (found == "tc_1") != test.joins {
				t.Errorf("%s: found %q", test.name, found)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestRequestKey: a request without a key is not found again by one.
func TestRequestKey(t *testing.T) {
	t.Parallel()
	if key, has := (invocation.Invocation{}).RequestKey("tc_1"); has {
		t.Errorf("found %+v", key)
	}
	w := invocation.Invocation{InvokeRequest: api.InvokeRequest{Key: "k"}}
	if key, has := w.RequestKey("tc_1"); !has || key.Call != "tc_1" {
		t.Errorf("found %+v, %t", key, has)
	}
}

// TestMissing: arguments whose blob is not there are told with the call, and are not those of another request.
func TestMissing(t *testing.T) {
	t.Parallel()
	ledger := ledgertest.Open(t)
	err := ledger.View(t.Context(), func(tx store.Tx) error {
		w, err := invocation.Read(tx, turn.State{}, at, api.InvokeRequest{Tool: "box.add", Args: api.Body{SHA256: store.SHA256Hex([]byte("{}")), Size: 2}})
		if !w.Missing {
			t.Errorf("found %+v", w)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
