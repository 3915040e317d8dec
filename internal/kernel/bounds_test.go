package kernel_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// TestEnqueueBounds: a turn's arguments, request and owner together have to fit into one
// message, with room to spare.
func TestEnqueueBounds(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		text := func(n int) string { return strings.Repeat("t", n) }
		args := func(n int) jsontext.Value { return jsontext.Value(`"` + text(n-2) + `"`) }
		const most = api.InlineLimit
		for name, q := range map[string]api.EnqueueRequest{
			"arguments":    {Args: args(most + 1)},
			"request":      {Args: args(3), Request: text(most - 2)},
			"owner":        {Args: args(3), Owner: text(most - 2)},
			"all together": {Args: args(most / 2), Request: text(most / 4), Owner: text(most/4 + 1)},
		} {
			q.Agent = agentName
			t.Log(name)
			_, err := w.hub.Enqueue(w.ctx, q)
			wantFault(t, err, utp.CodeTooLarge)
		}
		if n := w.cell(`SELECT count(*) FROM turns`); n != "0" {
			t.Errorf("%s turns; want none", n)
		}
		full := api.EnqueueRequest{Agent: agentName, Args: args(most - 8), Request: "tidy up", Owner: "o"}
		a, err := w.hub.Enqueue(w.ctx, full)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.claims("wrk_hand"); got.Turn != a.Turn || len(got.Args) != most-8 {
			t.Errorf("claimed %s with %d bytes of arguments", got.Turn, len(got.Args))
		}
		h := w.hand()
		h.deliver()
		w.over(a.Turn)
	})
}

// TestStepBounds: a step has at most 256 calls, with keys of 1 to 128 bytes.
func TestStepBounds(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		calls := func(n, key int) []api.ToolCall {
			var all []api.ToolCall
			for i := range n {
				all = append(all, api.ToolCall{Key: fmt.Sprintf("%0*d", key, i), Tool: unknown, Args: api.Body{Inline: jsontext.Value(`{}`)}})
			}
			return all
		}
		a := w.begin()
		h := w.hand()
		wantFault(t, h.wants(calls(257, 1)...), utp.CodeBadRequest)
		wantFault(t, h.wants(calls(2, 129)...), utp.CodeBadRequest)
		nameless := calls(2, 1)
		nameless[1].Key = ""
		wantFault(t, h.wants(nameless...), utp.CodeBadRequest)
		if n := w.cell(`SELECT count(*) FROM cards`); n != "0" {
			t.Errorf("%s cards were written for steps that were refused", n)
		}
		if err := h.wants(calls(256, 128)...); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Second)
		h.results()
		if all, _ := h.transcript(); len(all) != 256 {
			t.Errorf("%d results; want 256", len(all))
		}
		h.deliver()
		w.over(a.Turn)
	})
}

// TestSameKey: several calls of one step with the same key are not made, since their results could not be told apart. One
// failed result stands for them, the other calls of the step are made, and the turn goes on.
func TestSameKey(t *testing.T) {
	inWorld(t, sendRetry, func(t *testing.T, w *world) {
		call := func(key, tool string) api.ToolCall {
			return api.ToolCall{Key: key, Tool: tool, Args: api.Body{Inline: jsontext.Value(`{"name":"` + key + `"}`)}}
		}
		a := w.begin()
		h := w.hand()
		if err := h.wants(call("a", shred), call("b", poller), call("a", poller), call("a", shred)); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Second)
		h.results()
		all, _ := h.transcript()
		if len(all) != 2 || all[0].Key != "a" || all[0].Status != utp.StatusFailed || all[0].Code != utp.CodeBadRequest ||
			!strings.Contains(all[0].Message, `3 calls of this step have the id "a"`) || all[1].Key != "b" || all[1].Status != utp.StatusSuccess {
			t.Errorf("the results are %+v", all)
		}
		if n := len(w.questions()); n != 0 {
			t.Errorf("%d questions were asked", n)
		}
		h.deliver()
		w.over(a.Turn)
	})
}

// TestClaimNeedsAWorker: a turn that nobody in particular has claimed would be free for all, and
// anyone who had claimed it would find it stale, again and again. A name that is too long is
// written with every step.
func TestClaimNeedsAWorker(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		a := w.begin()
		for _, name := range []string{"", strings.Repeat("w", 129)} {
			q := api.ClaimRequest{Agent: agentName, Worker: name}
			wantFault(t, w.as(kernel.AgentCaller, agentName, api.OpClaim, q, nil), utp.CodeBadRequest)
		}
		if state := w.turn(a.Turn); state.Epoch != 0 {
			t.Errorf("the turn is under epoch %d; want it unclaimed", state.Epoch)
		}
		h := w.hand()
		h.deliver()
		w.over(a.Turn)
	})
}

