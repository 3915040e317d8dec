package kernel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/kernel"
	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

func reviewed(name string, class utp.Class, risk utp.Risk) kernel.Tool {
	return kernel.Tool{Definition: utp.Definition{Tool: name, Class: utp.Read, Risk: utp.RiskLow}, Reviewed: true, Class: class, Risk: risk}
}

// TestPolicyDecides: the first rule that fits, and without one: reads and what is
// reversible and of low risk are allowed, all else is asked for.
func TestPolicyDecides(t *testing.T) {
	t.Parallel()
	rules := []kernel.Rule{
		{Tool: "files.delete", Decide: turn.Deny},
		{Tool: "files.*", Decide: turn.Allow, Timeout: time.Minute, StartWithin: 2 * time.Minute},
		{Tool: "files.*", Decide: turn.Deny},
		{Tool: "mail", Decide: turn.Ask},
	}
	unreviewed := reviewed("x", utp.Read, utp.RiskLow)
	unreviewed.Reviewed = false
	claims := reviewed("x", utp.Read, utp.RiskLow)
	claims.Definition.Class, claims.Definition.Risk = utp.Irreversible, utp.RiskHigh
	tests := []struct {
		name  string
		rules []kernel.Rule
		tool  kernel.Tool
		want  kernel.Ruling
	}{
		{"by name", rules, reviewed("files.delete", utp.Read, utp.RiskLow), kernel.Ruling{Decision: turn.Deny}},
		{"by prefix", rules, reviewed("files.scan", utp.Idempotent, utp.RiskHigh), kernel.Ruling{Decision: turn.Allow, Answer: time.Minute, StartWithin: 2 * time.Minute}},
		{"a name is no prefix", rules, reviewed("mail.send", utp.Irreversible, utp.RiskHigh), kernel.Ruling{Decision: turn.Ask}},
		{"prefix too short", rules, reviewed("files", utp.Read, utp.RiskLow), kernel.Ruling{Decision: turn.Allow}},
		{"everything", []kernel.Rule{{Tool: "*", Decide: turn.Deny}}, reviewed("x", utp.Read, utp.RiskLow), kernel.Ruling{Decision: turn.Deny}},
		{"read", nil, reviewed("x", utp.Read, utp.RiskHigh), kernel.Ruling{Decision: turn.Allow}},
		{"reversible, low", nil, reviewed("x", utp.Reversible, utp.RiskLow), kernel.Ruling{Decision: turn.Allow}},
		{"reversible, medium", nil, reviewed("x", utp.Reversible, utp.RiskMedium), kernel.Ruling{Decision: turn.Ask}},
		{"idempotent", nil, reviewed("x", utp.Idempotent, utp.RiskLow), kernel.Ruling{Decision: turn.Ask}},
		{"irreversible", nil, reviewed("x", utp.Irreversible, utp.RiskLow), kernel.Ruling{Decision: turn.Ask}},
		{"a class that is none", nil, reviewed("x", "harmless", utp.RiskLow), kernel.Ruling{Decision: turn.Ask}},
		{"unreviewed", nil, unreviewed, kernel.Ruling{Decision: turn.Ask}},
		{"the tool says more of itself", nil, claims, kernel.Ruling{Decision: turn.Ask}},
	}
	for _, tt := range tests {
		p, err := kernel.NewRules(tt.rules)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Decide("tidy", tt.tool); got != tt.want {
			t.Errorf("%s: %+v; want %+v", tt.name, got, tt.want)
		}
	}
}

