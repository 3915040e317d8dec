package session_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// troupe is an emitter with a judge behind it: what it hands over has to be valid by
// itself and in its order, warnings included.
type troupe struct {
	*session.Emitter

	t       failer
	checker *session.Checker
	now     time.Time
	events  []aaep.Event
	fails   int  // so many events are not taken
	lenient bool // what the test itself moves to, and the text that it writes, may earn warnings
}

func newTroupe(t failer, language string) *troupe {
	t.Helper()
	e := &troupe{t: t, checker: session.NewChecker(), now: day}
	s := session.New(session.Options{SessionID: "sess_1", Producer: aaep.Producer{AgentID: "tidy"}, Language: language})
	e.Emitter = session.NewEmitter(s, session.EmitterOptions{
		Now: func() time.Time { e.now = e.now.Add(time.Second); return e.now }, Rand: rand.NewChaCha8([32]byte{3}), Emit: e.take,
	})
	return e
}

var errFull = errors.New("no room")

func (e *troupe) take(event aaep.Event) error {
	if e.fails > 0 {
		e.fails--
		return errFull
	}
	raw, err := event.Encode()
	if err != nil {
		e.t.Fatalf("cannot encode: %v", err)
	}
	for _, v := range append(aaep.Validate(raw, aaep.ModeProducer), e.checker.Check(raw)...) {
		if v.Severity == asError || v.Severity == asWarning && !e.lenient {
			e.t.Fatalf("found %s\n%s", v, raw)
		}
	}
	e.events = append(e.events, event)
	return nil
}

func (e *troupe) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatalf("after %d events: %v", len(e.events), err)
	}
}