// TestStartNeedsAnOwner: a start by nobody could be answered to anybody.
func TestStartNeedsAnOwner(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.services[0].conn.cut.Store(true)
		w.work(one(poller))
		a := w.begin()
		w.pass(time.Second)
		call := w.last(a.Turn).ID
		for _, owner := range []string{"", strings.Repeat("o", 129)} {
			wantFault(t, w.as(kernel.ToolCaller, target, api.OpStart, api.StartRequest{Call: call, Owner: owner}, nil), utp.CodeBadRequest)
		}
		if n := w.cell(`SELECT count(*) FROM grants`); n != "0" {
			t.Errorf("%s starts were granted; want none", n)
		}
		w.services[0].conn.cut.Store(false)
		w.succeeded(a.Turn)
	})
}

// TestOpenTurnsBound: an owner has at most 200 turns that have not ended; the next one is
// refused and leaves nothing behind, anyone else who still may, and there is room again once one
// has ended.
func TestOpenTurnsBound(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		const most = 200
		ask := func(owner string) (api.EnqueueAnswer, error) {
			return w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Owner: owner, Args: jsontext.Value(`{}`)})
		}
		var first api.EnqueueAnswer
		for i := range most {
			a, err := ask(person)
			if err != nil {
				t.Fatalf("turn %d: %v", i+1, err)
			}
			if i == 0 {
				first = a
			}
		}
		_, err := ask(person)
		wantFault(t, err, utp.CodeTooManyTurns)
		if n := w.cell(`SELECT count(*) FROM turns`); n != "200" {
			t.Errorf("%s turns are in the ledger", n)
		}
		if _, err := ask("bob"); err != nil {
			t.Errorf("another owner: %v", err)
		}
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: first.Session, By: person}); err != nil {
			t.Fatal(err)
		}
		w.over(first.Turn)
		if _, err := ask(person); err != nil {
			t.Errorf("after one has ended: %v", err)
		}
	})
}

// TestToolsBound: a service registers at most 200 tools of its own accord. The next one is refused
// and leaves nothing behind, those that are there can still be changed, other services and whoever
// runs the kernel go on, and there is room again once one is taken out.
func TestToolsBound(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		const most = 200
		register := func(service string, n int, class utp.Class) error {
			d := of(service, fmt.Sprintf("%s.tool_%03d", service, n))
			d.Class = class
			return w.as(kernel.ToolCaller, service, api.OpRegister, api.RegisterRequest{Definition: d}, nil)
		}
		for n := range most {
			if err := register("words", n, utp.Read); err != nil {
				t.Fatalf("tool %d: %v", n+1, err)
			}
		}
		err := register("words", most, utp.Read)
		wantFault(t, err, utp.CodeTooManyTools)
		for _, says := range []string{"words", "200", "words.tool_200", "earshot tools rm"} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("it does not say %s: %v", says, err)
			}
		}
		if n := w.cell(`SELECT count(*) FROM tools WHERE tool_name LIKE 'words.%'`); n != "200" {
			t.Errorf("%s tools are in the ledger", n)
		}
		for name, err := range map[string]error{
			"the same again": register("words", 0, utp.Read), "a change": register("words", 1, utp.Idempotent), "another service": register("word", 0, utp.Read),
			"the operator": w.now.kernel.Registry().Register(w.ctx, "words", of("words", "words.more")),
		} {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, name := range []string{"words.more", "words.tool_007"} {
			if _, err := operate[struct{}](w, api.OpRemove, api.RemoveRequest{Tool: name}); err != nil {
				t.Fatal(err)
			}
		}
		if err := register("words", most, utp.Read); err != nil {
			t.Errorf("once one is taken out: %v", err)
		}
		wantFault(t, register("words", most+1, utp.Read), utp.CodeTooManyTools)
	})
}

// TestToolsBoundAtOnce: of many who ask for the last place at the same time, one gets it.
func TestToolsBoundAtOnce(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		var asked sync.WaitGroup
		var taken, refused atomic.Int64
		for n := range 230 {
			asked.Go(func() {
				err := w.as(kernel.ToolCaller, "words", api.OpRegister, api.RegisterRequest{Definition: of("words", fmt.Sprintf("words.tool_%03d", n))}, nil)
				switch {
				case err == nil:
					taken.Add(1)
				case rpc.Code(err, utp.CodeTooManyTools):
					refused.Add(1)
				}
			})
		}
		asked.Wait()
		if taken.Load() != 200 || refused.Load() != 30 {
			t.Errorf("%d were registered and %d refused; want 200 and 30", taken.Load(), refused.Load())
		}
	})
}

