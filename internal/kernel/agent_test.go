package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// loop starts a worker whose planner is a function of the transcript.
func (w *world) loop(plan func(context.Context, worker.Transcript) (worker.Decision, error)) *agent {
	w.t.Helper()
	return w.employ(worker.Options{Agent: worker.Agent{Name: agentName, Plan: worker.PlanFunc(plan)}})
}

// employ starts a worker.
func (w *world) employ(o worker.Options) *agent {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	a := &agent{conn: w.bus.connect(kernel.AgentCaller, agentName), cancel: cancel, done: make(chan struct{})}
	o.Conn, o.Logger = a.conn, w.log
	sdk, err := worker.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(a.done)
		if err := sdk.Run(ctx); err != nil {
			w.t.Errorf("worker: %v", err)
		}
	}()
	w.agents = append(w.agents, a)
	return a
}

// heardOf lists the events of one type that a follower of the session has heard.
func heardOf[P aaep.Payload](w *world, session string) []P {
	w.t.Helper()
	w.settle()
	w.mu.Lock()
	f := w.followers[session]
	w.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []P
	for _, row := range f.rows {
		e, err := aaep.DecodeEvent(row.Body)
		if err != nil {
			w.t.Fatal(err)
		}
		if p, is := e.Payload.(P); is {
			out = append(out, p)
		}
	}
	return out
}

// texts is what has been told of each output, in the order in which they began.
func (w *world) texts(session string) []string {
	var ids, out []string
	for _, p := range heardOf[aaep.OutputStreaming](w, session) {
		i := slices.Index(ids, p.OutputID)
		if i < 0 {
			i = len(ids)
			ids, out = append(ids, p.OutputID), append(out, "")
		}
		out[i] += p.Chunk
	}
	return out
}

func done(text string) (worker.Decision, error) {
	return worker.Decision{Answer: &worker.Answer{Summary: text}}, nil
}

// asksOnce is a planner that asks one question and answers with what it was told.
func asksOnce(q worker.Question) func(context.Context, worker.Transcript) (worker.Decision, error) {
	q.Key = "ask"
	return func(_ context.Context, t worker.Transcript) (worker.Decision, error) {
		r, asked := t.Find("ask")
		if !asked {
			return worker.Decision{Question: &q}, nil
		}
		a, answered := r.Answered()
		return done(fmt.Sprintf("%s %v by %s: %s %s", r.Status, answered, a.By, a.Answer, r.Code))
	}
}

// TestAgentAsks: every way in which a question of the agent's own can end reaches it as a
// result, and the person hears of all of it (CLA-08, CLA-10, CLA-11, CLA-13).
func TestAgentAsks(t *testing.T) {
	choices := []worker.Choice{{Value: "a", Label: "The old one"}, {Value: "b", Label: "The new one"}}
	tests := []struct {
		name string
		ask  worker.Question
		play func(*world, api.QuestionRow)
		want string
	}{
		{"in words", worker.Question{Text: "Which?"}, says("the blue one"), `success true by ada: "the blue one" `},
		{"a choice", worker.Question{Text: "Which?", Choices: choices}, says("b"), `success true by ada: "b" `},
		{"yes", worker.Question{Text: "Now?", Kinds: []worker.Kind{worker.YesNo}}, says("yes"), `success true by ada: true `},
		{"a number", worker.Question{Text: "How many?", Kinds: []worker.Kind{worker.ANumber}}, says("7.5"), `success true by ada: 7.5 `},
		{"yes where words are taken too", worker.Question{Text: "Now?", Kinds: []worker.Kind{worker.YesNo, worker.Text}}, says("maybe"), `success true by ada: "maybe" `},
		{"no answer first", worker.Question{Text: "Which?", Choices: choices}, func(w *world, q api.QuestionRow) {
			if _, err := w.reply(q, "neither"); err == nil {
				w.t.Error("what is not a choice was taken")
			}
			w.say(q, "a")
		}, `success true by ada: "a" `},
		{"the default", worker.Question{Text: "Now?", Kinds: []worker.Kind{worker.YesNo}, Default: "false", Within: time.Minute}, letsPass(time.Minute), `success true by : false `},
		{"nobody", worker.Question{Text: "Which?", Within: time.Minute}, letsPass(time.Minute), `canceled false by : null consent_expired`},
		{"more time", worker.Question{Text: "Which?", Within: time.Minute}, func(w *world, q api.QuestionRow) {
			w.pass(50 * time.Second)
			if _, err := w.hub.Extend(w.ctx, api.ReplyRequest{Token: q.Token, By: person}); err != nil {
				w.t.Error(err)
			}
			w.pass(50 * time.Second)
			w.say(w.asked(), "this")
		}, `success true by ada: "this" `},
		{"over a restart", worker.Question{Text: "Which?"}, func(w *world, q api.QuestionRow) {
			w.restart()
			w.say(q, "that")
		}, `success true by ada: "that" `},
		{"a question that cannot be asked", worker.Question{Text: "Which?", Choices: choices[:1]}, nil, `failed false by : null bad_request`},
		{"nothing to ask", worker.Question{}, nil, `failed false by : null bad_request`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.loop(asksOnce(tt.ask))
				a := w.begin()
				if tt.play != nil {
					tt.play(w, w.asked())
				}
				if end := w.over(a.Turn).End; end.Message != tt.want {
					t.Errorf("the agent was told %q; want %q", end.Message, tt.want)
				}
			})
		})
	}
}

