package wording_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/wording"
	"github.com/earshot-dev/earshot/utp"
)

// TestChangesEnd: each sentence ends once, whatever its last value ends with.
func TestChangesEnd(t *testing.T) {
	t.Parallel()
	for seen, want := range map[string]string{
		`{"description":"It reads."}`: "the description was It reads., and is It reads; it sends?",
		`{"description":"It reads; it sends?","parameters":{"description":"A word."}}`:           "the parameters had A word. at /description, and have A letter.",
		`{"description":"It reads; it sends?","parameters":{}}`:                                  "the parameters have A letter. at /description.",
		`{"description":"It reads; it sends?","parameters":{"description":"A letter.","a":"b"}}`: "the parameters have no longer b at /a.",
		`{`: "the definition that was reviewed cannot be read.",
	} {
		d := api.ToolDetail{
			Definition: utp.Definition{Description: "It reads; it sends?", Parameters: jsontext.Value(`{"description":"A letter."}`)}, Seen: jsontext.Value(seen),
		}
		var all []string
		for _, change := range wording.Changes(d) {
			all = append(all, change.String())
		}
		if got := strings.Join(all, "\n"); !strings.Contains(got, want) || strings.Contains(got, "..") {
			t.Errorf("%s: it says\n%s\nexpected\n%s", seen, got, want)
		}
	}
}
