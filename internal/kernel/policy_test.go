package kernel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

func reviewed(name string, class utp.Class, risk utp.Risk) store.Tool {
	return store.Tool{Definition: utp.Definition{Tool: name, Class: utp.Read, Risk: utp.RiskLow}, Reviewed: true, Class: class, Risk: risk}
}

// TestPolicyDecides: the first rule that fits, and without one: reads and what is
// reversible and of low risk are allowed, all else is asked for.
func TestPolicyDecides(t *testing.T) {
	t.Parallel()
	rules := []rulebook.Rule{
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
		rules []rulebook.Rule
		tool  store.Tool
		want  rulebook.Ruling
	}{
		{"by name", rules, reviewed("files.delete", utp.Read, utp.RiskLow), rulebook.Ruling{Decision: turn.Deny}},
		{"by prefix", rules, reviewed("files.scan", utp.Idempotent, utp.RiskHigh), rulebook.Ruling{Decision: turn.Allow, Answer: time.Minute, StartWithin: 2 * time.Minute}},
		{"a name is not a prefix", rules, reviewed("mail.send", utp.Irreversible, utp.RiskHigh), rulebook.Ruling{Decision: turn.Ask}},
		{"prefix too short", rules, reviewed("files", utp.Read, utp.RiskLow), rulebook.Ruling{Decision: turn.Allow}},
		{"everything", []rulebook.Rule{{Tool: "*", Decide: turn.Deny}}, reviewed("x", utp.Read, utp.RiskLow), rulebook.Ruling{Decision: turn.Deny}},
		{"read", nil, reviewed("x", utp.Read, utp.RiskHigh), rulebook.Ruling{Decision: turn.Allow}},
		{"reversible, low", nil, reviewed("x", utp.Reversible, utp.RiskLow), rulebook.Ruling{Decision: turn.Allow}},
		{"reversible, medium", nil, reviewed("x", utp.Reversible, utp.RiskMedium), rulebook.Ruling{Decision: turn.Ask}},
		{"idempotent", nil, reviewed("x", utp.Idempotent, utp.RiskLow), rulebook.Ruling{Decision: turn.Ask}},
		{"irreversible", nil, reviewed("x", utp.Irreversible, utp.RiskLow), rulebook.Ruling{Decision: turn.Ask}},
		{"a class that is none", nil, reviewed("x", "harmless", utp.RiskLow), rulebook.Ruling{Decision: turn.Ask}},
		{"unreviewed", nil, unreviewed, rulebook.Ruling{Decision: turn.Ask}},
		{"the tool says more of itself", nil, claims, rulebook.Ruling{Decision: turn.Ask}},
	}
	for _, tt := range tests {
		p, err := rulebook.NewRules(tt.rules)
		if err != nil {
			t.Fatal(err)
		}
		got := p.Decide("tidy", tt.tool)
		if got.Rule == "" {
			t.Errorf("%s: no rule is named", tt.name)
		}
		if got.Rule = ""; got != tt.want {
			t.Errorf("%s: %+v; want %+v", tt.name, got, tt.want)
		}
	}
}

