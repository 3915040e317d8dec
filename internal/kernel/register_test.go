package kernel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// TestRegister: a service registers its own tools, under names that nobody else has.
func TestRegister(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		register := func(name string, d utp.Definition) error {
			return w.as(kernel.ToolCaller, name, api.OpRegister, api.RegisterRequest{Definition: d}, nil)
		}
		d := definition("fresh", utp.Read, `{}`)
		wantFault(t, register("post", d), utp.CodeAuthFailed)
		theirs := definition(burn, utp.Read, `{}`)
		theirs.Target = strings.Replace(theirs.Target, "tool."+target, "tool.post", 1)
		wantFault(t, register("post", theirs), utp.CodeConflict)
		for name, spoil := range map[string]func(*utp.Definition){
			"no name":               func(d *utp.Definition) { d.Tool = "" },
			"a reserved name":       func(d *utp.Definition) { d.Tool = "fork_join" },
			"no class":              func(d *utp.Definition) { d.Class = "harmless" },
			"another project":       func(d *utp.Definition) { d.Target = "cg.v1r4.other.{channel_id}.cmd.tool." + target + ".run" },
			"no schema":             func(d *utp.Definition) { d.Parameters = jsontext.Value(`{"type":7}`) },
			"a schema from a file":  func(d *utp.Definition) { d.Parameters = jsontext.Value(`{"$ref":"file:///etc/passwd"}`) },
			"a schema from the web": func(d *utp.Definition) { d.Parameters = jsontext.Value(`{"$ref":"https://example.org/x"}`) },
			"options of no kind":    func(d *utp.Definition) { d.Options = jsontext.Value(`{"envs":{"a":1}}`) },
		} {
			bad := d
			spoil(&bad)
			t.Log(name)
			wantFault(t, register(target, bad), utp.CodeBadRequest)
		}
		if err := register(target, d); err != nil {
			t.Fatal(err)
		}
		if got := w.tool("fresh"); got.Reviewed || got.EffectiveClass() != utp.Irreversible || got.EffectiveRisk() != utp.RiskHigh {
			t.Errorf("a new tool is %+v; want unreviewed, irreversible, of high risk", got)
		}
		if err := w.now.kernel.Admin().Review(w.ctx, "fresh", w.tool("fresh").Digest, utp.Read, utp.RiskLow); err != nil {
			t.Fatal(err)
		}
		if err := register(target, d); err != nil || !w.tool("fresh").Reviewed {
			t.Errorf("the same definition again lost its review: %v", err)
		}
		d.Class = utp.Idempotent
		if err := register(target, d); err != nil || w.tool("fresh").Reviewed {
			t.Errorf("another definition kept the review: %v", err)
		}
		wantFault(t, w.now.kernel.Admin().Review(w.ctx, "fresh", "another digest", utp.Read, utp.RiskLow), utp.CodeConflict)
		wantFault(t, w.now.kernel.Admin().Review(w.ctx, unknown, "", utp.Read, utp.RiskLow), utp.CodeNotFound)
	})
}

// TestUnreviewedIsAsked: whatever a new tool says of itself, it counts as irreversible.
func TestUnreviewedIsAsked(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.serve("post", func(s *service) []tool.Tool {
			d := definition(mail, utp.Read, `{}`)
			d.Target = strings.Replace(d.Target, "tool."+target, "tool.post", 1)
			return []tool.Tool{s.tool(d)}
		})
		w.work(one(mail))
		a := w.begin()
		q := w.asked()
		var event struct {
			Irreversible bool   `json:"irreversible"`
			Risk         string `json:"risk_level"`
		}
		if err := json.Unmarshal([]byte(w.cell(`SELECT body FROM events WHERE type LIKE '%awaiting.confirmation'`)), &event); err != nil {
			t.Fatal(err)
		}
		if !event.Irreversible || event.Risk != "high" {
			t.Errorf("asked as %+v; want irreversible, high", event)
		}
		w.say(q, "reject")
		w.over(a.Turn)
	})
}

// TestRegisterRisk: a service's word that its tool is riskier than it said counts at
// once, also for what was accepted before; its word that it is less risky does not.
func TestRegisterRisk(t *testing.T) {
	for risk, raised := range map[utp.Risk]bool{utp.RiskHigh: true, utp.RiskMedium: false, utp.RiskLow: false} {
		t.Run(string(risk), func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				if err := w.now.kernel.Admin().Review(w.ctx, burn, w.tool(burn).Digest, utp.Irreversible, utp.RiskLow); err != nil {
					t.Fatal(err)
				}
				w.work(one(burn))
				a := w.begin()
				q := w.accepts()
				w.pass(time.Second)
				call := w.last(a.Turn)
				d := definition(burn, utp.Irreversible, `{}`)
				d.Risk = risk
				if err := w.now.kernel.Registry().Register(w.ctx, target, d); err != nil {
					t.Fatal(err)
				}
				want := utp.RiskMedium
				if raised {
					want = utp.RiskHigh
					next := w.staleThenAsked(a.Turn, call.ID, q, "definition")
					w.effectsAre(0)
					w.say(next, "accept")
				}
				if got := w.tool(burn); got.EffectiveRisk() != want || !got.Reviewed {
					t.Errorf("the risk is %s, reviewed %v; want %s and the review kept", got.EffectiveRisk(), got.Reviewed, want)
				}
				w.succeeded(a.Turn)
				w.effectsAre(1)
			})
		})
	}
}

// TestRegisterOneTarget: a definition names one service. One whose service would depend
// on the turn could offer its tools in the name of others.
func TestRegisterOneTarget(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		for _, place := range []string{"{agent_id}", "{channel_id}", "{project_id}"} {
			for _, name := range []string{"a", "b", "c", "p", agentName, "public", "home"} {
				d := definition("fresh", utp.Read, `{}`)
				d.Target = "cg.v1r4.{project_id}.{channel_id}.cmd.tool." + place + ".run"
				t.Log(place, name)
				wantFault(t, w.as(kernel.ToolCaller, name, api.OpRegister, api.RegisterRequest{Definition: d}, nil), utp.CodeBadRequest)
			}
		}
	})
}
