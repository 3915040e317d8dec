package session_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// plainQuestion is a question as the naive judge sees it.
type plainQuestion struct {
	plainEvent

	deadline time.Time
	answer   string // yes, no, other, over, unknown; "" is none yet
	final    bool   // replies do not change it any more
	silent   bool
	told     bool
	followed bool
	failed   bool
	used     bool
	doubted  bool
}

// undoable is what the question says of its action: yes, no, or "".
func (q *plainQuestion) undoable() string {
	switch {
	case q.Reversibility == "irreversible", q.Irreversible != nil && *q.Irreversible:
		return "no"
	case q.Irreversible != nil, q.Reversibility == "reversible":
		return "yes"
	}
	return ""
}

// called is an action that is a tool's name, or a call of it.
var called = regexp.MustCompile("^[ `]*([A-Za-z][A-Za-z0-9/-]*[_.:][A-Za-z0-9_.:/-]+|([A-Za-z][A-Za-z0-9_.:/-]*)\\(.*\\))[ `]*$")

// tool is what the question names, or "".
func (q *plainQuestion) tool() string {
	tool := cmp.Or(q.About.Tool, q.About.Name, q.Tool)
	if parts := called.FindStringSubmatch(q.Action); tool == "" && q.About.Call == "" && parts != nil {
		tool = cmp.Or(parts[2], parts[1])
	}
	return tool
}

// other reports whether the question names another tool than that of the call.
func (q *plainQuestion) other(e plainEvent) bool {
	return q.tool() != "" && e.Tool != "" && !strings.EqualFold(q.tool(), e.Tool)
}

func (q *plainQuestion) confirms() bool { return q.Type == aaep.TypeAwaitingConfirmation }

// now is the answer at a time, where silence is one.
func (q *plainQuestion) now(at time.Time) (answer string, silent bool) {
	if q.answer == "" && !q.used && !at.Before(q.deadline) {
		return map[bool]string{true: "yes", false: "no"}[q.Default == "accept"], true
	}
	return q.answer, q.silent
}

// naiveAsked replays a session up to its present message and notes what that breaks.
func naiveAsked(before []plainEvent, e plainEvent, found map[string]bool) {
	var questions []*plainQuestion
	var at time.Time
	for _, b := range before {
		questions, at = naiveAsk(questions, b, at, map[string]bool{})
	}
	naiveAsk(questions, e, at, found)
}

// naiveAsk takes one message of a session; at is the latest time that its events have told.
func naiveAsk(questions []*plainQuestion, e plainEvent, at time.Time, found map[string]bool) ([]*plainQuestion, time.Time) {
	if e.reply() {
		naiveReply(questions, e, at, found)
		return questions, at
	}
	if e.Timestamp.After(at) {
		at = e.Timestamp
	}
	switch e.Type {
	case aaep.TypeAwaitingConfirmation, aaep.TypeAwaitingClarification:
		q := &plainQuestion{plainEvent: e, deadline: e.Timestamp.Add(time.Duration(e.Timeout) * time.Second)}
		return append(questions, q), at
	case aaep.TypeStateChanged:
		naiveAnswered(questions, e, at, found)
	case aaep.TypeToolInvoked:
		naiveInvoked(questions, e, at, found)
	case aaep.TypeToolCompleted:
		for _, q := range questions {
			closed := q.answer != "" || !at.Before(q.deadline)
			q.failed = q.failed || e.Status == "error" && closed && (q.About.Call == "" || e.Call == "" || q.About.Call == e.Call)
		}
	case aaep.TypeOutputStreaming:
		naiveFollowed(questions)
	case aaep.TypeSessionCompleted:
		naiveUntold(questions, at, found)
	}
	return questions, at
}

func (e plainEvent) reply() bool {
	return e.Type == aaep.TypeConfirmationReply || e.Type == aaep.TypeClarificationReply
}

