package cli_test

import (
	"testing"

	"github.com/earshot-dev/earshot/internal/cli"
)

// TestItemsOf: what a removal would delete is listed file by file, and only for the tools that do so. Of a tool that takes arguments of the
// same form nothing is claimed, and no argument is left out.
func TestItemsOf(t *testing.T) {
	t.Parallel()
	const arguments = `{"root":"/p","sets":[{"keep":"a","size":3,"sha256":"h","delete":["b","c"]}]}`
	if items := cli.ItemsOf("files.trash", []byte(arguments)); len(items) != 2 || items[0].Value != "b" || items[0].Note != "3 bytes, the same as a, which stays" {
		t.Errorf("a removal: %+v", items)
	}
	if items := cli.ItemsOf("disk.wipe", []byte(arguments)); len(items) != 6 || items[0].Value != "/p" {
		t.Errorf("another tool: %+v", items)
	}
}
