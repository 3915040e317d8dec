package api_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/api"
)

// TestModelNames: each tool has a name that models can have, its own where that is one, and no two have the same.
func TestModelNames(t *testing.T) {
	t.Parallel()
	tools := []string{"read", "files.move", "files_move", "files-move", "a.b", "a:b", "é", strings.Repeat("long", 30), strings.Repeat("long", 30) + "x", "", "a_b"}
	names := api.ModelNames(tools)
	can := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	seen := map[string]string{}
	for _, tool := range tools {
		name := names[tool]
		if !can.MatchString(name) {
			t.Errorf("%q is called %q", tool, name)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("%q and %q are both called %q", tool, other, name)
		}
		seen[name] = tool
		if can.MatchString(tool) && name != tool {
			t.Errorf("%q is called %q", tool, name)
		}
	}
	slices.Reverse(tools)
	if again := api.ModelNames(tools); fmt.Sprint(again) != fmt.Sprint(names) {
		t.Errorf("in another order they are %v; they were %v", again, names)
	}
	if one := api.ModelNames([]string{"files.move"})["files.move"]; one != "files_move" {
		t.Errorf("alone it is %q", one)
	}
}