// types are the events in short.
func (e *troupe) types() string {
	var all []string
	for _, event := range e.events {
		name := strings.TrimPrefix(event.Type(), "aaep:agent.")
		if p, ok := event.Payload.(aaep.StateChanged); ok {
			name = "→" + p.ToState
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

func (e *troupe) begin() *troupe {
	e.t.Helper()
	e.must(e.Start(aaep.SessionStarted{SummaryNormal: "Tidying."}))
	return e
}

func deletion() aaep.AwaitingConfirmation {
	return aaep.AwaitingConfirmation{
		Action: "Delete 3 files.", Consequence: "They cannot be brought back.", SummaryNormal: "Delete 3 files?", RiskLevel: aaep.RiskHigh, Reversibility: aaep.Irreversible,
	}
}

// TestEmitter tells a whole session: the moves are told by themselves, the question is
// linked to its call and refuses by default (C-21, C-22, C-24, C-37, C-45, CONF-78).
func TestEmitter(t *testing.T) {
	t.Parallel()
	e := newTroupe(t, "en").begin()
	scan, err := e.Tool(aaep.ToolInvoked{Tool: "files.scan", SummaryNormal: "Scanning."})
	e.must(err)
	e.must(e.Progress(aaep.ProgressUpdated{Progress: aaep.Progress{Percent: new(50.0)}, SummaryNormal: "Half."}))
	e.must(scan.Complete(aaep.ToolCompleted{Status: aaep.ToolSuccess, SummaryNormal: "Scanned."}))
	asked, err := e.Confirm("files.delete", deletion())
	e.must(err)
	question := e.events[len(e.events)-1].Payload.(aaep.AwaitingConfirmation)
	if tool, call := question.Subject(); tool != "files.delete" || call != asked.CallID() || question.ReplyToken != asked.Token() {
		t.Errorf("the question is about %s %s, its token is %s", tool, call, question.ReplyToken)
	}
	if !question.Irreversible || question.DefaultDecision != aaep.DecisionReject || question.TimeoutSeconds != 300 {
		t.Errorf("asked %+v", question)
	}
	e.must(asked.Resolve(aaep.ResolutionAccepted, aaep.StateChanged{SummaryNormal: "You accepted."}))
	remove, err := asked.Tool(aaep.ToolInvoked{SummaryNormal: "Deleting.", RiskLevel: aaep.RiskHigh})
	e.must(err)
	if remove.ID() != asked.CallID() {
		t.Errorf("invoked %s, want %s", remove.ID(), asked.CallID())
	}
	e.must(remove.Complete(aaep.ToolCompleted{Status: aaep.ToolSuccess, SummaryNormal: "Deleted."}))
	text := e.Output(session.TextOptions{})
	for _, chunk := range []string{"I deleted 3 fi", "les. That frees 1", "2 MB! ", "Anything else?"} {
		_, err := text.WriteString(chunk)
		e.must(err)
	}
	e.must(text.Close())
	e.must(e.Complete(aaep.SessionCompleted{SummaryNormal: "Done."}))
	want := "session.started →calling_tool tool.invoked progress.updated tool.completed →awaiting_input awaiting.confirmation →calling_tool tool.invoked tool.completed " +
		"→writing_output output.streaming output.streaming output.streaming session.completed"
	if got := e.types(); got != want {
		t.Errorf("emitted\n%s, want\n%s", got, want)
	}
	if found := e.checker.Close(); len(found) > 0 {
		t.Errorf("at the end%s", list(found))
	}
}

// TestEmitterRefuses: nothing is emitted for what is refused.
func TestEmitterRefuses(t *testing.T) {
	t.Parallel()
	tool := func(p aaep.ToolInvoked) func(e *troupe) error {
		return func(e *troupe) error { p.SummaryNormal = "Running."; _, err := e.Tool(p); return err }
	}
	cases := []struct {
		name string
		try  func(e *troupe) error
		code session.Code
		rule string
	}{
		{"irreversible unasked", tool(aaep.ToolInvoked{Tool: "files.delete", Irreversible: true}), session.CodeNoConsent, "SEQ-22"},
		{"high risk unasked", tool(aaep.ToolInvoked{Tool: "files.move", RiskLevel: aaep.RiskHigh}), session.CodeNoConsent, "CONF-02"},
		{"silence as yes", func(e *troupe) error {
			p := deletion()
			p.DefaultDecision = aaep.DecisionAccept
			_, err := e.Confirm("files.delete", p)
			return err
		}, session.CodeUnsafeQuestion, "CONF-20"},
		{"risk unsaid", func(e *troupe) error {
			p := deletion()
			p.RiskLevel = ""
			_, err := e.Confirm("files.delete", p)
			return err
		}, session.CodeUnsafeQuestion, "CONFM-10"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := newTroupe(t, "en").begin()
			refused, ok := errors.AsType[*session.Error](c.try(e))
			if !ok || refused.Code != c.code || refused.Rule != c.rule {
				t.Fatalf("got %v, want %s (%s)", refused, c.code, c.rule)
			}
			if len(e.events) != 1 {
				t.Errorf("emitted %s", e.types())
			}
		})
	}
}

// TestAskedForWhatCanBeUndone: a yes to what can be undone lets nothing irreversible happen, and no move is told
// for what is refused.
func TestAskedForWhatCanBeUndone(t *testing.T) {
	t.Parallel()
	e := newTroupe(t, "en").begin()
	p := deletion()
	p.Irreversible, p.Reversibility, p.RiskLevel = false, "", aaep.RiskMedium
	asked, err := e.Confirm("files.delete", p)
	e.must(err)
	e.must(asked.Resolve(aaep.ResolutionAccepted, aaep.StateChanged{SummaryNormal: "You accepted."}))
	e.must(e.State(aaep.StateThinking, aaep.StateChanged{SummaryNormal: "Thinking."}))
	before := e.types()
	_, err = e.Tool(aaep.ToolInvoked{Tool: "files.delete", ToolCallID: asked.CallID(), Irreversible: true, SummaryNormal: "Deleting."})
	if refused, ok := errors.AsType[*session.Error](err); !ok || refused.Code != session.CodeNoConsent || refused.Rule != "SEQ-22" || e.types() != before {
		t.Errorf("got %v, emitted %s", err, e.types())
	}
	_, err = asked.Tool(aaep.ToolInvoked{SummaryNormal: "Deleting."})
	e.must(err)
}

// TestAskedOnce: a consent is for one call, after its accept, once.
func TestAskedOnce(t *testing.T) {
	t.Parallel()
	e := newTroupe(t, "en").begin()
	asked, err := e.Confirm("files.delete", deletion())
	e.must(err)
	invoke := func() error {
		_, err := asked.Tool(aaep.ToolInvoked{SummaryNormal: "Deleting."})
		return err
	}
	refused := func() bool {
		r, ok := errors.AsType[*session.Error](invoke())
		return ok && r.Code == session.CodeNoConsent
	}
	if !refused() {
		t.Error("invoked before an answer")
	}
	e.must(asked.Resolve(aaep.ResolutionAccepted, aaep.StateChanged{}))
	e.must(invoke())
	if !refused() {
		t.Error("invoked twice on one consent")
	}
	clarified, err := e.Clarify(aaep.AwaitingClarification{Question: "Which?", SummaryNormal: "Which?"})
	e.must(err)
	if _, err := clarified.Tool(aaep.ToolInvoked{Tool: "files.delete", SummaryNormal: "Deleting."}); err == nil {
		t.Error("a clarification allowed a call")
	}
}

// TestEmitterCloses: whatever is open, each terminal event stands behind it (SEQ-36,
// GD-04): buffered text is said, tools and questions end.
func TestEmitterCloses(t *testing.T) {
	t.Parallel()
	ends := map[string]func(e *troupe) error{
		"complete": func(e *troupe) error { return e.Complete(aaep.SessionCompleted{SummaryNormal: "Done."}) },
		"fail": func(e *troupe) error {
			return e.Fail(aaep.SessionErrored{ErrorCategory: aaep.ErrorUnknown, SummaryNormal: "Failed."})
		},
		"cancel": func(e *troupe) error {
			return e.Cancel(aaep.SessionCancelled{CancelledBy: aaep.CancelledByUser, SummaryNormal: "Stopped."})
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newTroupe(t, "de").begin()
			text := e.Output(session.TextOptions{Boundary: aaep.BoundaryCompletion})
			_, err := text.WriteString("Half a sen")
			e.must(err)
			_, err = e.Tool(aaep.ToolInvoked{Tool: "files.scan", SummaryNormal: "Scanning."})
			e.must(err)
			granted, err := e.Confirm("files.delete", deletion())
			e.must(err)
			e.must(granted.Resolve(aaep.ResolutionAccepted, aaep.StateChanged{SummaryNormal: "Ja."}))
			_, err = e.Clarify(aaep.AwaitingClarification{Question: "Welche?", SummaryNormal: "Welche?"})
			e.must(err)
			e.must(end(e))
			chunk, said := aaep.OutputStreaming{}, false
			for _, event := range e.events {
				if p, ok := event.Payload.(aaep.OutputStreaming); ok {
					chunk, said = p, true
				}
			}
			if !said || chunk.Chunk != "Half a sen" || !chunk.Complete {
				t.Errorf("said %+v", chunk)
			}
			if found := e.checker.Close(); len(found) > 0 {
				t.Errorf("at the end%s", list(found))
			}
			if _, err := text.WriteString("more"); err == nil {
				t.Error("written behind the end")
			}
		})
	}
}

// TestNotSent: what was not taken is kept, in order, and goes first the next time.
func TestNotSent(t *testing.T) {
	t.Parallel()
	e := newTroupe(t, "en").begin()
	e.fails = 2
	_, err := e.Tool(aaep.ToolInvoked{Tool: "files.scan", SummaryNormal: "Scanning."})
	if refused, ok := errors.AsType[*session.Error](err); !ok || refused.Code != session.CodeNotSent || !errors.Is(err, errFull) {
		t.Fatalf("got %v", err)
	}
	if err := e.Flush(); err == nil {
		t.Fatal("the second failure was not told")
	}
	e.must(e.Flush())
	e.must(e.Complete(aaep.SessionCompleted{SummaryNormal: "Done."}))
	if got := e.types(); got != "session.started →calling_tool session.completed" {
		t.Errorf("emitted %s", got)
	}
}

// TestNotSentOnce: a step whose event was built and not taken is done: what was said is not
// said twice, and what was asked or begun has its handle.
func TestNotSentOnce(t *testing.T) {
	t.Parallel()
	unsent := func(t *testing.T, err error) {
		t.Helper()
		if refused, ok := errors.AsType[*session.Error](err); !ok || refused.Code != session.CodeNotSent {
			t.Fatalf("got %v, want %s", err, session.CodeNotSent)
		}
	}
	t.Run("text", func(t *testing.T) {
		t.Parallel()
		e := newTroupe(t, "en").begin()
		text := e.Output(session.TextOptions{})
		e.must(e.State(aaep.StateWritingOutput, aaep.StateChanged{SummaryNormal: "Writing."}))
		e.fails = 1
		_, err := text.WriteString("One sentence. And ")
		unsent(t, err)
		_, err = text.WriteString("another. The end")
		e.must(err)
		e.fails = 1
		unsent(t, text.Close())
		e.must(text.Close())
		e.must(e.Complete(aaep.SessionCompleted{SummaryNormal: "Done."}))
		var said []string
		for _, event := range e.events {
			if p, ok := event.Payload.(aaep.OutputStreaming); ok {
				said = append(said, p.Chunk)
			}
		}
		if want := []string{"One sentence. ", "And another. ", "The end"}; !slices.Equal(said, want) {
			t.Errorf("said %q, want %q", said, want)
		}
	})
	t.Run("question and call", func(t *testing.T) {
		t.Parallel()
		e := newTroupe(t, "en").begin()
		e.must(e.State(aaep.StateAwaitingInput, aaep.StateChanged{SummaryNormal: "Waiting."}))
		e.fails = 1
		asked, err := e.Confirm("files.delete", deletion())
		unsent(t, err)
		e.must(asked.Resolve(aaep.ResolutionAccepted, aaep.StateChanged{}))
		e.fails = 1
		tool, err := asked.Tool(aaep.ToolInvoked{SummaryNormal: "Deleting."})
		unsent(t, err)
		e.must(tool.Complete(aaep.ToolCompleted{Status: aaep.ToolSuccess, SummaryNormal: "Deleted."}))
		e.must(e.State(aaep.StateAwaitingInput, aaep.StateChanged{SummaryNormal: "Waiting."}))
		e.fails = 1
		which, err := e.Clarify(aaep.AwaitingClarification{Question: "Which?", SummaryNormal: "Which?"})
		unsent(t, err)
		e.must(which.Resolve(aaep.ResolutionAnswered, aaep.StateChanged{}))
		e.must(e.Complete(aaep.SessionCompleted{SummaryNormal: "Done."}))
		if found := e.checker.Close(); len(found) > 0 {
			t.Errorf("at the end%s", list(found))
		}
	})
}

// TestText writes one text in pieces of any size, at each boundary: joined, the chunks
// are the text; they end where they should; no character is split.
func TestText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOf(rapid.SampledFrom([]string{
			"Hello", "añ", "3.14", " ", "  ", "\n\n", ". ", "! ", "?\n", "👩\u200D💻", "🇩🇪🇫🇷", "e\u0301", " \u0301", "\u0915\u094D\u0937", "字。", "\r\n", "\xff", "\u200D", strings.Repeat("x", 3000), strings.Repeat("\u0301", 1500),
		})).Draw(rt, "words")
		whole := strings.Join(words, "")
		boundary := rapid.SampledFrom([]aaep.CoalesceHint{"", aaep.BoundaryNone, aaep.BoundaryWord, aaep.BoundarySentence, aaep.BoundaryParagraph, aaep.BoundaryCompletion}).Draw(rt, "boundary")
		e := newTroupe(rt, "en").begin()
		e.lenient = true
		text := e.Output(session.TextOptions{Boundary: boundary, OutputID: "out_1"})
		for rest := whole; rest != ""; {
			n := min(len(rest), rapid.IntRange(1, 40).Draw(rt, "piece"))
			if _, err := text.WriteString(rest[:n]); err != nil {
				rt.Fatal(err)
			}
			rest = rest[n:]
		}
		e.must(text.Close())
		e.must(text.Close())
		said := ""
		for _, event := range e.events {
			if p, ok := event.Payload.(aaep.OutputStreaming); ok {
				said += p.Chunk
			}
		}
		if plain := strings.ReplaceAll(strings.ToValidUTF8(whole, "\uFFFD"), "\uFFFD", ""); strings.ReplaceAll(said, "\uFFFD", "") != plain {
			rt.Fatalf("said %q, want %q", said, plain)
		}
		e.must(e.Complete(aaep.SessionCompleted{SummaryNormal: "Done."}))
		if found := e.checker.Close(); len(found) > 0 {
			rt.Fatalf("at the end%s", list(found))
		}
	})
}

