package listing

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// Login is a login in words, without its id.
func (p Printer) Login(l access.Login) string {
	browser := l.Browser
	if browser == "" {
		browser = "a browser that does not say its name"
	}
	return fmt.Sprintf("%s, in %s. Since %s, last used %s, until %s.", cause.OneLine(l.Person), legible.Line(browser), p.Time(l.Begun), p.Time(l.Used), p.Time(l.Expires))
}
