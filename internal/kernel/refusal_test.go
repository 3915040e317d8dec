package kernel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// as asks the kernel as somebody, without an SDK.
func (w *world) as(kind, name, op string, request, into any) error {
	return rpc.Ask(w.ctx, w.bus.connect(kind, name), op, request, into)
}

// held plays up to a call that its service has started and holds.
func held(w *world) (a api.EnqueueAnswer, call turn.Call, release func()) {
	w.t.Helper()
	running := w.gate()
	w.effects.at("begun", running.pass)
	w.work(one(burn))
	a = w.begin()
	w.accepts()
	return a, w.reaches(a.Turn, turn.Started), running.open
}

// TestStartRefused: a start is granted once, to the call's own service.
func TestStartRefused(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		start := func(name, owner, call string) (api.StartAnswer, error) {
			var a api.StartAnswer
			err := w.as(kernel.ToolCaller, name, api.OpStart, api.StartRequest{Call: call, Owner: owner}, &a)
			return a, err
		}
		refused := func(code utp.Code, name, owner, call string) {
			t.Helper()
			_, err := start(name, owner, call)
			wantFault(t, err, code)
		}
		w.services[0].kill() // the test is the service
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		call := w.last(a.Turn).ID
		refused(utp.CodeStale, target, "own_1", call) // asked
		w.say(q, "accept")
		refused(utp.CodeStale, target, "own_1", call) // accepted
		w.reaches(a.Turn, turn.Dispatched)
		refused(utp.CodeAuthFailed, "post", "own_1", call)
		refused(utp.CodeUnknownCall, target, "own_1", "tc_none")
		first, err := start(target, "own_1", call)
		if err != nil || first.Fence != 1 || string(first.Args.Inline) != `{"name":"x"}` || first.Call != call || first.Tool != burn {
			t.Fatalf("the start: %+v, %v", first, err)
		}
		w.pass(5 * time.Second)
		again, err := start(target, "own_1", call)
		if left := first.StartWithinMS - again.StartWithinMS; left != 5000 {
			t.Errorf("asked 5 s later there are %d ms less to start", left)
		}
		again.StartWithinMS = first.StartWithinMS
		if err != nil || fmt.Sprint(again) != fmt.Sprint(first) {
			t.Errorf("the same owner got %+v, %v; before it was %+v", again, err, first)
		}
		refused(utp.CodeBusy, target, "own_2", call)
		refused(utp.CodeAuthFailed, "post", "own_1", call)

		mine := api.OwnerRequest{Call: call, Owner: "own_1", Fence: 1}
		for name, wrong := range map[string]api.OwnerRequest{
			"another owner": {Call: call, Owner: "own_2", Fence: 1},
			"another fence": {Call: call, Owner: "own_1", Fence: 2},
			"no fence":      {Call: call, Owner: "own_1"},
		} {
			t.Log(name)
			wantFault(t, w.as(kernel.ToolCaller, target, api.OpHeartbeat, api.HeartbeatRequest{OwnerRequest: wrong}, nil), utp.CodeStale)
			wantFault(t, w.as(kernel.ToolCaller, target, api.OpFinish, api.FinishRequest{OwnerRequest: wrong, Status: utp.StatusSuccess}, nil), utp.CodeStale)
		}
		for _, op := range []string{api.OpHeartbeat, api.OpFinish, api.OpReconcile, api.OpSettle} {
			var request any = mine
			switch op {
			case api.OpFinish:
				request = api.FinishRequest{OwnerRequest: mine, Status: utp.StatusSuccess}
			case api.OpSettle:
				request = api.SettleRequest{Call: call, Owner: "own_1", Outcome: "unknown"}
			}
			t.Log(op)
			wantFault(t, w.as(kernel.ToolCaller, "post", op, request, nil), utp.CodeAuthFailed)
		}
		nobody := api.OwnerRequest{Call: call, Fence: 1}
		for op, request := range map[string]any{
			api.OpHeartbeat: api.HeartbeatRequest{OwnerRequest: nobody}, api.OpFinish: api.FinishRequest{OwnerRequest: nobody, Status: utp.StatusSuccess},
			api.OpReconcile: nobody, api.OpSettle: api.SettleRequest{Call: call, Outcome: "not_begun"},
		} {
			t.Log(op, "by nobody")
			wantFault(t, w.as(kernel.ToolCaller, target, op, request, nil), utp.CodeBadRequest)
		}
		wantFault(t, w.as(kernel.ToolCaller, target, api.OpSettle, api.SettleRequest{Call: call, Owner: "own_1", Outcome: "not_begun"}, nil), utp.CodeDone)
		wantFault(t, w.as(kernel.ToolCaller, target, api.OpReconcile, mine, nil), utp.CodeDone)

		done := api.FinishRequest{OwnerRequest: mine, Status: utp.StatusSuccess, Result: api.Body{Inline: jsontext.Value(`{"n":1}`)}}
		other := done
		other.Result.Inline = jsontext.Value(`{"n":2}`)
		if err := w.as(kernel.ToolCaller, target, api.OpFinish, done, nil); err != nil {
			t.Fatal(err)
		}
		if err := w.as(kernel.ToolCaller, target, api.OpFinish, done, nil); err != nil {
			t.Errorf("the same result again: %v", err)
		}
		refusal := w.as(kernel.ToolCaller, target, api.OpFinish, other, nil)
		wantFault(t, refusal, utp.CodeConflict)
		w.succeeded(a.Turn)
		refused(utp.CodeTurnEnded, target, "own_1", call)
	})
}