func says(words string) func(*world, api.QuestionRow) {
	return func(w *world, q api.QuestionRow) { w.say(q, words) }
}

func letsPass(d time.Duration) func(*world, api.QuestionRow) {
	return func(w *world, _ api.QuestionRow) { w.pass(d) }
}

// TestAgentAsksIsNoConsent: whatever is answered to the agent, a call is asked for all the
// same.
func TestAgentAsksIsNoConsent(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.loop(func(_ context.Context, t worker.Transcript) (worker.Decision, error) {
			switch len(t.Results) {
			case 0:
				return worker.Decision{Question: &worker.Question{Key: "q", Text: "May I burn it?", Kinds: []worker.Kind{worker.YesNo}}}, nil
			case 1:
				return worker.Decision{Calls: one(burn)}, nil
			default:
				return done(string(t.Results[1].Code))
			}
		})
		a := w.begin()
		asked := w.asked()
		if _, err := w.reply(asked, "accept"); err == nil {
			t.Error("the agent's question was agreed to")
		}
		w.say(asked, "yes")
		q := w.askedAfter(asked)
		if q.Kind != "confirmation" || q.Tool != burn {
			t.Errorf("asked %+v; want a confirmation of the call", q)
		}
		w.say(q, "reject")
		if end := w.over(a.Turn).End; end.Message != string(utp.CodeConsentDeclined) || len(w.effects.all()) != 0 {
			t.Errorf("ended %+v after %v", end, w.effects.all())
		}
	})
}

// TestAgentAsksIsStopped: a stop takes the question back.
func TestAgentAsksIsStopped(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.loop(asksOnce(worker.Question{Text: "Which?"}))
		a := w.begin()
		q := w.asked()
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session, By: person}); err != nil {
			t.Fatal(err)
		}
		if end := w.over(a.Turn).End; end.Status != utp.StatusCanceled || len(w.questions()) != 0 {
			t.Errorf("ended %+v", end)
		}
		if _, err := w.reply(q, "late"); err == nil {
			t.Error("an answer was taken after the stop")
		}
	})
}

// TestHandOver: the turn ends, and who is asked to take over is told before (SEQ-37).
func TestHandOver(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.loop(func(context.Context, worker.Transcript) (worker.Decision, error) {
			return worker.Decision{Handoff: &worker.Handoff{
				Reason: "It needs a signature.", URI: "mailto:help@example.org", Urgency: "high", Context: map[string]int{"case": 7}, Summary: "Not done.",
			}}, nil
		})
		a := w.begin()
		st := w.over(a.Turn)
		asked := heardOf[aaep.HandoffRequested](w, a.Session)
		if st.End.Status != utp.StatusPartial || len(asked) != 1 || asked[0].TargetKind != aaep.TargetHuman ||
			asked[0].TargetURI != "mailto:help@example.org" || string(asked[0].PackagedContext["case"]) != "7" {
			t.Errorf("ended %+v with %+v", st.End, asked)
		}
		if len(heardOf[aaep.SessionCompleted](w, a.Session)) != 1 {
			t.Error("the session did not complete")
		}
	})
}

