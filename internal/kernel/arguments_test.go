package kernel_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// hand is a worker that the test plays itself, without an SDK.
type hand struct {
	w    *world
	conn *conn
	at   api.WorkerRequest
	step int
}

func (w *world) hand() *hand { return w.handOf(agentName, "wrk_hand") }

func (w *world) handOf(agent, name string) *hand {
	w.t.Helper()
	h := &hand{w: w, conn: w.bus.connect(kernel.AgentCaller, agent)}
	var a api.ClaimAnswer
	if err := rpc.Ask(w.ctx, h.conn, api.OpClaim, api.ClaimRequest{Agent: agent, Worker: name}, &a); err != nil || a.Turn == "" {
		w.t.Fatalf("claimed %+v, %v", a, err)
	}
	h.at, h.step = a.WorkerRequest(name), a.Step
	return h
}

// calls asks for one call with the body as it is.
func (h *hand) calls(name string, b api.Body) error {
	return h.wants(api.ToolCall{Key: "k", Tool: name, Args: b})
}

// wants asks for the calls of the next step.
func (h *hand) wants(calls ...api.ToolCall) error {
	err := rpc.Ask(h.w.ctx, h.conn, api.OpCall, api.CallRequest{WorkerRequest: h.at, Step: h.step + 1, Calls: calls}, nil)
	if err == nil {
		h.step++
	}
	return err
}

// upload puts bytes as a blob, whatever they are.
func (h *hand) upload(raw []byte) api.Body {
	h.w.t.Helper()
	sum := sha256.Sum256(raw)
	b := api.Body{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(raw))}
	if err := rpc.Ask(h.w.ctx, h.conn, api.OpPut, api.PutRequest{SHA256: b.SHA256, Size: b.Size, Data: raw}, nil); err != nil {
		h.w.t.Fatal(err)
	}
	return b
}

// results goes on to the next step and reads what came of the last.
func (h *hand) results() []api.CallResult {
	h.w.t.Helper()
	var a api.ResumeAnswer
	if err := rpc.Ask(h.w.ctx, h.conn, api.OpResume, h.at, &a); err != nil || a.Waiting != 0 {
		h.w.t.Fatalf("resumed: %+v, %v", a, err)
	}
	h.at.Epoch, h.at.Nonce = a.Epoch, a.Nonce
	var page api.TranscriptAnswer
	if err := rpc.Ask(h.w.ctx, h.conn, api.OpTranscript, api.TranscriptRequest{WorkerRequest: h.at}, &page); err != nil {
		h.w.t.Fatal(err)
	}
	return page.Results
}

func (h *hand) deliver() {
	h.w.t.Helper()
	err := rpc.Ask(h.w.ctx, h.conn, api.OpDeliver, api.DeliverRequest{WorkerRequest: h.at, Status: utp.StatusSuccess, Summary: "Done."}, nil)
	if err != nil {
		h.w.t.Fatal(err)
	}
}

// TestBadArguments: what has no one meaning, or does not fit the tool, is refused
// before anyone is asked. It is the result of that call and nothing else's failure.
func TestBadArguments(t *testing.T) {
	tests := map[string]string{
		"no object":              `["x"]`,
		"null members only":      `{"name":null}`,
		"no JSON":                `{"name":"x"`,
		"a name twice":           `{"name":"x","name":"y"}`,
		"a name twice, escaped":  `{"name":"x","n\u0061me":"y"}`,
		"a name twice, deep":     `{"name":"x","more":{"a":1,"a":2}}`,
		"not a number":           `{"name":"x","n":NaN}`,
		"an endless number":      `{"name":"x","n":1e999}`,
		"an inexact number":      `{"name":"x","n":9007199254740993}`,
		"NUL":                    `{"name":"a\u0000b"}`,
		"half a surrogate":       `{"name":"\ud800"}`,
		"no UTF-8":               "{\"name\":\"\xff\"}",
		"a missing member":       `{"n":1}`,
		"a wrong type":           `{"name":7}`,
		"a further member":       `{"name":"x","force":true}`,
		"a sealed value, forged": `{"name":"x","more":{"$secret":"env:MAIL_PASSWORD","mac":"00"}}`,
	}
	onDisk(t, withSecret, func(t *testing.T, w *world) {
		a := w.begin()
		h := w.hand()
		for name, raw := range tests {
			if err := h.calls(burn, h.upload([]byte(raw))); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if q := w.questions(); len(q) != 0 {
				t.Errorf("%s: the person was asked", name)
			}
			all := h.results()
			if r := all[len(all)-1]; r.Status != utp.StatusFailed || r.Code != utp.CodeBadRequest || r.Message == "" {
				t.Errorf("%s: the agent sees %+v; want failed, bad_request, with a reason", name, r)
			}
		}
		h.deliver()
		w.over(a.Turn)
		w.effectsAre(0)
	})
}

