package access_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/hub/access"
)

func TestLoginNamed(t *testing.T) {
	t.Parallel()
	all := []access.Login{{ID: "3fa9"}, {ID: "3fb0"}, {ID: "c001"}}
	for _, row := range []struct{ word, id, says string }{
		{"3fa", "3fa9", ""},
		{"C0", "c001", ""},
		{"3f", "", "2 logins begin with"},
		{"9", "", "no login begins with"},
	} {
		id, err := access.LoginNamed(all, row.word)
		if id != row.id || (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %q, %v", row.word, id, err)
		}
	}
}