// TestForgedCommand: a command is a bell. One that nobody dispatched starts nothing,
// whatever state its call is in.
func TestForgedCommand(t *testing.T) {
	forge := func(w *world, call string) {
		subject, err := utp.ToolCommand("home", "public", target, "run")
		if err != nil {
			w.t.Fatal(err)
		}
		for range 3 {
			w.bus.send(subject.String(), map[string][]string{utp.HeaderToolCallID: {call}}, []byte(`{"tool_name":"burn"}`))
		}
		w.settle()
	}
	t.Run("known call", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.serve(target, standardTools) // two replicas hear it
			w.work(one(burn))
			a := w.begin()
			q := w.asked()
			call := w.last(a.Turn).ID
			forge(w, call) // asked
			w.effectsAre(0)
			w.say(q, "accept")
			forge(w, call) // accepted, the undo time runs
			w.effectsAre(0)
			w.pass(3 * time.Second)
			forge(w, call) // dispatched, started, or finished
			w.succeeded(a.Turn)
			forge(w, call) // ended
			w.effectsAre(1)
		})
	})
	t.Run("rejected call", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.work(one(burn), one(shred))
			a := w.begin()
			q := w.asked()
			call := w.last(a.Turn).ID
			w.say(q, "reject")
			forge(w, call)
			q = w.askedAfter(q)
			forge(w, call)
			w.say(q, "reject")
			w.over(a.Turn)
			w.effectsAre(0)
		})
	})
	t.Run("unknown call", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			w.asked()
			for _, call := range []string{"tc_0123", "", "nonsense with spaces", a.Turn} {
				forge(w, call)
			}
			w.say(w.asked(), "reject")
			w.over(a.Turn)
			w.effectsAre(0)
			if n := w.cell(`SELECT count(*) FROM calls`); n != "1" {
				t.Errorf("%s calls; want one", n)
			}
		})
	})
}

// foreign is a command that did not come from the kernel: a CommonGround worker's.
type foreign struct {
	card   utp.CallCard
	author string // of the card; the agent if empty
	saver  string // who saves the card; nobody if "-"
	turn   string // of the header; the card's if empty
	call   string // of the header; the card's if empty
	tool   string // of the payload; the card's if empty
	saved  func() // runs between the card and the command
}

