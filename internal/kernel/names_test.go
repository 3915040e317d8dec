package kernel_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/utp"
)

// prefixes lets a service register what begins with its name, and what is listed as kind/name:tool.
type prefixes map[string]bool

func (p prefixes) MayRegister(from kernel.Caller, tool string) error {
	if from.Name == target || strings.HasPrefix(tool, from.Name+".") || p[from.Kind+"/"+from.Name+":"+tool] {
		return nil
	}
	return errors.New("the operator has not listed " + tool + " for " + from.Name)
}

// of is a definition of a service's tool.
func of(service, name string) utp.Definition {
	d := definition(name, utp.Read, `{}`)
	d.Target = strings.Replace(d.Target, "tool."+target, "tool."+service, 1)
	return d
}

// TestToolNames: a credential registers the names that the operator has given it and no others. What
// it had registered before stays its own, and what another has, it cannot take.
func TestToolNames(t *testing.T) {
	listed := prefixes{"tool/words:word_count": true, "tool/words:shared": true, "tool/post:shared": true, "foreign/peer:their_tool": true}
	inWorld(t, func(w *world) { w.rules = []rulebook.Rule{{Tool: "*", Decide: "ask"}} }, func(t *testing.T, w *world) {
		register := func(kind, name, tool string) error {
			return w.as(kind, name, api.OpRegister, api.RegisterRequest{Definition: of(name, tool)}, nil)
		}
		if err := register(kernel.ToolCaller, "words", "from_before"); err != nil { // by a kernel that fenced nothing
			t.Fatal(err)
		}
		w.names = listed
		w.restart()
		for _, tt := range []struct {
			kind, name, tool string
			code             utp.Code
			says             string
		}{
			{kernel.ToolCaller, "words", "words.count", "", ""},
			{kernel.ToolCaller, "words", "word_count", "", ""},
			{kernel.ToolCaller, "words", "from_before", "", ""},
			{kernel.ToolCaller, "words", "another", utp.CodeAuthFailed, "the operator has not listed another for words"},
			{kernel.ToolCaller, "post", "words.sum", utp.CodeAuthFailed, "words.sum"},
			{kernel.ToolCaller, "post", "from_before", utp.CodeConflict, "from_before belongs to the service words"},
			{kernel.ToolCaller, "words", "shared", "", ""},
			{kernel.ToolCaller, "post", "shared", utp.CodeConflict, "shared belongs to the service words"},
			{kernel.ExternalCaller, "peer", "peer.say", "", ""},
			{kernel.ExternalCaller, "peer", "their_tool", "", ""},
			{kernel.ExternalCaller, "peer", "word_sum", utp.CodeAuthFailed, "word_sum"},
		} {
			err := register(tt.kind, tt.name, tt.tool)
			if tt.code == "" {
				if err != nil {
					t.Errorf("%s %s: %v", tt.name, tt.tool, err)
				}
				continue
			}
			wantFault(t, err, tt.code)
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s %s: %v; want %q", tt.name, tt.tool, err, tt.says)
			}
		}
		changed := of("words", "from_before")
		changed.Class = utp.Idempotent
		if err := w.as(kernel.ToolCaller, "words", api.OpRegister, api.RegisterRequest{Definition: changed}, nil); err != nil {
			t.Errorf("another definition of one's own: %v", err)
		}
	})
}

// TestOperatorsFileWins: what anyone who runs the kernel registers is theirs, also where a credential
// was there first; what was reviewed of that one's says nothing of theirs.
func TestOperatorsFileWins(t *testing.T) {
	inWorld(t, func(w *world) { w.names = prefixes{"tool/words:word_count": true} }, func(t *testing.T, w *world) {
		register := func() error {
			return w.as(kernel.ToolCaller, "words", api.OpRegister, api.RegisterRequest{Definition: of("words", "word_count")}, nil)
		}
		if err := register(); err != nil {
			t.Fatal(err)
		}
		w.review(map[string]utp.Class{"word_count": utp.Read})
		if err := w.now.kernel.Registry().Register(w.ctx, "desk", of("desk", "word_count")); err != nil {
			t.Fatal(err)
		}
		if got := w.tool("word_count"); got.Reviewed || got.LastReviewed != nil || !strings.Contains(got.Definition.Target, ".tool.desk.") {
			t.Errorf("it is %+v", got)
		}
		wantFault(t, register(), utp.CodeConflict)
		if _, err := w.now.kernel.Registry().Trust(w.ctx, "desk", of("desk", "words.count")); err != nil {
			t.Errorf("a name that a credential could have: %v", err)
		}
		wantFault(t, w.as(kernel.ToolCaller, "words", api.OpRegister, api.RegisterRequest{Definition: of("words", "words.count")}, nil), utp.CodeConflict)
	})
}
