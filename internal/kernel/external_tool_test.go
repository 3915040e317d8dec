package kernel_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

const wordCount = "words.count" // the tool of the foreign service

// serves registers the stranger's tool and has it reviewed.
func (s *stranger) serves(class utp.Class, options string) {
	s.world.t.Helper()
	d := definition(wordCount, class, options)
	d.Target = "cg.v1r4.{project_id}.{channel_id}.cmd.tool." + s.conn.name + ".call"
	s.must(api.OpRegister, api.RegisterRequest{Definition: d}, nil)
	s.world.review(map[string]utp.Class{wordCount: class})
}

// command is the one that the stranger has got; its call's arguments are read.
func (s *stranger) command() (utp.Command, utp.Context, utp.CallCard) {
	s.world.t.Helper()
	var got []tool.Message
	s.world.until("the command is to come", func() bool { got = s.took(".call"); return len(got) > 0 })
	return s.understands(got[0])
}

func (s *stranger) understands(m tool.Message) (utp.Command, utp.Context, utp.CallCard) {
	s.world.t.Helper()
	header, err := utp.DecodeHeader(m.Header)
	if err != nil {
		s.world.t.Fatal(err)
	}
	c, header, err := utp.DecodeCommand(m.Payload, header)
	if err != nil {
		s.world.t.Fatal(err)
	}
	if err := header.CheckCommand(); err != nil {
		s.world.t.Error(err)
	}
	var read api.CardRequest
	s.must(api.OpRead, api.ReadRequest{Card: c.ToolCallCardID}, &read)
	card, err := utp.DecodeCard(read.Card)
	if err != nil {
		s.world.t.Fatal(err)
	}
	call, err := utp.DecodeToolCall(card)
	if err != nil {
		s.world.t.Fatal(err)
	}
	return c, header, call
}

// result is the stranger's card about a call.
func (s *stranger) result(call utp.CallCard, id string) utp.ResultCard {
	return utp.ResultCard{
		ID: id, Project: "home", AuthorID: "tool." + s.conn.name, CreatedAt: s.world.clock.now(), ToolCallID: call.ToolCallID,
		FunctionName: call.ToolName, Lineage: call.Lineage, Status: utp.StatusSuccess, Command: utp.Suspend, Result: jsontext.Value(`{"words":7}`),
	}
}

// finishes keeps the result of the one call and reports it, which is accepted.
func (s *stranger) finishes(h utp.Context, card utp.CallCard) utp.ResultCard {
	s.world.t.Helper()
	r := s.result(card, "theirs_1")
	s.keeps(utp.NewToolResult(r))
	s.saysOutcome(api.ReportAccepted, h, r)
	return r
}

// reports reports a card, in the three keys.
func (s *stranger) reports(h utp.Context, r utp.ResultCard) (string, error) {
	s.world.t.Helper()
	payload, err := utp.EncodeReport(r.Report())
	if err != nil {
		s.world.t.Fatal(err)
	}
	header, err := utp.EncodeHeader(h, utp.Stamp{At: s.world.clock.now()})
	if err != nil {
		s.world.t.Fatal(err)
	}
	var a api.ReportAnswer
	err = s.ask(api.OpReport, utp.Message{Header: header, Payload: payload}, &a)
	return a.Outcome, err
}

func (s *stranger) saysOutcome(want string, h utp.Context, r utp.ResultCard) {
	s.world.t.Helper()
	if got, err := s.reports(h, r); err != nil || got != want {
		s.world.t.Errorf("the report is %q, %v; want %s", got, err, want)
	}
}

