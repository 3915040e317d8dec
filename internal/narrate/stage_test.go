package narrate_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/utp"
)

// stage plays the kernel: it steps a turn, makes its effects true as far as a narrator
// can tell, and judges every row that comes back.
type stage struct {
	tb        testing.TB
	narrator  *narrate.Narrator
	state     turn.State
	now       turn.Timestamp
	random    *rand.ChaCha8
	narration jsontext.Value
	rows      []store.Event
	shows     store.Shows // of the last telling
	covered   []string    // the same
	checker   *session.Checker

	request   string
	tools     map[string]store.Tool
	args      map[string]jsontext.Value // by call
	results   map[string]jsontext.Value // by call
	says      string
	questions map[int]kernel.QuestionFacts
	asked     int
	calls     int
	tell      kernel.Notification
	// wordless: the catalogue is broken, so that every sentence is a fixed one.
	wordless bool
}

// shared is used by all tests at once: a narrator has no state of its own.
var shared = sync.OnceValues(func() (*narrate.Narrator, error) {
	return narrate.New(narrate.Options{AgentVersion: "1.0.0"})
})

func newStage(tb testing.TB) *stage {
	tb.Helper()
	n, err := shared()
	if err != nil {
		tb.Fatal(err)
	}
	return &stage{
		tb: tb, narrator: n, random: rand.NewChaCha8([32]byte{1}), checker: session.NewChecker(),
		now: turn.Timestamp{Wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Boot: "boot"},
		state: turn.State{
			Turn: "turn_1", Session: "sess_1", Project: "p", Channel: "c", Agent: "tidy", Owner: "anna", Name: "tidy, home/anna", Status: turn.Queued,
		},
		request: "find duplicates in /home/anna", tools: tools(), args: map[string]jsontext.Value{}, results: map[string]jsontext.Value{},
		questions: map[int]kernel.QuestionFacts{},
	}
}

// tools are those of the agent tidy, and a few that say little of themselves.
func tools() map[string]store.Tool {
	options := `{
		"consent": {
			"action": "Delete {items, plural, one {# duplicate file} other {# duplicate files}} in {root}.",
			"consequence": "This frees {bytes}. It cannot be undone.",
			"hint": "list",
			"facts": {
				"items": {"count": "/sets/*/delete/*"},
				"bytes": {"sum": "/sets/*/size", "times": "/sets/*/delete"},
				"root":  {"text": "/root"}
			}
		},
		"result": {
			"success": "Deleted {deleted, plural, one {# file} other {# files}}, freed {bytes}.",
			"partial": "Deleted {deleted, plural, one {# file} other {# files}}, freed {bytes}. {refused, plural, =0 {} one {# was left alone.} other {# were left alone.}}",
			"facts": {"deleted": {"value": "/deleted"}, "bytes": {"value": "/bytes"}, "refused": {"count": "/refused/*"}}
		}
	}`
	tool := func(name string, class utp.Class, risk utp.Risk, options string) store.Tool {
		return store.Tool{
			Definition: utp.Definition{Tool: name, Description: "The tool " + name + ".", Class: class, Risk: risk, Options: jsontext.Value(options)},
			Digest:     "d_" + name, Reviewed: true, Class: class, Risk: risk,
		}
	}
	return map[string]store.Tool{
		"files.scan": tool("files.scan", utp.Read, utp.RiskLow, `{
			"doing": {"text": "Looking through {root}.", "facts": {"root": {"text": "/root"}}},
			"result": {"success": "Found {files, plural, one {# file} other {# files}}.", "facts": {"files": {"count": "/files/*"}}}
		}`),
		"files.delete": tool("files.delete", utp.Irreversible, utp.RiskHigh, options),
		"files.trash":  tool("files.trash", utp.Reversible, utp.RiskLow, ``),
		"mail.send":    tool("mail.send", utp.Irreversible, utp.RiskMedium, `{}`),
		"calendar.set": tool("calendar.set", utp.Idempotent, utp.RiskLow, `{"consent": {"action": "Broken {nothing}."}}`),
	}
}

var deleteArgs = jsontext.Value(`{"root":"/home/anna","sets":[{"sha256":"aa","size":6172839,"keep":"a","delete":["b","c"]}]}`)

