// Package rpc asks the kernel: one request with its typed answer, asked again while
// that is safe, and values larger than a message paged through blobs. The SDKs and
// the hub share it; it knows no transport, only a [Requester].
package rpc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// Requester carries one request to the kernel and its answer back. It is safe for
// concurrent use.
type Requester interface {
	Request(ctx context.Context, op string, request []byte) ([]byte, error)
}

const (
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
	maxDefects = 10
	// attemptTimeout is how long one try of AskUntil waits: well below the leases of calls and
	// turns, so that an answer that was lost does not cost one.
	attemptTimeout = 10 * time.Second
	// chunkTimeout is how long a piece of a large value is asked for of a ledger that cannot
	// read it.
	chunkTimeout = time.Minute
)

// Ask makes one request and reads its answer into the value, which may be nil. A
// refusal is a [*api.Fault]; any other error says that no answer came.
func Ask(ctx context.Context, to Requester, op string, request, into any) error {
	raw, err := json.Marshal(request, jsontext.PreserveRawStrings(true))
	if err != nil {
		return fmt.Errorf("%w: the request %s: %w", ErrValue, op, err)
	}
	answer, err := to.Request(ctx, op, raw)
	if err != nil {
		return fmt.Errorf("rpc: %s: %w", op, err)
	}
	return api.DecodeAnswer(answer, into)
}

// AskUntil repeats a request, which must be one of those that change nothing when they
// come twice, until it is answered, refused for good, or the context ends; then it
// returns the last error. Each try waits 10 s for its answer at most; the pauses between
// them grow from 50 ms to 2 s. A defect of the kernel
// (internal_error) is given ten tries, and so is a race that was lost (conflict).
func AskUntil(ctx context.Context, to Requester, op string, request, into any) error {
	if o, known := api.OperationNamed(op); known && !o.Repeatable {
		return fmt.Errorf("%w: %s", ErrOnce, op)
	}
	wait := firstPause
	for try := 1; ; try++ {
		err := askFor(ctx, to, op, request, into)
		if err == nil || !passing(err, try) {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
		wait = min(2*wait, lastPause)
	}
}

// AskWithin is [AskUntil], but for trouble that does not pass by itself: a ledger that cannot be
// read or written (storage_error, not safe to retry) is asked for so long and no longer. It may
// be one damaged turn, and anyone who asks about that has others to serve. The time is counted again
// wherever the trouble was another one when it was over.
func AskWithin(ctx context.Context, to Requester, atMost time.Duration, op string, request, into any) error {
	for {
		once, cancel := context.WithTimeout(ctx, atMost)
		err := AskUntil(once, to, op, request, into)
		late := once.Err() != nil
		cancel()
		if err == nil || !late || ctx.Err() != nil || Spoiled(err) {
			return err
		}
	}
}

// Spoiled reports whether the ledger cannot read or write what was asked about, and trying again
// is in vain: storage_error, not safe to retry.
func Spoiled(err error) bool {
	refused, is := errors.AsType[*api.Fault](err)
	return is && refused.Code == utp.CodeStorageError && !refused.Retry
}

func askFor(ctx context.Context, to Requester, op string, request, into any) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	return Ask(ctx, to, op, request, into)
}

// passing tells whether asking again may help: no answer came, or the kernel itself
// was in trouble. What it refused on the merits stays refused.
func passing(err error, tries int) bool {
	refused, answered := errors.AsType[*api.Fault](err)
	if !answered {
		return !errors.Is(err, ErrValue)
	}
	switch refused.Code {
	case utp.CodeUpstreamUnavailable, utp.CodeStorageError:
		return true
	case utp.CodeInternalError:
		return tries < maxDefects
	case utp.CodeConflict: // others were faster, again and again; or it is one for good
		return refused.Retry && tries < maxDefects
	default:
		return false
	}
}

// Code tells whether the error is the kernel's refusal with this code.
func Code(err error, code utp.Code) bool {
	var f *api.Fault
	return errors.As(err, &f) && f.Code == code
}

// Fetch reads a body, page by page if it is large, and checks its hash.
func Fetch(ctx context.Context, to Requester, b api.Body) (jsontext.Value, error) {
	if b.SHA256 == "" {
		return b.Inline, nil
	}
	all := make([]byte, 0, max(0, min(b.Size, api.BlobLimit)))
	for int64(len(all)) < b.Size {
		var page api.GetAnswer
		if err := AskWithin(ctx, to, chunkTimeout, api.OpGet, api.GetRequest{SHA256: b.SHA256, Offset: int64(len(all))}, &page); err != nil {
			return nil, err
		}
		if len(page.Data) == 0 {
			return nil, fmt.Errorf("rpc: the value %s ends after %d of %d bytes", b.SHA256, len(all), b.Size)
		}
		all = append(all, page.Data...)
	}
	if sum := sha256.Sum256(all); hex.EncodeToString(sum[:]) != b.SHA256 {
		return nil, fmt.Errorf("rpc: the value %s came with other bytes", b.SHA256)
	}
	return all, nil
}

// ErrValue says that a value cannot be written as JSON. Trying again is in vain.
var ErrValue = errors.New("rpc: the value is not JSON")

// ErrOnce says that a request was to be repeated which may have an effect each time. It was not sent.
var ErrOnce = errors.New("rpc: the operation may not be repeated")

// Store makes a body of a value, uploading it first if it is large.
func Store(ctx context.Context, to Requester, value any) (api.Body, error) {
	return StoreWithin(ctx, to, value, api.InlineLimit)
}

// StoreWithin is [Store] for a message that has room for so many bytes only.
func StoreWithin(ctx context.Context, to Requester, value any, room int) (api.Body, error) {
	return store(ctx, to, "", value, room)
}

// StoreFor is [Store] by a hub, for an agent.
func StoreFor(ctx context.Context, to Requester, agent string, value any) (api.Body, error) {
	return store(ctx, to, agent, value, api.InlineLimit)
}

func store(ctx context.Context, to Requester, by string, value any, room int) (api.Body, error) {
	raw, err := json.Marshal(value, json.Deterministic(true), jsontext.PreserveRawStrings(true))
	if err != nil {
		return api.Body{}, fmt.Errorf("%w: %w", ErrValue, err)
	}
	if len(raw) <= min(room, api.InlineLimit) {
		return api.Body{Inline: raw}, nil
	}
	sum := sha256.Sum256(raw)
	b := api.Body{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(raw))}
	for at := 0; at < len(raw); at += api.ChunkLimit {
		chunk := api.PutRequest{SHA256: b.SHA256, Size: b.Size, Offset: int64(at), Data: raw[at:min(at+api.ChunkLimit, len(raw))], By: by}
		if err := AskWithin(ctx, to, chunkTimeout, api.OpPut, chunk, nil); err != nil {
			return api.Body{}, err
		}
	}
	return b, nil
}
