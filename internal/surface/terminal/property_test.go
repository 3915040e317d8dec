package terminal_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

// world is a random run of one terminal, with what must hold after each step.
type world struct {
	t        *rapid.T
	now      time.Time
	typed    bool
	terminal *terminal.Terminal
	sent     map[int]terminal.Request
	told     []string // texts that must be on the screen in the end, each once
	lines    []string // the screen
	events   int
	tokens   map[int]string // the latest token of each question
}

// TestTerminalKeepsItsWord plays random events, lines, results and times.
func TestTerminalKeepsItsWord(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		w := &world{
			t: t, now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), typed: rapid.Bool().Draw(t, "typed"),
			sent: map[int]terminal.Request{}, tokens: map[int]string{},
		}
		w.terminal = terminal.New(terminal.Settings{Width: 40, Typed: w.typed, OneQuestion: rapid.Bool().Draw(t, "one")})

		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w.step()
		}

		for len(w.sent) > 0 { // every request ends
			w.result(nil)
		}

		w.see("close", "", w.terminal.Close(w.now), nil)

		screen := strings.Join(w.lines, " ")
		for _, text := range w.told {
			if strings.Count(screen, text+".") != 1 {
				t.Fatalf("%q is not told once:\n%s", text, strings.Join(w.lines, "\n"))
			}
		}
	})
}

func (w *world) step() {
	switch rapid.IntRange(0, 5).Draw(w.t, "kind") {
	case 0:
		w.see("event", "", w.terminal.Event(w.now, w.narration()), nil)
	case 1:
		w.see("event", "", w.terminal.Event(w.now, w.question()), nil)
	case 2:
		w.see("event", "", w.terminal.Event(w.now, w.resolution()), nil)
	case 3:
		line := rapid.SampledFrom([]string{
			"accept", " ACCEPT ", "accept 1", "accept 2", "accept 3", "reject", "reject 1", "more time", "list", "why 2", "go on",
			"stop", "undo", "help", "", "  ", "y", "yes", "acceptance", "leave", "leave 2", "answer 2 leave", "\x1b[A", "accept now",
		}).Draw(w.t, "line")
		w.see("line", line, w.terminal.Line(w.now, line), nil)
	case 4:
		if len(w.sent) > 0 {
			w.result(rapid.SampledFrom([]error{nil, nil, errors.New("refused")}).Draw(w.t, "error"))
		}
	default:
		w.now = w.now.Add(time.Duration(rapid.IntRange(0, 70_000).Draw(w.t, "wait")) * time.Millisecond)
		w.see("tick", "", w.terminal.Tick(w.now), nil)
	}
}

func (w *world) result(err error) {
	ids := make([]int, 0, len(w.sent))
	for id := range w.sent {
		ids = append(ids, id)
	}

	slices.Sort(ids)

	id := rapid.SampledFrom(ids).Draw(w.t, "request")
	delete(w.sent, id)
	w.see("result", "", w.terminal.Result(w.now, terminal.Result{ID: id, Err: err}), err)
}

// see checks what one step did.
func (w *world) see(kind, line string, effects []terminal.Effect, failed error) {
	for _, effect := range effects {
		switch e := effect.(type) {
		case terminal.Print:
			w.lines = append(w.lines, e.Lines...)
			w.printed(kind, e, failed)
		case terminal.Send:
			w.sent[e.ID] = e.Request
			w.requested(kind, line, e.Request)
		case terminal.Echo:
			w.t.Fatalf("keys are shown by the terminal itself")
		case terminal.Flush:
			if !w.typed || kind != "event" {
				w.t.Fatalf("flushed at %s", kind)
			}
		case terminal.InputEnded:
			w.t.Fatalf("the input has not ended")
		}
	}

	if wake := w.terminal.Wake(); !wake.IsZero() && !wake.After(w.now) && kind == "tick" {
		w.t.Fatalf("a tick at %v leaves something for %v", w.now, wake)
	}
}

func (w *world) printed(kind string, p terminal.Print, failed error) {
	for _, line := range p.Lines {
		seen := strings.NewReplacer("\u2068", "", "\u2069", "").Replace(line)
		if len([]rune(seen)) > 40 || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			w.t.Fatalf("printed %q", line)
		}

		if strings.HasPrefix(line, "Recorded") && (kind != "result" || failed != nil || p.Stream != terminal.Prompt) {
			w.t.Fatalf("%q at %s, %v", line, kind, failed)
		}
	}
}

