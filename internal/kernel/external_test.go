package kernel_test

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// stranger is a third-party peer: all that it has is its credential and v1r4.
type stranger struct {
	world *world
	conn  *conn

	mu    sync.Mutex
	heard []tool.Message
}

func (w *world) stranger(name string) *stranger {
	s := &stranger{world: w, conn: w.bus.connect(kernel.ExternalCaller, name)}
	w.t.Cleanup(s.conn.listen(func(m tool.Message) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.heard = append(s.heard, m)
	}))
	return s
}

func (s *stranger) ask(op string, request, into any) error {
	return rpc.Ask(s.world.ctx, s.conn, op, request, into)
}

// must is ask for what has to succeed.
func (s *stranger) must(op string, request, into any) {
	s.world.t.Helper()
	if err := s.ask(op, request, into); err != nil {
		s.world.t.Fatalf("%s: %v", op, err)
	}
}

// took are the messages since the last time whose subject ends so.
func (s *stranger) took(suffix string) []tool.Message {
	s.world.settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	var took, left []tool.Message
	for _, m := range s.heard {
		if strings.HasSuffix(m.Subject, suffix) {
			took = append(took, m)
		} else {
			left = append(left, m)
		}
	}
	s.heard = left
	return took
}

// holds begins a turn of the stranger's and claims it.
func (s *stranger) holds() api.ClaimAnswer {
	s.world.t.Helper()
	a, err := s.world.hub.Enqueue(s.world.ctx, api.EnqueueRequest{Agent: s.conn.name, Args: jsontext.Value(`{}`), Request: "count"})
	if err != nil {
		s.world.t.Fatal(err)
	}
	s.world.follow(a.Session)
	var c api.ClaimAnswer
	s.must(api.OpClaim, api.ClaimRequest{Agent: s.conn.name, Worker: "seat"}, &c)
	return c
}

func (s *stranger) delivers(c api.ClaimAnswer) {
	s.world.t.Helper()
	s.must(api.OpDeliver, api.DeliverRequest{
		WorkerRequest: api.WorkerRequest{Turn: c.Turn, Epoch: c.Epoch, Worker: "seat"}, Status: utp.StatusSuccess, Summary: "Done.",
	}, nil)
}

// wanted is a call as the stranger asks for it.
func (s *stranger) wanted(turnID, call, name string) utp.CallCard {
	return utp.CallCard{
		ID: "card_of_" + call, Project: "home", AuthorID: s.conn.name, CreatedAt: s.world.clock.now(), ToolCallID: call, ToolName: name,
		Arguments: jsontext.Value(`{"name":"theirs"}`), TargetSubject: "cg.v1r4.home.public.cmd.tool." + target + ".run",
		Lineage: utp.Lineage{TurnID: turnID, StepID: "step_9", TraceID: strings.Repeat("a", 32)},
	}
}

func (s *stranger) keeps(card utp.Card, err error) {
	s.world.t.Helper()
	if err != nil {
		s.world.t.Fatal(err)
	}
	raw, err := utp.EncodeCard(card)
	if err != nil {
		s.world.t.Fatal(err)
	}
	s.must(api.OpCard, api.CardRequest{Card: raw}, nil)
}

// commanded is the command to a card as a v1r4 worker publishes it.
func (s *stranger) commanded(c utp.CallCard, epoch int) utp.Message {
	s.world.t.Helper()
	header, err := utp.EncodeHeader(utp.Context{
		ProjectID: "home", ChannelID: "public", AgentID: s.conn.name, TurnID: c.Lineage.TurnID, TurnEpoch: epoch, StepID: c.Lineage.StepID,
		ToolCallID: c.ToolCallID, Traceparent: "00-" + c.Lineage.TraceID + "-bbbbbbbbbbbbbbbb-01",
	}, utp.Stamp{At: s.world.clock.now(), Sender: "cg-nats-client"})
	if err != nil {
		s.world.t.Fatal(err)
	}
	payload, err := utp.EncodeCommand(utp.Command{ToolName: c.ToolName, AfterExecution: utp.Suspend, ToolCallCardID: c.ID})
	if err != nil {
		s.world.t.Fatal(err)
	}
	return utp.Message{Subject: c.TargetSubject, Header: header, Payload: payload}
}

// sends publishes a command; the answer is the kernel's.
func (s *stranger) sends(m utp.Message) (api.CommandAnswer, error) {
	var a api.CommandAnswer
	err := s.ask(api.OpCommand, m, &a)
	return a, err
}

