package hostfile_test

import (
	"errors"
	"testing"

	"github.com/earshot-dev/earshot/internal/hostfile"
)

// TestLists: an entry is added to a list behind the others, in the form of the file, and taken out again without a trace.
func TestLists(t *testing.T) {
	t.Parallel()
	host, _ := hostfile.HookHostOf("gemini")
	entry := hostfile.Object{{Name: "matcher", Value: "*"}, {Name: "hooks", Value: []any{hostfile.Object{{Name: "command", Value: "earshot hook gemini"}}}}}
	for name, tt := range map[string]struct{ before, after string }{
		"no file": {"", "{\n  \"hooks\": {\n    \"BeforeTool\": [\n      {\n        \"matcher\": \"*\",\n        \"hooks\": [\n          {\n            \"command\": \"earshot hook gemini\"\n          }\n        ]\n      }\n    ]\n  }\n}\n"},
		"other settings": {
			"{\n\t// mine\n\t\"theme\": \"dark\"\n}\n",
			"{\n\t// mine\n\t\"theme\": \"dark\",\n\t\"hooks\": {\n\t\t\"BeforeTool\": [\n\t\t\t{\n\t\t\t\t\"matcher\": \"*\",\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n\t\t\t\t\t\t\"command\": \"earshot hook gemini\"\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}\n",
		},
		"another hook": {
			"{\n  \"hooks\": {\n    \"BeforeTool\": [\n      {\"hooks\": []} // mine\n    ]\n  }\n}\n",
			"{\n  \"hooks\": {\n    \"BeforeTool\": [\n      {\"hooks\": []},\n      {\n        \"matcher\": \"*\",\n        \"hooks\": [\n          {\n            \"command\": \"earshot hook gemini\"\n          }\n        ]\n      } // mine\n    ]\n  }\n}\n",
		},
		"in one line": {
			`{"hooks": {"BeforeTool": [{"hooks": []}], "Other": []}}`,
			`{"hooks": {"BeforeTool": [{"hooks": []}, {"matcher": "*", "hooks": [{"command": "earshot hook gemini"}]}], "Other": []}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := parsed(t, host, tt.before)
			section := f.HasSection()
			if err := f.Append("BeforeTool", entry); err != nil {
				t.Fatal(err)
			}
			if got := string(f.Text()); got != tt.after {
				t.Errorf("found\n%q\nexpected\n%q", got, tt.after)
			}
			again := parsed(t, host, tt.after)
			list := again.List("BeforeTool")
			if !hostfile.Same(list[len(list)-1], entry) {
				t.Fatalf("found %v", list)
			}
			if err := again.RemoveAt("BeforeTool", len(list)-1); err != nil {
				t.Fatal(err)
			}
			if !section {
				if err := again.RemoveSection(); err != nil {
					t.Fatal(err)
				}
			}
			if got := string(again.Text()); !alike(got, tt.before) {
				t.Errorf("without it again\n%q\nbefore\n%q", got, tt.before)
			}
		})
	}
}

// TestListsInTheMiddle: of several entries each can be taken out, and the others stay.
func TestListsInTheMiddle(t *testing.T) {
	t.Parallel()
	host, _ := hostfile.HookHostOf("gemini")
	const before = "{\n  \"hooks\": {\n    \"A\": [\n      1, // one\n      2,\n      3\n    ]\n  }\n}\n"
	for i, want := range []string{
		"{\n  \"hooks\": {\n    \"A\": [ // one\n      2,\n      3\n    ]\n  }\n}\n",
		"", // the comment before it is the user's
		"{\n  \"hooks\": {\n    \"A\": [\n      1, // one\n      2\n    ]\n  }\n}\n",
	} {
		f := parsed(t, host, before)
		err := f.RemoveAt("A", i)
		if _, hand := errors.AsType[*hostfile.HandError](err); hand != (want == "") {
			t.Errorf("%d: %v", i, err)
		}
		if got := string(f.Text()); want != "" && got != want {
			t.Errorf("%d: found\n%s", i, got)
		}
	}
}

// TestListsOfAnotherForm: what is not a list is left to the user.
func TestListsOfAnotherForm(t *testing.T) {
	t.Parallel()
	host, _ := hostfile.HookHostOf("claude")
	f := parsed(t, host, `{"hooks": {"PreToolUse": {"command": "mine"}}}`)
	if _, hand := errors.AsType[*hostfile.HandError](f.Append("PreToolUse", hostfile.Object{})); !hand || f.Changed() {
		t.Errorf("it was changed to %s", f.Text())
	}
	if _, err := hostfile.Read(host, []byte(`{"hooks": []}`)); err == nil {
		t.Error("a list of hooks without events was taken")
	}
}

func parsed(t *testing.T, host hostfile.Host, text string) *hostfile.File {
	t.Helper()
	f, err := hostfile.Read(host, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}
