// Package invocation reads what programs that are agents ask for, one call at a time: whether a request is in order, which
// earlier one it repeats, and how its call stands.
package invocation

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Check refuses a request that is not in order.
func Check(q api.InvokeRequest) error {
	switch {
	case q.AwaitMS < 0 || q.AwaitMS > api.MaxAwaitMS:
		return api.NewFault(utp.CodeBadRequest, fmt.Sprintf("await_ms is %d; it is 0 to %d", q.AwaitMS, api.MaxAwaitMS))
	case len(q.HostCall) > store.MaxName:
		return api.NewFault(utp.CodeBadRequest, "the host's own id of the call has more than 128 bytes")
	case (q.Question != nil) == (q.Tool != ""):
		return api.NewFault(utp.CodeBadRequest, "a request names a tool, or asks the person a question; this one does both or neither")
	case q.Permission && !hostTool(q.Tool):
		return api.NewFault(utp.CodeBadRequest, "a permission names the agent's own tool by 1 to 100 of the characters A-Z a-z 0-9 _ . : / -")
	}
	if q.Lang != "" && q.Comment == "" {
		return api.NewFault(utp.CodeBadRequest, "found lang without says; lang is the language of says")
	}
	if err := cmp.Or(api.CheckKey(q.Key), api.CheckLang(q.Lang)); err != nil {
		return api.NewFault(utp.CodeBadRequest, err.Error())
	}
	return nil
}

func hostTool(name string) bool {
	const most = 100
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.', r == ':', r == '/', r == '-':
		default:
			return false
		}
	}
	return name != "" && len(name) <= most
}

// Invocation is a request for a call, with what identifies it.
type Invocation struct {
	api.InvokeRequest

	Args     jsontext.Value
	Missing  bool   // the blob of the arguments is not there
	Identity string // the digest of what is asked for, as the program wrote it
	key      store.RequestKey
}

// Read reads a request for a call of a turn.
func Read(tx store.Tx, st turn.State, at time.Time, q api.InvokeRequest) (Invocation, error) {
	w := Invocation{InvokeRequest: q}
	args, err := store.ReadBody(tx, q.Args)
	if w.Missing = errors.Is(err, store.ErrNotFound); err != nil && !w.Missing {
		return w, err
	}
	w.Args = args
	asked, err := json.Marshal(q.Question, json.Deterministic(true))
	if err != nil {
		return w, store.Unexpected("a question", err)
	}
	kind := "call"
	if q.Permission {
		kind = "permission"
	}
	w.Identity = store.SHA256Hex([]byte(kind + "\n" + q.Tool + "\n" + store.SHA256Hex(args) + "\n" + string(asked)))
	if q.Key != "" {
		w.key = store.RequestKey{
			Principal: st.Session, Key: store.SHA256Hex([]byte(st.Project + "\n" + q.Key)), Digest: w.Identity, Turn: st.Turn, Session: st.Session, At: at,
		}
	}
	return w, nil
}

// RequestKey returns the key under which the call is found again, once it is made; false if the request has none.
func (w Invocation) RequestKey(call string) (store.RequestKey, bool) {
	key := w.key
	key.Call = call
	return key, w.Key != ""
}

// Before returns the call of the turn that the same request asked for before; "" is none.
func (w Invocation) Before(tx store.Tx, st turn.State, now turn.Timestamp) (string, error) {
	if w.Key != "" {
		before, err := tx.RequestKey(w.key.Principal, w.key.Key)
		switch {
		case err != nil:
			return "", err
		case before.Call == "" || before.Expired(w.key.At):
			return "", nil
		case before.Digest != w.Identity:
			return "", api.NewFault(utp.CodeConflict, "this idempotency key came with another request in this session; nothing was done; use a new key for a new call")
		default:
			return before.Call, nil
		}
	}
	for _, c := range st.Calls {
		open := !c.Awaited.IsZero() && !c.Awaited.Passed(now) && !c.Answered
		same := w.HostCall != "" && w.HostCall == c.HostCall
		left := !open
		if !c.State.Open() {
			left = !w.Permission // a permission is good for the one use that was asked about
		}
		if c.Key == "" && c.Identity == w.Identity && c.Replaces == "" && !c.Received && (same || left) {
			return c.ID, nil
		}
	}
	return "", nil
}