// row is the report on a call, if there is one.
func (s *stranger) row(turnID, call string) (utp.InboxRow, utp.ResultCard, bool) {
	s.world.t.Helper()
	var a api.InboxAnswer
	s.must(api.OpInbox, api.InboxRequest{Turn: turnID, Calls: []string{"none", call}}, &a)
	if len(a.Rows) == 0 {
		return utp.InboxRow{}, utp.ResultCard{}, false
	}
	row, err := utp.DecodeInboxRow(a.Rows[0])
	if err != nil || len(a.Rows) != 1 {
		s.world.t.Fatalf("%d rows, %v: %s", len(a.Rows), err, a.Rows[0])
	}
	var read api.CardRequest
	s.must(api.OpRead, api.ReadRequest{Card: row.Report.ToolResultCardID}, &read)
	card, err := utp.DecodeCard(read.Card)
	if err != nil {
		s.world.t.Fatal(err)
	}
	result, err := utp.DecodeToolResult(card)
	if err != nil {
		s.world.t.Fatal(err)
	}
	return row, result, true
}

// TestForeignNonce: a foreign worker need not say the nonce of its epoch; but if it does, a
// wrong one is of a future that the ledger has lost.
func TestForeignNonce(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		s := w.stranger("peer")
		c := s.holds()
		for nonce, taken := range map[string]bool{"": true, c.Nonce: true, "0123456789abcdef": false} {
			at := c.WorkerRequest("seat")
			at.Nonce = nonce
			err := s.ask(api.OpRenew, at, nil)
			if taken && err != nil {
				t.Errorf("renewed under the nonce %q: %v", nonce, err)
			}
			if !taken {
				wantFault(t, err, utp.CodeStale)
				wantFault(t, s.ask(api.OpDeliver, api.DeliverRequest{WorkerRequest: at, Status: utp.StatusSuccess, Summary: "Done."}, nil), utp.CodeStale)
			}
		}
		s.delivers(c)
		w.over(c.Turn)
	})
}

// TestForeignCommand: what a foreign worker asks for in its own form is asked for, done
// under our id, and answered in its form, once.
func TestForeignCommand(t *testing.T) {
	for word, want := range map[string]struct {
		status utp.Status
		code   utp.Code
	}{"accept": {status: utp.StatusSuccess}, "reject": {utp.StatusCanceled, utp.CodeConsentDeclined}} {
		t.Run(word, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				s := w.stranger("peer")
				c := s.holds()
				card := s.wanted(c.Turn, "tc_theirs", burn)
				s.keeps(utp.NewToolCall(card))
				first, err := s.sends(s.commanded(card, c.Epoch))
				if err != nil || first.State != api.CommandAdopted || first.Call == "tc_theirs" {
					t.Fatalf("%+v, %v", first, err)
				}
				if again, err := s.sends(s.commanded(card, c.Epoch)); err != nil || again != first {
					t.Errorf("sent again: %+v, %v", again, err)
				}
				q := w.asked()
				if _, _, there := s.row(c.Turn, "tc_theirs"); there {
					t.Error("answered before anybody was")
				}
				w.effectsAre(0)
				s.took(".wakeup")
				w.say(q, word)
				w.pass(10 * time.Second)
				w.effectsAre(map[string]int{"accept": 1}[word])
				row, result, _ := s.row(c.Turn, "tc_theirs")
				if result.Status != want.status || result.ToolCallID != "tc_theirs" || result.FunctionName != burn || result.AuthorID != "tool."+target ||
					result.Lineage.StepID != "step_9" || result.Lineage.TurnID != c.Turn {
					t.Errorf("result %+v", result)
				}
				if want.code != "" && (result.Error == nil || result.Error.Code != want.code) {
					t.Errorf("error %v; want %s", result.Error, want.code)
				}
				if row.Report.Status != want.status || row.Context.ToolCallID != "tc_theirs" || row.Context.AgentID != "peer" || row.Context.StepID != "step_9" {
					t.Errorf("row %+v", row)
				}
				rings := s.took(".wakeup")
				if len(rings) != 1 || string(rings[0].Payload) != "{}" || rings[0].Header[utp.HeaderAgentID][0] != "peer" {
					t.Fatalf("rings %+v", rings)
				}
				for _, name := range []string{utp.HeaderRecursionDepth, utp.HeaderStepID, utp.HeaderToolCallID} {
					if rings[0].Header[name] != nil {
						t.Errorf("the doorbell says %s", name)
					}
				}
				late, err := s.sends(s.commanded(card, c.Epoch))
				if err != nil || late.State != api.CommandAnswered || len(s.took(".wakeup")) != 1 {
					t.Errorf("sent after its answer: %+v, %v", late, err)
				}
				s.delivers(c)
				w.succeeded(c.Turn)
				if n := w.now.kernel.ExternalCounts(); n != (kernel.ExternalCounts{Adopted: 2}) {
					t.Errorf("counts %+v", n)
				}
			})
		})
	}
}

