package standing_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/utp"
)

var noon = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

func call(args string) standing.Call {
	return standing.Call{
		Owner: "ann", Project: "home", Agent: "tidy", Session: "sess_1", Tool: "files.trash", Definition: "d1", Class: utp.Reversible,
		Risk: utp.RiskMedium, Args: jsontext.Value(args),
	}
}

func begins(argument, text string) api.Bound {
	return api.Bound{Argument: argument, Rule: api.BoundBegins, Value: jsontext.Value(strconv.Quote(text))}
}

func most(argument string, n int) api.Bound {
	return api.Bound{Argument: argument, Rule: api.BoundMost, Value: jsontext.Value(strconv.Itoa(n))}
}

func anything(argument string) api.Bound { return api.Bound{Argument: argument, Rule: api.BoundAny} }

func equals(argument, value string) api.Bound {
	return api.Bound{Argument: argument, Rule: api.BoundEquals, Value: jsontext.Value(value)}
}

// TestMatch: what a call may have that a permission was given for with other arguments.
func TestMatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, given string
		bounds      []api.Bound
		args        string
		fits        bool
	}{
		{"the same call", `{"a":1,"b":"x"}`, nil, `{"a":1,"b":"x"}`, true},
		{"no arguments at all", `{}`, nil, `{}`, true},
		{"another value", `{"a":1}`, nil, `{"a":2}`, false},
		{"one more argument", `{"a":1}`, nil, `{"a":1,"force":true}`, false},
		{"one more beside anything", `{"a":1}`, []api.Bound{anything("/a")}, `{"a":1,"force":true}`, false},
		{"one more where there were none", `{}`, nil, `{"force":true}`, false},
		{"one less", `{"a":1,"b":2}`, nil, `{"a":1}`, false},
		{"a bound one is missing", `{"a":1,"n":2}`, []api.Bound{most("/n", 5)}, `{"a":1}`, false},
		{"what may be anything is missing", `{"a":1,"n":2}`, []api.Bound{anything("/n")}, `{"a":1}`, true},
		{"anything is anything", `{"a":1}`, []api.Bound{anything("/a")}, `{"a":{"b":[1]}}`, true},

		{"in the folder", `{"p":"/a/b/c"}`, []api.Bound{begins("/p", "/a/b/")}, `{"p":"/a/b/d/e"}`, true},
		{"beside the folder", `{"p":"/a/b/c"}`, []api.Bound{begins("/p", "/a/b/")}, `{"p":"/a/bc"}`, false},
		{"at a separator", `{"p":"/a/b/c"}`, []api.Bound{begins("/p", "/a/b")}, `{"p":"/a/b/d"}`, true},
		{"the folder itself", `{"p":"/a/b/c"}`, []api.Bound{begins("/p", "/a/b")}, `{"p":"/a/b"}`, true},
		{"not at a separator", `{"p":"/a/b/c"}`, []api.Bound{begins("/p", "/a/b")}, `{"p":"/a/bc"}`, false},
		{"out of the folder", `{"p":"/a/b/c"}`, []api.Bound{begins("/p", "/a/b/")}, `{"p":"/a/b/../../etc"}`, false},
		{"out at the end", `{"p":"/a/b/c"}`, []api.Bound{begins("/p", "/a/b/")}, `{"p":"/a/b/.."}`, false},
		{"out with a backslash", `{"p":"/a/b/c"}`, []api.Bound{begins("/p", "/a/b/")}, `{"p":"/a/b/..\\..\\x"}`, false},
		{"out with percent signs", `{"p":"https://e.org/a/b"}`, []api.Bound{begins("/p", "https://e.org/a/")}, `{"p":"https://e.org/a/%2e%2E/x"}`, false},
		{"out with percent signs twice", `{"p":"https://e.org/a/b"}`, []api.Bound{begins("/p", "https://e.org/a/")}, `{"p":"https://e.org/a/%252e./x"}`, false},
		{"out with a space", `{"p":"/a/b/c"}`, []api.Bound{begins("/p", "/a/b/")}, `{"p":"/a/b/.. /x"}`, false},
		{"a name with two dots", `{"p":"/a/b/c"}`, []api.Bound{begins("/p", "/a/b/")}, `{"p":"/a/b/a..b"}`, true},
		{"out of a relative folder", `{"p":"Pictures/x"}`, []api.Bound{begins("/p", "Pictures")}, `{"p":"Pictures/../x"}`, false},
		{"another host", `{"p":"https://e.org/a"}`, []api.Bound{begins("/p", "https://e.org")}, `{"p":"https://e.org.evil.net/a"}`, false},
		{"a user at another host", `{"p":"https://e.org/a"}`, []api.Bound{begins("/p", "https://e.org")}, `{"p":"https://e.org@evil.net/a"}`, false},
		{"a line break", `{"p":"note: a"}`, []api.Bound{begins("/p", "note: ")}, `{"p":"note: a\nb"}`, false},
		{"a text", `{"p":"note: a"}`, []api.Bound{begins("/p", "note: ")}, `{"p":"note: b"}`, true},
		{"another case", `{"p":"/A/b"}`, []api.Bound{begins("/p", "/A/")}, `{"p":"/a/b"}`, false},
		{"a number in place of a text", `{"p":"/a/b"}`, []api.Bound{begins("/p", "/a/")}, `{"p":7}`, false},

		{"fewer", `{"n":4}`, []api.Bound{most("/n", 20)}, `{"n":0}`, true},
		{"as many", `{"n":4}`, []api.Bound{most("/n", 20)}, `{"n":20}`, true},
		{"more", `{"n":4}`, []api.Bound{most("/n", 20)}, `{"n":20.5}`, false},
		{"less than none", `{"n":4}`, []api.Bound{most("/n", 20)}, `{"n":-1}`, false},
		{"a text in place of a number", `{"n":4}`, []api.Bound{most("/n", 20)}, `{"n":"4"}`, false},
		{"true in place of a number", `{"n":4}`, []api.Bound{most("/n", 20)}, `{"n":true}`, false},

		{"each of a list", `{"p":["/a/x"]}`, []api.Bound{begins("/p", "/a/")}, `{"p":["/a/y","/a/z"]}`, true},
		{"not each of a list", `{"p":["/a/x"]}`, []api.Bound{begins("/p", "/a/")}, `{"p":["/a/y","/b"]}`, false},
		{"none of a list", `{"p":["/a/x"]}`, []api.Bound{begins("/p", "/a/")}, `{"p":[]}`, false},
		{"a list in a list", `{"p":["/a/x"]}`, []api.Bound{begins("/p", "/a/")}, `{"p":[["/a/x"]]}`, false},
		{"another list", `{"p":["/a/x"]}`, nil, `{"p":["/a/x","/a/y"]}`, false},

		{"within", `{"o":{"n":1,"m":2}}`, []api.Bound{most("/o/n", 9)}, `{"o":{"m":2,"n":9}}`, true},
		{"the other within", `{"o":{"n":1,"m":2}}`, []api.Bound{most("/o/n", 9)}, `{"o":{"m":3,"n":9}}`, false},
		{"one more within", `{"o":{"n":1}}`, []api.Bound{most("/o/n", 9)}, `{"o":{"n":1,"x":1}}`, false},
		{"no object any more", `{"o":{"n":1}}`, []api.Bound{anything("/o/n")}, `{"o":7}`, false},
		{"a name with a slash", `{"a/b":1,"a":{"b":2}}`, []api.Bound{anything("/a~1b")}, `{"a":{"b":2},"a/b":5}`, true},
		{"not the other path", `{"a/b":1,"a":{"b":2}}`, []api.Bound{anything("/a~1b")}, `{"a":{"b":5},"a/b":1}`, false},

		{"the same secret", `{"k":{"$secret":"env:K","mac":"1"},"n":1}`, []api.Bound{anything("/n")}, `{"k":{"$secret":"env:K","mac":"1"},"n":2}`, true},
		{"another secret", `{"k":{"$secret":"env:K","mac":"1"},"n":1}`, []api.Bound{anything("/n")}, `{"k":{"$secret":"env:K","mac":"2"},"n":1}`, false},
		{"a secret in place of anything", `{"n":1}`, []api.Bound{anything("/n")}, `{"n":{"$secret":"env:K","mac":"1"}}`, false},
		{"not an object", `{}`, nil, `[]`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := standing.Make(api.Standing{Bounds: tt.bounds}, call(tt.given), standing.Giver{By: "ann"}, noon)
			if err != nil {
				t.Fatal(err)
			}
			if !standing.Match(p.Bounds, jsontext.Value(tt.given)) {
				t.Error("the accepted call itself does not meet it")
			}
			if fits := standing.Match(p.Bounds, jsontext.Value(tt.args)); fits != tt.fits {
				t.Errorf("%s fits %v: %t; want %t", tt.args, p.Bounds, fits, tt.fits)
			}
		})
	}
}

