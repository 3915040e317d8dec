package web_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
)

// TestManifestNamesDeviations: the manifest names each deviation of docs/deviations.md, by its rules and its address,
// and no other.
func TestManifestNamesDeviations(t *testing.T) {
	t.Parallel()
	w := played(t).do("GET", "/.well-known/aaep-manifest.json", "", "")
	m, err := aaep.DecodeManifest(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var ours struct {
		Deviations []named `json:"deviations"`
	}
	if err := json.Unmarshal(m.Extensions[aaep.PrefixEarshot], &ours); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/deviations.md")
	if err != nil {
		t.Fatal(err)
	}
	written := onPurpose(string(page))
	if len(written) == 0 || !slices.EqualFunc(ours.Deviations, written, named.equal) {
		t.Errorf("the manifest names\n%v\nand docs/deviations.md has\n%v", ours.Deviations, written)
	}
}

type named struct {
	Rules []string `json:"rules"`
	See   string   `json:"see"`
}

func (n named) equal(other named) bool {
	return n.See == other.See && slices.Equal(n.Rules, other.Rules)
}

var marks = regexp.MustCompile(`[^a-z0-9 -]`)

// onPurpose reads the headings below "On purpose", and the line of rules below each.
func onPurpose(page string) []named {
	_, rest, _ := strings.Cut(page, "\n## On purpose\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	var all []named
	for part := range strings.SplitSeq(section, "\n### ") {
		heading, text, _ := strings.Cut(part, "\n")
		_, rules, found := strings.Cut(text, "Rules: ")
		if strings.TrimSpace(heading) == "" || !found {
			continue
		}
		rules, _, _ = strings.Cut(rules, ".")
		anchor := strings.ReplaceAll(marks.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
		all = append(all, named{
			Rules: strings.Split(rules, ", "),
			See:   "https://github.com/earshot-dev/earshot/blob/main/docs/deviations.md#" + anchor,
		})
	}
	return all
}
