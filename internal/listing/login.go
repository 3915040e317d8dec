package listing

import (
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/wording"
)

// Login is a login in words, without its id.
func (p Printer) Login(l access.Login) string {
	return wording.Login(l.Person, l.Browser, p.Time(l.Begun), p.Time(l.Used), p.Time(l.Expires))
}
