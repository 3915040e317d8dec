package doctor

import (
	"context"
	"errors"
	"testing"

	"github.com/earshot-dev/earshot/api"
)

// TestPasskeys: where accepting takes a passkey, doctor says whether there is one, and if not, where to add it. Where it takes none, it
// says nothing.
func TestPasskeys(t *testing.T) {
	t.Parallel()
	const page = "http://name.localhost:7411"
	for name, tt := range map[string]struct {
		answer api.PasskeysAnswer
		err    error
		want   []Finding
	}{
		"none is needed": {answer: api.PasskeysAnswer{Passkeys: []api.Passkey{{}}}},
		"none was added": {answer: api.PasskeysAnswer{Required: "irreversible", Page: page}, want: []Finding{{
			Name: "passkeys", State: Problem, Found: "Accepting takes a passkey (--require-presence irreversible), and none was added.",
			Advice: "log in on the page at http://name.localhost:7411/, follow Passkeys, and add one; `earshot code` makes the two codes that this takes",
		}}},
		"one was added": {answer: api.PasskeysAnswer{Required: "high", Page: page, Passkeys: []api.Passkey{{}}}, want: []Finding{{
			Name: "passkeys", State: OK, Found: "1 passkey for --require-presence high.",
		}}},
		"two were added": {answer: api.PasskeysAnswer{Required: "all", Page: page, Passkeys: []api.Passkey{{}, {}}}, want: []Finding{{
			Name: "passkeys", State: OK, Found: "2 passkeys for --require-presence all.",
		}}},
		"they cannot be read": {err: errors.New("the ledger is damaged"), want: []Finding{{
			Name: "passkeys", State: Note, Found: "They could not be read: the ledger is damaged.", Advice: "see `earshot passkeys`",
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := examinePasskeys(t.Context(), func(_ context.Context, op string, _, answer any) error {
				into, is := answer.(*api.PasskeysAnswer)
				if op != api.OpPasskeys || !is {
					t.Fatalf("it asks for %s", op)
				}
				*into = tt.answer
				return tt.err
			})
			if len(got) != len(tt.want) || len(got) == 1 && got[0] != tt.want[0] {
				t.Errorf("found %+v, expected %+v", got, tt.want)
			}
		})
	}
}
