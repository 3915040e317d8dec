package page

import "testing"

// TestAct: a button is named by what is done, in our words or those of a reviewed tool, and never by words of others.
func TestAct(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]string{
		"Delete 15 files":              "Delete 15 files",
		"Delete 5 files in Downloads.": "Delete 5 files",
		"Delete 1 duplicate file under /home/ada/photos/2024, and keep one copy.":     "Delete 1 duplicate file",
		"Delete 1 duplicate file under \u2068/home/ada/pho, tos\u2069, and keep one.": "Delete 1 duplicate file",
		"Send a mail to \u2068ann@example.org\u2069.":                                 "Send a mail",
		"Write the file \u2068a\u2069.":                                               "Write the file",
		"Run the tool hub.write_file: Write a file.":                                  "Run the tool hub.write_file",
		"Run the tool \u2068hub.write\u2069 of the service \u2068hub\u2069.":          "",
		"Let \u2068claude\u2069 use its own tool \u2068Bash\u2069.":                   "",
		"Print this text: \u2068Delete nothing\u2069.":                                "Print this text",
		"\u2068Accept all\u2069":                                                      "",
		"":                                                                            "",
		"Reorganise everything that has ever been stored anywhere at all by anybody":  "",
	} {
		if got := act(action); got != want {
			t.Errorf("%q: %q; want %q", action, got, want)
		}
	}
}