// TestForeignService: a foreign service serves our worker: it gets three keys and headers,
// its start is recorded for it, and its report ends the call by the gate's own way.
func TestForeignService(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		s := w.stranger("words")
		s.serves(utp.Read, `{}`)
		w.work(one(wordCount))
		a := w.begin()
		command, header, card := s.command()
		if command.ToolName != wordCount || command.AfterExecution != utp.Suspend || card.ToolName != wordCount || string(card.Arguments) != `{"name":"x"}` {
			t.Errorf("command %+v, card %+v", command, card)
		}
		if header.AgentID != agentName || header.TurnID != a.Turn || header.ToolCallID != card.ToolCallID || header.RecursionDepth != 0 || header.DepthAbsent {
			t.Errorf("header %+v", header)
		}
		call := w.reaches(a.Turn, turn.Started)
		if call.Owner != "foreign.words" || w.cell(`SELECT owner FROM grants WHERE call_id = ?`, call.ID) != call.Owner {
			t.Errorf("started as %+v", call)
		}
		r := s.result(card, "theirs_1")
		_, err := s.reports(header, r)
		wantFault(t, err, utp.CodeCardNotFound) // reported before it is kept
		s.keeps(utp.NewToolResult(r))
		s.keeps(utp.NewToolResult(r))
		s.saysOutcome(api.ReportAccepted, header, r)
		s.saysOutcome(api.ReportRepeated, header, r)
		other := s.result(card, "theirs_2")
		s.saysOutcome(api.ReportSuperseded, header, other)
		w.succeeded(a.Turn)
		s.saysOutcome(api.ReportSuperseded, header, other)
		if got := w.cell(`SELECT c.content FROM results r JOIN cards c ON c.card_id = r.card`); !strings.Contains(got, `{"words":7}`) {
			t.Errorf("the transcript has %s", got)
		}
		if n := w.cell(`SELECT count(*) FROM cards WHERE type = 'tool.result'`); n != "1" {
			t.Errorf("%s results of one call", n)
		}
	})
}

// TestForeignReportChangesNothing: reports and cards that are not the service's own.
func TestForeignReportChangesNothing(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		s, thief := w.stranger("words"), w.stranger("thief")
		s.serves(utp.Read, `{}`)
		w.work([]worker.Call{{Key: "a", Tool: wordCount, Args: map[string]any{"name": "x"}}, {Key: "b", Tool: burn, Args: map[string]any{"name": "x"}}})
		a := w.begin()
		_, header, card := s.command()
		q := w.asked()
		burnt, found := w.turn(a.Turn).FindQuestion(q.Number)
		if !found {
			t.Fatal("no question")
		}
		before := w.cell(`SELECT version || ' ' || seq FROM turns`)
		cards := w.cell(`SELECT count(*) FROM cards`)
		good := s.result(card, "theirs_1")
		keep := func(who *stranger, change func(*utp.ResultCard)) error {
			r := good
			change(&r)
			made, err := utp.NewToolResult(r)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := utp.EncodeCard(made)
			if err != nil {
				t.Fatal(err)
			}
			return who.ask(api.OpCard, api.CardRequest{Card: raw}, nil)
		}
		for name, tt := range map[string]struct {
			who    *stranger
			change func(*utp.ResultCard)
			code   utp.Code
		}{
			"by another":         {thief, func(r *utp.ResultCard) { r.AuthorID = "tool.thief" }, utp.CodeAuthFailed},
			"under its name":     {thief, func(*utp.ResultCard) {}, utp.CodeInvalidSourceActor},
			"of the agent":       {s, func(r *utp.ResultCard) { r.AuthorID = agentName }, utp.CodeInvalidSourceActor},
			"another project":    {s, func(r *utp.ResultCard) { r.Project = "work" }, utp.CodeInvalidSourceActor},
			"of an unknown call": {s, func(r *utp.ResultCard) { r.ToolCallID = "tc_none" }, utp.CodeUnknownCall},
			"of another's call":  {s, func(r *utp.ResultCard) { r.ToolCallID = burnt.ID }, utp.CodeAuthFailed},
			"of another tool":    {s, func(r *utp.ResultCard) { r.FunctionName = poller }, utp.CodeBadRequest},
			"of another turn":    {s, func(r *utp.ResultCard) { r.Lineage.TurnID = "turn_x" }, utp.CodeAuthFailed},
			"under our ids":      {s, func(r *utp.ResultCard) { r.ID = "card_answer_x" }, utp.CodeBadRequest},
		} {
			if err := keep(tt.who, tt.change); err == nil {
				t.Errorf("a card %s is kept", name)
			} else {
				wantFault(t, err, tt.code)
			}
		}
		for name, tt := range map[string]struct {
			who    *stranger
			change func(*utp.Context)
			code   utp.Code
		}{
			"by another":         {thief, func(*utp.Context) {}, utp.CodeAuthFailed},
			"of no call":         {s, func(c *utp.Context) { c.ToolCallID = "" }, utp.CodeMissingToolCallID},
			"of an unknown call": {s, func(c *utp.Context) { c.ToolCallID = "tc_none" }, utp.CodeUnknownCall},
			"of another's call":  {s, func(c *utp.Context) { c.ToolCallID = burnt.ID }, utp.CodeAuthFailed},
			"of another agent":   {s, func(c *utp.Context) { c.AgentID = "other" }, utp.CodeAuthFailed},
			"of another turn":    {s, func(c *utp.Context) { c.TurnID = "turn_x" }, utp.CodeAuthFailed},
			"of a later epoch":   {s, func(c *utp.Context) { c.TurnEpoch += 7 }, utp.CodeStale},
			"before its card":    {s, func(*utp.Context) {}, utp.CodeCardNotFound},
		} {
			h := header
			tt.change(&h)
			if _, err := tt.who.reports(h, good); err == nil {
				t.Errorf("a report %s is taken", name)
			} else {
				wantFault(t, err, tt.code)
			}
		}
		for text, code := range map[string]utp.Code{
			`{"status":"success","after_execution":"suspend"}`: utp.CodeMissingToolResultCard,
			`{"result":1,"tool_result_card_id":"theirs_1"}`:    utp.CodeBadRequest,
			`[]`:     utp.CodeBadRequest,
			"\xff{}": utp.CodeBadRequest,
		} {
			m := utp.Message{Header: map[string][]string{utp.HeaderToolCallID: {card.ToolCallID}}, Payload: []byte(text)}
			wantFault(t, s.ask(api.OpReport, m, nil), code)
		}
		if after := w.cell(`SELECT version || ' ' || seq FROM turns`); after != before || w.cell(`SELECT count(*) FROM cards`) != cards {
			t.Errorf("the turn was at %s and is at %s", before, after)
		}
		s.keeps(utp.NewToolResult(good))
		s.saysOutcome(api.ReportAccepted, header, good)
		w.say(q, "reject")
		w.over(a.Turn)
	})
}