// call makes a call of a tool as the kernel hands it to the machine.
func (s *stage) call(tool string, args jsontext.Value) turn.Call {
	s.calls++
	t := s.tools[tool]
	c := turn.Call{
		ID: fmt.Sprintf("tc_%d", s.calls), Key: fmt.Sprintf("k%d", s.calls), Tool: tool, Target: "files", Definition: t.Digest, Arguments: string(args),
		Class: t.Class, Risk: t.Risk, Decision: turn.Ask, Digest: "digest",
	}
	if t.Class == utp.Read {
		c.Decision = turn.Allow
	}
	s.args[c.ID] = args
	return c
}

// try feeds one input in, and applies the results with it when that was the end of the last
// call, as the kernel does; a refusal is handed back.
func (s *stage) try(in turn.Input) error {
	if err := s.one(in); err != nil || !s.state.ReadyToApply() {
		return err
	}
	return s.one(turn.Resume{})
}

func (s *stage) one(in turn.Input) error {
	next, effects, err := turn.Step(s.state, s.now, in)
	if err != nil {
		return err
	}
	s.state = next
	for _, e := range effects {
		s.realise(e)
	}
	return nil
}

func (s *stage) feed(in turn.Input) {
	s.tb.Helper()
	if err := s.try(in); err != nil {
		s.tb.Fatalf("%T: %v", in, err)
	}
}

func (s *stage) realise(e turn.Effect) {
	s.tb.Helper()
	switch e := e.(type) {
	case turn.Note:
		s.narrate(e)
	case turn.AskConsent:
		s.ask(e.Call)
	case turn.AskOutcome:
		s.ask(e.Call)
	case turn.AskPerson:
		s.ask(e.Call)
	case turn.Replace:
		old, _ := s.state.Find(e.Call)
		c := s.call(old.Tool, s.args[old.ID])
		c.Replaces, c.Limits = old.ID, old.Limits
		same := c.Definition == old.Definition && c.Arguments == old.Arguments && c.Class == old.Class && c.Risk == old.Risk
		if old.Outcome != nil && old.Outcome.Message == turn.StaleRestarted && same {
			c.Question = old.Question
		}
		s.lead(turn.Adopt{Call: c})
	}
}

// lead feeds an input that an effect leads to.
func (s *stage) lead(in turn.Input) {
	s.tb.Helper()
	if err := s.one(in); err != nil {
		s.tb.Fatalf("%T: %v", in, err)
	}
}

func (s *stage) ask(call string) {
	s.tb.Helper()
	c, _ := s.state.Find(call)
	number := c.Question
	if number == 0 || c.State != turn.Requested {
		s.asked++
		number = s.asked
	}
	s.questions[number] = s.question(number, c.Limits.AnswerTime())
	s.lead(turn.QuestionAsked{Call: call, Number: number, Digest: "digest of " + call})
}

func (s *stage) question(number int, timeout time.Duration) kernel.QuestionFacts {
	token, err := aaep.NewToken(s.random)
	if err != nil {
		s.tb.Fatal(err)
	}
	return kernel.QuestionFacts{Number: number, Token: token, Timeout: timeout, Length: timeout, Deadline: s.now.Wall.Add(timeout)}
}

// extend gives an open question more time, as the kernel does.
func (s *stage) extend(number int) {
	s.tb.Helper()
	c, _ := s.state.FindQuestion(number)
	q := s.question(number, c.Limits.AnswerTime())
	q.Again = true
	s.questions[number] = q
	s.tell.Resolution, s.tell.By, s.tell.Surface = "extended", "anna", "terminal"
	s.narrate(turn.Note{Kind: kernel.NoteExtended, Call: c.ID})
	s.tell = kernel.Notification{}
}

// askedAgain asks an open question again, as the kernel does: to wait, because nobody is
// there, or for its own time, because somebody is.
func (s *stage) askedAgain(n turn.Note) {
	s.tb.Helper()
	c, _ := s.state.Find(n.Call)
	before := s.questions[c.Question]
	timeout, waiting := before.Length, n.Kind == turn.NoteUnshown
	if waiting {
		timeout = 24 * time.Hour
	}
	q := s.question(c.Question, timeout)
	q.Waiting, q.Length = waiting, before.Length
	s.questions[c.Question] = q
}

