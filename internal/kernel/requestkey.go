package kernel

import (
	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// keyed returns the key of a request to begin a turn, in the ledger's form; none if the request has none.
func (k *Kernel) keyed(principal string, q api.EnqueueRequest, begun api.EnqueueAnswer, now turn.Timestamp) ([]store.RequestKey, error) {
	if q.Key == "" {
		return nil, nil
	}
	if err := api.CheckKey(q.Key); err != nil {
		return nil, api.NewFault(utp.CodeBadRequest, err.Error())
	}
	key := store.SHA256Hex([]byte(k.o.Project + "\n" + q.Key)) // a project's name has no line break
	q.Key = ""
	asked, err := json.Marshal(q, json.Deterministic(true))
	if err != nil {
		return nil, store.Unexpected("a request to begin a turn", err)
	}
	// A request without a canonical form is compared as it is: then only the same text is the same.
	if canonical, err := utp.Canonical(asked); err == nil {
		asked = canonical
	}
	return []store.RequestKey{{
		Principal: principal, Key: key, Digest: store.SHA256Hex(asked), Turn: begun.Turn, Session: begun.Session, At: now.Wall,
	}}, nil
}

// begunBefore returns the turn that an earlier request with the same key has begun, or else the one that this
// request begins.
func begunBefore(tx store.Tx, keys []store.RequestKey, begun api.EnqueueAnswer) (api.EnqueueAnswer, error) {
	for _, key := range keys {
		before, err := tx.RequestKey(key.Principal, key.Key)
		switch {
		case err != nil:
			return api.EnqueueAnswer{}, err
		case before.Turn == "" || !before.At.After(key.At.Add(-store.KeyLife)):
			continue
		case before.Digest != key.Digest:
			return api.EnqueueAnswer{}, api.NewFault(utp.CodeConflict,
				"this idempotency key came with another request within the last 24 hours, which began "+before.Session+"; nothing was started; use a new key for a new request")
		default:
			return api.EnqueueAnswer{Turn: before.Turn, Session: before.Session, Repeated: true}, nil
		}
	}
	return begun, nil
}
