package kernel_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// TestForeignClassUnnamed: where a foreign definition names no class and no risk, an operator's word counts as it
// is; until then the tool is irreversible and of high risk. A class or risk that is named still raises that
// word, and one that is named later is another definition, which nobody has looked at.
func TestForeignClassUnnamed(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		s := w.stranger("words")
		d := definition(wordCount, "", `{}`)
		d.Class, d.Risk, d.Target = "", "", "cg.v1r4.{project_id}.{channel_id}.cmd.tool.words.call"
		is := func(when string, class utp.Class, risk utp.Risk, reviewed bool) store.Tool {
			t.Helper()
			got := w.tool(wordCount)
			if got.EffectiveClass() != class || got.EffectiveRisk() != risk || got.Reviewed != reviewed {
				t.Errorf("%s: %s, %s risk, reviewed %v; want %s, %s, %v", when, got.EffectiveClass(), got.EffectiveRisk(), got.Reviewed, class, risk, reviewed)
			}
			return got
		}
		registers := func() { t.Helper(); s.must(api.OpRegister, api.RegisterRequest{Definition: d}, nil) }
		registers()
		is("at first", utp.Irreversible, utp.RiskHigh, false)
		w.review(map[string]utp.Class{wordCount: utp.Read})
		is("reviewed", utp.Read, utp.RiskLow, true)
		registers()
		unnamed := is("registered again", utp.Read, utp.RiskLow, true)
		w.work(one(wordCount))
		a := w.begin()
		_, header, card := s.command() // nobody is asked about what only reads
		s.finishes(header, card)
		w.succeeded(a.Turn)
		d.Risk = utp.RiskMedium
		registers()
		is("a risk is named", utp.Read, utp.RiskMedium, true)
		d.Risk = ""
		registers()
		is("and left out again", utp.Read, utp.RiskMedium, true)
		d.Class = utp.Irreversible
		registers()
		if named := is("a class is named", utp.Irreversible, utp.RiskHigh, false); named.Digest == unnamed.Digest {
			t.Error("the definition has the digest of the one that named no class")
		}
		w.review(map[string]utp.Class{wordCount: utp.Read})
		is("a review below it", utp.Irreversible, utp.RiskLow, true)
		d.Class = ""
		registers()
		is("it is left out again", utp.Irreversible, utp.RiskHigh, false)
		wantFault(t, w.now.kernel.Admin().Review(w.ctx, wordCount, w.tool(poller).Digest, utp.Read, utp.RiskLow), utp.CodeConflict)
		// A service that starts at the kernel says what its tool does.
		ours := definition("fresh", utp.Read, `{}`)
		ours.Class = ""
		wantFault(t, w.as(kernel.ToolCaller, target, api.OpRegister, api.RegisterRequest{Definition: ours}, nil), utp.CodeBadRequest)
		ours.Class, ours.Risk = utp.Read, ""
		wantFault(t, w.as(kernel.ToolCaller, target, api.OpRegister, api.RegisterRequest{Definition: ours}, nil), utp.CodeBadRequest)
		ours.Risk, ours.Options = utp.RiskLow, jsontext.Value(`{"enforcement":"loose"}`)
		if err := w.as(kernel.ToolCaller, target, api.OpRegister, api.RegisterRequest{Definition: ours}, nil); err == nil {
			t.Error("an enforcement that is none is registered")
		}
	})
}