// TestLongText: a text that is written at once leaves in pieces that an event has room
// for.
func TestLongText(t *testing.T) {
	t.Parallel()
	for boundary, text := range map[aaep.CoalesceHint]string{
		aaep.BoundaryWord: strings.Repeat("word ", 8000), aaep.BoundarySentence: strings.Repeat("One. ", 8000), aaep.BoundaryNone: strings.Repeat("字", 20_000), aaep.BoundaryCompletion: strings.Repeat("x", 40_000),
	} {
		e := newTroupe(t, "en").begin()
		w := e.Output(session.TextOptions{Boundary: boundary})
		_, err := w.WriteString(text)
		e.must(err)
		e.must(e.Complete(aaep.SessionCompleted{SummaryNormal: "Done."}))
		if n := strings.Count(e.types(), "output.streaming"); n < len(text)/4096 {
			t.Errorf("%s: %d chunks of %d bytes", boundary, n, len(text))
		}
	}
}

// TestTextTaken: an output_id is for one text, and a text that cannot be said does not
// keep the session from its end.
func TestTextTaken(t *testing.T) {
	t.Parallel()
	e := newTroupe(t, "en").begin()
	first, second, bad := e.Output(session.TextOptions{}), e.Output(session.TextOptions{}), e.Output(session.TextOptions{OutputID: "no id"})
	_, err := first.WriteString("One.")
	e.must(err)
	if _, err := second.WriteString("Two."); err == nil || second.Close() == nil {
		t.Error("two texts share an output_id")
	}
	_, err = bad.WriteString("Three.")
	e.must(err)
	e.must(e.Complete(aaep.SessionCompleted{SummaryNormal: "Done."}))
	if got := e.types(); got != "session.started →writing_output output.streaming session.completed" {
		t.Errorf("emitted %s", got)
	}
}

