package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// review is the operator's word on the tools that ship with the program, and on those of
// the files that it was started with: whoever runs it has chosen them with it. A tool from
// elsewhere stays unreviewed, and so does one whose program changed under the same path:
// a start by itself, such as after a power cut, has looked at nothing.
func (h *house) review(ctx context.Context, o houseOptions) error {
	shipped, err := tidy.Definitions()
	if err != nil {
		return err
	}
	all := map[string][]utp.Definition{tidy.Target: shipped}
	for _, s := range o.services {
		all[s.target] = s.definitions()
	}
	var tools []kernel.Tool
	for _, target := range slices.Sorted(maps.Keys(all)) {
		for _, d := range all[target] {
			reviewed, vouched, err := h.vouch(ctx, target, d)
			if err != nil {
				return cause.Fail(err, "the tool "+d.Tool+" could not be registered", "")
			}
			if vouched {
				tools = append(tools, reviewed)
			} else {
				h.changed = append(h.changed, d)
			}
		}
	}
	if err := o.policy.Reviewed(tools); err != nil {
		return cause.Misuse(cause.Of(err), "change the rule to ask or deny")
	}
	return nil
}

// vouch registers a tool as reviewed, unless its program is another one than when it was reviewed last.
func (h *house) vouch(ctx context.Context, target string, d utp.Definition) (reviewed kernel.Tool, vouched bool, err error) {
	was, err := h.programReviewed(ctx, d.Tool)
	if err != nil {
		return reviewed, false, err
	}
	if is := settings.ProgramOf(d); was.Path == is.Path && was.SHA256 != is.SHA256 {
		return reviewed, false, h.kernel.Register(ctx, target, d)
	}
	reviewed, err = h.kernel.Vouch(ctx, target, d)
	return reviewed, true, err
}

// programReviewed is the program of a tool as it was when the tool was reviewed last; the zero one where it was not, or runs none.
func (h *house) programReviewed(ctx context.Context, name string) (settings.Program, error) {
	var program settings.Program
	err := h.store.View(ctx, func(tx kernel.Tx) error {
		known, err := tx.Tools(kernel.ToolFilter{Names: []string{name}})
		if err != nil || len(known) == 0 || len(known[0].Seen) == 0 {
			return err
		}
		var seen utp.Definition
		if err := json.Unmarshal(known[0].Seen, &seen); err != nil {
			return fmt.Errorf("the definition of %s that was reviewed last: %w", name, err)
		}
		program = settings.ProgramOf(seen)
		return nil
	})
	return program, err
}

// sayChanged tells which tools count as unreviewed because their programs changed.
func (m *Main) sayChanged(s *server) {
	for _, d := range s.house.changed {
		m.sayf("Changed since review: %s, the program of %s. Each call is asked for, as irreversible, until you review it: `earshot tools review%s %s`.",
			cause.OneLine(settings.ProgramOf(d).Path), d.Tool, s.dataFlag(m), d.Tool)
	}
}
