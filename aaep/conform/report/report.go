package report

import (
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform"
)

// State is what became of a rule.
type State string

// Side is who is judged.
type Side string

// The sides.
const (
	Producer   Side = "producer"
	Subscriber Side = "subscriber"
)

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
	Peer     string        `json:"peer"`           // the scripted peer that the message came to
	Line     int           `json:"line"`           // of the messages that this peer got, from 1; 0 is none of them
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
	Findings    []Finding     `json:"findings,omitempty"` // the first of them, by peer and line
}

// Advice reports whether the rule is advice, which may have reasons not to be followed.
func (v Verdict) Advice() bool {
	return slices.Contains([]conform.Level{conform.LevelShould, conform.LevelApp, conform.LevelGuide, conform.LevelSuite}, v.Duty)
}

// Grave reports whether a finding breaks a duty, and not only advice.
func (v Verdict) Grave() bool {
	return slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Severity == aaep.SeverityError })
}

// Peer says what became of one of the scripted peers, which the judge plays.
type Peer struct {
	Name     string `json:"name"`
	Role     string `json:"role"`
	Messages int    `json:"messages"`
	Problem  string `json:"problem,omitempty"` // why nothing came, or no more
}

// Report is the outcome of a judgement. Verdicts are in the order of the catalogue.
type Report struct {
	Judges   Side          `json:"judges"`
	URL      string        `json:"url"`
	Level    int           `json:"level"`
	Began    time.Time     `json:"began"`
	Length   time.Duration `json:"-"`
	Sessions int           `json:"sessions"` // that events came or went of
	Peers    []Peer        `json:"peers"`
	Verdicts []Verdict     `json:"-"`
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