// TestHandOverRefused: one that cannot be told fails the turn, and says why.
func TestHandOverRefused(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.loop(func(context.Context, worker.Transcript) (worker.Decision, error) {
			return worker.Decision{Handoff: &worker.Handoff{Reason: "Help.", To: "the moon"}}, nil
		})
		a := w.begin()
		if end := w.over(a.Turn).End; end.Status != utp.StatusFailed || !strings.Contains(end.Message, "specialist_agent") {
			t.Errorf("ended %+v", end)
		}
	})
}

// TestResultFields: what a turn requires is checked, the planner corrects itself, and who
// started the turn can read the result (UTP, "Result fields").
func TestResultFields(t *testing.T) {
	answers := map[string][]worker.Answer{
		"at once":          {{Fields: []worker.Field{{Name: "title", Value: "T"}, {Name: "pages", Value: 3}}}},
		"missing":          {{Fields: []worker.Field{{Name: "title", Value: "T"}}}, {Fields: []worker.Field{{Name: "pages", Value: 3}, {Name: "title", Value: "T"}}}},
		"none":             {{Summary: "Done."}, {Fields: []worker.Field{{Name: "title", Value: "T"}, {Name: "pages", Value: 3}}}},
		"twice":            {{Fields: []worker.Field{{Name: "title", Value: "T"}, {Name: "title", Value: "U"}, {Name: "pages", Value: 3}}}, {Fields: []worker.Field{{Name: "title", Value: "T"}, {Name: "pages", Value: 3}}}},
		"beside a call":    {{Code: "beside", Fields: []worker.Field{{Name: "title", Value: "T"}, {Name: "pages", Value: 3}}}, {Fields: []worker.Field{{Name: "title", Value: "T"}, {Name: "pages", Value: 3}}}},
		"with one to more": {{Fields: []worker.Field{{Name: "title", Value: "T"}, {Name: "pages", Value: 3}, {Name: "more", Value: nil}}}},
	}
	for name, given := range answers {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				var told []string
				w.loop(func(_ context.Context, t worker.Transcript) (worker.Decision, error) {
					if strings.Join(t.ResultFields, " ") != "title pages" {
						return worker.Decision{}, fmt.Errorf("required are %v", t.ResultFields)
					}
					n := len(t.Results)
					if n > 0 {
						r := t.Results[n-1]
						told = append(told, fmt.Sprintf("%s %s %s", r.Tool, r.Status, r.Message))
					}
					move := worker.Decision{Answer: &given[n]}
					if given[n].Code == "beside" {
						move.Calls = one(burn)
					}
					return move, nil
				})
				a, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{
					Agent: agentName, Args: jsontext.Value(`{}`), Request: "look it up", ResultFields: []string{"title", "pages"},
				})
				if err != nil {
					t.Fatal(err)
				}
				w.follow(a.Session)
				if end := w.over(a.Turn).End; end.Status != utp.StatusSuccess || len(told) != len(given)-1 || len(w.effects.all()) != 0 {
					t.Fatalf("ended %+v after %q", end, told)
				}
				for _, line := range told {
					if !strings.HasPrefix(line, "submit_result failed ") || !strings.Contains(line, strings.Fields(name)[0]) && !strings.Contains(line, "missing") && !strings.Contains(line, "only move") {
						t.Errorf("the planner was told %q", line)
					}
				}
				var rows []api.SessionRow
				err = rpc.Ask(w.ctx, w.person, api.OpSessions, api.SessionsRequest{Session: a.Session}, &rows)
				if err != nil || len(rows) != 1 || rows[0].End == nil || len(rows[0].End.Fields) < 2 {
					t.Fatalf("%v: %+v", err, rows)
				}
				for _, f := range rows[0].End.Fields {
					if want := map[string]string{"title": `"T"`, "pages": "3", "more": "null"}[f.Name]; string(f.Value) != want {
						t.Errorf("%s is %s; want %s", f.Name, f.Value, want)
					}
				}
			})
		})
	}
}

