package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Rule is one line of an operator's policy. The first whose Tool matches decides.
type Rule struct {
	// Tool is a name, a prefix followed by "*", or "*".
	Tool        string        `json:"tool" yaml:"tool"`
	Decide      turn.Decision `json:"decide" yaml:"decide"`
	Timeout     time.Duration `json:"timeout,omitempty" yaml:"timeout"`
	StartWithin time.Duration `json:"start_within,omitempty" yaml:"start_within"`
}

// Rules is the policy of an operator's file. Without a matching rule, reads and
// reversible calls of low risk are allowed, and all else is asked for.
type Rules struct {
	rules   []Rule
	version string
}

// NewRules checks the rules and names them by their content.
func NewRules(rules []Rule) (*Rules, error) {
	sum := sha256.New()
	for i, r := range rules {
		switch r.Decide {
		case turn.Allow, turn.Ask, turn.Deny:
		default:
			return nil, fmt.Errorf("policy: rule %d (%s): decide is %q; want allow, ask or deny", i+1, r.Tool, r.Decide)
		}
		if r.Tool == "" {
			return nil, fmt.Errorf("policy: rule %d has no tool; want a name, a prefix with *, or *", i+1)
		}
		if r.StartWithin < 0 || r.Timeout < 0 || (r.Timeout > 0 && r.Timeout < time.Second) {
			return nil, fmt.Errorf("policy: rule %d (%s): timeout is 1s or longer, and start_within is no negative time", i+1, r.Tool)
		}
		if r.StartWithin > turn.MaxStartWithin || r.Timeout > 24*time.Hour {
			return nil, fmt.Errorf("policy: rule %d (%s): start_within is at most 10m and timeout at most 24h", i+1, r.Tool)
		}
		fmt.Fprintf(sum, "%q %q %d %d\n", r.Tool, r.Decide, r.Timeout, r.StartWithin)
	}
	return &Rules{rules: rules, version: hex.EncodeToString(sum.Sum(nil))[:16]}, nil
}

// CheckTools is the check at load that needs the registry: allowing an irreversible
// tool is an error.
func (r *Rules) CheckTools(tools []Tool) error {
	for _, t := range tools {
		rule, found := r.match(t.Definition.Tool)
		if found && rule.Decide == turn.Allow && t.EffectiveClass() == utp.Irreversible {
			return fmt.Errorf("policy: the rule %q allows %s, which is irreversible; only ask or deny can stand there", rule.Tool, t.Definition.Tool)
		}
	}
	return nil
}

// Version implements [Policy].
func (r *Rules) Version() string { return r.version }

// Decide implements [Policy].
func (r *Rules) Decide(t Tool) Ruling {
	if rule, found := r.match(t.Definition.Tool); found {
		return Ruling{Decision: rule.Decide, Answer: rule.Timeout, StartWithin: rule.StartWithin}
	}
	switch class := t.EffectiveClass(); {
	case class == utp.Read, class == utp.Reversible && t.EffectiveRisk() == utp.RiskLow:
		return Ruling{Decision: turn.Allow}
	default:
		return Ruling{Decision: turn.Ask}
	}
}

func (r *Rules) match(tool string) (Rule, bool) {
	for _, rule := range r.rules {
		prefix, wild := cutStar(rule.Tool)
		if rule.Tool == tool || (wild && len(tool) >= len(prefix) && tool[:len(prefix)] == prefix) {
			return rule, true
		}
	}
	return Rule{}, false
}

func cutStar(pattern string) (string, bool) {
	if n := len(pattern); n > 0 && pattern[n-1] == '*' {
		return pattern[:n-1], true
	}
	return pattern, false
}

// EffectiveClass is the class that counts: what an operator reviewed, raised by what
// the tool says of itself; irreversible until somebody has looked.
func (t Tool) EffectiveClass() utp.Class {
	if !t.Reviewed {
		return utp.Irreversible
	}
	return t.Class.Raise(t.Definition.Class)
}

// EffectiveRisk is the risk that counts, likewise; high until somebody has looked.
func (t Tool) EffectiveRisk() utp.Risk {
	if !t.Reviewed {
		return utp.RiskHigh
	}
	return t.Risk.Raise(t.Definition.Risk)
}
