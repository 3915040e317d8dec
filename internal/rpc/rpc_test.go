package rpc_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// desk answers requests from a list, the last of them for ever.
type desk struct {
	mu      sync.Mutex
	answers []func() ([]byte, error)
	heard   [][]byte
	at      []time.Time
}

func (d *desk) Request(_ context.Context, _ string, request []byte) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.heard, d.at = append(d.heard, bytes.Clone(request)), append(d.at, time.Now())
	answer := d.answers[0]
	if len(d.answers) > 1 {
		d.answers = d.answers[1:]
	}
	return answer()
}

var errCable = errors.New("the cable is out")

func nothing() ([]byte, error) { return nil, errCable }

func refusal(code utp.Code, retry bool) func() ([]byte, error) {
	return func() ([]byte, error) {
		return api.EncodeAnswer(nil, &api.Fault{Code: code, Message: "no", Retry: retry}), nil
	}
}

func ok(value any) func() ([]byte, error) {
	return func() ([]byte, error) { return api.EncodeAnswer(value, nil), nil }
}

func raw(text string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(text), nil }
}

func TestAsk(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		answer  func() ([]byte, error)
		want    api.ClaimAnswer
		refused utp.Code
		fails   bool
	}{
		{name: "answered", answer: ok(api.ClaimAnswer{Turn: "turn_1", Epoch: 3}), want: api.ClaimAnswer{Turn: "turn_1", Epoch: 3}},
		{name: "refused", answer: refusal(utp.CodeBusy, false), refused: utp.CodeBusy, fails: true},
		{name: "no answer", answer: nothing, fails: true},
		{name: "no JSON", answer: raw("what?"), fails: true},
		{name: "nothing", answer: raw(""), fails: true},
		{name: "another shape", answer: raw(`{"ok":[1]}`), fails: true},
		{name: "a type that is wrong", answer: raw(`{"ok":{"epoch":"three"}}`), fails: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := &desk{answers: []func() ([]byte, error){tt.answer}}
			var got api.ClaimAnswer
			err := rpc.Ask(t.Context(), d, api.OpClaim, api.ClaimRequest{Agent: "a", Worker: "w"}, &got)
			if (err != nil) != tt.fails || (tt.refused != "" && !rpc.Code(err, tt.refused)) {
				t.Errorf("the error is %v", err)
			}
			if tt.refused == "" && rpc.Code(err, utp.CodeBusy) {
				t.Error("an answer that is none counts as a refusal")
			}
			if !tt.fails && fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("got %+v; want %+v", got, tt.want)
			}
			if string(d.heard[0]) != `{"agent":"a","worker":"w"}` {
				t.Errorf("asked %s", d.heard[0])
			}
		})
	}
}

func TestAskIntoNothing(t *testing.T) {
	t.Parallel()
	d := &desk{answers: []func() ([]byte, error){ok(struct{}{})}}
	if err := rpc.Ask(t.Context(), d, api.OpDeliver, struct{}{}, nil); err != nil {
		t.Error(err)
	}
}

// TestAskUntil: what passes is waited for with growing pauses, what stays is not.
func TestAskUntil(t *testing.T) {
	t.Parallel()
	many := func(n int, answer func() ([]byte, error), then func() ([]byte, error)) []func() ([]byte, error) {
		return append(slices.Repeat([]func() ([]byte, error){answer}, n), then)
	}
	tests := []struct {
		name    string
		answers []func() ([]byte, error)
		asked   int
		took    time.Duration
		fails   bool
	}{
		{name: "at once", answers: many(0, nil, ok(nil)), asked: 1},
		{name: "no answer, twice", answers: many(2, nothing, ok(nil)), asked: 3, took: 150 * time.Millisecond},
		{name: "no answer, for long", answers: many(9, nothing, ok(nil)), asked: 10, took: (50+100+200+400+800+1600)*time.Millisecond + 3*2*time.Second},
		{name: "a full disk", answers: many(3, refusal(utp.CodeUpstreamUnavailable, true), ok(nil)), asked: 4, took: 350 * time.Millisecond},
		{name: "a sick disk", answers: many(3, refusal(utp.CodeStorageError, true), ok(nil)), asked: 4, took: 350 * time.Millisecond},
		{name: "a defect that heals", answers: many(9, refusal(utp.CodeInternalError, true), ok(nil)), asked: 10, took: 9150 * time.Millisecond},
		{name: "a defect", answers: many(0, nil, refusal(utp.CodeInternalError, true)), asked: 10, took: 9150 * time.Millisecond, fails: true},
		{name: "garbage, once", answers: many(1, raw("{"), ok(nil)), asked: 2, took: 50 * time.Millisecond},
		{name: "busy", answers: many(0, nil, refusal(utp.CodeBusy, true)), asked: 1, fails: true},
		{name: "stale", answers: many(0, nil, refusal(utp.CodeStale, true)), asked: 1, fails: true},
		{name: "a race lost often", answers: many(9, refusal(utp.CodeConflict, true), ok(nil)), asked: 10, took: 9150 * time.Millisecond},
		{name: "a race lost for good", answers: many(0, nil, refusal(utp.CodeConflict, true)), asked: 10, took: 9150 * time.Millisecond, fails: true},
		{name: "conflict", answers: many(0, nil, refusal(utp.CodeConflict, false)), asked: 1, fails: true},
		{name: "done", answers: many(0, nil, refusal(utp.CodeDone, true)), asked: 1, fails: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := &desk{answers: tt.answers}
				began := time.Now()
				err := rpc.AskUntil(t.Context(), d, api.OpStart, struct{}{}, nil)
				if (err != nil) != tt.fails || len(d.heard) != tt.asked || time.Since(began) != tt.took {
					t.Errorf("asked %d times in %v, %v; want %d times in %v", len(d.heard), time.Since(began), err, tt.asked, tt.took)
				}
			})
		})
	}
}