// TestResultFieldsNever: who never learns it is told so, and the turn fails.
func TestResultFieldsNever(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		moves := 0
		w.loop(func(context.Context, worker.Transcript) (worker.Decision, error) { moves++; return done("That's it.") })
		a, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(`{}`), ResultFields: []string{"title"}})
		if err != nil {
			t.Fatal(err)
		}
		w.follow(a.Session)
		end := w.over(a.Turn).End
		if end.Status != utp.StatusFailed || end.Code != utp.CodeBadRequest || !strings.Contains(end.Message, "missing: title") || moves != 6 {
			t.Errorf("ended %+v after %d moves", end, moves)
		}
		if _, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(`{}`), ResultFields: []string{"a", "a"}}); err == nil {
			t.Error("a field was required twice")
		}
	})
}

// TestTextWhilePlanning: what a planner writes is told while it writes: sentences at once,
// the rest after 250 ms, and the same answer is not told a second time.
func TestTextWhilePlanning(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.loop(func(ctx context.Context, _ worker.Transcript) (worker.Decision, error) {
			out := worker.Output(ctx)
			for _, piece := range []string{"One. Two", " and a", " hal", "f. ", "Thr\xc3", "\xa9e"} {
				if _, err := io.WriteString(out, piece); err != nil {
					return worker.Decision{}, err
				}
				<-time.After(200 * time.Millisecond)
			}
			return worker.Decision{Answer: &worker.Answer{Summary: "One.", Output: "One. Two and a half. Thrée"}}, nil
		})
		a := w.begin()
		w.over(a.Turn)
		var chunks []string
		for _, p := range heardOf[aaep.OutputStreaming](w, a.Session) {
			chunks = append(chunks, p.Chunk)
		}
		if got := strings.Join(chunks, "|"); got != "One. |Two and |a |half. |Thrée|" {
			t.Errorf("told %q", got)
		}
	})
}

// TestTextInLanguages: each piece carries the language that its writer named, a change of the language cuts a sentence and
// no character, and the answer has its own. A wrong tag is an error of the write, and nothing is told.
func TestTextInLanguages(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		var wrong error
		w.loop(func(ctx context.Context, _ worker.Transcript) (worker.Decision, error) {
			_, wrong = io.WriteString(worker.OutputIn(ctx, "english"), "Never told.")
			for _, piece := range [][2]string{{"es", "Uno. Dos"}, {"es", ". Tr"}, {"ar", "ثلاثة"}, {"", "Four\xc3"}, {"fr", "\xa9"}} {
				if _, err := io.WriteString(worker.OutputIn(ctx, piece[0]), piece[1]); err != nil {
					return worker.Decision{}, err
				}
			}
			return worker.Decision{Answer: &worker.Answer{Summary: "One.", Output: "C'est fait.", Lang: "fr-CA"}}, nil
		})
		a := w.begin()
		w.over(a.Turn)
		var got []string
		for _, p := range heardOf[aaep.OutputStreaming](w, a.Session) {
			got = append(got, p.Language+":"+p.Chunk)
		}
		if list := strings.Join(got, "|"); list != "es:Uno. Dos. |es:Tr|ar:ثلاثة|:Four\uFFFD|fr:\uFFFD|fr:|fr-CA:C'est fait." {
			t.Errorf("told %q", list)
		}
		wantFault(t, wrong, utp.CodeBadRequest)
	})
}

// TestTextGoesOn: a planner that is started again in the middle of its text is heard once:
// the same text goes on, another one is told from its beginning.
func TestTextGoesOn(t *testing.T) {
	for name, tt := range map[string]struct {
		second string
		want   []string
	}{
		"the same":      {"First. Second. Third.", []string{"First. Second. Third."}},
		"shorter":       {"First.", []string{"First. Second. ", "First."}},
		"another":       {"No. Something else.", []string{"First. Second. ", "No. Something else."}},
		"nothing":       {"", []string{"First. Second. "}},
		"just that":     {"First. Second. ", []string{"First. Second. "}},
		"another later": {"First. Second! Third.", []string{"First. Second. ", "First. Second! Third."}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				first := w.loop(func(ctx context.Context, _ worker.Transcript) (worker.Decision, error) {
					_, err := io.WriteString(worker.Output(ctx), "First. Second. ")
					<-ctx.Done()
					return worker.Decision{}, err
				})
				a := w.begin()
				w.pass(time.Second)
				first.kill()
				w.loop(func(ctx context.Context, _ worker.Transcript) (worker.Decision, error) {
					_, err := io.WriteString(worker.Output(ctx), tt.second)
					return worker.Decision{Answer: &worker.Answer{Summary: "Done."}}, err
				})
				w.over(a.Turn)
				if got := w.texts(a.Session); !slices.Equal(got, tt.want) {
					t.Errorf("told %q; want %q", got, tt.want)
				}
			})
		})
	}
}