func (s *stage) narrate(n turn.Note) {
	s.tb.Helper()
	if n.Kind == turn.NoteShown || n.Kind == turn.NoteUnshown {
		s.askedAgain(n)
	}
	t := s.tell
	t.Note, t.At, t.Rand, t.Turn, t.Request = n, s.now.Wall, s.random, s.state, s.request
	if n.By != "" {
		t.By, t.Surface = n.By, n.Surface
	}
	if c, found := s.state.Find(n.Call); found {
		t.Call, t.StartsAt, t.Tool, t.Args, t.Result = c, c.StartsAt(s.now.Wall), s.tools[c.Tool], s.args[c.ID], s.results[c.ID]
		t.Question, t.Comment = s.questions[c.Question], s.says
		if !c.StartedAt.IsZero() {
			t.Duration = s.now.Wall.Sub(c.StartedAt)
		}
	}
	told, err := s.narrator.Narrate(s.narration, t)
	if err != nil {
		s.tb.Fatalf("%+v: %v\nsaved: %s", n, err, s.narration)
	}
	s.narration, s.shows, s.covered = told.State, told.Shows, told.Covered
	for _, row := range told.Events {
		s.judge(row)
	}
	s.rows = append(s.rows, told.Events...)
}

// judge holds a row against the rules of single events and of the stream, and against
// the house's own: envelope, caps, and that it can be rendered again.
func (s *stage) judge(row store.Event) {
	s.tb.Helper()
	if s.tb.Failed() {
		return // the first finding is enough
	}
	findings := append(aaep.Validate(row.Body, aaep.ModeProducer), s.checker.Check(row.Body)...)
	for _, v := range findings {
		if v.Severity != aaep.SeverityInfo {
			s.tb.Errorf("%s\n%s", v, row.Body)
		}
	}
	e, err := aaep.DecodeEvent(row.Body)
	if err != nil {
		s.tb.Fatalf("%v\n%s", err, row.Body)
	}
	if e.ID != row.ID || e.Type() != row.Type || e.SessionID != s.state.Session || row.Session != s.state.Session {
		s.tb.Errorf("the row %s %s does not name its event\n%s", row.ID, row.Type, row.Body)
	}
	if e.Producer.AgentID != "earshot."+s.state.Agent || e.Version != "1.0.0" || e.Verbosity != aaep.VerbosityNormal || e.Urgency == "" {
		s.tb.Errorf("the envelope is incomplete\n%s", row.Body)
	}
	if e.Hints == nil || e.Hints.PrimaryLanguage != "en" || e.Hints.TextDirection != aaep.DirectionLTR {
		s.tb.Errorf("the language is missing\n%s", row.Body)
	}
	s.judgeOneTranslation(row)
	if len(row.Body) > 60<<10 {
		s.tb.Errorf("the event has %d bytes", len(row.Body))
	}
	s.rendersAgain(row)
}

// rendersAgain proves that a row's template and parameters say what its event says.
func (s *stage) rendersAgain(row store.Event) {
	s.tb.Helper()
	if row.Template == "" && s.wordless {
		return
	}
	if row.Template == "" {
		s.tb.Errorf("a fixed sentence stands in for a message that failed\n%s", row.Body)
		return
	}
	said, err := s.narrator.Render(row.Template, row.Params)
	if err != nil {
		s.tb.Errorf("%s cannot be rendered again: %v", row.Template, err)
		return
	}
	members := s.members(row)
	for field, text := range said {
		raw, written := members[field]
		if !written {
			continue // a choice's label, or an error message of what was not an error
		}
		var got string
		if err := json.Unmarshal(raw, &got); err != nil || got != text {
			s.tb.Errorf("%s, %s: the event says %q, rendered again it is %q", row.Template, field, got, text)
		}
	}
}

func (s *stage) members(row store.Event) map[string]jsontext.Value {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(row.Body, &members); err != nil {
		s.tb.Fatal(err)
	}
	return members
}

// close judges the end of the stream.
func (s *stage) close() {
	s.tb.Helper()
	if s.state.Status != turn.Ended {
		s.tb.Error("the turn has not ended")
	}
	for _, v := range s.checker.Close() {
		s.tb.Error(v)
	}
}

// The inputs that scenarios share.

func (s *stage) claim() { s.feed(turn.Claim{Worker: "w", Lease: time.Hour}) }