// arrives saves the card and sends the command to every service.
func (f foreign) arrives(w *world) {
	w.t.Helper()
	if f.author == "" {
		f.author = agentName
	}
	f.card.AuthorID = f.author
	card, err := utp.NewToolCall(f.card)
	if err != nil {
		w.t.Fatal(err)
	}
	raw, err := utp.EncodeCard(card)
	if err != nil {
		w.t.Fatal(err)
	}
	if f.saver == "" {
		f.saver = agentName
	}
	if f.saver != "-" {
		err := w.as(kernel.AgentCaller, f.saver, api.OpCard, api.CardRequest{Card: raw}, nil)
		if refused := f.saver != f.author; refused {
			wantFault(w.t, err, utp.CodeAuthFailed)
		} else if err != nil {
			w.t.Fatal(err)
		}
	}
	if f.saved != nil {
		f.saved()
	}
	header, err := utp.EncodeHeader(utp.Context{
		ProjectID: "home", ChannelID: "public", AgentID: agentName, TurnID: orElse(f.turn, f.card.Lineage.TurnID), TurnEpoch: 1,
		StepID: f.card.Lineage.StepID, ToolCallID: orElse(f.call, f.card.ToolCallID),
	}, utp.Stamp{At: w.clock.now()})
	if err != nil {
		w.t.Fatal(err)
	}
	payload, err := utp.EncodeCommand(utp.Command{
		ToolName: orElse(f.tool, f.card.ToolName), AfterExecution: utp.Suspend, ToolCallCardID: f.card.ID,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.bus.send(f.card.TargetSubject, header, payload)
	w.settle()
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func foreignCard(w *world, turnID, name string) utp.CallCard {
	return utp.CallCard{
		ID: "card_foreign", Project: "home", CreatedAt: w.clock.now(), ToolCallID: "call_foreign", ToolName: name,
		Arguments: jsontext.Value(`{"name":"theirs"}`), TargetSubject: "cg.v1r4.home.public.cmd.tool." + target + ".run",
		Lineage: utp.Lineage{TurnID: turnID, StepID: "step_1", TraceID: strings.Repeat("a", 32)},
	}
}

// TestAdopted: a foreign command whose card its agent saved is asked for under our own
// id, once. Accepted it runs once; the turn does not wait for it, nor does it get its
// result.
func TestAdopted(t *testing.T) {
	for _, word := range []string{"accept", "reject"} {
		t.Run(word, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				thinking := w.gate()
				w.workAs(func() worker.Planner {
					return planFunc(func() (worker.Decision, error) {
						<-thinking.way
						return worker.Decision{Answer: &worker.Answer{Summary: "Done."}}, nil
					})
				})
				a := w.begin()
				w.settle()
				f := foreign{card: foreignCard(w, a.Turn, burn)}
				for range 3 {
					f.arrives(w)
				}
				q := w.asked()
				call := w.last(a.Turn)
				if call.ID == "call_foreign" || !call.Adopted || call.Question != q.Number || call.State != turn.Asked {
					t.Errorf("adopted as %+v", call)
				}
				w.pass(10 * time.Second)
				w.effectsAre(0)
				w.say(q, word)
				w.pass(10 * time.Second)
				f.arrives(w)
				w.pass(10 * time.Second)
				w.effectsAre(map[string]int{"accept": 1}[word])
				if len(w.effects.all()) > 0 && w.effects.all()[0] != call.ID {
					t.Error("it ran under another id")
				}
				thinking.open()
				w.succeeded(a.Turn)
				if n := w.cell(`SELECT count(*) FROM results`); n != "0" {
					t.Errorf("%s results in the transcript; want none", n)
				}
			})
		})
	}
}