// TestStopIsHeard: the planner's context ends with a stop, at once, and so does what it
// writes.
func TestStopIsHeard(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		var heard atomic.Int64
		var wrote error
		w.loop(func(ctx context.Context, _ worker.Transcript) (worker.Decision, error) {
			<-ctx.Done()
			heard.Store(time.Now().UnixNano())
			for wrote == nil {
				_, wrote = io.WriteString(worker.Output(ctx), "And on. ")
			}
			return done("I never stop.")
		})
		a := w.begin()
		w.pass(90 * time.Second) // well beyond a lease
		if st := w.turn(a.Turn); st.Epoch != 1 || st.Status != turn.Running {
			t.Errorf("the turn was not kept while it was planned: %+v", st)
		}
		stopped := time.Now()
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session, By: person}); err != nil {
			t.Fatal(err)
		}
		end := w.over(a.Turn).End
		w.pass(time.Second)
		if late := time.Unix(0, heard.Load()).Sub(stopped); late < 0 || late > 100*time.Millisecond || wrote == nil || end.Status != utp.StatusCanceled {
			t.Errorf("heard after %v, ended %+v, wrote %v", late, end, wrote)
		}
	})
}

// TestPlannerPanics: it fails its turn and nothing else.
func TestPlannerPanics(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		turns := 0
		w.loop(func(context.Context, worker.Transcript) (worker.Decision, error) {
			if turns++; turns == 1 {
				panic("index out of range")
			}
			return done("Fine.")
		})
		a := w.begin()
		if end := w.over(a.Turn).End; end.Code != utp.CodeInternalError || !strings.Contains(end.Message, "panicked: index out of range") {
			t.Errorf("ended %+v", end)
		}
		if end := w.over(w.begin().Turn).End; end.Status != utp.StatusSuccess {
			t.Errorf("the next one ended %+v", end)
		}
	})
}

// TestGivenBack: at its end a worker gives the turn back, and another one has it at once.
func TestGivenBack(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		first := w.loop(func(ctx context.Context, _ worker.Transcript) (worker.Decision, error) {
			<-ctx.Done()
			return worker.Decision{}, ctx.Err()
		})
		a := w.begin()
		w.pass(time.Second)
		w.loop(func(context.Context, worker.Transcript) (worker.Decision, error) { return done("Fine.") })
		first.cancel()
		<-first.done
		began := time.Now()
		w.over(a.Turn)
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("another worker had it after %v; the lease alone would be 30s", took)
		}
	})
}

// TestLetsGo: a turn that waits for long gives its seat free, and goes on from its
// transcript when its question is answered.
func TestLetsGo(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.employ(worker.Options{Retain: time.Minute, Agent: worker.Agent{Name: agentName, Plan: worker.PlanFunc(
			func(ctx context.Context, t worker.Transcript) (worker.Decision, error) {
				return asksOnce(worker.Question{Text: "Which?", Within: time.Hour})(ctx, t)
			},
		)}})
		a := w.begin()
		q := w.asked()
		w.pass(2 * time.Minute)
		b := w.begin()
		w.askedAfterAll(t, 2)
		w.say(q, "this")
		if end := w.over(a.Turn).End; !strings.Contains(end.Message, "this") {
			t.Errorf("ended %+v", end)
		}
		w.say(w.asked(), "that")
		w.over(b.Turn)
	})
}

// askedAfterAll waits until so many questions are open.
func (w *world) askedAfterAll(t *testing.T, n int) {
	t.Helper()
	w.until(fmt.Sprintf("%d questions are to be open", n), func() bool { return len(w.questions()) == n })
}

// crashing is a planner with a bit of everything, and counts of what it does.
type crashing struct {
	mu    sync.Mutex
	plans int
}

var errOther = errors.New("the transcript is not what it was")

