package terminal

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
)

// resultGrace is how long the start of an accepted action waits to be told until the
// answer itself has been confirmed.
const resultGrace = time.Second

// stage is how far a question is here.
type stage int

const (
	stageOpen     stage = iota
	stageAccepted       // committed; can be undone until it starts
	stageOver
)

// question is one question as this terminal knows it.
type question struct {
	number  int
	session string
	token   string
	what    what

	deadline  time.Time
	waiting   bool      // nobody who can answer it has been shown it
	unlimited bool      // its time is as long as a question's can be
	warnAt    time.Time // when the end of its time is announced; zero: never, or done

	stage  stage
	answer int        // the Send that carries the answer, while it is under way
	said   string     // what the person answered, such as "accept"
	undo   bool       // undo as soon as the answer has been recorded
	ended  resolution // how it ended, once that was heard
	untold bool       // ended is what was answered here too, so the result tells it
	page   int        // the last page of the list that was shown
	read   bool       // all of the list was shown

	startsAt   time.Time // of an accepted action
	startTold  bool
	startAfter time.Time // tell the start at the latest then
}

// what is the part of a question that a person consents to or is asked.
type what struct {
	confirmation  bool
	text          string // action, or question
	consequence   string // or context
	earlier       string // of a question that is put anew: what became of the one before
	detail        string
	irreversible  bool
	reversible    bool
	risk          string
	acceptable    bool // accept is among the allowed replies
	defaultAnswer string
	kinds         []aaep.ResponseKind // empty means any
	choices       []aaep.Choice

	tool, call, class, hint string
	items, bytes            int64 // -1 when not given

	name, request string    // of the session
	byClass       bool      // the consequence says no more than whether it can be undone
	arguments     arguments // what the call is about
}

func confirmationOf(e aaep.Event, p aaep.AwaitingConfirmation) question {
	q := questionOf(e, p.ReplyToken, p.TimeoutSeconds)
	tool, call := p.Subject()
	q.what.confirmation = true
	q.what.text, q.what.consequence, q.what.detail = p.Action, p.Consequence, first(q.what.detail, p.SummaryDetailed)
	q.what.irreversible = p.Irreversible || p.Reversibility == aaep.Irreversible
	q.what.reversible = !q.what.irreversible && (p.Reversibility == aaep.Reversible || q.what.class == "reversible")
	q.what.risk, q.what.defaultAnswer = string(p.RiskLevel), string(p.DefaultDecision)
	q.what.acceptable = len(p.AllowedReplies) == 0 || slices.Contains(p.AllowedReplies, aaep.DecisionAccept)
	q.what.tool, q.what.call = first(q.what.tool, tool), first(call, q.what.call)

	return q
}

func clarificationOf(e aaep.Event, p aaep.AwaitingClarification) question {
	q := questionOf(e, p.ReplyToken, p.TimeoutSeconds)
	q.what.text, q.what.consequence, q.what.detail = p.Question, p.Context, p.SummaryDetailed
	q.what.defaultAnswer = p.DefaultResponse
	q.what.kinds, q.what.choices = p.AcceptedResponseKinds, p.Choices

	return q
}

// questionOf reads what both kinds share, our own extension data among it.
func questionOf(e aaep.Event, token string, timeout int64) question {
	ours := aaep.Read(e.Extensions[aaep.PrefixEarshot])
	text := func(name string) string {
		value, _ := ours.Text(name)

		return value
	}
	whole := func(name string) int64 {
		if value, ok := ours.Whole(name); ok {
			return value
		}

		return -1
	}

	deadline, err := time.Parse(time.RFC3339, text("deadline"))
	if err != nil { // another producer's: the event says it all (CONF-53)
		deadline = e.Time.Add(time.Duration(timeout) * time.Second)
	}

	flag := func(name string) bool {
		value, _ := ours.Flag(name)

		return value
	}

	return question{
		number: int(max(whole("question"), 0)), session: e.SessionID, token: token, deadline: deadline,
		waiting: flag("waiting"), unlimited: flag("unlimited"), warnAt: announce.WarnAt(e.Time, deadline),
		what: what{
			earlier: text("earlier"), tool: text("tool"), call: callID(text("tool_call_id")), class: text("class"), hint: text("hint"),
			detail: text("detail"), items: whole("items"), bytes: whole("bytes"),
			name: text("session_name"), request: text("request"), byClass: flag("by_class"), arguments: argumentsOf(e),
		},
	}
}

// callID is the tool_call_id that events carry for one of our own call numbers.
func callID(ours string) string {
	if h, ok := strings.CutPrefix(ours, "tc_"); ok {
		return aaep.PrefixCall + h
	}

	return ours
}

// ask shows a question. One that is open already, and is asked again with more
// time, only gets its new deadline told.
func (t *Terminal) ask(q question) {
	if q.number == 0 { // another producer's: numbered here
		q.number = t.highest + 1
	}

	t.highest = max(t.highest, q.number)

	if !q.warnAt.After(t.now) { // what is printed now says it
		q.warnAt = time.Time{}
	}

	if old := t.find(q.number); old != nil && old.asksTheSame(q) {
		old.token, old.deadline, old.warnAt = q.token, q.deadline, q.warnAt
		old.waiting, old.unlimited = q.waiting, q.unlimited
		t.promptf("Question %d: %s.", old.number, t.untilText(old))

		return
	}

	t.giveWay()
	t.questions = slices.DeleteFunc(t.questions, func(old *question) bool { return old.number == q.number })
	t.questions = append(t.questions, &q)

	if t.settings.Typed {
		t.out = append(t.out, Flush{})
	}

	t.show(&q)
}

func (t *Terminal) find(number int) *question {
	for _, q := range t.questions {
		if q.number == number {
			return q
		}
	}

	return nil
}

// open lists the questions that wait for an answer, in the order they were asked.
func (t *Terminal) open() []*question {
	var open []*question

	for _, q := range t.questions {
		if q.stage == stageOpen {
			open = append(open, q)
		}
	}

	return open
}

// asksTheSame is true for an open question that comes again, with more time. The
// detailed summary may say so, and differ, as may how long ago something was.
func (q *question) asksTheSame(again question) bool {
	again.what.detail, again.what.earlier = q.what.detail, q.what.earlier

	return q.stage == stageOpen && q.session == again.session && reflect.DeepEqual(q.what, again.what)
}

func (w what) takes(kind aaep.ResponseKind) bool {
	return len(w.kinds) == 0 || slices.Contains(w.kinds, kind)
}