// TestRefused: what no permission is given for.
func TestRefused(t *testing.T) {
	t.Parallel()
	with := func(change func(*standing.Call)) standing.Call {
		c := call(`{"n":1,"p":"/a/b","k":{"$secret":"env:K","mac":"1"}}`)
		change(&c)
		return c
	}
	same := func(*standing.Call) {}
	for _, tt := range []struct {
		name  string
		asked api.Standing
		call  standing.Call
		want  error
		words string
	}{
		{"irreversible", api.Standing{}, with(func(c *standing.Call) { c.Class = utp.Irreversible }), standing.ErrIrreversible, ""},
		{"of no known class", api.Standing{}, with(func(c *standing.Call) { c.Class = "" }), standing.ErrIrreversible, ""},
		{"too many uses", api.Standing{Uses: 1001}, with(same), standing.ErrUses, ""},
		{"negative uses", api.Standing{Uses: -1}, with(same), standing.ErrUses, ""},
		{"too long", api.Standing{Seconds: 30*24*3600 + 1}, with(same), standing.ErrTime, ""},
		{"too short", api.Standing{Seconds: 59}, with(same), standing.ErrTime, ""},
		{"no scope", api.Standing{Scope: "world"}, with(same), standing.ErrScope, ""},
		{"not met by the call", api.Standing{Bounds: []api.Bound{most("/n", 0)}}, with(same), nil, "does not meet it"},
		{"of no argument", api.Standing{Bounds: []api.Bound{anything("/x")}}, with(same), nil, "no such argument"},
		{"of all arguments at once", api.Standing{Bounds: []api.Bound{anything("")}}, with(same), nil, "JSON pointer"},
		{"of a secret", api.Standing{Bounds: []api.Bound{anything("/k")}}, with(same), nil, "secret"},
		{"twice", api.Standing{Bounds: []api.Bound{anything("/n"), most("/n", 3)}}, with(same), nil, "same argument"},
		{"within another", api.Standing{Bounds: []api.Bound{anything("/k"), anything("/k/mac")}}, with(same), nil, "same argument"},
		{"by no rule", api.Standing{Bounds: []api.Bound{{Argument: "/n", Rule: "like"}}}, with(same), nil, "its rule is"},
		{"begins with nothing", api.Standing{Bounds: []api.Bound{begins("/p", "")}}, with(same), nil, "say any"},
		{"begins out of a folder", api.Standing{Bounds: []api.Bound{begins("/p", "/a/../")}}, with(same), nil, `folder ".."`},
		{"at most a text", api.Standing{Bounds: []api.Bound{{Argument: "/n", Rule: api.BoundMost, Value: jsontext.Value(`"9"`)}}}, with(same), nil, "a number"},
		{"at most less than none", api.Standing{Bounds: []api.Bound{most("/n", -1)}}, with(same), nil, "a number"},
		{"equals nothing", api.Standing{Bounds: []api.Bound{{Argument: "/n", Rule: api.BoundEquals}}}, with(same), nil, "cannot be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := standing.Make(tt.asked, tt.call, standing.Giver{By: "ann"}, noon)
			bound, isBound := errors.AsType[*standing.BoundError](err)
			if tt.want != nil && !errors.Is(err, tt.want) || tt.want == nil && (!isBound || !strings.Contains(bound.Error(), tt.words)) {
				t.Errorf("got %v; want %v %q", err, tt.want, tt.words)
			}
		})
	}
}