// TestForeignCommandWrong: a wrong command that tells its call is answered there; of one
// that does not, nothing is left but a number. Neither starts anything.
func TestForeignCommandWrong(t *testing.T) {
	testkit.Slow(t)
	spoil := func(key, value string) func(*world, *stranger, *utp.Message) {
		return func(_ *world, _ *stranger, m *utp.Message) {
			if value == "" {
				delete(m.Header, key)
				return
			}
			m.Header[key] = []string{value}
		}
	}
	body := func(text string) func(*world, *stranger, *utp.Message) {
		return func(_ *world, _ *stranger, m *utp.Message) { m.Payload = []byte(text) }
	}
	tests := map[string]struct {
		spoil    func(*world, *stranger, *utp.Message)
		code     utp.Code // "" is adopted all the same
		answered bool
	}{
		"as it should be":       {spoil: body(`{"tool_name":"look","after_execution":"suspend","tool_call_card_id":"card_of_tc_1"}`)},
		"older form":            {spoil: body(`{"tool_name":"look","after_execution":"suspend","tool_call_card_id":"card_of_tc_1","tool_call_id":"tc_1","agent_id":"peer"}`)},
		"unknown keys":          {spoil: body(`{"tool_call_card_id":"card_of_tc_1","context_box_id":"b","later":1}`)},
		"no call in the header": {spoil: spoil(utp.HeaderToolCallID, "")},
		"no turn in the header": {spoil: spoil(utp.HeaderTurnID, "")},
		"no epoch":              {spoil: spoil(utp.HeaderTurnEpoch, "")},
		"no trace, no depth": {spoil: func(_ *world, _ *stranger, m *utp.Message) {
			delete(m.Header, "traceparent")
			delete(m.Header, utp.HeaderRecursionDepth)
		}},
		"no step in the card": {
			spoil: func(w *world, s *stranger, m *utp.Message) {
				w.tamper(`UPDATE cards SET metadata = json_remove(metadata, '$.step_id', '$.trace_id') WHERE card_id = 'card_of_tc_1'`)
			},
		},
		"args":                       {spoil: body(`{"args":{},"tool_call_card_id":"card_of_tc_1"}`), code: utp.CodeBadRequest, answered: true},
		"result":                     {spoil: body(`{"result":1,"tool_call_card_id":"card_of_tc_1"}`), code: utp.CodeBadRequest, answered: true},
		"no card":                    {spoil: body(`{"tool_name":"look","after_execution":"suspend"}`), code: utp.CodeBadRequest, answered: true},
		"a card that is not there":   {spoil: body(`{"tool_name":"look","after_execution":"suspend","tool_call_card_id":"card_none"}`), code: utp.CodeNotFound, answered: true},
		"another after":              {spoil: body(`{"tool_name":"look","after_execution":"pause","tool_call_card_id":"card_of_tc_1"}`), code: utp.CodeInvalidAfterExecution, answered: true},
		"another tool":               {spoil: body(`{"tool_name":"burn","after_execution":"suspend","tool_call_card_id":"card_of_tc_1"}`), code: utp.CodeBadRequest, answered: true},
		"no JSON":                    {spoil: body("\xff{"), code: utp.CodeBadRequest, answered: true},
		"no payload":                 {spoil: body(""), code: utp.CodeBadRequest, answered: true},
		"a disagreeing call":         {spoil: body(`{"tool_call_id":"tc_2","tool_call_card_id":"card_of_tc_1"}`), code: utp.CodeBadRequest, answered: true},
		"another call in the header": {spoil: spoil(utp.HeaderToolCallID, "tc_2"), code: utp.CodeToolCallIDMismatch, answered: true},
		"a broken trace":             {spoil: spoil("traceparent", "00-1-2-01"), code: utp.CodeBadRequest, answered: true},
		"two spellings":              {spoil: spoil("cg-turn-id", "turn_x"), code: utp.CodeBadRequest, answered: true},
		"a negative depth":           {spoil: spoil(utp.HeaderRecursionDepth, "-1"), code: utp.CodeBadRequest, answered: true},
		"too many agents deep":       {spoil: spoil(utp.HeaderRecursionDepth, "20"), code: utp.CodeRecursionDepthExceeded, answered: true},
		"another channel":            {spoil: spoil(utp.HeaderChannelID, "side"), code: utp.CodeBadRequest, answered: true},
		"another service": {
			spoil: func(_ *world, _ *stranger, m *utp.Message) { m.Subject = "cg.v1r4.home.public.cmd.tool.other.run" },
			code:  utp.CodeAuthFailed, answered: true,
		},
		"another agent": {spoil: spoil(utp.HeaderAgentID, "tidy"), code: utp.CodeInvalidSourceActor},
		"another turn":  {spoil: spoil(utp.HeaderTurnID, "turn_none"), code: utp.CodeNotFound},
		"an old epoch":  {spoil: spoil(utp.HeaderTurnEpoch, "9"), code: utp.CodeStale},
		"no subject of a tool": {
			spoil: func(_ *world, _ *stranger, m *utp.Message) { m.Subject = "cg.v1r4.home.public.cmd.agent.peer.wakeup" },
			code:  utp.CodeBadRequest,
		},
		"nothing that tells the call": {
			spoil: func(_ *world, _ *stranger, m *utp.Message) { m.Header, m.Payload = nil, []byte(`{}`) },
			code:  utp.CodeMissingToolCallID,
		},
		"a call of the ledger's own": {
			spoil: func(w *world, s *stranger, m *utp.Message) {
				other := w.stranger("other")
				c := other.holds()
				card := other.wanted(c.Turn, "tc_first", burn)
				other.keeps(utp.NewToolCall(card))
				a, err := other.sends(other.commanded(card, c.Epoch))
				if err != nil {
					w.t.Fatal(err)
				}
				w.unended = true
				m.Header[utp.HeaderToolCallID] = []string{a.Call}
				m.Payload = []byte(`{"tool_name":"look","after_execution":"suspend","tool_call_card_id":"card_none"}`)
			},
			code: utp.CodeConflict,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			onDisk(t, nil, func(t *testing.T, w *world) {
				s := w.stranger("peer")
				c := s.holds()
				card := s.wanted(c.Turn, "tc_1", poller)
				s.keeps(utp.NewToolCall(card))
				m := s.commanded(card, c.Epoch)
				tt.spoil(w, s, &m)
				before := w.cell(`SELECT version || ' ' || seq FROM turns WHERE turn_id = ?`, c.Turn)
				s.took("")
				_, err := s.sends(m)
				if tt.code == "" {
					if err != nil {
						t.Fatal(err)
					}
					w.pass(2 * time.Second)
					if _, result, _ := s.row(c.Turn, "tc_1"); result.Status != utp.StatusSuccess {
						t.Errorf("result %+v", result)
					}
					s.delivers(c)
					w.succeeded(c.Turn)
					return
				}
				wantFault(t, err, tt.code)
				w.pass(2 * time.Second)
				if after := w.cell(`SELECT version || ' ' || seq FROM turns WHERE turn_id = ?`, c.Turn); after != before {
					t.Errorf("the turn was at %s and is at %s", before, after)
				}
				call := "tc_1"
				if name == "another call in the header" {
					call = "tc_2" // answered under the header's identity
				}
				_, result, there := s.row(c.Turn, call)
				if there != tt.answered {
					t.Fatalf("answered: %v", there)
				}
				want := kernel.ExternalCounts{Dropped: 1}
				if there {
					want = kernel.ExternalCounts{Answered: 1}
					if result.Status != utp.StatusFailed || result.Error.Code != tt.code || len(s.took(".wakeup")) != 1 {
						t.Errorf("result %+v, %v", result, result.Error)
					}
				}
				if got := w.now.kernel.ExternalCounts(); got.Answered != want.Answered || got.Dropped != want.Dropped {
					t.Errorf("counts %+v", got)
				}
				s.delivers(c)
				w.over(c.Turn)
			})
		})
	}
}

