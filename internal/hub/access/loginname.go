package access

import (
	"fmt"
	"strings"

	"github.com/earshot-dev/earshot/internal/cause"
)

// LoginNamed returns the id of the only login that begins with word.
func LoginNamed(all []Login, word string) (string, error) {
	var found []string
	for _, l := range all {
		if strings.HasPrefix(l.ID, strings.ToLower(word)) {
			found = append(found, l.ID)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", cause.Fail(nil, fmt.Sprintf("no login begins with %.32q", word), "see `earshot logins`")
	}
	return "", cause.Misuse(fmt.Sprintf("%d logins begin with %.32q", len(found), word), "type more of it: "+strings.Join(found, ", "))
}