// TestLongLines: a list whose texts fill more than one message comes in parts, each of which
// can be sent, and nothing is left out.
func TestLongLines(t *testing.T) {
	testkit.Slow(t)
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		const all = 190
		for range all { // in JSON each of these characters takes six
			if _, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Owner: person, Args: jsontext.Value(`{}`), Request: strings.Repeat("\x01", 1<<10)}); err != nil {
				t.Fatal(err)
			}
		}
		found := map[string]bool{}
		for after := ""; ; {
			var rows []api.SessionRow
			if err := rpc.Ask(w.ctx, w.person, api.OpSessions, api.SessionsRequest{After: after, Newest: true}, &rows); err != nil {
				t.Fatal(err)
			}
			if len(rows) == 0 {
				break
			}
			raw, err := json.Marshal(rows)
			if err != nil || len(raw) > utp.MessageLimit {
				t.Fatalf("%d rows have %d bytes, %v", len(rows), len(raw), err)
			}
			for _, r := range rows {
				found[r.Session] = true
			}
			after = rows[len(rows)-1].Turn
		}
		if len(found) != all {
			t.Errorf("%d sessions were listed; want %d", len(found), all)
		}
	})
}

// TestBytesOfADay: what one credential puts in a day is bounded; others go on, and so does it on the
// next day.
func TestBytesOfADay(t *testing.T) {
	inWorld(t, func(w *world) { w.bytes = 1000 }, func(t *testing.T, w *world) {
		put := func(name string, n int, size int) error {
			data := bytes.Repeat([]byte{byte(n)}, size)
			sum := sha256.Sum256(data)
			return rpc.Ask(w.ctx, w.bus.connect(kernel.ToolCaller, name), api.OpPut, api.PutRequest{SHA256: hex.EncodeToString(sum[:]), Size: int64(size), Data: data}, nil)
		}
		for n, size := range []int{600, 400} {
			if err := put("words", n, size); err != nil {
				t.Fatal(err)
			}
		}
		wantFault(t, put("words", 3, 1), utp.CodeTooManyBytes)
		if err := put("files", 4, 1000); err != nil {
			t.Errorf("another credential: %v", err)
		}
		w.pass(25 * time.Hour)
		if err := put("words", 5, 1000); err != nil {
			t.Errorf("on the next day: %v", err)
		}
		wantFault(t, put("words", 6, 1), utp.CodeTooManyBytes)
	})
}

// TestOpenCallsBound: an agent's calls that have not ended are bounded over all its turns. A step beyond that is
// refused as a whole, another agent goes on, and so does this one once calls have ended; the turn ends with the reason.
func TestOpenCallsBound(t *testing.T) {
	inWorld(t, func(w *world) { w.calls, w.unended = 3, true }, func(t *testing.T, w *world) {
		three := []api.ToolCall{}
		for _, key := range []string{"a", "b", "c"} {
			three = append(three, api.ToolCall{Key: key, Tool: burn, Args: api.Body{Inline: jsontext.Value(`{"name":"x"}`)}})
		}
		first := w.begin()
		if err := w.hand().wants(three...); err != nil {
			t.Fatal(err)
		}
		second := w.begin()
		h := w.handOf(agentName, "wrk_second")
		for range 3 {
			wantFault(t, h.wants(three[:1]...), utp.CodeTooManyCalls)
			w.pass(2 * time.Second)
		}
		if calls := w.turn(second.Turn).Calls; len(calls) != 0 {
			t.Errorf("of a refused step there are %d calls", len(calls))
		}
		if _, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: "other", Args: jsontext.Value(`{}`), Request: "tidy up"}); err != nil {
			t.Fatal(err)
		}
		if err := w.handOf("other", "wrk_other").wants(three...); err != nil {
			t.Errorf("another agent: %v", err)
		}
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: first.Session, By: person}); err != nil {
			t.Fatal(err)
		}
		w.over(first.Turn)
		w.pass(2 * time.Second)
		if err := h.wants(three...); err != nil {
			t.Errorf("once calls have ended: %v", err)
		}
		w.restart()
		w.begin()
		wantFault(t, w.handOf(agentName, "wrk_third").wants(three[:1]...), utp.CodeTooManyCalls)
	})
}