// TestForeignServiceSilent: the command of a repeatable call is sent three times within its
// time, and then the call has timed out. A late report is kept, and changes nothing else.
func TestForeignServiceSilent(t *testing.T) {
	for _, class := range []utp.Class{utp.Read, utp.Idempotent} {
		t.Run(string(class), func(t *testing.T) {
			inWorld(t, allowing(wordCount), func(t *testing.T, w *world) {
				s := w.stranger("words")
				s.serves(class, `{"suspend_timeout_seconds":60}`)
				w.work(one(wordCount))
				a := w.begin()
				_, header, card := s.command()
				w.pass(58 * time.Second)
				if got := s.took(".call"); len(got) != 2 {
					t.Errorf("sent %d times more; want 2", len(got))
				} else if _, again, _ := s.understands(got[1]); again.ToolCallID != header.ToolCallID {
					t.Errorf("sent again as %s", again.ToolCallID)
				}
				w.over(a.Turn)
				r := s.result(card, "theirs_1")
				s.keeps(utp.NewToolResult(r))
				s.saysOutcome(api.ReportLate, header, r)
				s.saysOutcome(api.ReportRepeated, header, r)
				if got := w.cell(`SELECT status FROM reports`); got != "timeout" {
					t.Errorf("reported as %s", got)
				}
				if len(s.took("")) != 0 {
					t.Error("something was sent after the end")
				}
			})
		})
	}
}

// allowing is a policy that allows one tool and names it.
func allowing(name string) func(*world) {
	return func(w *world) {
		w.rules = []rulebook.Rule{{Tool: name, Decide: turn.Allow}, {Tool: "*", Decide: turn.Ask}}
	}
}

