package kerneltest

import (
	"slices"
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// exercise is one case.
type exercise struct {
	name string
	run  func(*scene)
}

// Exercise runs the cases, each with a ledger of its own.
func Exercise(t *testing.T, open func(t *testing.T) store.Ledger) {
	t.Helper()
	for _, x := range cases() {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			x.run(newScene(t, open(t)))
		})
	}
}

func cases() []exercise { return slices.Concat(delegationCases(), stopCases(), resultCases()) }

// Names returns the names of the cases.
func Names() []string {
	all := cases()
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].name
	}
	return names
}
