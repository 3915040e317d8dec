package earshot_test

import (
	"testing"

	"golang.org/x/mod/zip"
)

// TestCanBeInstalled: `go install MODULE/cmd/earshot@VERSION` gets the module as an archive, in which not every name of a file may
// stand, and in which no two names may differ by their letters' case alone.
func TestCanBeInstalled(t *testing.T) {
	t.Parallel()
	found, err := zip.CheckDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if err := found.Err(); err != nil {
		t.Errorf("the module cannot be published: %v", err)
	}
}