func naming(name string) func(*world) {
	return func(w *world) { w.rules = []rulebook.Rule{{Tool: name, Decide: turn.Ask, BrokerOnly: true}} }
}

// TestForeignEffect: an effect that cannot be repeated is for a service that an operator has
// named; it is asked for, sent once, and its fate is put to a person when it falls silent.
func TestForeignEffect(t *testing.T) {
	t.Run("not named", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			s := w.stranger("words")
			s.serves(utp.Irreversible, `{}`)
			told, err := operate[api.ToolsAnswer](w, api.OpTools, api.ToolsRequest{Tool: wordCount})
			if err != nil || told.Tools[0].Decision != string(turn.Deny) {
				t.Errorf("an operator is told %+v, %v", told, err)
			}
			w.work(one(wordCount))
			a := w.begin()
			w.over(a.Turn)
			if got := w.cell(`SELECT json_extract(doc, '$.outcome.code') FROM calls`); got != string(utp.CodeDeniedByPolicy) || len(s.took("")) != 0 {
				t.Errorf("the call ended as %s", got)
			}
		})
	})
	t.Run("not reviewed", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			s := w.stranger("words")
			d := definition(wordCount, utp.Read, ``)
			d.Class, d.Risk, d.Options = "", "", nil
			d.Target = "cg.v1r4.{project_id}.{channel_id}.cmd.tool.words.call"
			s.must(api.OpRegister, api.RegisterRequest{Definition: d}, nil)
			w.work(one(wordCount))
			w.over(w.begin().Turn)
			if len(s.took("")) != 0 {
				t.Error("a tool that nobody has looked at was called")
			}
		})
	})
	t.Run("named", func(t *testing.T) {
		inWorld(t, naming(wordCount), func(t *testing.T, w *world) {
			s := w.stranger("words")
			s.serves(utp.Irreversible, `{"suspend_timeout_seconds":60,"reconciles":true}`)
			w.work(one(wordCount))
			a := w.begin()
			q := w.asked()
			if !strings.Contains(string(q.Body), "broker-only") {
				t.Errorf("the question does not say that nobody holds the service to it: %s", q.Body)
			}
			w.pass(5 * time.Second)
			if len(s.took("")) != 0 {
				t.Fatal("sent before it was asked for")
			}
			w.say(q, "accept")
			_, header, card := s.command()
			w.pass(70 * time.Second)
			if got := s.took(""); len(got) != 0 {
				t.Errorf("%s was sent after the command", got[0].Subject)
			}
			fate := w.askedAfter(q)
			if fate.Kind != "clarification" {
				t.Errorf("asked %+v", fate)
			}
			r := s.finishes(header, card)
			s.saysOutcome(api.ReportRepeated, header, r)
			w.succeeded(a.Turn)
		})
	})
	t.Run("restarted before it was sent", func(t *testing.T) { // the yes was good for the life that took it
		inWorld(t, naming(wordCount), func(t *testing.T, w *world) {
			s := w.stranger("words")
			s.serves(utp.Irreversible, `{"suspend_timeout_seconds":60}`)
			w.work(one(wordCount))
			a := w.begin()
			w.now.dieWhenReaching("invoked.logged")
			q := w.accepts()
			w.dies()
			w.restart()
			fate := w.askedAfter(q)
			if got := s.took(""); len(got) != 0 {
				t.Errorf("%s was sent with the yes of the life before", got[0].Subject)
			}
			w.say(fate, "leave")
			w.over(a.Turn)
		})
	})
	t.Run("named, late", func(t *testing.T) {
		inWorld(t, naming(wordCount), func(t *testing.T, w *world) {
			s := w.stranger("words")
			s.serves(utp.Reversible, `{"suspend_timeout_seconds":60}`)
			w.work(one(wordCount))
			a := w.begin()
			q := w.accepts()
			_, header, card := s.command()
			w.pass(70 * time.Second)
			w.say(w.askedAfter(q), "leave")
			w.over(a.Turn)
			r := s.result(card, "theirs_1")
			s.keeps(utp.NewToolResult(r))
			s.saysOutcome(api.ReportLate, header, r)
			s.saysOutcome(api.ReportRepeated, header, r)
			if n := w.cell(`SELECT count(*) FROM late_results`); n != "1" {
				t.Errorf("%s late results", n)
			}
		})
	})
}

