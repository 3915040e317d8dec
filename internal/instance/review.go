package instance

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// review records a review of the tools that ship with the program, and of those in its tools files: by starting it with
// them, the person has chosen them. A tool from elsewhere stays unreviewed. So does one whose program has changed under
// the same path: an automatic start, such as after a power cut, is not a review.
func (i *Instance) review(ctx context.Context) error {
	all := i.reviewed()
	var tools []store.Tool
	for _, target := range slices.Sorted(maps.Keys(all)) {
		for _, d := range all[target] {
			reviewed, vouched, err := i.trust(ctx, target, d)
			if err != nil {
				return cause.Fail(err, "the tool "+d.Tool+" could not be registered", "")
			}
			if vouched {
				tools = append(tools, reviewed)
			} else {
				i.Changed = append(i.Changed, d)
			}
		}
	}
	if err := i.options.Policy.Reviewed(tools); err != nil {
		return cause.Misuse(cause.Of(err), "change the rule to ask or deny")
	}
	return nil
}

// trust registers a tool as reviewed, unless its program has changed since the last review.
func (i *Instance) trust(ctx context.Context, target string, d utp.Definition) (reviewed store.Tool, vouched bool, err error) {
	was, err := i.programReviewed(ctx, d.Tool)
	if err != nil {
		return reviewed, false, err
	}
	if is := settings.ProgramOf(d); was.Path == is.Path && was.SHA256 != is.SHA256 {
		return reviewed, false, i.Kernel.Registry().Register(ctx, target, d)
	}
	reviewed, err = i.Kernel.Registry().Trust(ctx, target, d)
	return reviewed, true, err
}

// programReviewed returns the program of a tool as of its last review; the zero value if there was none, or it runs
// none.
func (i *Instance) programReviewed(ctx context.Context, name string) (settings.Program, error) {
	var program settings.Program
	err := i.Store.View(ctx, func(tx store.Tx) error {
		known, err := tx.Tools(store.ToolFilter{Names: []string{name}})
		if err != nil || len(known) == 0 || len(known[0].LastReviewed) == 0 {
			return err
		}
		var seen utp.Definition
		if err := json.Unmarshal(known[0].LastReviewed, &seen); err != nil {
			return fmt.Errorf("the definition of %s that was reviewed last: %w", name, err)
		}
		program = settings.ProgramOf(seen)
		return nil
	})
	return program, err
}
