package doctor_test

import (
	"testing"

	"github.com/earshot-dev/earshot/internal/doctor"
)

// TestConclusion: one sentence says how it stands, and what to mend first.
func TestConclusion(t *testing.T) {
	t.Parallel()
	ok, note := doctor.Finding{Name: "clock", State: doctor.OK}, doctor.Finding{Name: "questions", State: doctor.Note}
	broken := func(name string) doctor.Finding { return doctor.Finding{Name: name, State: doctor.Problem} }
	for _, tt := range []struct {
		all  []doctor.Finding
		want string
	}{
		{[]doctor.Finding{ok, ok}, "All is well: nothing stands in the way."},
		{[]doctor.Finding{ok, note}, "Nothing stands in the way; 1 note: questions."},
		{[]doctor.Finding{note, ok, {Name: "terminal", State: doctor.Note}}, "Nothing stands in the way; 2 notes: questions, terminal."},
		{[]doctor.Finding{ok, broken("ledger"), note}, "1 thing to mend: ledger."},
		{[]doctor.Finding{broken("ledger"), ok, broken("key")}, "2 things to mend, in this order: ledger, key."},
		{[]doctor.Finding{broken("key"), broken("folder"), broken("folder")}, "3 things to mend, in this order: key, folder (2)."},
		{[]doctor.Finding{broken("folder"), broken("folder")}, "2 things to mend: folder (2)."},
	} {
		if got := doctor.Conclusion(tt.all); got != tt.want {
			t.Errorf("it ends with %q, want %q", got, tt.want)
		}
	}
}