// TestForeignStop: a running call of a foreign service gets no notice, which it would take
// for a command; the turn ends when the service has reported.
func TestForeignStop(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		s := w.stranger("words")
		s.serves(utp.Read, `{}`)
		w.work(one(wordCount))
		a := w.begin()
		_, header, card := s.command()
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session}); err != nil {
			t.Fatal(err)
		}
		w.pass(5 * time.Second)
		if got := s.took(""); len(got) != 0 {
			t.Errorf("%s was sent", got[0].Subject)
		}
		s.finishes(header, card)
		w.cancelled(a.Turn)
	})
}

// TestForeignRestart: a restart of ours says nothing of a service elsewhere.
func TestForeignRestart(t *testing.T) {
	inWorld(t, func(w *world) { naming(wordCount)(w); w.sole = true }, func(t *testing.T, w *world) {
		s := w.stranger("words")
		s.serves(utp.Irreversible, `{}`)
		w.work(one(wordCount))
		a := w.begin()
		w.accepts()
		_, header, card := s.command()
		w.restart()
		w.pass(5 * time.Second)
		if got := s.took(""); len(got) != 0 || len(w.questions()) != 0 {
			t.Errorf("messages %v, questions %v", got, w.questions())
		}
		s.finishes(header, card)
		w.succeeded(a.Turn)
	})
}

// TestForeignLeavesOnce: the command of an effect that cannot be repeated counts as sent before
// it is. A kernel that dies before, in between or behind costs a question at worst, and never
// a second copy; and a bus that is away holds it back, no longer than its time.
func TestForeignLeavesOnce(t *testing.T) {
	for point, copies := range map[string]int{"dispatch.committing": 1, "invoked.logged": 1, "command.leaving": 0, "command.published": 1} {
		t.Run(point, func(t *testing.T) {
			inWorld(t, lasting(naming(wordCount)), func(t *testing.T, w *world) {
				s := w.stranger("words")
				s.serves(utp.Irreversible, `{"suspend_timeout_seconds":60}`)
				w.work(one(wordCount))
				a := w.begin()
				w.now.dieWhenReaching(point)
				q := w.asked()
				_, _ = w.reply(q, "accept") // its answer may be lost
				w.dies()
				w.restart()
				w.work(one(wordCount))
				w.pass(30 * time.Second)
				if got := len(s.took("")); got != copies {
					t.Errorf("%d commands were sent, want %d", got, copies)
				}
				w.pass(40 * time.Second)
				w.say(w.askedAfter(q), "leave")
				w.over(a.Turn)
				if got := s.took(""); len(got) != 0 {
					t.Errorf("%d commands were sent later", len(got))
				}
			})
		})
	}
	t.Run("the count outside cannot be written", func(t *testing.T) { // as TestCrashCountOutside for services of ours
		inWorld(t, naming(wordCount), func(t *testing.T, w *world) {
			s := w.stranger("words")
			s.serves(utp.Irreversible, `{"suspend_timeout_seconds":60}`)
			w.work(one(wordCount))
			a := w.begin()
			w.accepts()
			w.count.broken.Store(true)
			w.reaches(a.Turn, turn.Started)
			w.pass(5 * time.Second)
			if got := s.took(""); len(got) != 0 {
				t.Errorf("%d commands left, and a restored ledger would not know", len(got))
			}
			w.count.broken.Store(false)
			_, header, card := s.command()
			s.finishes(header, card)
			w.succeeded(a.Turn)
		})
	})
	t.Run("the bus is away", func(t *testing.T) {
		inWorld(t, naming(wordCount), func(t *testing.T, w *world) {
			s := w.stranger("words")
			s.serves(utp.Irreversible, `{"suspend_timeout_seconds":60}`)
			w.work(one(wordCount))
			a := w.begin()
			q := w.asked()
			w.bus.down.Store(true)
			w.say(q, "accept")
			w.pass(10 * time.Second)
			w.bus.down.Store(false)
			_, header, card := s.command()
			s.finishes(header, card)
			w.succeeded(a.Turn)
			if got := s.took(""); len(got) != 0 {
				t.Errorf("%d more commands were sent", len(got))
			}
		})
	})
}