// TestAskUntilIsImpatient: an answer that was lost is not waited for longer than 10 s.
func TestAskUntilIsImpatient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		lost := 2
		err := rpc.AskUntil(t.Context(), slow(func(ctx context.Context) ([]byte, error) {
			if lost--; lost < 0 {
				return api.EncodeAnswer(nil, nil), nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}), api.OpStart, struct{}{}, nil)
		if took := time.Since(began); err != nil || took != 20*time.Second+150*time.Millisecond {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// slow is a kernel that takes its time.
type slow func(context.Context) ([]byte, error)

func (s slow) Request(ctx context.Context, _ string, _ []byte) ([]byte, error) { return s(ctx) }

// TestAskUntilEnds: with its context, and at once with what can never be sent.
func TestAskUntilEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		d := &desk{answers: []func() ([]byte, error){nothing}}
		began := time.Now()
		if err := rpc.AskUntil(ctx, d, api.OpStart, struct{}{}, nil); !errors.Is(err, errCable) || time.Since(began) != 10*time.Second {
			t.Errorf("%v after %v; want the last error after 10 s", err, time.Since(began))
		}
		for _, request := range []any{
			api.StartRequest{Command: jsontext.Value("no JSON")}, api.ClaimRequest{Agent: "\xff"}, make(chan int), math.NaN(),
		} {
			d := &desk{answers: []func() ([]byte, error){ok(nil)}}
			if err := rpc.AskUntil(t.Context(), d, api.OpStart, request, nil); !errors.Is(err, rpc.ErrValue) || len(d.heard) != 0 {
				t.Errorf("%v, asked %d times; want ErrValue and no request", err, len(d.heard))
			}
		}
	})
}

// shelf keeps blobs like the kernel does.
type shelf struct {
	blobs  map[string][]byte
	pieces int
	spoil  func(*api.GetAnswer)
	refuse utp.Code
}

func (s *shelf) Request(_ context.Context, op string, request []byte) ([]byte, error) {
	if s.refuse != "" {
		return api.EncodeAnswer(nil, &api.Fault{Code: s.refuse}), nil
	}
	if op == api.OpPut {
		var q api.PutRequest
		if err := json.Unmarshal(request, &q); err != nil {
			return nil, err
		}
		s.pieces++
		if len(request) > utp.MessageLimit || len(q.Data) > api.ChunkLimit || int64(len(s.blobs[q.SHA256])) != q.Offset {
			return api.EncodeAnswer(nil, &api.Fault{Code: utp.CodeConflict}), nil
		}
		s.blobs[q.SHA256] = append(s.blobs[q.SHA256], q.Data...)
		return api.EncodeAnswer(struct{}{}, nil), nil
	}
	var q api.GetRequest
	if err := json.Unmarshal(request, &q); err != nil {
		return nil, err
	}
	all := s.blobs[q.SHA256]
	a := api.GetAnswer{Size: int64(len(all)), Data: all[min(int(q.Offset), len(all)):min(int(q.Offset)+api.ChunkLimit, len(all))]}
	if s.spoil != nil {
		s.spoil(&a)
	}
	return api.EncodeAnswer(a, nil), nil
}

// TestStoreAndFetch: a value comes back as it went, inline up to the limit and in
// pieces above it.
func TestStoreAndFetch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		size, room, pieces int
	}{
		{2, api.InlineLimit, 0},
		{api.InlineLimit, api.InlineLimit, 0},
		{api.InlineLimit, 1 << 30, 0},
		{api.InlineLimit + 1, 1 << 30, 2},
		{api.InlineLimit, api.InlineLimit - 1, 1},
		{100, 99, 1},
		{100, 0, 1},
		{100, -5, 1},
		{3 * api.ChunkLimit, api.InlineLimit, 3},
		{3*api.ChunkLimit + 1, api.InlineLimit, 4},
	} {
		s := &shelf{blobs: map[string][]byte{}}
		value := strings.Repeat("x", tt.size-2)
		b, err := rpc.StoreWithin(t.Context(), s, value, tt.room)
		if err != nil || s.pieces != tt.pieces || (b.SHA256 == "") != (tt.pieces == 0) {
			t.Errorf("%+v: %d pieces, %q, %v", tt, s.pieces, b.SHA256, err)
			continue
		}
		back, err := rpc.Fetch(t.Context(), s, b)
		if err != nil || string(back) != `"`+value+`"` {
			t.Errorf("%+v: %d bytes came back, %v", tt, len(back), err)
		}
	}
}