func (s *stage) step(calls ...turn.Call) {
	s.tb.Helper()
	s.feed(turn.Request{WorkerClaim: s.state.WorkerClaim(), Step: s.state.Step + 1, Calls: calls})
}

func (s *stage) after(d time.Duration) { s.now = s.now.Add(d) }

func (s *stage) tick() {
	s.tb.Helper()
	var checks []turn.Check
	for _, c := range s.state.Calls {
		checks = append(checks, turn.Check{Call: c.ID, Digest: c.Digest})
	}
	s.feed(turn.Tick{Checks: checks})
}

func (s *stage) start(call string) {
	s.tb.Helper()
	c, _ := s.state.Find(call)
	s.feed(turn.Start{Call: call, Owner: "o", Target: "files", Lease: time.Minute, Check: turn.Check{Call: call, Digest: c.Digest}})
}

func (s *stage) finish(call string, status utp.Status, code utp.Code, result string) {
	s.tb.Helper()
	c, _ := s.state.Find(call)
	s.results[call] = jsontext.Value(result)
	message := ""
	if code != "" {
		message = "the service says " + string(code)
	}
	s.feed(turn.Finish{Call: call, Owner: "o", Fence: c.Fence, Outcome: turn.Outcome{Status: status, Code: code, Message: message, Digest: result}})
}

func (s *stage) answer(number int, accept, insist bool) {
	s.tb.Helper()
	s.tell.By, s.tell.Surface = "anna", "terminal"
	s.feed(turn.Answered{Question: number, Accept: accept, Insist: insist, By: "anna", Surface: "terminal", Generation: "g1"})
	s.tell = kernel.Notification{}
	if c, _ := s.state.FindQuestion(number); c.State == turn.Accepted {
		s.feed(turn.Noticed{Question: number})
	}
}

func (s *stage) expire(number int) {
	s.tb.Helper()
	s.tell.Resolution = "expired"
	s.feed(turn.Unanswered{Question: number, Code: utp.CodeConsentExpired})
	s.tell = kernel.Notification{}
}

func (s *stage) stop(system bool) {
	s.tb.Helper()
	stop := turn.Stop{By: "anna", Surface: "terminal", System: system}
	if system {
		stop = turn.Stop{System: true, Reason: "SIGTERM"}
	}
	s.tell.Resolution, s.tell.By, s.tell.Surface = "stopped", stop.By, stop.Surface
	s.feed(turn.StopTurn{Stop: stop})
	s.tell = kernel.Notification{}
}

func (s *stage) undo(number int) {
	s.tb.Helper()
	s.tell.Resolution, s.tell.By, s.tell.Surface = "stopped", "anna", "terminal"
	s.feed(turn.Undo{Question: number, By: "anna", Surface: "terminal"})
	s.tell = kernel.Notification{}
}

func (s *stage) deliver(end turn.End, summary, output string) {
	s.tb.Helper()
	s.tell.Summary, s.tell.Output = summary, output
	s.feed(turn.Deliver{WorkerClaim: s.state.WorkerClaim(), End: end})
	s.tell = kernel.Notification{}
}

func (s *stage) done() {
	s.tb.Helper()
	s.deliver(turn.End{Status: utp.StatusSuccess}, "All done.", "")
}

// script writes the stream as people would read it: one block for each event, without
// what the envelope repeats. Isolates are shown as square brackets.
func (s *stage) script() string {
	var out strings.Builder
	for _, row := range s.rows {
		members := s.members(row)
		fmt.Fprintf(&out, "%s", strings.TrimPrefix(row.Type, "aaep:agent."))
		if urgency := members["urgency"]; string(urgency) != `"normal"` {
			fmt.Fprintf(&out, " (%s)", strings.Trim(string(urgency), `"`))
		}
		fmt.Fprintf(&out, " %s\n", row.Template)
		for _, hidden := range []string{
			"@context", "aaep_version", "type", "event_id", "session_id", "timestamp", "producer", "verbosity", "urgency", "localization_hints",
		} {
			delete(members, hidden)
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			value := string(members[name])
			if raw, err := jsontext.AppendUnquote(nil, members[name]); err == nil {
				value = string(raw)
			}
			value = strings.NewReplacer("\u2068", "[", "\u2069", "]").Replace(value)
			fmt.Fprintf(&out, "  %s: %s\n", name, value)
		}
	}
	return out.String()
}
