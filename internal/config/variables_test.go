package config_test

import (
	"slices"
	"testing"

	"github.com/earshot-dev/earshot/internal/config"
)

// TestUnknown: a variable that is none of the program's is named, with the one that is similar; those of others and of its own tests are not.
func TestUnknown(t *testing.T) {
	t.Parallel()
	known := []string{"EARSHOT_DATA", "EARSHOT_HTTP", "EARSHOT_RETENTION_CONTENT"}
	got := config.Unknown([]string{
		"EARSHOT_DTAA=/data", "HOME=/home/anna", "EARSHOT_HTTP=127.0.0.1:1", "EARSHOT_TEST_X=1", "EARSHOT_RETENTION_CONTENTS=1d", "EARSHOT_COLOUR=red", "MY_EARSHOT_DTAA=1",
	}, known, []string{"EARSHOT_TEST_"})
	want := []string{
		"EARSHOT_COLOUR is not a setting, and does nothing.",
		"EARSHOT_DTAA is not a setting, and does nothing; did you mean EARSHOT_DATA?",
		"EARSHOT_RETENTION_CONTENTS is not a setting, and does nothing; did you mean EARSHOT_RETENTION_CONTENT?",
	}
	if !slices.Equal(got, want) {
		t.Errorf("said %q", got)
	}
}