// TestUse: a permission is used as often as it says and no longer than it says, for its own tool as it was.
func TestUse(t *testing.T) {
	t.Parallel()
	made := func(asked api.Standing) standing.Permission {
		t.Helper()
		p, err := standing.Make(asked, call(`{"a":1}`), standing.Giver{By: "ann", Question: 7}, noon)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := made(api.Standing{Uses: 2, Bounds: []api.Bound{equals("/a", "1.0")}})
	at := noon.Add(time.Minute)
	for n := range 2 {
		var ok bool
		if p, ok = p.Use(call(`{"a":1}`), at); !ok || p.Left() != 1-n {
			t.Fatalf("use %d: %t, %d left", n+1, ok, p.Left())
		}
	}
	if _, ok := p.Use(call(`{"a":1}`), at); ok {
		t.Error("it was used a third time")
	}
	if why := p.StartRefusal(call(""), at); why != "" {
		t.Errorf("what the last use has allowed does not start: %s", why)
	}
	if why := p.End(standing.End{Why: standing.Revoked}).StartRefusal(call(""), at); why != standing.Revoked {
		t.Errorf("what the last use has allowed starts after it was revoked: %q", why)
	}
	for name, change := range map[string]func(*standing.Call){
		"owner": func(c *standing.Call) { c.Owner = "bob" }, "project": func(c *standing.Call) { c.Project = "p" },
		"agent": func(c *standing.Call) { c.Agent = "other" }, "session": func(c *standing.Call) { c.Session = "sess_2" },
		"tool": func(c *standing.Call) { c.Tool = "files.move" }, "definition": func(c *standing.Call) { c.Definition = "d2" },
		"class": func(c *standing.Call) { c.Class = utp.Irreversible }, "risk": func(c *standing.Call) { c.Risk = utp.RiskHigh },
		"arguments": func(c *standing.Call) { c.Args = jsontext.Value(`{"a":2}`) },
	} {
		c := call(`{"a":1}`)
		change(&c)
		if _, ok := made(api.Standing{}).Use(c, at); ok {
			t.Errorf("another %s is allowed", name)
		}
	}
	p = made(api.Standing{Seconds: 60, Scope: api.ScopeAgent})
	elsewhere := call(`{"a":1}`)
	elsewhere.Session = "sess_2"
	if _, ok := p.Use(elsewhere, noon.Add(59*time.Second)); !ok {
		t.Error("the agent's other session is not allowed")
	}
	if _, ok := p.Use(elsewhere, noon.Add(time.Minute)); ok || p.StartRefusal(elsewhere, noon.Add(time.Minute)) != standing.Expired {
		t.Error("it is used after its time")
	}
	ended := p.End(standing.End{Why: standing.Restored}).End(standing.End{Why: standing.Revoked})
	if _, ok := ended.Use(elsewhere, noon); ok || ended.Ended.Why != standing.Restored {
		t.Errorf("it ended as %+v", ended.Ended)
	}
}

// TestWords: what has to stay as it is is not said again, and nothing hides what a bound says.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		bounds []api.Bound
		want   string
	}{
		{nil, ""},
		{[]api.Bound{equals("/a", "1"), equals("/b", `"geheim"`)}, "everything is as in question 7"},
		{[]api.Bound{anything("/note")}, "note is anything"},
		{[]api.Bound{most("/o/n", 20), equals("/a", "1")}, "o/n is from 0 to 20, and all else is as in question 7"},
		{[]api.Bound{begins("/p", "a\u202eb")}, `p begins with "a\u202eb"`},
		{[]api.Bound{begins("/p\u200bq", "C:\\x\\")}, `"p\u200bq" begins with "C:\x\"`},
	} {
		if got := standing.BoundsText(tt.bounds, 7); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// TestTermsName: people read the name that an operator has given the agent.
func TestTermsName(t *testing.T) {
	t.Parallel()
	p := standing.Permission{Agent: "clerk", AgentName: "The clerk", Tool: "files.move", Uses: 1}
	if got := p.Terms(); got != "The clerk may use files.move in any session without asking, once" {
		t.Errorf("the terms are %q", got)
	}
	if v := p.View(p.Made); v.Agent != "clerk" || v.AgentName != "The clerk" {
		t.Errorf("it is shown as %+v", v)
	}
}