func (c *crashing) plan(ctx context.Context, t worker.Transcript) (worker.Decision, error) {
	c.mu.Lock()
	c.plans++
	c.mu.Unlock()
	out := worker.Output(ctx)
	steps := t.Steps()
	if _, err := fmt.Fprintf(out, "Step %d begins. It goes on.", len(steps)+1); err != nil {
		return worker.Decision{}, err
	}
	for i, want := range []string{"a b", "q", "submit", "c"} {
		if i < len(steps) && strings.TrimSpace(strings.Join(keys(steps[i]), " ")) != want {
			return worker.Decision{}, fmt.Errorf("%w: step %d has %v", errOther, i+1, keys(steps[i]))
		}
	}
	switch len(steps) {
	case 0:
		return worker.Decision{Calls: []worker.Call{
			{Key: "a", Tool: paint, Args: map[string]any{"name": "a"}}, {Key: "b", Tool: poller, Args: map[string]any{"name": "b"}},
		}}, nil
	case 1:
		return worker.Decision{Question: &worker.Question{Key: "q", Text: "Which?", Default: "none"}}, nil
	case 2:
		return worker.Decision{Answer: &worker.Answer{Key: "submit", Summary: "Too early."}}, nil
	case 3:
		return worker.Decision{Calls: []worker.Call{{Key: "c", Tool: put, Args: map[string]any{"name": "c"}}}}, nil
	default:
		return worker.Decision{Answer: &worker.Answer{Summary: "Done.", Fields: []worker.Field{{Name: "title", Value: "T"}}}}, nil
	}
}

func keys(results []worker.Result) []string {
	var out []string
	for _, r := range results {
		out = append(out, r.Key)
	}
	return out
}

// TestKilledEverywhere: a worker that is killed before any one of its requests, or before
// it hears the answer, is followed by another that goes on from the last completed step:
// each call is made once, each text told once, and the turn ends as without the crash.
func TestKilledEverywhere(t *testing.T) {
	testkit.Slow(t)
	stride := 1
	if testkit.Raced {
		stride = 5
	}
	for _, kind := range []string{isRequest, isAnswer} {
		for n := 1; n <= 32; n += stride {
			t.Run(fmt.Sprintf("%s %d", kind, n), func(t *testing.T) {
				inWorld(t, func(w *world) {
					w.rules = []rulebook.Rule{{Tool: paint, Decide: turn.Allow}, {Tool: put, Decide: turn.Allow}}
				},
					func(t *testing.T, w *world) { killedAt(t, w, kind, n) })
			})
		}
	}
}

