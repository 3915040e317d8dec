package producer

import (
	"slices"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform"
)

// State is what became of a rule.
type State string

// The states.
const (
	Passed       State = "kept"          // something that it is about came, and nothing that breaks it
	Broken       State = "broken"        // a finding breaks a duty, or advice
	NotExercised State = "not_exercised" // nothing came that it is about
)

// Finding is one breach, with the message that shows it.
type Finding struct {
	Rule     string        `json:"rule"`
	Also     []string      `json:"also,omitempty"` // further rules that it breaks
	Severity aaep.Severity `json:"severity"`       // error breaks a duty, warning departs from advice
	Listener string        `json:"listener"`       // that got the message
	Line     int           `json:"line"`           // of the messages that this listener got, from 1; 0 is none of them
	EventID  string        `json:"event_id,omitempty"`
	Path     string        `json:"path"` // JSON pointer into the message
	Text     string        `json:"text"` // what was found, what was expected
	Spec     string        `json:"spec"`
	Message  string        `json:"message,omitempty"` // its beginning, as it came
}

// Verdict is what became of one rule.
type Verdict struct {
	Rule        string        `json:"rule"`
	Title       string        `json:"title"`
	Spec        string        `json:"spec"`
	Duty        conform.Level `json:"duty"`  // MUST, SHOULD, or what else says it
	Level       int           `json:"level"` // of conformance, from which on it is expected
	State       State         `json:"state"`
	Known       string        `json:"known,omitempty"` // why it is known to be broken
	Occurrences int           `json:"occurrences,omitzero"`
	Findings    []Finding     `json:"findings,omitempty"` // the first of them, by listener and line
}

// Advice reports whether the rule is advice, which a producer may have reasons not to follow.
func (v Verdict) Advice() bool {
	return slices.Contains([]conform.Level{conform.LevelShould, conform.LevelApp, conform.LevelGuide, conform.LevelSuite}, v.Duty)
}

// Grave reports whether a finding breaks a duty, and not only advice.
func (v Verdict) Grave() bool {
	return slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Severity == aaep.SeverityError })
}

// Listener says what became of one of the scripted subscribers.
type Listener struct {
	Name     string `json:"name"`
	Role     string `json:"role"`
	Messages int    `json:"messages"`
	Problem  string `json:"problem,omitempty"` // why it heard nothing, or no more
}

// Report is the outcome of a [Judge]. Verdicts are in the order of the catalogue.
type Report struct {
	URL       string        `json:"url"`
	Level     int           `json:"level"`
	Began     time.Time     `json:"began"`
	Length    time.Duration `json:"-"`
	Sessions  int           `json:"sessions"` // that events came of
	Listeners []Listener    `json:"listeners"`
	Verdicts  []Verdict     `json:"-"`
}

// Tally counts verdicts.
type Tally struct {
	Passed       int `json:"kept"`
	Broken       int `json:"broken"`
	NotFollowed  int `json:"not_followed"` // broken by warnings only: advice
	Known        int `json:"known"`        // broken, as is known
	NotExercised int `json:"not_exercised"`
}

// Tally counts the verdicts. Each counts once.
func (r Report) Tally() Tally {
	var t Tally
	for _, v := range r.Verdicts {
		switch {
		case v.State == Passed:
			t.Passed++
		case v.State == NotExercised:
			t.NotExercised++
		case v.Known != "":
			t.Known++
		case v.Grave():
			t.Broken++
		default:
			t.NotFollowed++
		}
	}
	return t
}

// Passed reports whether no duty was seen to be broken beyond what is known; strict counts advice, too.
func (r Report) Passed(strict bool) bool {
	t := r.Tally()
	return t.Broken == 0 && (!strict || t.NotFollowed == 0)
}

// Expect marks the rules, by id, that are known to be broken, each with the reason. It returns those of them that were
// not seen to be broken.
func (r *Report) Expect(known map[string]string) (kept []string) {
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		reason, is := known[v.Rule]
		switch {
		case is && v.State == Broken:
			v.Known = reason
		case is && v.State == Passed:
			kept = append(kept, v.Rule)
		}
	}
	return kept
}

// levels are the areas of the rules that are expected from level 2 or 3 on; all others are from level 1 on.
var levels = map[string]int{
	"confm": 2, "clar": 2, "conf": 2, "cla": 2,
	"hs": 3, "cap": 3, "bp": 3, "ms": 3, "ext": 3,
}

// sequences of level 2, which are about questions.
var questionOrder = []string{"SEQ-22", "SEQ-23", "SEQ-24", "SEQ-25", "SEQ-26", "SEQ-27", "SEQ-28", "SEQ-29", "SEQ-30", "SEQ-38", "SEQ-49"}

// expectedFrom is the level of conformance from which on a rule is expected.
func expectedFrom(r conform.Rule) int {
	if slices.Contains(questionOrder, r.ID) || r.ID == "TR-09" {
		return 2
	}
	return max(1, levels[r.Area()])
}

// elsewhere are areas that are not judged here: other transports, and lists of what other rules say.
var elsewhere = []string{"tr-np", "tr-uds", "tr-grpc", "tr-stdio", "l1p", "l2p", "l3p"}

// judged reports whether the rule binds a producer, and a listener on this transport could see it.
func judged(r conform.Rule, sse bool) bool {
	if slices.Contains(elsewhere, r.Area()) || !sse && r.Area() == "tr-sse" || sse && r.Area() == "tr-ws" {
		return false
	}
	binds := strings.ContainsAny(r.Who, "PTB")
	duty := !slices.Contains([]conform.Level{conform.LevelMay, conform.LevelNone, conform.LevelGuide, conform.LevelSuite}, r.Level)
	seen := slices.ContainsFunc(r.Check, func(m conform.Mark) bool {
		return slices.Contains([]conform.Mark{conform.MarkEvent, conform.MarkMessage, conform.MarkStream, conform.MarkSeveral, conform.MarkLive}, m)
	})
	return binds && duty && seen
}

// maxFindings is how many findings of one rule a report shows.
const maxFindings = 5

// verdicts sorts what was found and exercised by the rules of the catalogue.
func verdicts(level int, sse bool, rules []conform.Rule, found []Finding, exercised map[string]bool) []Verdict {
	by := map[string][]Finding{}
	for _, f := range found {
		for _, rule := range append([]string{f.Rule}, f.Also...) {
			by[rule] = append(by[rule], f)
		}
	}
	all := make([]Verdict, 0, len(rules))
	for _, r := range rules {
		v := Verdict{Rule: r.ID, Title: r.Title, Spec: r.Spec, Duty: r.Level, Level: expectedFrom(r), State: NotExercised, Occurrences: len(by[r.ID])}
		switch {
		case len(by[r.ID]) > 0:
			v.State, v.Findings = Broken, by[r.ID][:min(maxFindings, len(by[r.ID]))]
		case !judged(r, sse) || v.Level > level:
			continue
		case exercised[r.ID]:
			v.State = Passed
		}
		all = append(all, v)
	}
	return all
}