// TestLostRaceKeepsNothingBack: a command that another one has overtaken while it was saved, and that
// then has nothing to say, does not hold up what the other one said.
func TestLostRaceKeepsNothingBack(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		s := w.stranger("peer")
		c := s.holds()
		card := s.wanted(c.Turn, "tc_1", poller)
		s.keeps(utp.NewToolCall(card))
		m := s.commanded(card, c.Epoch)
		w.now.mu.Lock()
		w.now.outrun = func() { // the same command again, which is adopted first
			if _, err := s.sends(m); err != nil {
				t.Error(err)
			}
			w.pass(3 * time.Second) // the relay has looked
		}
		w.now.mu.Unlock()
		if a, err := s.sends(m); err != nil || a.State != api.CommandAdopted {
			t.Fatalf("%+v, %v", a, err)
		}
		w.pass(2 * time.Second)
		if _, _, there := s.row(c.Turn, "tc_1"); !there {
			t.Error("its command has not left")
		}
		s.delivers(c)
		w.over(c.Turn)
	})
}

// TestForeignReadsItsOwn: a foreign peer sees no card, no inbox and no turn of another's.
func TestForeignReadsItsOwn(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		one, other := w.stranger("peer"), w.stranger("other")
		c := one.holds()
		card := one.wanted(c.Turn, "tc_1", poller)
		one.keeps(utp.NewToolCall(card))
		a, err := one.sends(one.commanded(card, c.Epoch))
		if err != nil {
			t.Fatal(err)
		}
		w.pass(2 * time.Second)
		row, _, _ := one.row(c.Turn, "tc_1")
		ours := w.cell(`SELECT card FROM calls WHERE call_id = ?`, a.Call)
		one.must(api.OpRead, api.ReadRequest{Card: card.ID}, nil)
		for _, id := range []string{card.ID, row.Report.ToolResultCardID, ours, "card_none", ""} {
			wantFault(t, other.ask(api.OpRead, api.ReadRequest{Card: id}, nil), utp.CodeNotFound)
		}
		wantFault(t, other.ask(api.OpInbox, api.InboxRequest{Turn: c.Turn, Calls: []string{"tc_1"}}, nil), utp.CodeAuthFailed)
		forged := other.wanted(c.Turn, "tc_2", poller)
		raw, err := utp.NewToolCall(forged)
		if err != nil {
			t.Fatal(err)
		}
		text, err := utp.EncodeCard(raw)
		if err != nil {
			t.Fatal(err)
		}
		wantFault(t, other.ask(api.OpCard, api.CardRequest{Card: text}, nil), utp.CodeNotFound)
		taken := one.wanted(c.Turn, "tc_3", poller)
		taken.ID = row.Report.ToolResultCardID[:len("card_answer_")] + "x"
		raw, _ = utp.NewToolCall(taken)
		text, _ = utp.EncodeCard(raw)
		wantFault(t, one.ask(api.OpCard, api.CardRequest{Card: text}, nil), utp.CodeBadRequest)
		one.delivers(c)
		w.succeeded(c.Turn)
	})
}