// TestTextBoundaries is what leaves at once, and what waits.
func TestTextBoundaries(t *testing.T) {
	t.Parallel()
	const text = "One. Two three!  Four\n\nFive 3.14 six. "
	for boundary, want := range map[aaep.CoalesceHint]string{
		aaep.BoundaryWord:       "One. |Two |three!  |Four\n\n|Five |3.14 |six. |",
		aaep.BoundarySentence:   "One. |Two three!  |Four\n\nFive 3.14 six. |",
		aaep.BoundaryParagraph:  "One. Two three!  Four\n\n|Five 3.14 six. |",
		aaep.BoundaryCompletion: text + "|",
	} {
		e := newTroupe(t, "en").begin()
		w := e.Output(session.TextOptions{Boundary: boundary})
		for _, r := range text {
			_, err := w.WriteString(string(r))
			e.must(err)
		}
		e.must(w.Close())
		got := ""
		for _, event := range e.events {
			if p, ok := event.Payload.(aaep.OutputStreaming); ok {
				got += p.Chunk + "|"
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", boundary, got, want)
		}
	}
}

// TestAnyProgramOfAnEmitter: whatever is asked of an emitter, in any order, ended at any
// point, what comes out has no error, and no warning but those that the caller's own
// moves earn; and the session ends with nothing open.
func TestAnyProgramOfAnEmitter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := &play{troupe: newTroupe(rt, "en"), rt: rt}
		p.lenient = true
		p.begin()
		for range rapid.IntRange(0, 40).Draw(rt, "steps") {
			p.step()
		}
		var err error
		switch rapid.IntRange(0, 2).Draw(rt, "end") {
		case 0:
			err = p.Complete(aaep.SessionCompleted{SummaryNormal: "Done."})
		case 1:
			err = p.Fail(aaep.SessionErrored{ErrorCategory: aaep.ErrorUnknown, SummaryNormal: "Failed."})
		case 2:
			err = p.Cancel(aaep.SessionCancelled{CancelledBy: aaep.CancelledByUser, SummaryNormal: "Stopped."})
		}
		p.must(err)
		if found := p.checker.Close(); len(found) > 0 {
			rt.Fatalf("at the end%s", list(found))
		}
	})
}