// TestEndlessSchema: a service's schema of a few lines, by which arguments could be judged for longer
// than anybody lives, holds nothing up. The call is refused, and the turn goes on.
func TestEndlessSchema(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		d := definition(burn, utp.Read, "{}")
		parameters := `{"type":"object","properties":{"name":{"$ref":"#/$defs/x0"}},"$defs":{`
		for i := range 60 {
			parameters += fmt.Sprintf(`"x%d":{"allOf":[{"$ref":"#/$defs/x%d"},{"$ref":"#/$defs/x%d"}]},`, i, i+1, i+1)
		}
		d.Parameters = jsontext.Value(parameters + `"x60":{"type":"string"}}}`)
		if err := w.now.kernel.Registry().Register(w.ctx, target, d); err != nil {
			t.Fatal(err)
		}
		a := w.begin()
		h := w.hand()
		if err := h.calls(burn, h.upload([]byte(`{"name":"x"}`))); err != nil {
			t.Fatal(err)
		}
		if r := h.results()[0]; r.Status != utp.StatusFailed || r.Code != utp.CodeBadRequest || !strings.Contains(r.Message, "cannot be judged") {
			t.Errorf("the agent sees %+v", r)
		}
		h.deliver()
		w.over(a.Turn)
		w.effectsAre(0)
	})
}

// TestBadRequests: a message that is itself no JSON with one meaning is refused as a
// whole.
func TestBadRequests(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		a := w.begin()
		h := w.hand()
		for _, raw := range []string{`{"name":"x","name":"y"}`, `{"name":NaN}`, `{"name":"\ud800"}`} {
			head, err := json.Marshal(h.at)
			if err != nil {
				t.Fatal(err)
			}
			request := strings.TrimSuffix(string(head), "}") + `,"step":1,"calls":[{"key":"k","tool":"burn","args":{"inline":` + raw + `}}]}`
			answer, err := h.conn.Request(w.ctx, api.OpCall, []byte(request))
			if err != nil {
				t.Fatal(err)
			}
			wantFault(t, api.DecodeAnswer(answer, nil), utp.CodeBadRequest)
		}
		h.deliver()
		w.over(a.Turn)
	})
}

// TestUnknownTools: no tool of that name, or no name at all, is a result.
func TestUnknownTools(t *testing.T) {
	for name, wanted := range map[string]string{
		"nowhere": unknown, "none": "", "spaced": " x", "two lines": "line\nbreak", "long": strings.Repeat("long", 200),
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				p := &planner{steps: [][]worker.Call{one(wanted)}}
				w.workAs(func() worker.Planner { return p })
				a := w.begin()
				w.succeeded(a.Turn)
				if r := p.seen[0]; r.Status != utp.StatusFailed || r.Code != utp.CodeUnknownTool {
					t.Errorf("the agent sees %+v; want failed, unknown_tool", r)
				}
			})
		})
	}
}

// TestMissingBlob: arguments that were never put, or not wholly, are not arguments.
func TestMissingBlob(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.serve("post", func(s *service) []tool.Tool {
			d := definition(mail, utp.Irreversible, `{}`)
			d.Parameters = jsontext.Value(`{"type":"object"}`)
			d.Target = strings.Replace(d.Target, "tool."+target, "tool.post", 1)
			return []tool.Tool{s.tool(d)}
		})
		a := w.begin()
		h := w.hand()
		if err := h.calls(mail, api.Body{SHA256: strings.Repeat("0", 64), Size: 10}); err != nil {
			t.Fatal(err)
		}
		w.settle()
		if q := w.questions(); len(q) != 0 {
			t.Fatal("the person was asked about arguments that are not there")
		}
		if r := h.results()[0]; r.Code != utp.CodeBadRequest {
			t.Errorf("the agent sees %+v; want bad_request", r)
		}
		h.deliver()
		w.over(a.Turn)
	})
}