func killedAt(t *testing.T, w *world, kind string, n int) {
	t.Helper()
	c := &crashing{}
	a, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{
		Agent: agentName, Args: jsontext.Value(`{}`), Request: "all of it", ResultFields: []string{"title"},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.follow(a.Session)
	var first atomic.Pointer[agent]
	var crossed atomic.Int64
	w.bus.fault(func(m message) sendResult {
		if m.kind == kind && m.peer == agentName && first.Load() != nil && crossed.Add(1) == int64(n) {
			first.Load().kill()
			return sendResult{drop: true}
		}
		return sendResult{}
	})
	first.Store(w.loop(c.plan))
	w.until("the question is open, or the worker dead", func() bool { return first.Load().conn.dead.Load() || len(w.questions()) == 1 })
	w.loop(c.plan)
	w.say(w.asked(), "this one")
	w.over(a.Turn)
	if end := w.turn(a.Turn).End; end.Status != utp.StatusSuccess || end.Message != "Done." {
		t.Errorf("ended %+v", end)
	}
	if got := w.effects.all(); len(got) != 2 {
		t.Errorf("the effects are %v; want those of a and c, once", got)
	}
	want := make([]string, 5)
	for i := range want {
		want[i] = fmt.Sprintf("Step %d begins. It goes on.", i+1)
	}
	if got := w.texts(a.Session); !slices.Equal(got, want) {
		t.Errorf("told %q", got)
	}
	if c.plans > 6 {
		t.Errorf("planned %d times; want each of five steps once, and one again", c.plans)
	}
}

// TestHintsKeepTheirOrder: followers hear of the steps of a turn in their order, also where a later one is done first.
func TestHintsKeepTheirOrder(t *testing.T) {
	inWorld(t, func(w *world) { w.hints = true }, func(t *testing.T, w *world) {
		var turnID atomic.Value
		w.effects.at("begun", func(context.Context, *service, *tool.Call) error {
			w.now.mu.Lock()
			defer w.now.mu.Unlock()
			w.now.committed = func() { // of the finish: what follows it is held up until the turn has ended
				for w.turn(turnID.Load().(string)).Status != turn.Ended {
					<-time.After(time.Second) // of the bubble
				}
			}
			return nil
		})
		w.work(one(put))
		a := w.begin()
		turnID.Store(a.Turn)
		w.accepts()
		w.over(a.Turn)
		w.pass(5 * time.Second)
		if got := w.hinted(a.Turn); !slices.Equal(got[max(0, len(got)-3):], []string{"state running", "state idle", "task success"}) {
			t.Errorf("heard %q", got)
		}
	})
}

// hinted lists what third-party followers have heard of a turn.
func (w *world) hinted(id string) []string {
	w.t.Helper()
	var got []string
	w.bus.mu.Lock()
	defer w.bus.mu.Unlock()
	for _, m := range w.bus.heard {
		s, err := utp.ParseSubject(m.subject)
		if err != nil || s.Component != utp.ComponentAgent || s.Category == utp.CategoryCommand {
			continue
		}
		var p struct {
			Turn    string `json:"agent_turn_id"`
			Status  string `json:"status"`
			Phase   string `json:"phase"`
			Content string `json:"content"`
			Type    string `json:"chunk_type"`
		}
		if err := json.Unmarshal(m.payload, &p); err != nil || p.Turn != id || s.Target != agentName {
			w.t.Errorf("%v: %s %s", err, m.subject, m.payload)
		}
		if p.Type == utp.ChunkContent {
			p.Type = ""
		}
		got = append(got, strings.TrimSpace(s.Suffix+" "+p.Status+p.Phase+p.Type+p.Content))
	}
	return got
}

// TestHints: third-party followers hear of an agent's turn (UTP, "Events of agents") where that
// is wanted; otherwise nothing is published.
func TestHints(t *testing.T) {
	for _, wanted := range []bool{true, false} {
		t.Run(fmt.Sprint(wanted), func(t *testing.T) {
			inWorld(t, func(w *world) { w.hints = wanted }, func(t *testing.T, w *world) {
				w.loop(func(ctx context.Context, t worker.Transcript) (worker.Decision, error) {
					if len(t.Results) == 0 {
						_, err := io.WriteString(worker.Output(ctx), "I look. ")
						return worker.Decision{Calls: one(poller)}, err
					}
					return done("Seen.")
				})
				a := w.begin()
				w.over(a.Turn)
				w.settle()
				got := w.hinted(a.Turn)
				want := []string{
					"state running", "chunk start", "chunk I look.", "chunk end", "step started", "step executing", "state suspended",
					"step completed", "state running", "state idle", "task success",
				}
				if !wanted {
					want = nil
				}
				if !slices.Equal(got, want) {
					t.Errorf("heard %q; want %q", got, want)
				}
			})
		})
	}
}

// TestHintsHeaders: the event of a deep turn says whose it is and its trace, and nothing of a single call: no depth, least
// of all another turn's (UTP, "Headers").
func TestHintsHeaders(t *testing.T) {
	inWorld(t, func(w *world) { w.hints = true }, func(t *testing.T, w *world) {
		events := atomic.Int32{}
		w.bus.published(func(subject string, header map[string][]string) error {
			if s, err := utp.ParseSubject(subject); err != nil || s.Component != utp.ComponentAgent || s.Category == utp.CategoryCommand {
				return nil //nolint:nilerr // not a subject of UTP
			}
			events.Add(1)
			if len(header[utp.HeaderTraceparent]) != 1 || header[utp.HeaderRecursionDepth] != nil {
				t.Errorf("%s: %v", subject, header)
			}
			return nil
		})
		w.loop(func(context.Context, worker.Transcript) (worker.Decision, error) { return done("Seen.") })
		a, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(`{}`), Depth: 3})
		if err != nil {
			t.Fatal(err)
		}
		w.follow(a.Session)
		w.over(a.Turn)
		w.settle()
		if events.Load() == 0 {
			t.Error("nothing was published")
		}
	})
}
