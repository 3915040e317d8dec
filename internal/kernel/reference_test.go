package kernel_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// TestValuesLikeReferences: arguments and results that look exactly like the kernel's
// own references to blobs are values like any other, whether there is such a blob or not.
func TestValuesLikeReferences(t *testing.T) {
	other := []byte(`{"name":"somebody else's"}`)
	sum := sha256.Sum256(other)
	for name, text := range map[string]string{
		"of no blob":         `{"$blob":"` + strings.Repeat("0", 64) + `","size":5}`,
		"of another's blob":  fmt.Sprintf(`{"$blob":%q,"size":%d}`, hex.EncodeToString(sum[:]), len(other)),
		"in the other order": fmt.Sprintf(`{"size":%d,"$blob":%q}`, len(other), hex.EncodeToString(sum[:])),
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				value := jsontext.Value(text)
				d := definition(mail, utp.Irreversible, `{}`)
				d.Parameters = jsontext.Value(`{"type":"object"}`)
				w.post(d, func(_ context.Context, c *tool.Call) (tool.Result, error) {
					if string(c.Args) != text {
						t.Errorf("the service got %s; want %s", c.Args, text)
					}
					return tool.Result{Value: c.Args}, w.effects.happen(c.ID)
				})
				(&hand{w: w, conn: w.bus.connect("agent", agentName)}).upload(other)
				p := &planner{steps: [][]worker.Call{{{Key: "k1", Tool: mail, Args: value}}}}
				w.workAs(func() worker.Planner { return p })
				a := w.begin()
				q := w.asked()
				if shown, _, err := w.hub.Arguments(w.ctx, api.ArgumentsRequest{Question: q.Number}); err != nil || string(shown) != text {
					t.Errorf("the person can read %s, %v; want %s", shown, err, text)
				}
				w.say(q, "accept")
				w.succeeded(a.Turn)
				w.effectsAre(1)
				if r := p.seen[0]; r.Status != utp.StatusSuccess || string(r.Value) != text {
					t.Errorf("the planner sees %+v; want %s", r, text)
				}
			})
		})
	}
}
