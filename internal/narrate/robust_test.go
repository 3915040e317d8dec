package narrate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/language"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/utp"
)

// TestEveryMessageIsUsed: the scenarios reach each message that is an event's.
func TestEveryMessageIsUsed(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, play := range scenarios() {
		s := newStage(t)
		play(s)
		for _, row := range s.rows {
			used[row.Template] = true
		}
	}
	for key, m := range narrate.English().Messages {
		if m.Terse != "" && !used[key] {
			t.Errorf("no scenario says %s", key)
		}
	}
}

// TestWordsNeverStopAStep: with a catalogue in which nothing can be said, every turn
// still goes its way, in fixed sentences, and every event is valid.
func TestWordsNeverStopAStep(t *testing.T) {
	t.Parallel()
	broken := narrate.English()
	for key, m := range broken.Messages {
		m.Normal = "{no_such_parameter}"
		broken.Messages[key] = m
	}
	empty := narrate.Catalogue{Tag: language.Arabic, Messages: map[string]narrate.Message{"turn.began": {Normal: "{nothing}"}}}
	fieldless := narrate.English() // the summaries can be said, what the event needs besides cannot
	for key, m := range fieldless.Messages {
		m.Fields = nil
		fieldless.Messages[key] = m
	}
	for name, catalogue := range map[string]narrate.Catalogue{"broken": broken, "empty": empty, "without fields": fieldless} {
		n, err := narrate.New(narrate.Options{AgentVersion: "1", Catalogue: catalogue})
		if err != nil {
			t.Fatal(err)
		}
		for scenario, play := range scenarios() {
			t.Run(name+" "+scenario, func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				s.narrator, s.wordless = n, true
				play(s)
				s.close()
			})
		}
	}
}

