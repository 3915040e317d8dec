package kerneltest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/kerneltest"
)

// TestCasesAreListed: the document for users of UTP names each case.
func TestCasesAreListed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/utp-coverage.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range kerneltest.Names() {
		as := name
		if _, c, several := strings.Cut(name, "turn is "); several && c != "queued" { // the others are named after the first
			as = "… " + c
		}
		if !strings.Contains(string(text), "*"+as+"*") {
			t.Errorf("docs/utp-coverage.md does not name %q", name)
		}
	}
}