// TestLarge: arguments and results of a mebibyte go by blob; the bus asserts that no
// message is over its limit.
func TestLarge(t *testing.T) {
	testkit.Slow(t)
	inWorld(t, nil, func(t *testing.T, w *world) {
		text := strings.Repeat("ä€𝄞 ", 100_000)
		w.serve("post", func(s *service) []tool.Tool {
			d := definition(mail, utp.Irreversible, `{}`)
			d.Target = strings.Replace(d.Target, "tool."+target, "tool.post", 1)
			return []tool.Tool{{Definition: d, Run: func(_ context.Context, c *tool.Call) (tool.Result, error) {
				var args struct {
					Name string `json:"name"`
					Text string `json:"text"`
				}
				if err := c.Decode(&args); err != nil {
					return tool.Result{}, err
				}
				if args.Text != text {
					t.Error("the arguments came otherwise than they went")
				}
				return tool.Result{Value: map[string]any{"echo": args.Text}}, w.effects.happen(c.ID)
			}}}
		})
		step := one(mail)
		step[0].Args = map[string]any{"name": "x", "text": text}
		p := &planner{steps: [][]worker.Call{step}}
		w.workAs(func() worker.Planner { return p })
		a := w.begin()
		q := w.asked()
		_, err := w.reply(q, "accept")
		wantFault(t, err, utp.CodeArgumentsNotSeen)
		shown := w.reads(q)
		var args struct {
			Name string `json:"name"`
			Text string `json:"text"`
		}
		if err := json.Unmarshal(shown, &args); err != nil || args.Text != text {
			t.Errorf("what the person can read is other than what was asked for: %v", err)
		}
		w.say(q, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
		var value struct {
			Echo string `json:"echo"`
		}
		if err := json.Unmarshal(p.seen[0].Value, &value); err != nil || value.Echo != text {
			t.Errorf("the result came otherwise than it went: %v", err)
		}
		if w.bus.largest > utp.MessageLimit || w.bus.largest < api.ChunkLimit {
			t.Errorf("the largest message had %d bytes", w.bus.largest)
		}
	})
}

// TestLargeSteps: many calls of which none is large by itself.
func TestLargeSteps(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		var step []worker.Call
		for i := range 8 {
			step = append(step, worker.Call{Key: strings.Repeat("k", i+1), Tool: poller, Args: map[string]any{
				"name": "x", "text": strings.Repeat("t", 200<<10),
			}})
		}
		p := &planner{steps: [][]worker.Call{step}}
		w.workAs(func() worker.Planner { return p })
		a := w.begin()
		w.succeeded(a.Turn)
		if len(p.seen) != len(step) {
			t.Errorf("%d results; want %d", len(p.seen), len(step))
		}
	})
}

// TestStepOfLargeArguments: the arguments of a step, which are all read in one transaction, are
// bounded together, also where they are one blob that is named again and again.
func TestStepOfLargeArguments(t *testing.T) {
	testkit.Slow(t)
	inWorld(t, nil, func(t *testing.T, w *world) {
		a := w.begin()
		h := w.hand()
		raw := bytes.Repeat([]byte(" "), api.BlobLimit/2+1)
		sum := sha256.Sum256(raw)
		b := api.Body{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(raw))}
		for at := 0; at < len(raw); at += api.ChunkLimit {
			piece := api.PutRequest{SHA256: b.SHA256, Size: b.Size, Offset: int64(at), Data: raw[at:min(at+api.ChunkLimit, len(raw))]}
			if err := rpc.Ask(w.ctx, h.conn, api.OpPut, piece, nil); err != nil {
				t.Fatal(err)
			}
		}
		one := api.ToolCall{Key: "a", Tool: poller, Args: b}
		two := one
		two.Key = "b"
		wantFault(t, h.wants(one, two), utp.CodeTooLarge)
		if n := w.cell(`SELECT count(*) FROM cards`); n != "0" {
			t.Errorf("%s cards were written for a step that was refused", n)
		}
		if err := h.wants(one); err != nil {
			t.Fatal(err)
		}
		if got := h.results(); len(got) != 1 || got[0].Code != utp.CodeBadRequest {
			t.Errorf("results: %+v; want one, bad_request", got)
		}
		h.deliver()
		w.succeeded(a.Turn)
	})
}