// TestAdoptionRefused: what does not fit is refused and leaves nothing behind.
func TestAdoptionRefused(t *testing.T) {
	tests := map[string]func(w *world, f *foreign){
		"card not saved":          func(_ *world, f *foreign) { f.saver = "-" },
		"card of another agent":   func(_ *world, f *foreign) { f.author = "mallory" },
		"turn of the header":      func(_ *world, f *foreign) { f.turn = "turn_other" },
		"call of the header":      func(_ *world, f *foreign) { f.call = "call_other" },
		"tool of the payload":     func(_ *world, f *foreign) { f.tool = poller },
		"unknown tool":            func(_ *world, f *foreign) { f.card.ToolName = unknown },
		"arguments that fit not":  func(_ *world, f *foreign) { f.card.Arguments = jsontext.Value(`{"what":1}`) },
		"tool of another service": func(_ *world, f *foreign) { f.card.ToolName = mail },
		"turn of another card": func(w *world, f *foreign) {
			f.card.Lineage.TurnID = w.begin().Turn
			f.turn = w.query(w.now.path, `SELECT turn_id FROM turns ORDER BY created`)[0][0]
		},
		"card that says another author": func(w *world, f *foreign) {
			f.saved = func() {
				w.tamper(`UPDATE cards SET author = 'mallory', metadata = replace(metadata, '"tidy"', '"mallory"') WHERE card_id = 'card_foreign'`)
			}
		},
		"a blob that is not there": func(_ *world, f *foreign) {
			f.card.Arguments = jsontext.Value(`{"$blob":"` + strings.Repeat("0", 64) + `","size":5}`)
		},
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			onDisk(t, withSecret, func(t *testing.T, w *world) {
				w.serve("post", mailTool)
				thinking := w.gate()
				first := true
				w.workAs(func() worker.Planner {
					return planFunc(func() (worker.Decision, error) {
						if first {
							first = false
							return worker.Decision{Calls: one(poller)}, nil
						}
						<-thinking.way
						return worker.Decision{Answer: &worker.Answer{Summary: "Done."}}, nil
					})
				})
				a := w.begin()
				w.reaches(a.Turn, turn.Finished)
				w.pass(2 * time.Second)
				before := w.cell(`SELECT version || ' ' || seq FROM turns`)
				f := foreign{card: foreignCard(w, a.Turn, burn)}
				spoil(w, &f)
				w.unended = true // a second turn, if there is one, waits for a worker
				if f.author == "mallory" {
					f.saver = "mallory"
					f.refusedAt(w)
				} else {
					f.arrives(w)
				}
				w.pass(7 * time.Second) // in all less than a third of the lease, when it is renewed
				if after := w.cell(`SELECT version || ' ' || seq FROM turns WHERE turn_id = ?`, a.Turn); after != before {
					t.Errorf("the turn was at %s and is at %s", before, after)
				}
				if n := w.cell(`SELECT count(*) FROM calls`); n != "1" || len(w.questions()) != 0 {
					t.Errorf("%s calls, questions %v", n, w.questions())
				}
				thinking.open()
				w.succeeded(a.Turn)
			})
		})
	}
}

// TestReplayedCard: a service cannot have an earlier call asked for, or run, again by
// sending its card under another id.
func TestReplayedCard(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(put), one(burn))
		a := w.begin()
		q := w.accepts()
		q = w.askedAfter(q)
		rows := w.query(w.now.path, `SELECT call_id, card FROM calls WHERE tool = ?`, put)
		call, card := rows[0][0], rows[0][1]
		payload, err := utp.EncodeCommand(utp.Command{ToolName: put, AfterExecution: utp.Suspend, ToolCallCardID: card})
		if err != nil {
			t.Fatal(err)
		}
		for asked, named := range map[string]string{"tc_bogus": "tc_bogus", "call_bogus": call} {
			header, err := utp.EncodeHeader(utp.Context{
				ProjectID: "home", ChannelID: "public", AgentID: agentName, TurnID: a.Turn, TurnEpoch: 1, StepID: "step_1", ToolCallID: named,
			}, utp.Stamp{At: w.clock.now()})
			if err != nil {
				t.Fatal(err)
			}
			err = w.as(kernel.ToolCaller, target, api.OpStart, api.StartRequest{
				Call: asked, Owner: "own_1", Header: header, Command: payload,
			}, nil)
			wantFault(t, err, utp.CodeUnknownCall)
		}
		wantFault(t, w.as(kernel.ToolCaller, target, api.OpStart, api.StartRequest{Call: call, Owner: "own_1"}, nil), utp.CodeDone)
		if n := w.cell(`SELECT count(*) FROM calls`); n != "2" || len(w.questions()) != 1 {
			t.Errorf("%s calls, questions %v", n, w.questions())
		}
		w.say(q, "reject")
		w.over(a.Turn)
		w.effectsAre(1)
	})
}

