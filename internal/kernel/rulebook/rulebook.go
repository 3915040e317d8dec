// Package rulebook decides what an agent may do with a tool: the rules of an operator's file, what a rule means for a call,
// and which of two is stricter.
package rulebook

import (
	"cmp"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/kernel/roster"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Ruling is what a policy decides about a tool.
type Ruling struct {
	// Rule is the rule that applied, in a canonical form: it is part of what is consented to, and
	// must not be empty.
	Rule     string
	Decision turn.Decision
	// Answer and StartWithin override the tool's own times; zero does not. Undo makes the undo
	// time longer, never shorter. Result is how long after its dispatch a call must have a result,
	// if the tool itself does not say.
	Answer, StartWithin, Undo, Result time.Duration
	// BrokerOnly: an operator allows this third-party service to have effects.
	BrokerOnly bool
}

// Rule is one line of an operator's policy. The first whose Tool and Agent match decides.
type Rule struct {
	// Agent is a name, a prefix followed by "*", or "" for every agent.
	Agent string `json:"agent,omitempty" yaml:"agent"`
	// Tool is a name, a prefix followed by "*", or "*".
	Tool        string        `json:"tool" yaml:"tool"`
	Decide      turn.Decision `json:"decide" yaml:"decide"`
	Timeout     time.Duration `json:"timeout,omitempty" yaml:"timeout"`
	StartWithin time.Duration `json:"start_within,omitempty" yaml:"start_within"`
	// Undo is the undo time of an irreversible call, unless its tool has a longer one: 3 s or more,
	// and at most half of StartWithin.
	Undo time.Duration `json:"undo,omitempty" yaml:"undo"`
	// ResultWithin is for tools that do not set their own.
	ResultWithin time.Duration `json:"result_within,omitempty" yaml:"result_within"`
	// BrokerOnly lets a third-party service have an effect that cannot be repeated, although nothing
	// makes it respect the gate. Tool must then be a name without "*".
	BrokerOnly bool `json:"broker_only,omitempty" yaml:"broker_only"`
}

// Rules is the policy of an operator's file. Without a matching rule, reads and reversible calls of low
// risk are allowed, and anything else is asked for.
type Rules struct {
	// Questions is about whatever is asked.
	Questions Questions

	rules []Rule
}

// Questions is how an operator wants questions to be treated.
type Questions struct {
	WhenNobody WhenNobody `yaml:"when_nobody"`
}

// WhenNobody is what becomes of a question while nobody who is connected can answer it.
type WhenNobody string

const (
	// Wait is the default: a question waits until its own deadline.
	Wait WhenNobody = "wait"
	// Decide is AAEP to the letter: its default holds at once, which is never a yes to something irreversible
	// (CONF-82, CONF-83).
	Decide WhenNobody = "decide"
)

// Error says what is wrong with a rule.
type Error struct{ why legible.Sentence }

func (e *Error) Error() string { return e.why.String() }

// Sentence is the text of the error, apart from what stands in the rule.
func (e *Error) Sentence() legible.Sentence { return e.why }

func wrong(form string, values ...any) error {
	return &Error{why: legible.NewSentence(form, values...)}
}

// NewRules checks the rules. Errors: [*Error].
func NewRules(rules []Rule) (*Rules, error) {
	for i, r := range rules {
		if err := r.check(i + 1); err != nil {
			return nil, err
		}
	}
	return &Rules{rules: rules}, nil
}

// The names of the rules that apply if no rule of the file matches.
const (
	defaultRead       = `{"default":"read"}`
	defaultReversible = `{"default":"reversible, low risk"}`
	defaultAsk        = `{"default":"ask"}`
)

// canonical returns the rule in the form of RFC 8785: the members that it has, times in Go's format. Equal
// rules have the same form, wherever they stand in a file.
func (r Rule) canonical() string {
	text := func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	}
	raw, err := json.Marshal(struct { // in the order of RFC 8785
		Agent        string `json:"agent,omitzero"`
		BrokerOnly   bool   `json:"broker_only,omitzero"`
		Decide       string `json:"decide"`
		ResultWithin string `json:"result_within,omitzero"`
		StartWithin  string `json:"start_within,omitzero"`
		Timeout      string `json:"timeout,omitzero"`
		Tool         string `json:"tool"`
		Undo         string `json:"undo,omitzero"`
	}{r.Agent, r.BrokerOnly, string(r.Decide), text(r.ResultWithin), text(r.StartWithin), text(r.Timeout), r.Tool, text(r.Undo)},
		jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return "" // strings and a bool always encode; an empty rule could not be consented to
	}
	return string(raw)
}