// TestAnotherLanguage: events say their language and direction, fixed sentences say
// that they are English.
func TestAnotherLanguage(t *testing.T) {
	t.Parallel()
	n, err := narrate.New(narrate.Options{Catalogue: narrate.Catalogue{
		Tag: language.Arabic, Messages: map[string]narrate.Message{"turn.began": {Normal: "بدأ العمل."}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t)
	rows, state := narrateOne(t, n, nil, s.told(turn.Note{Kind: turn.NoteBegan}))
	rows2, _ := narrateOne(t, n, state, s.told(turn.Note{Kind: turn.NoteThinking}))
	for i, want := range []aaep.LocalizationHints{
		{PrimaryLanguage: "ar", TextDirection: aaep.DirectionRTL}, {PrimaryLanguage: "en", TextDirection: aaep.DirectionLTR},
	} {
		e, err := aaep.DecodeEvent(append(rows, rows2...)[i].Body)
		if err != nil {
			t.Fatal(err)
		}
		if e.Hints.PrimaryLanguage != want.PrimaryLanguage || e.Hints.TextDirection != want.TextDirection {
			t.Errorf("event %d: %+v, want %+v", i, *e.Hints, want)
		}
	}
}

func (s *stage) told(n turn.Note) kernel.Notification {
	return kernel.Notification{Note: n, At: s.now.Wall, Rand: s.random, Turn: s.state, Request: s.request}
}

func narrateOne(tb testing.TB, n *narrate.Narrator, state jsontext.Value, t kernel.Notification) ([]store.Event, jsontext.Value) {
	tb.Helper()
	told, err := n.Narrate(state, t)
	if err != nil {
		tb.Fatal(err)
	}
	return told.Events, told.State
}

// TestSecretsStayOut: neither events nor parameters nor the saved state hold what marks
// a secret, or what looks like one in somebody's words.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	secrets := []string{"REFERENCE-1", "MACMACMAC", "hunter2", "sk-live-0123456789abcdef", "LITERAL-TOKEN"}
	args := jsontext.Value(`{"api_token":"LITERAL-TOKEN","key":{"$secret":"REFERENCE-1","mac":"MACMACMAC"},"root":{"mac":"MACMACMAC","$secret":"REFERENCE-1"},"sets":[]}`)
	for _, tool := range []string{"files.delete", "mail.send"} {
		s := newStage(t)
		s.request = "use password=hunter2 and sk-live-0123456789abcdef please"
		s.says = `I set "api_key": "sk-live-0123456789abcdef", Authorization: Bearer sk-live-0123456789abcdef`
		s.claim()
		c := s.call(tool, args)
		s.step(c)
		s.answer(1, true, false)
		s.after(turn.DefaultUndo)
		s.tick()
		s.start(c.ID)
		s.feed(turn.Finish{Call: c.ID, Owner: "o", Fence: 1, Outcome: turn.Outcome{
			Status: utp.StatusFailed, Code: utp.CodeInternalError, Message: "secret: hunter2",
		}})
		s.deliver(turn.End{Status: utp.StatusFailed, Code: utp.CodeInternalError, Message: "password: hunter2"}, "password=hunter2", "")
		s.close()
		all := string(s.narration)
		for _, row := range s.rows {
			all += string(row.Body) + string(row.Params)
		}
		for _, secret := range secrets {
			if strings.Contains(all, secret) {
				t.Errorf("%s: %s got out", tool, secret)
			}
		}
		if !strings.Contains(all, "[redacted]") {
			t.Errorf("%s: nothing was redacted", tool)
		}
	}
}

// TestRedactionLeavesWordsAlone: what merely sounds like a credential stays.
func TestRedactionLeavesWordsAlone(t *testing.T) {
	t.Parallel()
	for _, words := range []string{
		"a task-force at risk-free disk-space", "reset my password", "the secret of the token ring", "call desk-123", "basic training",
	} {
		s := newStage(t)
		s.request = words
		s.claim()
		var text string
		if err := json.Unmarshal(s.members(s.rows[0])["request_text"], &text); err != nil || text != words {
			t.Errorf("%q became %q (%v)", words, text, err)
		}
	}
}

// TestNothingIsTooLong: however much is said, no event passes its limits, and what was
// left out is counted.
func TestNothingIsTooLong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("wórd \u202e", 60_000)
	s := newStage(t)
	s.request, s.says, s.state.Owner = long, long, strings.Repeat("o", 1000)
	tool := s.tools["mail.send"]
	tool.Definition.Description = strings.Repeat("What it does. {brace} ", 3000)
	s.tools["mail.send"] = tool
	var args strings.Builder
	args.WriteString(`{"z":[]`)
	for i := range 500 {
		fmt.Fprintf(&args, `,"member %d %s":%q`, i, strings.Repeat("n", 200), strings.Repeat("v", 2000))
	}
	args.WriteString(`}`)
	s.claim()
	c := s.call("mail.send", jsontext.Value(args.String()))
	s.step(c)
	s.answer(1, true, false)
	s.after(turn.DefaultUndo)
	s.tick()
	s.start(c.ID)
	s.feed(turn.Finish{Call: c.ID, Owner: "o", Fence: 1, Outcome: turn.Outcome{Status: utp.StatusFailed, Code: utp.Code(strings.Repeat("c", 300)), Message: long}})
	s.deliver(turn.End{Status: utp.StatusFailed, Code: utp.Code(strings.Repeat("c", 300)), Message: long}, long, "")
	s.close()
	if !strings.Contains(s.script(), "more characters)") || !strings.Contains(s.script(), "500 values are not given here in full.") {
		t.Error("nobody says how much was left out")
	}
	if len(s.narration) > 64<<10 {
		t.Errorf("the saved state has %d bytes", len(s.narration))
	}
}

// TestOutput: the chunks are the agent's very words, cut where a sentence ends.
func TestOutput(t *testing.T) {
	t.Parallel()
	for name, output := range map[string]string{
		"short":          "One. Two.",
		"sentences":      strings.Repeat("A sentence of some length. ", 1000),
		"paragraphs":     strings.Repeat(strings.Repeat("Words. ", 50)+"\n\n", 40),
		"words":          strings.Repeat("word ", 5000),
		"one word":       strings.Repeat("x", 20_000),
		"marks":          strings.Repeat("x\u0301\u0302", 7000),
		"emoji":          strings.Repeat("👩\u200d👧", 7000),
		"controls":       strings.Repeat("\x1b[0m", 9000),
		"not composed":   "e\u0301",
		"decimal points": strings.Repeat("3.14159 ", 4000),
		"wide":           strings.Repeat("汉字。", 6000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.wordless = name == "not composed" || name == "marks" // judged below
			checkOutput(t, s, output, s.wordless)
		})
	}
}

