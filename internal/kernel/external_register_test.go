package kernel_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/utp"
)

// TestOperatorAddsTool: an operator registers the tool of a third-party service that knows
// nothing of registering. It counts as if the service had done so: broker-only, and looked at
// by nobody. Then it is served.
func TestOperatorAddsTool(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		s := w.stranger("words")
		d := utp.Definition{
			Tool: wordCount, Description: "Counts words.", Parameters: jsontext.Value(`{"type":"object","properties":{"name":{"type":"string"}}}`),
			Target: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.words.call", AfterExecution: utp.Suspend,
			Options: jsontext.Value(`{"enforcement":"enforced"}`),
		}
		got, err := operate[api.ToolDetail](w, api.OpAdd, api.RegisterRequest{Definition: d})
		if err != nil || got.Enforcement != utp.BrokerOnly || got.Reviewed || got.EffectiveClass != utp.Irreversible || got.EffectiveRisk != utp.RiskHigh || got.Decision != "deny" {
			t.Fatalf("added as %+v, %v", got, err)
		}
		again, err := operate[api.ToolDetail](w, api.OpAdd, api.RegisterRequest{Definition: d})
		if err != nil || again.Digest != got.Digest {
			t.Errorf("added again as %+v, %v", again, err)
		}
		d.Class, d.Risk = utp.Read, utp.RiskLow
		if _, err := operate[api.ToolDetail](w, api.OpAdd, api.RegisterRequest{Definition: d}); err != nil {
			t.Fatal(err)
		}
		w.review(map[string]utp.Class{wordCount: utp.Read})
		w.work(one(wordCount))
		a := w.begin()
		_, header, card := s.command()
		s.finishes(header, card)
		w.succeeded(a.Turn)
	})
}

// TestOperatorAddsNothing: what is not a tool of a third-party service stays as it is.
func TestOperatorAddsNothing(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		s := w.stranger("words")
		s.serves(utp.Read, `{}`)
		theirs, ours := w.tool(wordCount), w.tool(poller)
		for name, tt := range map[string]struct {
			change func(*utp.Definition)
			code   utp.Code
		}{
			"ours":             {func(d *utp.Definition) { *d = ours.Definition }, utp.CodeConflict},
			"another service":  {func(d *utp.Definition) { d.Target = "cg.v1r4.{project_id}.{channel_id}.cmd.tool.thief.call" }, utp.CodeConflict},
			"any service":      {func(d *utp.Definition) { d.Target = "cg.v1r4.p.c.cmd.tool.{project_id}.call" }, utp.CodeBadRequest},
			"no subject":       {func(d *utp.Definition) { d.Target = "words" }, utp.CodeBadRequest},
			"no name":          {func(d *utp.Definition) { d.Tool = "" }, utp.CodeBadRequest},
			"a reserved name":  {func(d *utp.Definition) { d.Tool = utp.SubmitResult }, utp.CodeBadRequest},
			"no schema":        {func(d *utp.Definition) { d.Parameters = jsontext.Value(`{"type":7}`) }, utp.CodeBadRequest},
			"no after":         {func(d *utp.Definition) { d.AfterExecution = "" }, utp.CodeBadRequest},
			"options":          {func(d *utp.Definition) { d.Options = jsontext.Value(`[]`) }, utp.CodeBadRequest},
			"a secret for it":  {func(d *utp.Definition) { d.Options = jsontext.Value(`{"envs":{"name":"KEY"}}`) }, utp.CodeBadRequest},
			"an unknown class": {func(d *utp.Definition) { d.Class = "harmless" }, utp.CodeBadRequest},
		} {
			d := theirs.Definition
			tt.change(&d)
			_, err := operate[api.ToolDetail](w, api.OpAdd, api.RegisterRequest{Definition: d})
			t.Log(name)
			wantFault(t, err, tt.code)
		}
		if got := w.tool(wordCount); got.Digest != theirs.Digest || !got.Reviewed {
			t.Errorf("their tool is %+v", got)
		}
		if got := w.tool(poller); got.Digest != ours.Digest || got.Enforcement() != utp.Enforced {
			t.Errorf("our tool is %+v", got)
		}
		wantFault(t, w.as(kernel.ExternalCaller, "words", api.OpAdd, api.RegisterRequest{Definition: theirs.Definition}, nil), utp.CodeAuthFailed)
	})
}