// check validates the n-th rule by itself.
func (r Rule) check(n int) error {
	switch r.Decide {
	case turn.Allow, turn.Ask, turn.Deny:
	default:
		return wrong("policy: rule %d (%s): decide is %s; want allow, ask or deny", n, r.Tool, strconv.Quote(string(r.Decide)))
	}
	if r.Tool == "" {
		return wrong("policy: rule %d has no tool; want a name, a prefix with *, or *", n)
	}
	if r.StartWithin < 0 || r.Timeout < 0 || (r.Timeout > 0 && r.Timeout < time.Second) {
		return wrong("policy: rule %d (%s): timeout is 1s or longer, and start_within is not negative", n, r.Tool)
	}
	if r.StartWithin > turn.MaxStartWithin || r.Timeout > 24*time.Hour {
		return wrong("policy: rule %d (%s): start_within is at most 10m and timeout at most 24h", n, r.Tool)
	}
	if r.Undo != 0 && (r.Undo < turn.MinUndo || r.Undo > turn.MaxUndo) {
		return wrong("policy: rule %d (%s): undo is from 3s to 5m", n, r.Tool)
	}
	if r.ResultWithin != 0 && (r.ResultWithin < time.Second || r.ResultWithin > 24*time.Hour) {
		return wrong("policy: rule %d (%s): result_within is from 1s to 24h", n, r.Tool)
	}
	if _, wild := roster.CutStar(r.Tool); wild && r.BrokerOnly {
		return wrong("policy: rule %d (%s): broker_only names one tool, without a star", n, r.Tool)
	}
	if name, _ := roster.CutStar(r.Agent); name != "" && !utp.ValidToken(name) {
		return wrong("policy: rule %d (%s): agent is %s; want a name of A-Z a-z 0-9 _ -, or a prefix with *", n, r.Tool, strconv.Quote(r.Agent))
	}
	return nil
}

// CheckTools is the check at load that needs the registry: allowing an irreversible
// tool is an error.
func (r *Rules) CheckTools(tools []store.Tool) error {
	for _, t := range tools {
		if t.EffectiveClass() != utp.Irreversible {
			continue
		}
		for _, rule := range r.rules {
			if !roster.Matches(rule.Tool, t.Definition.Tool) {
				continue
			}
			if rule.Decide == turn.Allow {
				return wrong("policy: the rule %s allows %s, which is irreversible; only ask or deny can stand there", strconv.Quote(rule.Tool), t.Definition.Tool)
			}
			if rule.Agent == "" || rule.Agent == "*" {
				break // no later rule decides on the tool
			}
		}
	}
	return nil
}

// Decide returns the ruling of the first rule that matches. It never allows an irreversible call; the turn machine would
// ask anyway.
func (r *Rules) Decide(agent string, t store.Tool) Ruling {
	if rule, found := r.match(agent, t.Definition.Tool); found {
		return Ruling{
			Rule: rule.canonical(), Decision: rule.Decide, Answer: rule.Timeout, StartWithin: rule.StartWithin, Undo: rule.Undo,
			Result: rule.ResultWithin, BrokerOnly: rule.BrokerOnly,
		}
	}
	switch class := t.EffectiveClass(); {
	case class == utp.Read:
		return Ruling{Rule: defaultRead, Decision: turn.Allow}
	case class == utp.Reversible && t.EffectiveRisk() == utp.RiskLow:
		return Ruling{Rule: defaultReversible, Decision: turn.Allow}
	default:
		return Ruling{Rule: defaultAsk, Decision: turn.Ask}
	}
}

