package kernel

import (
	"cmp"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// keyed returns the keys of a request to begin a turn, in the ledger's form: its correlation id and its idempotency
// key. The correlation id comes first: it lasts.
func (k *Kernel) keyed(principal string, q api.EnqueueRequest, begun api.EnqueueAnswer, now turn.Timestamp) ([]store.RequestKey, error) {
	if q.Key == "" && q.Correlation == "" {
		return nil, nil
	}
	if err := cmp.Or(api.CheckCorrelation(q.Correlation), api.CheckKey(q.Key)); err != nil {
		return nil, api.NewFault(utp.CodeBadRequest, err.Error())
	}
	one := store.RequestKey{Principal: principal, Turn: begun.Turn, Session: begun.Session, At: now.Wall}
	var keys []store.RequestKey
	if q.Correlation != "" {
		one.Lasting, one.Key = true, store.SHA256Hex([]byte("correlation\n"+k.o.Project+"\n"+q.Correlation))
		keys = append(keys, one)
	}
	if q.Key != "" {
		one.Lasting, one.Key = false, store.SHA256Hex([]byte(k.o.Project+"\n"+q.Key)) // a project's name has no line break
		keys = append(keys, one)
	}
	q.Key = ""
	asked, err := json.Marshal(q, json.Deterministic(true))
	if err != nil {
		return nil, store.Unexpected("a request to begin a turn", err)
	}
	// A request without a canonical form is compared as it is: then only the same text is the same.
	if canonical, err := utp.Canonical(asked); err == nil {
		asked = canonical
	}
	for i := range keys {
		keys[i].Digest = store.SHA256Hex(asked)
	}
	return keys, nil
}

// begunBefore returns the turn that an earlier request with the same key has begun, or else the one that this
// request begins.
func begunBefore(tx store.Tx, keys []store.RequestKey, begun api.EnqueueAnswer) (api.EnqueueAnswer, error) {
	for _, key := range keys {
		before, err := tx.RequestKey(key.Principal, key.Key)
		switch {
		case err != nil:
			return api.EnqueueAnswer{}, err
		case before.Turn == "" || before.Expired(key.At):
			continue
		case before.Digest != key.Digest && key.Lasting:
			return api.EnqueueAnswer{}, api.NewFault(utp.CodeConflict,
				"this correlation id came with another request, which began "+before.Session+"; nothing was started; use a new id for a new request")
		case before.Digest != key.Digest:
			return api.EnqueueAnswer{}, api.NewFault(utp.CodeConflict,
				"this idempotency key came with another request within the last 24 hours, which began "+before.Session+"; nothing was started; use a new key for a new request")
		default:
			return api.EnqueueAnswer{Turn: before.Turn, Session: before.Session, Repeated: true}, nil
		}
	}
	return begun, nil
}