// TestBlobs: a blob is what its hash says, comes in order, and has a limit.
func TestBlobs(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		c := w.bus.connect(kernel.ToolCaller, target)
		put := func(q api.PutRequest) error { return rpc.Ask(w.ctx, c, api.OpPut, q, nil) }
		data := bytes.Repeat([]byte("0123456789"), 50_000)
		sum := sha256.Sum256(data)
		hash := hex.EncodeToString(sum[:])
		size := int64(len(data))
		if err := put(api.PutRequest{SHA256: hash, Size: size, Data: data[:api.ChunkLimit]}); err != nil {
			t.Fatal(err)
		}
		var a api.GetAnswer
		wantFault(t, rpc.Ask(w.ctx, c, api.OpGet, api.GetRequest{SHA256: hash}, &a), utp.CodeNotFound) // half of it is nothing
		wantFault(t, put(api.PutRequest{SHA256: hash, Size: size, Offset: api.ChunkLimit + 1, Data: data[:1]}), utp.CodeConflict)
		wantFault(t, put(api.PutRequest{SHA256: hash, Size: size, Offset: size, Data: data[:1]}), utp.CodeBadRequest)
		wantFault(t, put(api.PutRequest{SHA256: hash, Size: size, Offset: 5 << 20, Data: data[:1]}), utp.CodeBadRequest)
		if err := put(api.PutRequest{SHA256: hash, Size: size, Data: data[:api.ChunkLimit]}); err != nil {
			t.Errorf("the same piece again: %v", err)
		}
		if err := put(api.PutRequest{SHA256: hash, Size: size, Offset: api.ChunkLimit, Data: data[api.ChunkLimit:]}); err != nil {
			t.Fatal(err)
		}
		whole, err := rpc.Fetch(w.ctx, c, api.Body{SHA256: hash, Size: size})
		if err != nil || !bytes.Equal(whole, data) {
			t.Errorf("it came otherwise than it went: %v", err)
		}
		for name, q := range map[string]api.PutRequest{
			"too large":     {SHA256: hash, Size: api.BlobLimit + 1},
			"a large piece": {SHA256: hash, Size: size, Data: make([]byte, api.ChunkLimit+1)},
		} {
			t.Log(name)
			wantFault(t, put(q), utp.CodeTooLarge)
		}
		for name, q := range map[string]api.PutRequest{
			"no hash":         {SHA256: "abc", Size: 1, Data: []byte("x")},
			"capitals":        {SHA256: strings.ToUpper(hash), Size: size, Data: data[:1]},
			"no hex":          {SHA256: strings.Repeat("z", 64), Size: 1, Data: []byte("x")},
			"below the start": {SHA256: hash, Size: size, Offset: -1, Data: []byte("x")},
			"below nothing":   {SHA256: hash, Size: -1},
		} {
			t.Log(name)
			wantFault(t, put(q), utp.CodeBadRequest)
		}
		wantFault(t, rpc.Ask(w.ctx, c, api.OpGet, api.GetRequest{SHA256: hash, Offset: -1}, nil), utp.CodeBadRequest)
		if err := put(api.PutRequest{SHA256: strings.Repeat("ab", 32), Size: 3, Data: []byte("abc")}); err == nil {
			t.Error("bytes under another's hash were taken")
		}
	})
}

// TestSecret: a secret goes to the service and nowhere else.
func TestSecret(t *testing.T) {
	onDisk(t, withSecret, func(t *testing.T, w *world) {
		got := map[string]string{}
		var args jsontext.Value
		w.effects.at("begun", func(_ context.Context, _ *service, c *tool.Call) error {
			got, args = c.Secrets, c.Args
			return nil
		})
		w.serve("post", mailTool)
		w.review(map[string]utp.Class{mail: utp.Irreversible})
		w.work(one(mail))
		a := w.begin()
		w.accepts()
		w.succeeded(a.Turn)
		w.effectsAre(1)
		if len(got) != 1 || got["env:MAIL_PASSWORD"] != "hunter2-hunter2" {
			t.Errorf("the service got %v", got)
		}
		if !bytes.Contains(args, []byte(`"$secret":"env:MAIL_PASSWORD"`)) || !bytes.Contains(args, []byte(`"from":"me"`)) {
			t.Errorf("the arguments are %s", args)
		}
	})
}

