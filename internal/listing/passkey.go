package listing

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
)

// Passkey describes a passkey in one line.
func (p Printer) Passkey(k api.Passkey) string {
	used := "never used"
	if !k.Used.IsZero() {
		used = "last used " + p.Time(k.Used)
	}
	return fmt.Sprintf("%s: of %s, for %s, added %s, %s, %s",
		legible.Line(k.Name), cause.OneLine(k.Person), cause.OneLine(k.Site), p.Time(k.Added), used, cause.OneLine(k.ID))
}