// TestForeignTooOldToLeave: where the command is the start, one that could not leave in time
// never does.
func TestForeignTooOldToLeave(t *testing.T) {
	onDisk(t, naming(wordCount), func(t *testing.T, w *world) {
		s := w.stranger("words")
		s.serves(utp.Irreversible, `{"suspend_timeout_seconds":600}`)
		w.work(one(wordCount))
		a := w.begin()
		q := w.asked()
		w.bus.down.Store(true)
		w.say(q, "accept")
		w.reaches(a.Turn, turn.Started)
		w.pass(2 * time.Minute)
		w.bus.down.Store(false)
		w.pass(time.Minute)
		if got := s.took(".call"); len(got) != 0 {
			t.Error("a command left two minutes after the last instant at which its call could start")
		}
		if reason := w.cell(`SELECT dead_reason FROM outbox WHERE call_id <> '' AND dead_at IS NOT NULL`); !strings.Contains(reason, "too old") {
			t.Errorf("put aside because %q", reason)
		}
		w.pass(10 * time.Minute)
		w.say(w.askedAfter(q), "leave")
		w.over(a.Turn)
	})
}

// TestForeignRegister: a foreign service cannot register as enforced, nor an enforced one as
// anything else; nobody takes another's tool.
func TestForeignRegister(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		s := w.stranger("words")
		s.serves(utp.Read, `{"enforcement":"enforced"}`)
		if got := w.tool(wordCount); got.Enforcement() != utp.BrokerOnly || got.EffectiveClass() != utp.Read {
			t.Errorf("registered as %s, %s", got.Enforcement(), got.EffectiveClass())
		}
		d := w.tool(poller).Definition
		wantFault(t, s.ask(api.OpRegister, api.RegisterRequest{Definition: d}, nil), utp.CodeAuthFailed)
		d = w.tool(wordCount).Definition
		d.Options = jsontext.Value(`{"envs":{"name":"KEY"}}`)
		wantFault(t, s.ask(api.OpRegister, api.RegisterRequest{Definition: d}, nil), utp.CodeBadRequest)
		d = definition("other", utp.Read, `{"enforcement":"broker-only"}`)
		wantFault(t, w.as(kernel.ToolCaller, target, api.OpRegister, api.RegisterRequest{Definition: d}, nil), utp.CodeBadRequest)
		// What a start would grant is not to be had beside the command.
		err := w.as(kernel.ExternalCaller, "words", api.OpStart, api.StartRequest{Call: "tc_1", Owner: "own"}, nil)
		wantFault(t, err, utp.CodeAuthFailed)
	})
}

// TestForeignPolicy: naming is of one tool, and part of what is consented to.
func TestForeignPolicy(t *testing.T) {
	t.Parallel()
	if _, err := rulebook.NewRules([]rulebook.Rule{{Tool: "words.*", Decide: turn.Ask, BrokerOnly: true}}); err == nil {
		t.Error("a star names a foreign service")
	}
	named, err := rulebook.NewRules([]rulebook.Rule{{Tool: wordCount, Decide: turn.Ask, BrokerOnly: true}})
	plain, perr := rulebook.NewRules([]rulebook.Rule{{Tool: wordCount, Decide: turn.Ask}})
	if err := errors.Join(err, perr); err != nil {
		t.Fatal(err)
	}
	d := definition(wordCount, utp.Irreversible, `{}`)
	if a, b := named.Decide(agentName, store.Tool{Definition: d}).Rule, plain.Decide(agentName, store.Tool{Definition: d}).Rule; a == b {
		t.Errorf("both rules are %s", a)
	}
}