// refusedAt is arrives for a card that may not even be saved.
func (f foreign) refusedAt(w *world) {
	w.t.Helper()
	f.card.AuthorID = f.author
	card, err := utp.NewToolCall(f.card)
	if err != nil {
		w.t.Fatal(err)
	}
	raw, err := utp.EncodeCard(card)
	if err != nil {
		w.t.Fatal(err)
	}
	wantFault(w.t, w.as(kernel.AgentCaller, f.saver, api.OpCard, api.CardRequest{Card: raw}, nil), utp.CodeNotFound)
	f.saver = "-"
	f.arrives(w)
}

// TestCardsNeverChange: an agent cannot put other arguments under a card that a person
// has been asked about.
func TestCardsNeverChange(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		call := w.last(a.Turn)
		theirs := foreignCard(w, a.Turn, burn)
		theirs.ID, theirs.AuthorID, theirs.ToolCallID = call.Card, agentName, call.ID
		card, err := utp.NewToolCall(theirs)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := utp.EncodeCard(card)
		if err != nil {
			t.Fatal(err)
		}
		wantFault(t, w.as(kernel.AgentCaller, agentName, api.OpCard, api.CardRequest{Card: raw}, nil), utp.CodeConflict)
		if content := w.cell(`SELECT content FROM cards WHERE card_id = ?`, call.Card); !strings.Contains(content, `"x"`) {
			t.Errorf("the card says %s", content)
		}
		w.say(q, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestCardsOfOtherKinds: an agent writes calls and nothing else.
func TestCardsOfOtherKinds(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		card, err := utp.NewToolResult(utp.ResultCard{
			ID: "card_result", Project: "home", AuthorID: agentName, CreatedAt: w.clock.now(), ToolCallID: w.last(a.Turn).ID,
			FunctionName: burn, Lineage: utp.Lineage{TurnID: a.Turn, StepID: "step_1"}, Status: utp.StatusSuccess,
		})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := utp.EncodeCard(card)
		if err != nil {
			t.Fatal(err)
		}
		wantFault(t, w.as(kernel.AgentCaller, agentName, api.OpCard, api.CardRequest{Card: raw}, nil), utp.CodeBadRequest)
		w.say(q, "reject")
		w.over(a.Turn)
	})
}

// TestOperationsByKind: each kind of peer asks what is its own and nothing else.
func TestOperationsByKind(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		mine := map[string][]string{
			kernel.AgentCaller: {api.OpClaim, api.OpRenew, api.OpCall, api.OpCard, api.OpTranscript, api.OpResume, api.OpDeliver, api.OpOffered, api.OpPut, api.OpGet},
			kernel.ToolCaller:  {api.OpRegister, api.OpServes, api.OpStart, api.OpHeartbeat, api.OpFinish, api.OpReconcile, api.OpSettle, api.OpInquire, api.OpPut, api.OpGet},
			kernel.HubCaller: {
				api.OpEnqueue, api.OpSessions, api.OpEvents, api.OpQuestions, api.OpArguments, api.OpAnswer, api.OpExtend,
				api.OpStop, api.OpUndo, api.OpAbsent, api.OpSince, api.OpPresent, api.OpPrefer,
				api.OpOpen, api.OpOffered, api.OpInvoke, api.OpAwait, api.OpAgentReport, api.OpClose, api.OpPut, api.OpGet,
				api.OpTurn, api.OpCards, api.OpBoxes, api.OpTools, api.OpReview, api.OpAdd, api.OpRemove, api.OpDead, api.OpRetry, api.OpErase, api.OpExport, api.OpImport, api.OpAudit,
				api.OpAgents, api.OpDefineAgent, api.OpRemoveAgent,
			},
			"operator": nil, "": nil,
		}
		var every []string
		for _, ops := range mine {
			every = append(every, ops...)
		}
		every = append(every, "nonsense", "", "Claim")
		for kind, own := range mine {
			for _, op := range every {
				_, err := w.bus.connect(kind, "x").Request(w.ctx, op, []byte(`{"nonsense":1}`))
				if err != nil {
					t.Fatal(err)
				}
				err = w.as(kind, "x", op, map[string]any{"nonsense": 1}, nil)
				code := utp.CodeAuthFailed
				if slices.Contains(own, op) {
					code = utp.CodeBadRequest // it is read, and then refused for what it is
				}
				if !rpc.Code(err, code) {
					t.Errorf("a %q that asks for %q gets %v; want %s", kind, op, err, code)
				}
			}
		}
	})
}

