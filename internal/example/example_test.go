package example_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/example"
)

// TestDocumentsShowThem: what the program prints, without the comment at its beginning, is what the documents show.
func TestDocumentsShowThem(t *testing.T) {
	t.Parallel()
	for document, text := range map[string]string{
		"policy.md": example.Policy, "server.md": example.Configuration, "tools.md": strings.Split(example.Questions, "\n# A name in braces")[0] + "\n",
	} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "docs", document))
		if err != nil {
			t.Fatal(err)
		}
		shown := false
		for block := range strings.SplitSeq(string(raw), "```yaml\n") {
			block, _, _ = strings.Cut(block, "```")
			shown = shown || len(block) > 100 && strings.HasSuffix(strings.TrimSpace(text), strings.TrimSpace(block))
		}
		if !shown {
			t.Errorf("docs/%s shows another example than the program prints", document)
		}
	}
}