// TestStoreRefused: what is not JSON is not sent, and a refusal is told.
func TestStoreRefused(t *testing.T) {
	t.Parallel()
	for _, value := range []any{make(chan int), math.Inf(1), jsontext.Value(`{"a":1,"a":2}`), jsontext.Value(`{`), "\xff"} {
		if _, err := rpc.Store(t.Context(), &shelf{}, value); !errors.Is(err, rpc.ErrValue) {
			t.Errorf("%v: %v; want ErrValue", value, err)
		}
	}
	_, err := rpc.StoreWithin(t.Context(), &shelf{refuse: utp.CodeTooLarge}, "x", 0)
	if !rpc.Code(err, utp.CodeTooLarge) {
		t.Errorf("%v; want the refusal", err)
	}
}

// TestFetchRefused: bytes that are not what was named are not handed on.
func TestFetchRefused(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("0123456789"), 60_000)
	sum := sha256.Sum256(data)
	whole := api.Body{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}
	tests := map[string]struct {
		spoil func(*api.GetAnswer)
		body  api.Body
		code  utp.Code
		ok    bool
	}{
		"whole":         {body: whole, ok: true},
		"other bytes":   {body: whole, spoil: func(a *api.GetAnswer) { a.Data[5] = 'x' }},
		"it ends early": {body: whole, spoil: func(a *api.GetAnswer) { a.Data = nil }},
		"too much":      {body: api.Body{SHA256: whole.SHA256, Size: whole.Size - 1}, ok: true}, // the hash decides
		"too little":    {body: api.Body{SHA256: whole.SHA256, Size: whole.Size + 1}},
		"refused":       {body: whole, code: utp.CodeNotFound},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shelf{blobs: map[string][]byte{whole.SHA256: bytes.Clone(data)}, spoil: tt.spoil, refuse: tt.code}
			got, err := rpc.Fetch(t.Context(), s, tt.body)
			if (err == nil) != tt.ok || (tt.ok && !bytes.Equal(got, data)) || (tt.code != "" && !rpc.Code(err, tt.code)) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if !tt.ok && got != nil {
				t.Error("bytes came with the error")
			}
		})
	}
	inline, err := rpc.Fetch(t.Context(), &shelf{refuse: utp.CodeNotFound}, api.Body{Inline: jsontext.Value(`7`)})
	if err != nil || string(inline) != `7` {
		t.Errorf("inline: %s, %v", inline, err)
	}
}

// TestAskWithin: a ledger that cannot be read is asked for so long and no longer; what passes
// by itself is waited for, and a trouble that turns into another is given its own time.
func TestAskWithin(t *testing.T) {
	t.Parallel()
	damaged := refusal(utp.CodeStorageError, false)
	others := map[string]func() ([]byte, error){
		"no answer": nothing, "others hold it": refusal(utp.CodeStorageError, true), "no room": refusal(utp.CodeUpstreamUnavailable, true),
	}
	within := func(t *testing.T, d *desk) (time.Duration, error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		err := rpc.AskWithin(ctx, d, time.Minute, api.OpFinish, struct{}{}, nil)
		return time.Since(began), err
	}
	synctest.Test(t, func(t *testing.T) {
		if took, err := within(t, &desk{answers: []func() ([]byte, error){damaged}}); !rpc.Code(err, utp.CodeStorageError) || took != time.Minute {
			t.Errorf("%v after %v; want the refusal after a minute", err, took)
		}
		if took, err := within(t, &desk{answers: []func() ([]byte, error){damaged, ok(nil)}}); err != nil || took > time.Second {
			t.Errorf("%v after %v; want the answer", err, took)
		}
		if took, err := within(t, &desk{answers: []func() ([]byte, error){refusal(utp.CodeBusy, false)}}); !rpc.Code(err, utp.CodeBusy) || took != 0 {
			t.Errorf("%v after %v; want the refusal at once", err, took)
		}
		for name, other := range others {
			if took, err := within(t, &desk{answers: []func() ([]byte, error){other}}); err == nil || took != time.Hour {
				t.Errorf("%s: %v after %v; want it asked for as long as the context lives", name, err, took)
			}
			many := append(slices.Repeat([]func() ([]byte, error){other}, 60), damaged)
			if took, err := within(t, &desk{answers: many}); !rpc.Code(err, utp.CodeStorageError) || took < 2*time.Minute || took > 4*time.Minute {
				t.Errorf("%s, then damaged: %v after %v; want the refusal", name, err, took)
			}
		}
	})
}