func FuzzOutput(f *testing.F) {
	f.Add("One. Two.", 5000)
	f.Add("\u0301", 9000)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if text == "" || n <= 0 || n > 20_000 || len(text)*n > 200_000 {
			return
		}
		s := newStage(t)
		checkOutput(t, s, strings.ToValidUTF8(strings.Repeat(text, n), "\ufffd"), true)
	})
}

// checkOutput delivers an output. Loose leaves the normal form of the agent's own text
// to the agent (I18N-19, I18N-22).
func checkOutput(t *testing.T, s *stage, output string, loose bool) {
	t.Helper()
	n := s.narrator
	rows, state := narrateOne(t, n, nil, s.told(turn.Note{Kind: turn.NoteBegan}))
	telling := s.told(turn.Note{Kind: turn.NoteEnded})
	telling.Turn.Status, telling.Turn.End, telling.Output = turn.Ended, &turn.End{Status: utp.StatusSuccess}, output
	more, _ := narrateOne(t, n, state, telling)
	var said strings.Builder
	for _, row := range append(rows, more...) {
		for _, v := range append(aaep.Validate(row.Body, aaep.ModeProducer), s.checker.Check(row.Body)...) {
			if v.Severity != aaep.SeverityInfo && (!loose || !strings.HasPrefix(v.Rule, "I18N")) {
				t.Errorf("%s\n%.300s", v, row.Body)
			}
		}
		e, err := aaep.DecodeEvent(row.Body)
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := e.Payload.(aaep.OutputStreaming); ok {
			if p.Position != int64(utf8.RuneCountInString(said.String())) {
				t.Errorf("the chunk stands at %d after %d characters", p.Position, utf8.RuneCountInString(said.String()))
			}
			said.WriteString(p.Chunk)
		}
	}
	for _, v := range s.checker.Close() {
		t.Error(v)
	}
	if said.String() != output {
		t.Errorf("the chunks are not the text: %d bytes of %d", said.Len(), len(output))
	}
}

// TestRefusals: what would break the session's own rules, or cannot be trusted, is an
// error, and the step is not told.
func TestRefusals(t *testing.T) {
	t.Parallel()
	n, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t)
	s.claim()
	c := s.call("files.delete", deleteArgs)
	about := func(kind turn.NoteKind) kernel.Notification {
		telling := s.told(turn.Note{Kind: kind, Call: c.ID})
		telling.Call, telling.Tool, telling.Args = c, s.tools[c.Tool], s.args[c.ID]
		return telling
	}
	var refused *session.Error
	if _, err := n.Narrate(s.narration, about(turn.NoteInvoked)); !errors.As(err, &refused) || refused.Rule != "SEQ-22" {
		t.Errorf("an irreversible call without an accept: %v, want SEQ-22", err)
	}
	if _, err := n.Narrate(s.narration, about(turn.NoteAccepted)); !errors.As(err, &refused) || refused.Code != session.CodeNoQuestion {
		t.Errorf("an accept without a question: %v", err)
	}
	if _, err := n.Narrate(s.narration, about(kernel.NoteExtended)); !errors.As(err, &refused) || refused.Code != session.CodeNoQuestion {
		t.Errorf("more time without a question: %v", err)
	}
	if _, err := n.Narrate(s.narration, about("a.new.kind")); err == nil {
		t.Error("an unknown note passed")
	}
	if _, err := n.Narrate(jsontext.Value(`{"session":`), about(turn.NoteThinking)); err == nil {
		t.Error("a broken state passed")
	}
	broken := s.told(turn.Note{Kind: turn.NoteBegan})
	broken.Rand = iotest.ErrReader(errors.New("no entropy"))
	if _, err := n.Narrate(nil, broken); !errors.As(err, &refused) || !refused.SafeToRetry() {
		t.Errorf("without randomness: %v, want an error that is safe to retry", err)
	}
	s.done()
	if _, err := n.Narrate(s.narration, about(turn.NoteThinking)); !errors.As(err, &refused) || refused.Rule != "SEQ-04" {
		t.Errorf("a word after the end: %v, want SEQ-04", err)
	}
}