// TestRequestsAreReadStrictly: an unknown member, a member twice, a wrong type, bytes
// that are not JSON.
func TestRequestsAreReadStrictly(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		for _, request := range []string{
			``, `null `, `[]`, `"x"`, `{"agent":"tidy","worker":"w","more":1}`, `{"agent":"tidy","agent":"tidy","worker":"w"}`,
			`{"agent":1,"worker":"w"}`, `{"agent":"tidy","worker":"w"} {}`, "{\"agent\":\"\xff\",\"worker\":\"w\"}",
		} {
			raw, err := w.bus.connect(kernel.AgentCaller, agentName).Request(w.ctx, api.OpClaim, []byte(request))
			if err != nil {
				t.Fatal(err)
			}
			err = api.DecodeAnswer(raw, nil)
			if request == `null ` { // nothing is asked for: a claim of nobody
				wantFault(t, err, utp.CodeAuthFailed)
				continue
			}
			t.Log(request)
			wantFault(t, err, utp.CodeBadRequest)
		}
	})
}

// TestOthersTurns: an agent has no hand in another's turns.
func TestOthersTurns(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		a, _, release := held(w)
		wantFault(t, w.as(kernel.AgentCaller, "mallory", api.OpClaim, api.ClaimRequest{Agent: agentName, Worker: "w"}, nil), utp.CodeAuthFailed)
		state := w.turn(a.Turn)
		at := api.WorkerRequest{Turn: a.Turn, Epoch: state.Epoch, Worker: state.Worker, Nonce: state.Nonce}
		for op, request := range map[string]any{
			api.OpRenew: at, api.OpResume: at,
			api.OpCall:       api.CallRequest{WorkerRequest: at, Step: 2, Calls: []api.ToolCall{{Key: "k", Tool: poller}}},
			api.OpTranscript: api.TranscriptRequest{WorkerRequest: at},
			api.OpDeliver:    api.DeliverRequest{WorkerRequest: at, Status: utp.StatusSuccess},
		} {
			t.Log(op)
			wantFault(t, w.as(kernel.AgentCaller, "mallory", op, request, nil), utp.CodeAuthFailed)
		}
		release()
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestStaleWorker: a worker that lost its turn speaks under an old epoch.
func TestStaleWorker(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		a, _, release := held(w)
		state := w.turn(a.Turn)
		for name, at := range map[string]api.WorkerRequest{
			"an old epoch":   {Turn: a.Turn, Epoch: state.Epoch - 1, Worker: state.Worker, Nonce: state.Nonce},
			"another worker": {Turn: a.Turn, Epoch: state.Epoch, Worker: "wrk_other", Nonce: state.Nonce},
			"another nonce":  {Turn: a.Turn, Epoch: state.Epoch, Worker: state.Worker, Nonce: "0123456789abcdef"},
			"no nonce":       {Turn: a.Turn, Epoch: state.Epoch, Worker: state.Worker},
		} {
			t.Log(name)
			wantFault(t, w.as(kernel.AgentCaller, agentName, api.OpRenew, at, nil), utp.CodeStale)
			wantFault(t, w.as(kernel.AgentCaller, agentName, api.OpDeliver, api.DeliverRequest{WorkerRequest: at, Status: utp.StatusSuccess}, nil), utp.CodeStale)
			calls := api.CallRequest{WorkerRequest: at, Step: 2, Calls: []api.ToolCall{{Key: "k", Tool: burn, Args: api.Body{Inline: jsontext.Value(`{"name":"y"}`)}}}}
			wantFault(t, w.as(kernel.AgentCaller, agentName, api.OpCall, calls, nil), utp.CodeStale)
		}
		if n := w.cell(`SELECT count(*) FROM calls`); n != "1" {
			t.Errorf("%s calls; want one", n)
		}
		release()
		w.succeeded(a.Turn)
	})
}
