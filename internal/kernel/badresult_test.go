package kernel_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/utp"
)

// nested is an array in an array, so many levels deep.
func nested(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

// TestBadResults: a result that cannot be kept as it is is answered, whatever it is, and the
// turn goes on: either the request is refused and the service can say it otherwise, or the
// call has failed and says why.
func TestBadResults(t *testing.T) {
	testkit.Slow(t)
	const refused = utp.CodeBadRequest
	for name, tt := range map[string]struct {
		result string
		code   utp.Code // of the refusal, or else of the call
		asIs   bool     // it is kept as it is
	}{
		"a NUL":                       {result: `"a\u0000b"`, asIs: true},
		"NaN":                         {result: `NaN`, code: refused},
		"a number beyond all":         {result: `1e999999`, asIs: true},
		"a lone surrogate":            {result: `"\ud800"`, code: refused},
		"broken UTF-8":                {result: "\"\xff\"", code: refused},
		"a member twice":              {result: `{"a":1,"a":2}`, code: refused},
		"256 levels":                  {result: nested(256), asIs: true},
		"257 levels":                  {result: nested(257), code: utp.CodeResultNotSerializable},
		"more levels than any reader": {result: nested(100_000), code: refused},
		"brackets in a text":          {result: `"` + strings.Repeat(`[{\"`, 1000) + `"`, asIs: true},
	} {
		for _, carriage := range []string{"inline", "blob"} {
			t.Run(name+", "+carriage, func(t *testing.T) {
				inWorld(t, nil, func(t *testing.T, w *world) {
					w.services[0].kill() // the test is the service
					w.work(one(poller))
					a := w.begin()
					c := w.reaches(a.Turn, turn.Dispatched)
					var granted api.StartAnswer
					if err := w.as(kernel.ToolCaller, target, api.OpStart, api.StartRequest{Call: c.ID, Owner: "own_1"}, &granted); err != nil {
						t.Fatal(err)
					}
					if granted.Class != c.Class {
						t.Errorf("the service is told the class %q; want %q", granted.Class, c.Class)
					}
					result := `{"inline":` + tt.result + `}`
					if carriage == "blob" {
						result = w.putBlob([]byte(tt.result))
					}
					finish := func(result string) error {
						raw := `{"call_id":"` + c.ID + `","owner":"own_1","fence":1,"status":"success","result":` + result + `}`
						answer := w.now.kernel.Handle(t.Context(), kernel.Caller{Kind: kernel.ToolCaller, Name: target}, api.OpFinish, []byte(raw))
						return api.DecodeAnswer(answer, nil)
					}
					err := finish(result)
					if carriage == "inline" && tt.code == refused {
						wantFault(t, err, refused)
						if err := finish(`{"inline":{"said":"otherwise"}}`); err != nil {
							t.Fatal(err)
						}
						w.succeeded(a.Turn)
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					w.succeeded(a.Turn) // the agent's own end; the call's is another
					o := w.last(a.Turn).Outcome
					if tt.asIs != (o.Status == utp.StatusSuccess) || !tt.asIs && o.Code != utp.CodeResultNotSerializable {
						t.Errorf("the call ended %+v", o)
					}
				})
			})
		}
	}
}

// putBlob uploads bytes as a service does and returns the body that names them.
func (w *world) putBlob(data []byte) string {
	w.t.Helper()
	sum := sha256.Sum256(data)
	body := api.Body{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}
	put := api.PutRequest{SHA256: body.SHA256, Size: body.Size, Data: data}
	if err := w.as(kernel.ToolCaller, target, api.OpPut, put, nil); err != nil {
		w.t.Fatal(err)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(raw)
}
