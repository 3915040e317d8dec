package kerneltest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/utp"
)

func resultCases() []exercise {
	return []exercise{
		{"a result after the time is over", lateResult},
		{"requests under neighbouring epochs", neighbourEpochs},
		{"eight results at once", eightResults},
		{"each call has its tool's time", toolTimes},
		{"hostile results", hostileResults},
		{"results of what nobody has begun", strayResults},
	}
}

// lateResult: the timeout stands, whatever the service says later, and the turn goes on with it once.
func lateResult(s *scene) {
	w := s.leads()
	w.calls(one(look, `{}`))
	o := s.mustStart(w.call(0).ID)
	s.pass(31e9) // its lease and its time
	first := w.result()
	if first.Status != utp.StatusTimeout {
		s.t.Errorf("the result is %+v", first)
	}
	_ = s.finishes(o, `"late"`) // whether it is told so or not
	if again := w.result(); again.Status != first.Status || again.Code != first.Code || !slices.Equal(again.Result.Inline, first.Result.Inline) {
		s.t.Errorf("then it is %+v", again)
	}
	w.closes()
}

// neighbourEpochs: a worker that has not heard of the results of its own step may repeat itself; any other epoch is refused,
// and changes nothing.
func neighbourEpochs(s *scene) {
	w := s.leads()
	under := w.at()
	step := api.CallRequest{WorkerRequest: under, Step: 1, Calls: []api.ToolCall{one(look, `{}`)}}
	again := func(q api.CallRequest) error { return s.ask(kernel.AgentCaller, lead, api.OpCall, q, nil) }
	if err := again(step); err != nil {
		s.t.Fatal(err)
	}
	w.claim.Step = 1
	if err := again(step); err != nil { // the answer was lost
		s.t.Errorf("the step again: %v", err)
	}
	s.mustFinish(s.mustStart(w.call(0).ID))
	if err := again(step); err != nil {
		s.t.Errorf("the step again, under the epoch before its results: %v", err)
	}
	w.result()
	now := w.at()
	if now.Epoch != under.Epoch+1 {
		s.t.Fatalf("the epoch is %d after %d", now.Epoch, under.Epoch)
	}
	for name, change := range map[string]func(*api.WorkerRequest){
		"the epoch before":        func(r *api.WorkerRequest) { *r = under },
		"the epoch before that":   func(r *api.WorkerRequest) { r.Epoch -= 2 },
		"the next epoch":          func(r *api.WorkerRequest) { r.Epoch++ },
		"the nonce of another":    func(r *api.WorkerRequest) { r.Nonce = under.Nonce },
		"no nonce":                func(r *api.WorkerRequest) { r.Nonce = "" },
		"another worker's number": func(r *api.WorkerRequest) { r.Worker = "wrk_other" },
	} {
		q := api.DeliverRequest{WorkerRequest: now, Status: utp.StatusSuccess}
		change(&q.WorkerRequest)
		s.t.Log(name)
		s.refused(s.ask(kernel.AgentCaller, lead, api.OpDeliver, q, nil), utp.CodeStale)
	}
	w.closes()
}

// eightResults: eight calls of a step end in the same moment. Each result is there once, in an order that does not change, and
// the turn goes on once, with all of them.
func eightResults(s *scene) {
	const many = 8
	w := s.leads()
	calls := make([]api.ToolCall, many)
	for i := range calls {
		calls[i] = one(look, `{}`)
		calls[i].Key = fmt.Sprint("k", i)
	}
	w.calls(calls...)
	before := w.at()
	var all sync.WaitGroup
	for i := range many {
		o := s.mustStart(w.call(i).ID)
		all.Go(func() {
			for range 2 { // the answer to the first was lost
				if err := s.finishes(o, strconv.Itoa(i)); err != nil {
					s.t.Error(err)
				}
			}
		})
	}
	all.Wait()
	first := w.resumes()
	if first.Waiting != 0 || len(first.Results) != many || first.Epoch != before.Epoch+1 {
		s.t.Fatalf("%d results, %d to wait for, under epoch %d after %d", len(first.Results), first.Waiting, first.Epoch, before.Epoch)
	}
	seen := map[string]bool{}
	for _, r := range first.Results {
		seen[r.Key] = true
		if "k"+string(r.Result.Inline) != r.Key {
			s.t.Errorf("%s has the result %s", r.Key, r.Result.Inline)
		}
	}
	if len(seen) != many {
		s.t.Errorf("the results are of %v", seen)
	}
	for i, r := range w.resumes().Results {
		if r.Key != first.Results[i].Key {
			s.t.Errorf("then result %d is of %s; it was of %s", i, r.Key, first.Results[i].Key)
		}
	}
	w.closes()
}