func TestPolicyRefused(t *testing.T) {
	t.Parallel()
	for want, rule := range map[string]rulebook.Rule{
		"decide is":                 {Tool: "x", Decide: "accept"},
		"decide is \"\"":            {Tool: "x"},
		"no tool":                   {Decide: turn.Ask},
		"start_within is at":        {Tool: "x", Decide: turn.Ask, StartWithin: 10*time.Minute + 1},
		"timeout at most":           {Tool: "x", Decide: turn.Ask, Timeout: 24*time.Hour + 1},
		"timeout is 1s":             {Tool: "x", Decide: turn.Ask, Timeout: time.Second - 1},
		"or longer":                 {Tool: "x", Decide: turn.Ask, Timeout: -time.Hour},
		"start_within is not negat": {Tool: "x", Decide: turn.Ask, StartWithin: -1},
		"undo is from 3s":           {Tool: "x", Decide: turn.Ask, Undo: 3*time.Second - 1},
		"undo is from 3s to 5m":     {Tool: "x", Decide: turn.Ask, Undo: -time.Minute},
		"from 3s to 5m":             {Tool: "x", Decide: turn.Ask, Undo: 5*time.Minute + 1},
	} {
		if _, err := rulebook.NewRules([]rulebook.Rule{rule}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want an error that says %q", rule, err, want)
		}
	}
	bounds := []rulebook.Rule{
		{Tool: "x", Decide: turn.Ask},
		{Tool: "x", Decide: turn.Ask, Timeout: time.Second, StartWithin: 1},
		{Tool: "x", Decide: turn.Ask, Timeout: 24 * time.Hour, StartWithin: 10 * time.Minute},
		{Tool: "x", Decide: turn.Ask, Undo: 3 * time.Second},
		{Tool: "x", Decide: turn.Ask, Undo: 5 * time.Minute, StartWithin: 10 * time.Minute},
	}
	if _, err := rulebook.NewRules(bounds); err != nil {
		t.Errorf("times within their bounds: %v", err)
	}
	tools := []store.Tool{reviewed("mail", utp.Irreversible, utp.RiskLow), reviewed("look", utp.Read, utp.RiskLow)}
	for name, tt := range map[string]struct {
		rules []rulebook.Rule
		ok    bool
	}{
		"allowed by name":    {[]rulebook.Rule{{Tool: "mail", Decide: turn.Allow}}, false},
		"allowed by a star":  {[]rulebook.Rule{{Tool: "*", Decide: turn.Allow}}, false},
		"asked before":       {[]rulebook.Rule{{Tool: "mail", Decide: turn.Ask}, {Tool: "*", Decide: turn.Allow}}, true},
		"another is allowed": {[]rulebook.Rule{{Tool: "look", Decide: turn.Allow}}, true},
	} {
		p, err := rulebook.NewRules(tt.rules)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.CheckTools(tools); (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRuleApplied: what is agreed to is the one rule that applied, by what it says: neither
// where it stands nor what else is in the file.
func TestRuleApplied(t *testing.T) {
	t.Parallel()
	scan := reviewed("files.scan", utp.Idempotent, utp.RiskLow)
	applied := func(t *testing.T, tool store.Tool, rules ...rulebook.Rule) string {
		t.Helper()
		p, err := rulebook.NewRules(rules)
		if err != nil {
			t.Fatal(err)
		}
		return p.Decide("tidy", tool).Rule
	}
	whole := rulebook.Rule{
		Agent: "tidy", Tool: "files.scan", Decide: turn.Ask, Timeout: time.Hour, StartWithin: 90 * time.Second,
		Undo: 3 * time.Second, ResultWithin: 500 * time.Second, BrokerOnly: true,
	}
	other := rulebook.Rule{Tool: "mail", Decide: turn.Deny}
	for _, tt := range []struct {
		name string
		tool store.Tool
		all  []rulebook.Rule
		want string
	}{
		{"all members", scan, []rulebook.Rule{whole}, `{"agent":"tidy","broker_only":true,"decide":"ask","result_within":"8m20s","start_within":"1m30s","timeout":"1h0m0s","tool":"files.scan","undo":"3s"}`},
		{"few members", scan, []rulebook.Rule{{Tool: "files.*", Decide: turn.Allow}}, `{"decide":"allow","tool":"files.*"}`},
		{"others before and behind", scan, []rulebook.Rule{other, {Tool: "files.*", Decide: turn.Allow}, whole}, `{"decide":"allow","tool":"files.*"}`},
		{"none: asked for", scan, []rulebook.Rule{other}, `{"default":"ask"}`},
		{"none: a read", reviewed("look", utp.Read, utp.RiskHigh), nil, `{"default":"read"}`},
		{"none: reversible", reviewed("move", utp.Reversible, utp.RiskLow), nil, `{"default":"reversible, low risk"}`},
		{"quoted", reviewed("a", utp.Read, utp.RiskLow), []rulebook.Rule{{Tool: `*`, Agent: "t*", Decide: turn.Ask}}, `{"agent":"t*","decide":"ask","tool":"*"}`},
	} {
		got := applied(t, tt.tool, tt.all...)
		if got != tt.want {
			t.Errorf("%s: %s; want %s", tt.name, got, tt.want)
		}
		if canonical, err := utp.Canonical([]byte(got)); err != nil || string(canonical) != got {
			t.Errorf("%s: %s is not canonical: %s, %v", tt.name, got, canonical, err)
		}
	}
}

// TestStrictest: where two sets of rules count, so does what is stricter in either.
func TestStrictest(t *testing.T) {
	t.Parallel()
	tool := reviewed("files.delete", utp.Irreversible, utp.RiskHigh)
	rule := func(d turn.Decision, start, undo time.Duration) rulebook.Ruling {
		p, err := rulebook.NewRules([]rulebook.Rule{{Tool: "files.delete", Decide: d, StartWithin: start, Undo: undo}})
		if err != nil {
			t.Fatal(err)
		}
		return p.Decide("tidy", tool)
	}
	ask, deny, allow := rule(turn.Ask, 0, 0), rule(turn.Deny, 0, 0), rule(turn.Allow, time.Minute, 0)
	hurried, patient := rule(turn.Ask, 10*time.Second, 0), rule(turn.Ask, 0, 20*time.Second)
	both := hurried
	both.Undo, both.Rule = 20*time.Second, "["+hurried.Rule+","+patient.Rule+"]"
	for name, tt := range map[string]struct{ a, b, want rulebook.Ruling }{
		"the same":               {ask, ask, ask},
		"deny before":            {deny, ask, deny},
		"deny behind":            {ask, deny, deny},
		"what nothing can allow": {allow, ask, allow}, // it is asked for all the same
		"less time":              {ask, hurried, hurried},
		"more time":              {hurried, ask, hurried},
		"each in something":      {hurried, patient, both},
	} {
		if got := rulebook.Strictest(tool, tt.a, tt.b); got != tt.want {
			t.Errorf("%s: %+v; want %+v", name, got, tt.want)
		}
	}
}

// TestPolicyCannotAllowWhatIsIrreversible: whatever a policy says, the person is asked.
func TestPolicyCannotAllowWhatIsIrreversible(t *testing.T) {
	inWorld(t, func(w *world) { w.rules = []rulebook.Rule{{Tool: "*", Decide: turn.Allow}} }, func(t *testing.T, w *world) {
		told, err := operate[api.ToolsAnswer](w, api.OpTools, api.ToolsRequest{Tool: burn})
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
		rules, err := rulebook.NewRules(nil)
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
	policy, err := rulebook.NewRules([]rulebook.Rule{
		{Tool: "files.delete", Decide: turn.Ask, StartWithin: 30 * time.Second},
		{Tool: "files.*", Decide: turn.Allow},
	})
	fmt.Println(err)
	for _, name := range []string{"files.scan", "files.delete", "mail.send"} {
		t := store.Tool{Definition: utp.Definition{Tool: name, Class: utp.Idempotent, Risk: utp.RiskLow}, Reviewed: true, Class: utp.Idempotent, Risk: utp.RiskLow}
		fmt.Println(name, policy.Decide("tidy", t).Decision)
	}
	// Output:
	// <nil>
	// files.scan allow
	// files.delete ask
	// mail.send ask
}