// TestSecretRefused: what stands in the way of a secret is the call's own result.
func TestSecretRefused(t *testing.T) {
	tests := map[string]struct {
		configure func(*world)
		args      map[string]any
		code      utp.Code
	}{
		"no such variable": {func(w *world) { delete(w.env, "MAIL_PASSWORD") }, nil, utp.CodeBadRequest},
		"no key":           {func(w *world) { w.key = nil }, nil, utp.CodeNotImplemented},
		"value too short":  {func(w *world) { w.env["MAIL_PASSWORD"] = "x" }, nil, utp.CodeBadRequest},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			onDisk(t, func(w *world) { withSecret(w); tt.configure(w) }, func(t *testing.T, w *world) {
				w.serve("post", mailTool)
				w.review(map[string]utp.Class{mail: utp.Irreversible})
				p := &planner{steps: [][]worker.Call{one(mail)}}
				w.workAs(func() worker.Planner { return p })
				a := w.begin()
				w.succeeded(a.Turn)
				if r := p.seen[0]; r.Code != tt.code {
					t.Errorf("the agent sees %+v; want %s", r, tt.code)
				}
			})
		})
	}
}

// TestSecretLiteral: a secret that the agent writes into the arguments is refused, and
// is not kept by being refused.
func TestSecretLiteral(t *testing.T) {
	literal := func(d *utp.Definition) {
		d.Options = jsontext.Value(`{}`)
		d.Parameters = jsontext.Value(`{"type":"object","properties":{"name":{"type":"string"},"password":{"type":"string","x-secret":true},` +
			`"login":{"type":"object","properties":{"user":{"type":"string"},"password":{"type":"string","x-secret":true}}},` +
			`"all":{"type":"array","items":{"type":"object","properties":{"password":{"type":"string","x-secret":true}}}}}}`)
	}
	for name, args := range map[string]map[string]any{
		"at the top": {"name": "x", "password": "swordfish-swordfish"},
		"below":      {"name": "x", "login": map[string]any{"user": "u", "password": "swordfish-swordfish"}},
		"in a list":  {"name": "x", "all": []any{map[string]any{"password": "swordfish-swordfish"}}},
	} {
		t.Run(name, func(t *testing.T) {
			onDisk(t, withSecret, func(t *testing.T, w *world) {
				w.serve("post", func(s *service) []tool.Tool {
					d := mailTool(s)[0].Definition
					literal(&d)
					return []tool.Tool{s.tool(d)}
				})
				h := func() *hand { return w.hand() }
				a := w.begin()
				me := h()
				raw, err := json.Marshal(args)
				if err != nil {
					t.Fatal(err)
				}
				if err := me.calls(mail, api.Body{Inline: raw}); err != nil {
					t.Fatal(err)
				}
				w.bus.forget(isRequest) // the agent itself has said it
				w.settle()
				if len(w.questions()) != 0 {
					t.Fatal("the person was asked")
				}
				if r := me.results()[0]; r.Code != utp.CodeBadRequest {
					t.Errorf("the agent sees %+v; want bad_request", r)
				}
				me.deliver()
				w.over(a.Turn)
			})
		})
	}
}