// requested shows that only words send, and that yes takes the word accept and
// the token of the question as it stands.
func (w *world) requested(kind, line string, r terminal.Request) {
	if w.typed && kind != "line" {
		if _, ok := r.(terminal.Undo); !ok || kind != "result" { // an undo may wait for its answer's result
			w.t.Fatalf("%T sent at %s", r, kind)
		}
	}

	if w.typed && strings.TrimSpace(line) == "" && kind == "line" {
		w.t.Fatalf("Enter sent %T", r)
	}

	a, ok := r.(terminal.Answer)
	if !ok {
		return
	}

	if a.Token != w.tokens[a.Question] {
		w.t.Fatalf("answered %s, the question has %s", a.Token, w.tokens[a.Question])
	}

	word := strings.Fields(strings.ToLower(line))
	if w.typed && a.Decision == aaep.DecisionAccept && (len(word) == 0 || word[0] != "accept" || len(word) > 2) {
		w.t.Fatalf("%q accepted", line)
	}

	if !w.typed && kind != "line" && a.Decision == aaep.DecisionAccept && !strings.Contains(strings.Join(w.lines, " "), "Understood: accept") {
		w.t.Fatal("accepted without a word")
	}
}

func (w *world) id() string {
	w.events++

	return strconv.Itoa(w.events)
}

func (w *world) narration() aaep.Event {
	id := w.id()
	text := "tool " + id
	e := aaep.Event{ID: "evt_" + id, SessionID: "sess_1", Time: w.now}

	switch rapid.IntRange(0, 3).Draw(w.t, "narration") {
	case 0:
		e.Payload = aaep.ProgressUpdated{Progress: aaep.Progress{Description: "part " + id}}
		e.Urgency = aaep.UrgencyBackground
	case 1:
		e.Payload = aaep.HandoffRequested{SummaryNormal: text + "."}
		e.Urgency = aaep.UrgencyCritical
		w.told = append(w.told, text)
	default:
		e.Payload = aaep.OutputStreaming{Chunk: text + ".", OutputID: id, Complete: true}
		w.told = append(w.told, text)
	}

	return e
}

func (w *world) question() aaep.Event {
	id := w.id()
	number := rapid.IntRange(1, 2).Draw(w.t, "number")
	w.tokens[number] = "rpl_" + id
	e := aaep.Event{
		ID: "evt_" + id, SessionID: "sess_1", Time: w.now, Urgency: aaep.UrgencyCritical,
		Payload: aaep.AwaitingConfirmation{
			Action: "Do it.", Consequence: rapid.SampledFrom([]string{"Gone.", "Gone\x1b[2J."}).Draw(w.t, "consequence"),
			ReplyToken: "rpl_" + id, TimeoutSeconds: 60, DefaultDecision: aaep.DecisionReject, RiskLevel: aaep.RiskHigh, Irreversible: true,
		},
	}

	if number == 2 && rapid.Bool().Draw(w.t, "clarification") {
		e.Payload = aaep.AwaitingClarification{
			Question: "What now?", ReplyToken: "rpl_" + id, TimeoutSeconds: 60,
			AcceptedResponseKinds: []aaep.ResponseKind{aaep.ResponseMultipleChoice},
			Choices:               []aaep.Choice{{Value: "leave", Label: "Leave it"}, {Value: "ask_again", Label: "Ask"}},
		}
	}

	return w.extended(e, fmt.Sprintf(`{"question":%d}`, number))
}

func (w *world) resolution() aaep.Event {
	how := rapid.SampledFrom([]string{"accepted", "rejected", "answered", "expired", "withdrawn", "extended", "stopped"}).Draw(w.t, "how")
	e := aaep.Event{
		ID: "evt_" + w.id(), SessionID: "sess_1", Time: w.now,
		Payload: aaep.StateChanged{FromState: aaep.StateAwaitingInput, ToState: aaep.StateThinking},
	}

	return w.extended(e, fmt.Sprintf(`{"question":%d,"resolution":%q,"starts_at":%q}`,
		rapid.IntRange(1, 2).Draw(w.t, "number"), how, w.now.Add(3*time.Second).Format(time.RFC3339)))
}

func (w *world) extended(e aaep.Event, ours string) aaep.Event {
	e.Extensions = map[string]jsontext.Value{aaep.PrefixEarshot: jsontext.Value(ours)}

	return e
}