func TestPolicyRefused(t *testing.T) {
	t.Parallel()
	for want, rule := range map[string]kernel.Rule{
		"decide is":                {Tool: "x", Decide: "accept"},
		"decide is \"\"":           {Tool: "x"},
		"no tool":                  {Decide: turn.Ask},
		"start_within is at":       {Tool: "x", Decide: turn.Ask, StartWithin: 10*time.Minute + 1},
		"timeout at most":          {Tool: "x", Decide: turn.Ask, Timeout: 24*time.Hour + 1},
		"timeout is 1s":            {Tool: "x", Decide: turn.Ask, Timeout: time.Second - 1},
		"or longer":                {Tool: "x", Decide: turn.Ask, Timeout: -time.Hour},
		"start_within is no negat": {Tool: "x", Decide: turn.Ask, StartWithin: -1},
		"undo is from 3s":          {Tool: "x", Decide: turn.Ask, Undo: 3*time.Second - 1},
		"undo is from 3s to 5m":    {Tool: "x", Decide: turn.Ask, Undo: -time.Minute},
		"from 3s to 5m":            {Tool: "x", Decide: turn.Ask, Undo: 5*time.Minute + 1},
	} {
		if _, err := kernel.NewRules([]kernel.Rule{rule}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want an error that says %q", rule, err, want)
		}
	}
	bounds := []kernel.Rule{
		{Tool: "x", Decide: turn.Ask},
		{Tool: "x", Decide: turn.Ask, Timeout: time.Second, StartWithin: 1},
		{Tool: "x", Decide: turn.Ask, Timeout: 24 * time.Hour, StartWithin: 10 * time.Minute},
		{Tool: "x", Decide: turn.Ask, Undo: 3 * time.Second},
		{Tool: "x", Decide: turn.Ask, Undo: 5 * time.Minute, StartWithin: 10 * time.Minute},
	}
	if _, err := kernel.NewRules(bounds); err != nil {
		t.Errorf("times within their bounds: %v", err)
	}
	tools := []kernel.Tool{reviewed("mail", utp.Irreversible, utp.RiskLow), reviewed("look", utp.Read, utp.RiskLow)}
	for name, tt := range map[string]struct {
		rules []kernel.Rule
		ok    bool
	}{
		"allowed by name":    {[]kernel.Rule{{Tool: "mail", Decide: turn.Allow}}, false},
		"allowed by a star":  {[]kernel.Rule{{Tool: "*", Decide: turn.Allow}}, false},
		"asked before":       {[]kernel.Rule{{Tool: "mail", Decide: turn.Ask}, {Tool: "*", Decide: turn.Allow}}, true},
		"another is allowed": {[]kernel.Rule{{Tool: "look", Decide: turn.Allow}}, true},
	} {
		p, err := kernel.NewRules(tt.rules)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.CheckTools(tools); (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPolicyVersion: other rules have another name, the same rules the same.
func TestPolicyVersion(t *testing.T) {
	t.Parallel()
	version := func(rules ...kernel.Rule) string {
		p, err := kernel.NewRules(rules)
		if err != nil {
			t.Fatal(err)
		}
		return p.Version()
	}
	a, b := kernel.Rule{Tool: "a", Decide: turn.Ask}, kernel.Rule{Tool: "b", Decide: turn.Deny}
	seen := map[string]string{}
	for name, v := range map[string]string{
		"none": version(), "a": version(a), "a b": version(a, b), "b a": version(b, a),
		"timeout":      version(kernel.Rule{Tool: "a", Decide: turn.Ask, Timeout: time.Second}),
		"start within": version(kernel.Rule{Tool: "a", Decide: turn.Ask, StartWithin: time.Second}),
		"undo":         version(kernel.Rule{Tool: "a", Decide: turn.Ask, Undo: 3 * time.Second}),
		"result":       version(kernel.Rule{Tool: "a", Decide: turn.Ask, ResultWithin: time.Second}),
	} {
		if other, twice := seen[v]; twice || v == "" {
			t.Errorf("%s and %s have the version %q", name, other, v)
		}
		seen[v] = name
	}
	if again := version(a, b); version(a, b) != again {
		t.Error("the same rules have two versions")
	}
}

// TestPolicyCannotAllowWhatIsIrreversible: whatever a policy says, the person is asked.
func TestPolicyCannotAllowWhatIsIrreversible(t *testing.T) {
	inWorld(t, func(w *world) { w.rules = []kernel.Rule{{Tool: "*", Decide: turn.Allow}} }, func(t *testing.T, w *world) {
		told, err := operate[utp.ToolsAnswer](w, utp.OpTools, utp.ToolsRequest{Tool: burn})
		if err != nil || told.Tools[0].Decision != string(turn.Ask) {
			t.Errorf("an operator is told %+v, %v", told, err)
		}
		w.work(one(paint), one(burn))
		a := w.begin()
		q := w.asked()
		w.effectsAre(1) // painting was allowed
		w.say(q, "reject")
		w.over(a.Turn)
		w.effectsAre(1)
	})
}

func TestNewRefuses(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		rules, err := kernel.NewRules(nil)
		if err != nil {
			t.Fatal(err)
		}
		whole := kernel.Options{Store: fuse{w.now}, Bus: port{w.bus, w.now}, Policy: rules, Narrator: w.now.narrator}
		for name, spoil := range map[string]func(*kernel.Options){
			"no store":    func(o *kernel.Options) { o.Store = nil },
			"no bus":      func(o *kernel.Options) { o.Bus = nil },
			"no policy":   func(o *kernel.Options) { o.Policy = nil },
			"no narrator": func(o *kernel.Options) { o.Narrator = nil },
			"a short key": func(o *kernel.Options) { o.Key = []byte("short") },
		} {
			o := whole
			spoil(&o)
			if _, err := kernel.New(o); err == nil {
				t.Errorf("%s was taken", name)
			}
		}
		k, err := kernel.New(whole)
		if err != nil {
			t.Fatal(err)
		}
		if restored, err := k.Recover(w.ctx); restored || err != nil {
			t.Errorf("without a count outside: restored %v, %v", restored, err)
		}
	})
}

// An operator's rules: the first that fits decides, and what is irreversible is asked
// for whatever they say.
func ExampleRules() {
	policy, err := kernel.NewRules([]kernel.Rule{
		{Tool: "files.delete", Decide: turn.Ask, StartWithin: 30 * time.Second},
		{Tool: "files.*", Decide: turn.Allow},
	})
	fmt.Println(err)
	for _, name := range []string{"files.scan", "files.delete", "mail.send"} {
		t := kernel.Tool{Definition: utp.Definition{Tool: name, Class: utp.Idempotent, Risk: utp.RiskLow}, Reviewed: true, Class: utp.Idempotent, Risk: utp.RiskLow}
		fmt.Println(name, policy.Decide("tidy", t).Decision)
	}
	// Output:
	// <nil>
	// files.scan allow
	// files.delete ask
	// mail.send ask
}