// TestSecretNeedsItsKey: with another key what was sealed does not open, and nothing
// starts without it.
func TestSecretNeedsItsKey(t *testing.T) {
	onDisk(t, lasting(withSecret), func(t *testing.T, w *world) {
		w.serve("post", mailTool)
		w.review(map[string]utp.Class{mail: utp.Irreversible})
		w.work(one(mail))
		a := w.begin()
		q := w.accepts()
		w.services[1].conn.cut.Store(true)
		call := w.reaches(a.Turn, turn.Dispatched).ID
		w.now.die()
		<-w.now.done
		w.key = []byte("another key, also of 32 bytes ..")
		w.restart()
		w.services[1].conn.cut.Store(false)
		next := w.staleThenAsked(a.Turn, call, q, "env")
		w.pass(time.Second)
		w.effectsAre(0)
		w.say(next, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestResolved: defaults and fixed values are in what the person is asked about.
func TestResolved(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.serve("post", func(s *service) []tool.Tool {
			d := definition(mail, utp.Irreversible, `{"args":{"defaults":{"n":3},"fixed":{"text":"fixed"}}}`)
			d.Target = strings.Replace(d.Target, "tool."+target, "tool.post", 1)
			return []tool.Tool{s.tool(d)}
		})
		step := one(mail)
		step[0].Args = map[string]any{"name": "x", "text": "mine"}
		w.work(step)
		a := w.begin()
		q := w.asked()
		raw, size, err := w.hub.Arguments(w.ctx, api.ArgumentsRequest{Question: q.Number})
		if err != nil || string(raw) != `{"name":"x","text":"fixed","n":3}` || size != int64(len(raw)) {
			t.Errorf("the arguments are %s, %d, %v", raw, size, err)
		}
		if _, _, err := w.hub.Arguments(w.ctx, api.ArgumentsRequest{Question: q.Number + 1}); err == nil {
			t.Error("a question that is not there has arguments")
		}
		if rest, _, err := w.hub.Arguments(w.ctx, api.ArgumentsRequest{Question: q.Number, Offset: size + 5}); err != nil || len(rest) != 0 {
			t.Errorf("beyond the end: %q, %v", rest, err)
		}
		w.say(q, "reject")
		w.over(a.Turn)
	})
}

// TestEnqueueRefused: a turn of an agent that cannot be is not begun.
func TestEnqueueRefused(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		for _, name := range []string{"", "two words", "a.b", "*", ">"} {
			_, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: name, Args: jsontext.Value(`{}`)})
			t.Logf("%q", name)
			wantFault(t, err, utp.CodeBadRequest)
		}
		if n := w.cell(`SELECT count(*) FROM turns`); n != "0" {
			t.Errorf("%s turns; want none", n)
		}
	})
}

// TestSecretTwice: two arguments that are filled from one variable share one sealed box.
func TestSecretTwice(t *testing.T) {
	onDisk(t, withSecret, func(t *testing.T, w *world) {
		d := definition(mail, utp.Irreversible, `{"args":{"envs":{"password":"MAIL_PASSWORD","again":"MAIL_PASSWORD"}}}`)
		d.Parameters = jsontext.Value(`{"type":"object","properties":{"name":{"type":"string"},"password":{"type":"string","x-secret":true},` +
			`"again":{"type":"string","x-secret":true}},"required":["name","password","again"]}`)
		var got tool.Call
		w.post(d, func(_ context.Context, c *tool.Call) (tool.Result, error) {
			got = tool.Call{Args: c.Args, Secrets: c.Secrets}
			return tool.Result{}, w.effects.happen(c.ID)
		})
		w.work(one(mail))
		a := w.begin()
		w.accepts()
		w.succeeded(a.Turn)
		w.effectsAre(1)
		if len(got.Secrets) != 1 || got.Secrets["env:MAIL_PASSWORD"] != "hunter2-hunter2" {
			t.Errorf("the service got the secrets of %d variables", len(got.Secrets))
		}
		if n := bytes.Count(got.Args, []byte(`{"$secret":"env:MAIL_PASSWORD"`)); n != 2 {
			t.Errorf("%d arguments refer to it; want two: %s", n, got.Args)
		}
		if n := w.cell(`SELECT count(*) FROM sealed`); n != "1" {
			t.Errorf("%s boxes are sealed; want one", n)
		}
	})
}

// TestSecretUnreviewed: a tool that no operator has looked at gets no secret: nobody is
// asked, and nothing is sealed for it.
func TestSecretUnreviewed(t *testing.T) {
	onDisk(t, withSecret, func(t *testing.T, w *world) {
		w.serve("post", mailTool)
		p := &planner{steps: [][]worker.Call{one(mail)}}
		w.workAs(func() worker.Planner { return p })
		a := w.begin()
		w.over(a.Turn)
		if r := p.seen[0]; r.Status != utp.StatusFailed || r.Code != utp.CodeAuthFailed {
			t.Errorf("the agent sees %+v; want failed, auth_failed", r)
		}
		if n := w.cell(`SELECT (SELECT count(*) FROM sealed) || ' ' || (SELECT count(*) FROM questions)`); n != "0 0" {
			t.Errorf("%s boxes and questions; want none", n)
		}
		w.effectsAre(0)
	})
}
