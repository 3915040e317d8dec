package wording

import (
	"cmp"
	"fmt"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/cause"
)

// Login is a login, without its id. The times are as their reader's clock has them.
func Login(person, browser, begun, used, expires string) string {
	return fmt.Sprintf("%s, in %s. Since %s, last used %s, until %s.",
		cause.OneLine(person), legible.Line(cmp.Or(browser, "a browser that does not say its name")), begun, used, expires)
}