// TestQuestionsPromiseNoMoreTimeThanThereIs: when the clock was set back, the event is
// stamped later than now, and its timeout ends with the kernel's deadline all the same.
func TestQuestionsPromiseNoMoreTimeThanThereIs(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.claim()
	s.now.Wall = s.now.Wall.Add(-time.Minute)
	s.step(s.call("mail.send", []byte(`{"to":"b"}`)))
	last := s.rows[len(s.rows)-1]
	e, err := aaep.DecodeEvent(last.Body)
	if err != nil {
		t.Fatal(err)
	}
	asked := e.Payload.(aaep.AwaitingConfirmation)
	ends := e.Time.Add(time.Duration(asked.TimeoutSeconds) * time.Second)
	if deadline := s.questions[1].Deadline; ends.After(deadline) || asked.TimeoutSeconds != 240 {
		t.Errorf("the event promises %d s, until %v; the question ends %v", asked.TimeoutSeconds, ends, deadline)
	}
}

// TestAChangedDefinitionIsNotTrusted: wording that was defined after the call was
// judged is not used for it.
func TestAChangedDefinitionIsNotTrusted(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.claim()
	c := s.call("files.delete", deleteArgs)
	tool := s.tools["files.delete"]
	tool.Digest = "another"
	s.tools["files.delete"] = tool
	s.step(c)
	script := s.script()
	if strings.Contains(script, "Delete 2 duplicate files") || !strings.Contains(script, "action: Run the tool files.delete: The tool files.delete. root: “/home/anna”.") {
		t.Error(script)
	}
}

// TestCallIDs: ours keep their hex, others are hashed (DESIGN, Identity), and a tool's
// name becomes one that events may carry (C-26).
func TestCallIDs(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"tc_019ca9450a007ae6b83f4fbde91b6eb8": "call_019ca9450a007ae6b83f4fbde91b6eb8",
		"chatcmpl-tool/1":                     aaep.ExternalCallID("chatcmpl-tool/1"),
	} {
		s := newStage(t)
		s.claim()
		c := s.call("files.scan", []byte(`{}`))
		c.ID, c.Tool = id, "1github/create issue"
		s.args[id] = nil
		s.step(c)
		invoked := s.members(s.rows[len(s.rows)-1])
		if got := string(invoked["tool_call_id"]); got != `"`+want+`"` {
			t.Errorf("%s became %s", id, got)
		}
		if got := string(invoked["tool"]); got != `"_1github_create_issue"` {
			t.Errorf("the tool became %s", got)
		}
	}
}

// TestSameInSameOut: a narrator has no memory of its own.
func TestSameInSameOut(t *testing.T) {
	t.Parallel()
	for name, play := range scenarios() {
		a, b := newStage(t), newStage(t)
		play(a)
		play(b)
		if a.script() != b.script() || string(a.narration) != string(b.narration) {
			t.Errorf("%s: two plays differ", name)
		}
	}
}