// naiveReply takes an answer: the first counts, in time, of the right kind.
func naiveReply(questions []*plainQuestion, e plainEvent, at time.Time, found map[string]bool) {
	i := slices.IndexFunc(questions, func(q *plainQuestion) bool { return q.Token == e.Token })
	if i < 0 || questions[i].confirms() != (e.Type == aaep.TypeConfirmationReply) {
		return
	}
	q := questions[i]
	late := !at.Before(q.deadline) || !e.Timestamp.Before(q.deadline)
	if !q.confirms() {
		if q.answer == "" && !late {
			q.answer, q.final = "over", true
		}
		return
	}
	found["SEQ-22"] = q.doubted
	q.doubted = false
	if q.final {
		return
	}
	q.final = true
	switch {
	case late && q.Default == "accept":
		q.answer, q.silent = "yes", true
	case late || e.Decision == "reject":
		q.answer = "no"
	case e.Modified != nil:
		q.answer = "other"
	default:
		q.answer = "yes"
	}
}

// naiveAnswered takes what a change of state tells, or shows, of questions.
func naiveAnswered(questions []*plainQuestion, e plainEvent, at time.Time, found map[string]bool) {
	if word := e.Extensions.Earshot.Resolution; word != "" {
		for _, q := range questions {
			if q.Token == e.Extensions.Earshot.Token {
				naiveResolved(q, word, found)
			}
		}
		return
	}
	if e.From != "awaiting_input" || e.To == "awaiting_input" {
		return
	}
	waiting := slices.DeleteFunc(slices.Clone(questions), func(q *plainQuestion) bool {
		return q.told || q.used || q.answer != "" && q.followed
	})
	for _, q := range questions {
		if q.told || q.used || q.answer != "" {
			q.told = true
			continue
		}
		q.told, q.answer = true, "unknown"
		closed := !at.Before(q.deadline)
		switch {
		case !q.confirms():
		case closed && q.Default != "accept":
			q.answer, q.final, q.silent = "no", true, true
		case len(waiting) != 1:
		case e.To == "calling_tool":
			q.answer, q.silent = "yes", closed
		case e.To == "thinking" || e.To == "deciding":
			q.answer, q.final = "no", true
		}
	}
}

func naiveResolved(q *plainQuestion, word string, found map[string]bool) {
	negative := slices.Contains([]string{"rejected", "withdrawn", "extended"}, word) || word == "expired" && q.Default != "accept"
	found["SEQ-22"] = q.doubted && negative
	q.doubted, q.told = false, true
	if slices.Contains([]string{"no", "other", "over"}, q.answer) {
		return
	}
	q.final = true
	switch word {
	case "accepted":
		q.answer = "yes"
	case "rejected":
		q.answer = "no"
	case "expired":
		q.silent = true
		q.answer = "no"
		if q.Default == "accept" {
			q.answer = "yes"
		}
	case "withdrawn", "extended", "stopped":
		q.answer = "over"
	default:
		q.answer = "unknown"
	}
}

func naiveFollowed(questions []*plainQuestion) {
	for _, q := range questions {
		q.followed = q.followed || !q.confirms()
	}
}

// naiveConsent is the question that an invocation rests on: the latest about its call, else
// the one about no call under which least is found.
func naiveConsent(questions []*plainQuestion, e plainEvent, at time.Time) *plainQuestion {
	var loose []*plainQuestion
	for _, q := range slices.Backward(questions) {
		switch {
		case !q.confirms():
		case e.Call != "" && q.About.Call == e.Call:
			return q
		case q.About.Call == "" && !q.other(e), e.Call == "" && q.tool() == e.Tool:
			loose = append(loose, q)
		}
	}
	if len(loose) == 0 {
		return nil
	}
	forever := e.Irreversible != nil && *e.Irreversible
	level := func(q *plainQuestion) int {
		answer, silent := q.now(at)
		order := []string{"unknown", "", "yes"}
		if answer == "other" {
			answer = "unknown"
			if forever {
				answer = "no"
			}
		}
		switch {
		case answer == "no" || answer == "over":
			return 0
		case q.used:
			return 1
		case forever && q.undoable() == "yes":
			return 2
		case silent:
			return 3
		case forever && q.undoable() == "no":
			return 20 + slices.Index(order, answer)
		}
		return 10 + slices.Index(order, answer)
	}
	number := map[bool]int{true: 1}
	return slices.MaxFunc(loose, func(a, b *plainQuestion) int { // the first of the largest
		return cmp.Or(
			cmp.Compare(level(a), level(b)),
			cmp.Compare(number[!a.followed], number[!b.followed]),
			cmp.Compare(number[!forever && a.undoable() != "no"], number[!forever && b.undoable() != "no"]),
		)
	})
}