// play asks an emitter for anything.
type play struct {
	*troupe

	rt    *rapid.T
	tools []*session.Tool
	asked []*session.Asked
	texts []*session.Text
}

func (p *play) step() {
	p.fails = max(0, rapid.IntRange(-20, 2).Draw(p.rt, "fails"))
	switch rapid.IntRange(0, 9).Draw(p.rt, "step") {
	case 0:
		_ = p.State(rapid.SampledFrom([]string{aaep.StateThinking, aaep.StateDeciding, aaep.StateCallingTool, aaep.StateWritingOutput}).Draw(p.rt, "to"), aaep.StateChanged{SummaryNormal: "Moving."})
	case 1, 2:
		if tool, err := p.Tool(aaep.ToolInvoked{Tool: "files.scan", SummaryNormal: "Scanning."}); err == nil {
			p.tools = append(p.tools, tool)
		}
	case 3:
		if len(p.tools) > 0 {
			_ = rapid.SampledFrom(p.tools).Draw(p.rt, "tool").Complete(aaep.ToolCompleted{Status: aaep.ToolSuccess, SummaryNormal: "Ran."})
		}
	case 4:
		if asked, err := p.Confirm("files.delete", deletion()); err == nil {
			p.asked = append(p.asked, asked)
		}
	case 5:
		if asked, err := p.Clarify(aaep.AwaitingClarification{Question: "Which?", SummaryNormal: "Which?"}); err == nil {
			p.asked = append(p.asked, asked)
		}
	case 6:
		if len(p.asked) > 0 {
			_ = rapid.SampledFrom(p.asked).Draw(p.rt, "asked").Resolve(rapid.SampledFrom(resolutions).Draw(p.rt, "resolution"), aaep.StateChanged{})
		}
	case 7:
		if len(p.asked) > 0 {
			if tool, err := rapid.SampledFrom(p.asked).Draw(p.rt, "asked").Tool(aaep.ToolInvoked{SummaryNormal: "Deleting."}); err == nil {
				p.tools = append(p.tools, tool)
			}
		}
	case 8:
		p.write()
	case 9:
		_ = p.Progress(aaep.ProgressUpdated{Progress: aaep.Progress{Percent: new(5.0)}, SummaryNormal: "Going on."})
	}
	p.fails = 0
}

func (p *play) write() {
	if len(p.texts) == 0 || rapid.IntRange(0, 4).Draw(p.rt, "new") == 0 {
		id := rapid.SampledFrom([]string{"", "out_1", "out_2", "out_3"}).Draw(p.rt, "output")
		p.texts = append(p.texts, p.Output(session.TextOptions{OutputID: id, Boundary: rapid.SampledFrom([]aaep.CoalesceHint{aaep.BoundaryNone, aaep.BoundaryWord, aaep.BoundarySentence}).Draw(p.rt, "boundary")}))
	}
	text := rapid.SampledFrom(p.texts).Draw(p.rt, "text")
	if rapid.IntRange(0, 5).Draw(p.rt, "close") == 0 {
		_ = text.Close()
		return
	}
	_, _ = text.WriteString(rapid.SampledFrom([]string{"One. ", "Two", " ", "e", "\u0301", "👩", "\u200D💻"}).Draw(p.rt, "piece"))
}
