package instance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/instance"
)

// TestMachineTranslationsAreOptIn: a language that no native speaker has read is offered only where it is allowed by name.
func TestMachineTranslationsAreOptIn(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ allowed, want []string }{
		{nil, []string{"en"}},
		{[]string{"fr"}, []string{"en", "fr"}},
		{[]string{"yo", "ar", "fr", "es"}, []string{"en", "es", "fr", "ar", "yo"}},
	} {
		if got, err := instance.OpenLanguages(row.allowed); err != nil || !slices.Equal(got.Tags(), row.want) {
			t.Errorf("allowed %v: %v, %v, want %v", row.allowed, got.Tags(), err, row.want)
		}
	}
	if _, err := instance.OpenLanguages([]string{"tlh"}); err == nil || !strings.Contains(err.Error(), `there is no language "tlh"`) {
		t.Errorf("an unknown language: %v", err)
	}
}
