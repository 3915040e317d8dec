package main

import "testing"

// TestAsSentence: the title of a question has one mark at its end.
func TestAsSentence(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Delete 2 files": "Delete 2 files.", "Delete 2 files.": "Delete 2 files.", "It is not known whether this was done. What now?": "It is not known whether this was done. What now?",
		"Send “Hello.”": "Send “Hello.”", "Send “Hello”": "Send “Hello”.", "": ".",
	} {
		if got := asSentence(title); got != want {
			t.Errorf("%q becomes %q, want %q", title, got, want)
		}
	}
}