func naiveInvoked(questions []*plainQuestion, e plainEvent, at time.Time, found map[string]bool) {
	naiveFollowed(questions)
	forever := e.Irreversible != nil && *e.Irreversible
	q := naiveConsent(questions, e, at)
	if q == nil {
		found["SEQ-22"] = forever
		return
	}
	forever = forever || e.Call != "" && q.About.Call == e.Call && q.undoable() == "no"
	answer, silent := q.now(at)
	refused := answer == "no" || answer == "over"
	q.followed = q.followed || forever || q.About.Call != "" || !refused
	if !forever {
		found["SEQ-26 warning"] = q.About.Call != "" && answer == "no"
		return
	}
	found["SEQ-23"] = q.used
	found["SEQ-22"] = q.used || q.other(e) || refused || answer == "other" || q.undoable() == "yes" || answer == "" && q.Extensions.Earshot.Question != nil
	found["SEQ-26"] = !q.used && !q.other(e) && answer == "no"
	if !found["SEQ-22"] {
		found["SEQ-22 warning"] = silent || q.undoable() == ""
		q.doubted = !q.final && !silent
	}
	q.used = true
}

// naiveUntold is what the end of a session leaves unsaid of its questions.
func naiveUntold(questions []*plainQuestion, at time.Time, found map[string]bool) {
	for _, q := range questions {
		answer := q.answer
		if answer == "" && !at.Before(q.deadline) && q.Default != "accept" {
			answer = "no"
		}
		weight := map[bool]string{true: " warning"}[q.failed]
		switch {
		case q.followed || !q.confirms() && q.told:
		case !q.confirms():
			found["SEQ-30"+weight] = true
		case q.answer == "yes":
			found["SEQ-24"] = true
		case q.told:
		case answer == "no":
			found["SEQ-25"+weight], found["SEQ-30"+weight] = true, true
		case answer == "other":
			found["SEQ-30"+weight] = true
		case answer == "":
			found["SEQ-30"] = true
		}
	}
}

// naiveUnfinished is what a stream that stops leaves unsaid of refusals.
func naiveUnfinished(h []plainEvent, found map[string]bool) {
	var questions []*plainQuestion
	var at time.Time
	for _, b := range h {
		questions, at = naiveAsk(questions, b, at, map[string]bool{})
	}
	for _, q := range questions {
		silence := q.answer == "" && !q.followed && q.Default != "accept" && !at.Before(q.deadline)
		if q.confirms() && !q.told && (q.answer == "no" || silence) {
			weight := map[bool]string{true: " warning"}[q.failed]
			found["SEQ-25"+weight], found["SEQ-30"+weight] = true, true
		}
	}
}

// asker draws the messages of sessions in which much is asked: most of it is wrong.
type asker struct {
	rt     *rapid.T
	n      int
	tokens []string // of the questions so far
}

func (a *asker) pick(name string, of ...any) any { return rapid.SampledFrom(of).Draw(a.rt, name) }

func (a *asker) flip(name string, most int) bool {
	return rapid.IntRange(0, most).Draw(a.rt, name) == 0
}

// token is one that was asked with, mostly of the latest questions.
func (a *asker) token() string {
	if len(a.tokens) == 0 {
		return "rpl_none"
	}
	return a.tokens[max(0, len(a.tokens)-1-rapid.IntRange(0, 2).Draw(a.rt, "token"))]
}

func (a *asker) message() []byte {
	kind := a.pick("type", "ask", "call", "call", "done", "state", "state", "reply", "reply", "reply", "other").(string)
	switch {
	case a.n == 0:
		kind = "begin"
	case a.flip("end", 24):
		kind = "end"
	case len(a.tokens) == 0 || a.flip("again", 7):
		kind = "ask"
	}
	seconds := a.n + rapid.IntRange(-1, 2).Draw(a.rt, "at")
	m := map[string]any{"timestamp": aaep.FormatTime(day.Add(time.Duration(seconds) * time.Second))}
	maps.Copy(m, a.fields(kind))
	if _, reply := m["reply_token"]; !reply || kind == "ask" {
		m["type"], m["event_id"], m["producer"] = "aaep:agent."+m["type"].(string), fmt.Sprintf("evt_%d", a.n), map[string]any{"agent_id": "a"}
		m["session_id"] = a.pick("session", "sess_1", "sess_1", "sess_1", "sess_1", "sess_1", "sess_2")
	}
	a.n++
	raw, err := json.Marshal(m)
	if err != nil {
		a.rt.Fatal(err)
	}
	return raw
}