// TestOpenCallsAreThoseOpen: calls that have ended count for nothing, however fast they come one after the other.
func TestOpenCallsAreThoseOpen(t *testing.T) {
	inWorld(t, func(w *world) { w.calls = 4 }, func(t *testing.T, w *world) {
		var steps [][]worker.Call
		for range 20 {
			steps = append(steps, one(poller))
		}
		w.work(steps...)
		a := w.begin()
		w.succeeded(a.Turn)
		if n := w.cell(`SELECT count(*) FROM results`); n != "20" {
			t.Errorf("%s calls were made; want 20", n)
		}
	})
}

// TestOpenCallsOfTwoKernels: kernels on one ledger count each for itself, and look often enough that the second adds
// an eighth at most.
func TestOpenCallsOfTwoKernels(t *testing.T) {
	const most = 16
	inWorld(t, func(w *world) { shared(w); w.calls, w.unended = most, true }, func(t *testing.T, w *world) {
		w.join()
		made := 0
		for ; made < 3*most; made++ {
			w.begin()
			h := w.handOf(agentName, fmt.Sprintf("wrk_%d", made))
			w.bus.turnTo(made)
			call := api.ToolCall{Key: "k", Tool: burn, Args: api.Body{Inline: jsontext.Value(`{"name":"x"}`)}}
			if err := h.wants(call); err != nil {
				wantFault(t, err, utp.CodeTooManyCalls)
				break
			}
		}
		if made < most || made > most+most/8 {
			t.Errorf("%d calls were made; want %d to %d", made, most, most+most/8)
		}
	})
}

// TestOpenCallsAreCountedSeldom: others wait while the many open calls of one agent are counted. That is once a second,
// however often it is refused, and however many calls it makes.
func TestOpenCallsAreCountedSeldom(t *testing.T) {
	const most, open = 1100, 1050
	onDisk(t, func(w *world) { w.calls, w.unended = most, true }, func(t *testing.T, w *world) {
		a := w.begin()
		w.hand()
		w.tamper(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO calls SELECT 'tc_of_before_' || i, ?, ?, '', '', 'asked', '', '', '', '', NULL, '', 0, '', '' FROM n`, open, a.Turn, a.Session)
		before := w.now.counts.Load()
		ask := func(name string, n int) error {
			w.begin()
			var calls []api.ToolCall
			for i := range n {
				calls = append(calls, api.ToolCall{Key: fmt.Sprint(i), Tool: burn, Args: api.Body{Inline: jsontext.Value(`{"name":"x"}`)}})
			}
			return w.handOf(agentName, name).wants(calls...)
		}
		for i := range 10 {
			if err := ask(fmt.Sprint("wrk_", i), 2); err != nil {
				t.Fatal(err)
			}
			wantFault(t, ask(fmt.Sprint("wrk_too_many_", i), most-open), utp.CodeTooManyCalls)
		}
		if n := w.now.counts.Load() - before; n != 1 {
			t.Errorf("counted %d times; want once", n)
		}
		w.tamper(`DELETE FROM calls WHERE call_id LIKE 'tc_of_before_%'`)
	})
}

// TestTooManyCallsEndATurn: the worker ends a turn whose calls are refused, and says why.
func TestTooManyCallsEndATurn(t *testing.T) {
	inWorld(t, func(w *world) { w.calls = 1 }, func(t *testing.T, w *world) {
		w.work([]worker.Call{
			{Key: "k1", Tool: poller, Args: map[string]any{"name": "x"}, To: 50}, {Key: "k2", Tool: poller, Args: map[string]any{"name": "y"}, To: 100},
		})
		a := w.begin()
		if end := w.over(a.Turn).End; end.Status != utp.StatusFailed || end.Code != utp.CodeTooManyCalls {
			t.Errorf("the turn has ended as %+v", end)
		}
	})
}

// TestOpenCallsOfForeigners: the calls of a third-party agent are bounded alike; the one too many gets a result that
// says why.
func TestOpenCallsOfForeigners(t *testing.T) {
	inWorld(t, func(w *world) { w.calls, w.unended = 1, true }, func(t *testing.T, w *world) {
		s := w.stranger("peer")
		c := s.holds()
		for n, call := range []string{"call_1", "call_2"} {
			card := s.wanted(c.Turn, call, burn)
			s.keeps(utp.NewToolCall(card))
			_, err := s.sends(s.commanded(card, c.Epoch))
			if n == 0 && err != nil {
				t.Fatal(err)
			}
			if n == 1 {
				wantFault(t, err, utp.CodeTooManyCalls)
			}
		}
		if _, card, is := s.row(c.Turn, "call_2"); !is || card.Status != utp.StatusFailed || card.Error.Code != utp.CodeTooManyCalls {
			t.Errorf("the call too many has the result %+v, %v", card, is)
		}
	})
}