// toolTimes: of two calls of one step that no service takes, each ends when its own tool's time is over.
func toolTimes(s *scene) {
	w := s.leads()
	long := one(dig, `{}`)
	long.Key = "k2"
	w.calls(one(look, `{}`), long)
	s.pass(11e9)
	if a := w.resumes(); a.Waiting != 1 {
		s.t.Errorf("after 11 s %d calls are open; want the one with a minute", a.Waiting)
	}
	s.pass(40e9)
	if a := w.resumes(); a.Waiting != 1 {
		s.t.Errorf("after 51 s %d calls are open; want the one with a minute", a.Waiting)
	}
	s.pass(11e9)
	a := w.resumes()
	if a.Waiting != 0 || len(a.Results) != 2 {
		s.t.Fatalf("after 62 s %+v", a)
	}
	for i, tool := range []string{look, dig} {
		if r := a.Results[i]; r.Tool != tool || r.Status != utp.StatusTimeout {
			s.t.Errorf("result %d is %+v", i, r)
		}
	}
	w.closes()
}

// hostileResults: what cannot be kept is refused, or is a failure that says so; the turn goes on either way, and what can be kept
// comes back as it was.
func hostileResults(s *scene) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, tt := range map[string]struct {
		result string
		want   utp.Status // "" is refused
	}{
		"a NUL":                       {`"a\u0000b"`, utp.StatusSuccess},
		"a raw NUL":                   {"\"a\x00b\"", ""},
		"NaN":                         {`NaN`, ""},
		"a number beyond all":         {`1e999999`, utp.StatusSuccess},
		"a lone surrogate":            {`"\ud800"`, ""},
		"broken UTF-8":                {"\"\xff\"", ""},
		"a member twice":              {`{"a":1,"a":2}`, ""},
		"256 levels":                  {nested(256), utp.StatusSuccess},
		"257 levels":                  {nested(257), utp.StatusFailed},
		"more levels than any reader": {nested(100_000), ""},
		"the words of a database":     {`"'; DROP TABLE turns; --"`, utp.StatusSuccess},
	} {
		w := s.leads()
		w.calls(one(look, `{}`))
		o := s.mustStart(w.call(0).ID)
		raw := fmt.Sprintf(`{"call_id":%q,"owner":%q,"fence":%d,"status":"success","result":{"inline":%s}}`, o.Call, o.Owner, o.Fence, tt.result)
		answer := s.kernel.Handle(s.t.Context(), kernel.Caller{Kind: kernel.ToolCaller, Name: service}, api.OpFinish, []byte(raw))
		if err := api.DecodeAnswer(answer, nil); tt.want == "" {
			s.t.Log(name)
			s.refused(err, utp.CodeBadRequest)
			s.mustFinish(o)
		} else if err != nil {
			s.t.Errorf("%s: %v", name, err)
		}
		r := w.result()
		if r.Status != tt.want && (tt.want != "" || r.Status != utp.StatusSuccess) {
			s.t.Errorf("%s: the result is %+v", name, r)
		}
		if tt.want == utp.StatusSuccess && string(r.Result.Inline) != tt.result {
			s.t.Errorf("%s: the result is %.100s; want %.100s", name, r.Result.Inline, tt.result)
		}
		w.closes()
	}
}

// strayResults: nobody but the service that was granted a start reports on it, and not under another fence.
func strayResults(s *scene) {
	w := s.leads()
	w.calls(one(look, `{}`))
	id := w.call(0).ID
	s.refused(s.finishes(api.OwnerRequest{Call: id, Owner: "replica", Fence: 1}, `"x"`), utp.CodeStale)
	o := s.mustStart(id)
	for name, tt := range map[string]struct {
		change  func(*api.OwnerRequest)
		service string
		code    utp.Code
	}{
		"another replica": {func(o *api.OwnerRequest) { o.Owner = "another" }, service, utp.CodeStale},
		"another fence":   {func(o *api.OwnerRequest) { o.Fence++ }, service, utp.CodeStale},
		"no such call":    {func(o *api.OwnerRequest) { o.Call = "tc_none" }, service, utp.CodeNotFound},
		"another service": {func(*api.OwnerRequest) {}, "water", utp.CodeAuthFailed},
	} {
		q := api.FinishRequest{OwnerRequest: o, Status: utp.StatusSuccess, Result: api.Body{Inline: jsontext.Value(`"x"`)}}
		tt.change(&q.OwnerRequest)
		s.t.Log(name)
		s.refused(s.ask(kernel.ToolCaller, tt.service, api.OpFinish, q, nil), tt.code)
	}
	s.mustFinish(o)
	if r := w.result(); string(r.Result.Inline) != `"done"` {
		s.t.Errorf("the result is %+v", r)
	}
	w.closes()
}
