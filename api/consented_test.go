package api_test

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

func consented() api.Consented {
	return api.Consented{
		Project: "home", Session: "sess_1", Turn: "turn_1", Call: "tc_1", Tool: "files.delete", Definition: "d1",
		Args: []byte(`{"root":"/home/ada","sets":[]}`), Policy: "p1", Question: 7,
	}
}

// TestDigestGolden pins the digest: a ledger full of consents depends on it. The value
// was computed by another program from the definition in the call protocol.
func TestDigestGolden(t *testing.T) {
	t.Parallel()
	sum, err := consented().Digest()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := hex.EncodeToString(sum[:]), "15cb5200d8d345953d186b9d6fa17183816feb9b8ef1238704edf93707815962"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestDigestMeansTheSame: other bytes of the same arguments have the same digest.
func TestDigestMeansTheSame(t *testing.T) {
	t.Parallel()
	want, err := consented().Digest()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{`{"sets":[],"root":"/home/ada"}`, ` { "root" : "\/home\u002fada" , "sets" : [ ] } `} {
		c := consented()
		c.Args = []byte(args)
		if got, err := c.Digest(); err != nil || got != want {
			t.Errorf("%s: %x, %v; want %x", args, got, err, want)
		}
	}
}

// mutations change one field each.
var mutations = map[string]func(*api.Consented, string){
	"project":    func(c *api.Consented, s string) { c.Project += s },
	"session":    func(c *api.Consented, s string) { c.Session += s },
	"turn":       func(c *api.Consented, s string) { c.Turn += s },
	"call":       func(c *api.Consented, s string) { c.Call += s },
	"tool":       func(c *api.Consented, s string) { c.Tool += s },
	"definition": func(c *api.Consented, s string) { c.Definition += s },
	"policy":     func(c *api.Consented, s string) { c.Policy += s },
	"question":   func(c *api.Consented, s string) { c.Question += len(s) },
	"args": func(c *api.Consented, s string) {
		value, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		c.Args, err = utp.SetMember(c.Args, "extra", value)
		if err != nil {
			panic(err)
		}
	},
	"args value": func(c *api.Consented, s string) {
		value, err := json.Marshal("/home/ada" + s)
		if err != nil {
			panic(err)
		}
		c.Args, err = utp.SetMember(c.Args, "root", value)
		if err != nil {
			panic(err)
		}
	},
}

func TestDigestBindsEveryField(t *testing.T) {
	t.Parallel()
	for name, change := range mutations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				field := rapid.StringOfN(rapid.RuneFrom([]rune("ab,:\"{}\\é")), 1, 6, -1)
				before := api.Consented{
					Project: field.Draw(t, "project"), Session: field.Draw(t, "session"), Turn: field.Draw(t, "turn"),
					Call: field.Draw(t, "call"), Tool: field.Draw(t, "tool"), Definition: field.Draw(t, "definition"),
					Args: []byte(`{"root":"/home/ada"}`), Policy: field.Draw(t, "policy"), Question: rapid.IntRange(0, 99).Draw(t, "question"),
				}
				after := before
				change(&after, field.Draw(t, "change"))
				a, err := before.Digest()
				if err != nil {
					t.Fatal(err)
				}
				b, err := after.Digest()
				if err != nil {
					t.Fatal(err)
				}
				if a == b {
					t.Fatalf("%+v and %+v have one digest", before, after)
				}
			})
		})
	}
}

// TestDigestFieldsDoNotFlow: moving text from one field to the next is another digest.
func TestDigestFieldsDoNotFlow(t *testing.T) {
	t.Parallel()
	seen := map[[32]byte]string{}
	for _, pair := range [][2]string{{"ab", "c"}, {"a", "bc"}, {`a","tool":"b`, "c"}, {"a", `b","turn":"c`}} {
		c := consented()
		c.Session, c.Tool = pair[0], pair[1]
		sum, err := c.Digest()
		if err != nil {
			t.Fatal(err)
		}
		if before, twice := seen[sum]; twice {
			t.Errorf("%v has the digest of %s", pair, before)
		}
		seen[sum] = strings.Join(pair[:], "|")
	}
}

func TestDigestRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*api.Consented){
		"project":       func(c *api.Consented) { c.Project = "" },
		"session":       func(c *api.Consented) { c.Session = "" },
		"turn":          func(c *api.Consented) { c.Turn = "" },
		"tool_call_id":  func(c *api.Consented) { c.Call = "" },
		"its tool;":     func(c *api.Consented) { c.Tool = "" },
		"definition":    func(c *api.Consented) { c.Definition = "" },
		"policy":        func(c *api.Consented) { c.Policy = "" },
		"question":      func(c *api.Consented) { c.Question = -1 },
		"UTF-8":         func(c *api.Consented) { c.Session = "\xff" },
		"JSON object":   func(c *api.Consented) { c.Args = nil },
		"name once":     func(c *api.Consented) { c.Args = []byte(`{"a":1,"a":1}`) },
		"or a string":   func(c *api.Consented) { c.Args = []byte(`{"a":9007199254740993}`) },
		"text without ": func(c *api.Consented) { c.Args = []byte(`{"a":"\u0000"}`) },
	} {
		c := consented()
		change(&c)
		if _, err := c.Digest(); err == nil || !strings.Contains(err.Error()+" ", name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMustBeRead: what cannot be undone, what is of high risk, and what nobody knows of is read in full before a yes.
func TestMustBeRead(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		class utp.Class
		risk  utp.Risk
		want  bool
	}{
		{utp.Read, utp.RiskLow, false},
		{utp.Idempotent, utp.RiskMedium, false},
		{utp.Reversible, utp.RiskMedium, false},
		{utp.Reversible, utp.RiskHigh, true},
		{utp.Irreversible, utp.RiskLow, true},
		{"", utp.RiskLow, true},
		{"unknown", utp.RiskLow, true},
		{utp.Read, "", true},
	} {
		if got := api.MustBeRead(row.class, row.risk); got != row.want {
			t.Errorf("%q of %q risk: %t", row.class, row.risk, got)
		}
	}
}