// Decision returns the effective decision of the policy. A service that does not enforce the gate may
// not have an effect that cannot be repeated, unless an operator allows it. An irreversible call is
// always asked for, as in the turn machine.
func Decision(t store.Tool, r Ruling) turn.Decision {
	class := t.EffectiveClass()
	switch {
	case t.Enforcement() != utp.Enforced && !class.Repeatable() && !r.BrokerOnly:
		return turn.Deny
	case class == utp.Irreversible && r.Decision == turn.Allow:
		return turn.Ask
	}
	return r.Decision
}

// options are the members of a definition's options that the kernel itself reads.
type options struct {
	AnswerSeconds      int  `json:"answer_seconds"`
	StartWithinSeconds int  `json:"start_within_seconds"`
	UndoSeconds        int  `json:"undo_seconds"`
	Reconciles         bool `json:"reconciles"`
	// The two names of how long a call may take until its result is there (UTP, "Waiting times"). Third-party definitions
	// have fractions of seconds.
	SuspendSeconds float64 `json:"suspend_timeout_seconds"`
	TimeoutSeconds float64 `json:"timeout_seconds"`
}

// limits returns the time limits of a call: a reviewed tool's own, overridden by the policy's. An
// unreviewed definition gets the defaults.
func limits(t store.Tool, r Ruling) turn.Limits {
	var o options
	if raw := t.Definition.Options; len(raw) > 0 && json.Unmarshal(raw, &o) != nil {
		o = options{} // the defaults are the cautious values
	}
	if !t.Reviewed {
		o = options{Reconciles: o.Reconciles}
	}
	l := turn.Limits{
		Answer:      turn.Seconds(o.AnswerSeconds),
		StartWithin: turn.Seconds(o.StartWithinSeconds),
		Undo:        turn.Seconds(o.UndoSeconds),
		Result:      turn.Seconds(int(math.Ceil(min(cmp.Or(o.SuspendSeconds, o.TimeoutSeconds), 1<<20)))),
		Reconciles:  o.Reconciles && t.Enforcement() == utp.Enforced,
	}
	if l.Result == 0 {
		l.Result = r.Result
	}
	if r.Answer > 0 {
		l.Answer = r.Answer
	}
	if r.StartWithin > 0 {
		l.StartWithin = r.StartWithin
	}
	l.Undo = max(l.Undo, r.Undo)
	return l
}

// Terms returns the terms of a call of the tool under a ruling.
func Terms(t store.Tool, r Ruling) turn.Terms {
	return turn.Terms{Decision: Decision(t, r), Limits: limits(t, r)}
}

// Strictest combines two rulings on one tool that both apply: it returns the stricter one or, if each is
// stricter in something, whatever is stricter in either.
func Strictest(t store.Tool, a, b Ruling) Ruling {
	first, second := Terms(t, a), Terms(t, b)
	switch {
	case !second.StricterThan(first):
		return a
	case !first.StricterThan(second):
		return b
	}
	both := first.Limits.Tightened(second.Limits)
	a.StartWithin, a.Undo = both.StartWithin, both.Undo
	a.Rule = "[" + a.Rule + "," + b.Rule + "]"
	return a
}

func (r *Rules) match(agent, tool string) (Rule, bool) {
	for _, rule := range r.rules {
		if roster.Matches(rule.Tool, tool) && (rule.Agent == "" || roster.Matches(rule.Agent, agent)) {
			return rule, true
		}
	}
	return Rule{}, false
}
