package main_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// initialized is what packages allocate before main runs.
type initialized struct{ bytes, objects int }

// startBudget and ownBudget are what every start of the program may cost: of all packages, and of those of this module. If a
// change exceeds them, build its tables at their first use (sync.OnceValue), or do without the import. Below 4 MB
// the garbage collector does not run before main.
var (
	startBudget = initialized{bytes: 980_000, objects: 7_300}
	ownBudget   = initialized{bytes: 40_000, objects: 370}
)

// initLine is a line of GODEBUG=inittrace=1: the package, the bytes and the objects that it has allocated.
var initLine = regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, (\d+) allocs$`)

// TestStartCost compares what packages initialize at `earshot version` with the budget. It also fails where the budget is
// more than a tenth too large, so that the budget goes down with the cost.
func TestStartCost(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), program(t), "version")
	cmd.Env = []string{"GODEBUG=inittrace=1"}
	var trace strings.Builder
	cmd.Stderr = &trace
	must(t, cmd.Run())
	var all, own initialized
	var ours []string
	for _, line := range initLine.FindAllStringSubmatch(trace.String(), -1) {
		cost := initialized{number(t, line[2]), number(t, line[3])}
		all = initialized{all.bytes + cost.bytes, all.objects + cost.objects}
		if strings.HasPrefix(line[1], "github.com/earshot-dev/earshot/") || line[1] == "main" {
			own = initialized{own.bytes + cost.bytes, own.objects + cost.objects}
			ours = append(ours, fmt.Sprintf("%6d bytes, %3d objects: %s", cost.bytes, cost.objects, line[1]))
		}
	}
	for name, row := range map[string]struct{ cost, budget initialized }{"all packages": {all, startBudget}, "packages of this module": {own, ownBudget}} {
		switch {
		case row.cost.bytes > row.budget.bytes || row.cost.objects > row.budget.objects:
			t.Errorf("%s allocate %+v at a start, more than the budget of %+v", name, row.cost, row.budget)
		case 10*row.cost.bytes < 9*row.budget.bytes || 10*row.cost.objects < 9*row.budget.objects:
			t.Errorf("%s allocate %+v at a start; lower the budget of %+v", name, row.cost, row.budget)
		}
	}
	if t.Failed() {
		t.Log(strings.Join(ours, "\n"))
	}
}

func number(t *testing.T, digits string) int {
	t.Helper()
	n, err := strconv.Atoi(digits)
	must(t, err)
	return n
}