// TestForeignManyCommands: a turn may take over any number of commands, though not at once.
func TestForeignManyCommands(t *testing.T) {
	testkit.Slow(t)
	inWorld(t, nil, func(t *testing.T, w *world) {
		s := w.stranger("peer")
		c := s.holds()
		const many = 150 / testkit.Slowdown
		for i := range many {
			card := s.wanted(c.Turn, "tc_"+string(rune('a'+i/26))+string(rune('a'+i%26)), poller)
			s.keeps(utp.NewToolCall(card))
			if _, err := s.sends(s.commanded(card, c.Epoch)); err != nil {
				t.Fatalf("command %d: %v", i, err)
			}
			w.settle()
		}
		if n := len(w.turn(c.Turn).Calls); n > 8 {
			t.Errorf("the turn holds %d calls that have ended", n)
		}
		if n := w.cell(`SELECT count(*) FROM cards WHERE type = 'tool.result' AND card_id LIKE 'card_answer_%'`); n != strconv.Itoa(many) {
			t.Errorf("%s answers", n)
		}
		s.delivers(c)
		w.succeeded(c.Turn)
		if i := slices.IndexFunc(w.turn(c.Turn).Calls, func(c turn.Call) bool { return c.State.Open() }); i >= 0 {
			t.Error("a call is open after the end")
		}
	})
}