func (a *asker) fields(kind string) map[string]any {
	switch kind {
	case "begin":
		return map[string]any{"type": "session.started"}
	case "end":
		return map[string]any{"type": a.pick("how", "session.completed", "session.completed", "session.cancelled")}
	case "ask":
		return a.question()
	case "call", "done":
		return a.call(kind)
	case "state":
		states := []any{"awaiting_input", "thinking", "deciding", "calling_tool", "writing_output"}
		m := map[string]any{"type": "state.changed", "from_state": a.pick("from", append(states, "awaiting_input", "awaiting_input")...), "to_state": a.pick("to", states...)}
		if a.flip("resolved", 2) {
			word := a.pick("word", "accepted", "accepted", "rejected", "expired", "withdrawn", "extended", "stopped", "pondered")
			m["extensions"] = map[string]any{"earshot": map[string]any{"resolution": word, "reply_token": a.token()}}
		}
		return m
	case "reply":
		m := map[string]any{"type": "confirmation.reply", "reply_token": a.token(), "decision": a.pick("decision", "accept", "accept", "reject")}
		if a.flip("modified", 4) {
			m["modified_action"] = map[string]any{"to": "B"}
		}
		return m
	default:
		if a.flip("clarified", 1) {
			return map[string]any{"type": "clarification.reply", "reply_token": a.token(), "response": "B"}
		}
		return map[string]any{"type": "output.streaming", "chunk": "", "position": 0, "complete": true, "output_id": fmt.Sprintf("out_%d", a.n)}
	}
}

func (a *asker) question() map[string]any {
	token := fmt.Sprintf("rpl_%d", a.n)
	a.tokens = append(a.tokens, token)
	m := map[string]any{
		"type": a.pick("kind", "awaiting.confirmation", "awaiting.confirmation", "awaiting.confirmation", "awaiting.clarification"), "reply_token": token,
		"action": fmt.Sprintf("Do %d.", a.n), "default_decision": a.pick("default", "reject", "reject", "accept"), "timeout_seconds": a.pick("timeout", 3, 300, 300),
	}
	about := map[string]any{}
	if call := a.pick("call", "", "call_1", "call_2"); call != "" {
		about["tool_call_id"] = call
	}
	tool := a.pick("about", "scan", "hash")
	switch a.pick("tool", "", "", "tool", "tool", "tool_name", "beside", "called") {
	case "tool":
		about["tool"] = tool
	case "tool_name":
		about["tool_name"] = tool
	case "beside":
		m["tool"] = tool
	case "called":
		m["action"] = fmt.Sprintf("%s(%d)", tool, a.n)
	}
	if len(about) > 0 {
		m["extra_context"] = about
	}
	if a.flip("numbered", 9) {
		m["extensions"] = map[string]any{"earshot": map[string]any{"question": a.n}}
	}
	if word := a.pick("reversibility", "", "", "irreversible", "reversible", "reversible_with_effort"); word != "" {
		m["reversibility"] = word
	}
	if !a.flip("unsaid", 3) {
		m["irreversible"] = !a.flip("undoable", 4)
	}
	return m
}

func (a *asker) call(kind string) map[string]any {
	m := map[string]any{"type": "tool.completed", "tool": a.pick("tool", "scan", "hash"), "status": a.pick("status", "success", "error")}
	if kind == "call" {
		m["type"], m["irreversible"] = "tool.invoked", !a.flip("harmless", 4)
	}
	if call := a.pick("call", "", "call_1", "call_2"); call != "" {
		m["tool_call_id"] = call
	}
	return m
}

// TestLikeTheNaiveJudgeOfConsent: what rests on which question, and what speaks against it, at once or
// later, is what a second, slow implementation finds.
func TestLikeTheNaiveJudgeOfConsent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		a := &asker{rt: rt}
		var stream [][]byte
		for range rapid.IntRange(6, 32).Draw(rt, "messages") {
			stream = append(stream, a.message())
		}
		likeNaive(rt, stream, session.NewChecker())
	})
}
