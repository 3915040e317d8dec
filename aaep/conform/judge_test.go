package conform_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform"
)

// TestRunBites gives vectors to judges that are wrong, one way after the other.
func TestRunBites(t *testing.T) {
	t.Parallel()
	path, other, last := "/event_id", "/type", 2
	broken := conform.Vector{ID: "ENV-18-x", Rule: "ENV-18", Verdict: conform.VerdictError, Path: &path, Input: jsontext.Value(`{}`)}
	kept := conform.Vector{ID: "ENV-18-y", Rule: "ENV-18", Also: []string{"ENV-19"}, Verdict: conform.VerdictValid, Input: jsontext.Value(`{}`)}
	several := broken
	several.Also = []string{"ENV-19"}
	late := broken
	late.Stream, late.Input, late.At = []jsontext.Value{jsontext.Value(`{}`), jsontext.Value(`{}`)}, nil, &last
	judgeDuty := broken
	judgeDuty.Rule, judgeDuty.Finding = "ENV-55", "ENV-18"
	found := func(rule string, severity aaep.Severity, at string, also ...string) aaep.Violation {
		return aaep.Violation{Rule: rule, Severity: severity, Path: at, Also: also, Message: "m"}
	}
	right := found("ENV-18", aaep.SeverityError, path)
	for _, row := range []struct {
		name    string
		vector  conform.Vector
		found   [][]aaep.Violation
		problem string
	}{
		{"right", broken, [][]aaep.Violation{{right}}, ""},
		{"named among others", broken, [][]aaep.Violation{{found("ENV-07", aaep.SeverityError, path, "ENV-18")}}, ""},
		{"nothing", broken, nil, "found nothing"},
		{"another rule", broken, [][]aaep.Violation{{found("ENV-21", aaep.SeverityError, path)}}, "expected ENV-18 error"},
		{"another weight", broken, [][]aaep.Violation{{found("ENV-18", aaep.SeverityWarning, path)}}, "expected ENV-18 error"},
		{"another place", broken, [][]aaep.Violation{{found("ENV-18", aaep.SeverityError, other)}}, `at "/event_id"`},
		{"more than it", broken, [][]aaep.Violation{{right, found("ENV-21", aaep.SeverityError, other)}}, "found also ENV-21"},
		{"a warning beside it", broken, [][]aaep.Violation{{right, found("ENV-21", aaep.SeverityWarning, other)}}, ""},
		{"both", several, [][]aaep.Violation{{right, found("ENV-19", aaep.SeverityInfo, other)}}, ""},
		{"one of two", several, [][]aaep.Violation{{right}}, "names ENV-19 too"},
		{"at the end", late, [][]aaep.Violation{{}, {}, {right}}, ""},
		{"too early", late, [][]aaep.Violation{{}, {right}, {}}, "at the end of the stream"},
		{"never", late, [][]aaep.Violation{{}, {right}}, "at the end of the stream"},
		{"a duty of judges", judgeDuty, [][]aaep.Violation{{right}}, ""},
		{"kept", kept, [][]aaep.Violation{{found("ENV-36", aaep.SeverityWarning, path)}}, ""},
		{"kept, and found all the same", kept, [][]aaep.Violation{{found("ENV-18", aaep.SeverityInfo, path)}}, "expected no finding"},
		{"kept, and the other found", kept, [][]aaep.Violation{{found("ENV-19", aaep.SeverityInfo, path)}}, "expected no finding"},
		{"kept, and any error", kept, [][]aaep.Violation{{found("ENV-36", aaep.SeverityError, path)}}, "expected no finding"},
	} {
		out := row.vector.Run(func(conform.Case) ([][]aaep.Violation, error) { return row.found, nil })
		if row.problem == "" && !out.Passed() || !strings.Contains(out.Problem, row.problem) {
			t.Errorf("%s: problem %q, expected %q", row.name, out.Problem, row.problem)
		}
	}
	unable := broken.Run(func(conform.Case) ([][]aaep.Violation, error) { return nil, conform.ErrUnsupported })
	if unable.Passed() || unable.Problem != "" || unable.Unsupported != conform.ErrUnsupported.Error() {
		t.Errorf("a judge that cannot judge: %+v", unable)
	}
}

// TestFill: the text goes to its place, a name of the same letters stays, and a place
// that is not there is told.
func TestFill(t *testing.T) {
	t.Parallel()
	v := conform.Vector{ID: "x", Input: jsontext.Value(`{"a":"a","b":{"a":"","list":["",""]}}`)}
	v.Fill = []conform.Fill{{Path: "/b/a", Text: "xy", Times: 2}, {Path: "/b/list/1", Text: "ọ", Times: 3}}
	all, err := v.Messages()
	if err != nil || string(all[0]) != `{"a":"a","b":{"a":"xyxy","list":["","ọọọ"]}}` {
		t.Errorf("%s, %v", all, err)
	}
	for _, path := range []string{"/c", "/b", "/b/list/2", ""} {
		v.Fill = []conform.Fill{{Path: path, Text: "x", Times: 1}}
		if all, err := v.Messages(); err == nil {
			t.Errorf("%q: %s, expected an error", path, all)
		}
	}
}

// TestReferenceRefuses: what the judge cannot do it says.
func TestReferenceRefuses(t *testing.T) {
	t.Parallel()
	if _, err := conform.Reference(conform.Case{Mode: "guess"}); !errors.Is(err, conform.ErrUnsupported) {
		t.Errorf("an unknown mode: %v", err)
	}
}
