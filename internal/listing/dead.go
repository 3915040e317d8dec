package listing

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
)

// DeadLine tells of a message that was put aside in a line.
func (p Printer) DeadLine(one api.DeadDetail) string {
	about := "a notice"
	if one.Call != "" {
		about = fmt.Sprintf("the command of %s, %s", cause.OneLine(one.Tool), one.Call)
	}
	return fmt.Sprintf("%d: %s, in %s, put aside %s: %s.", one.ID, about, one.Session, p.Time(one.Died), legible.Line(one.Reason))
}

// Dead shows such a message in full.
func (p Printer) Dead(one api.DeadDetail) {
	p.Line(p.DeadLine(one))
	p.Field("Subject", one.Subject)
	for _, name := range slices.Sorted(maps.Keys(one.Header)) {
		for _, value := range one.Header[name] {
			p.Field("Header "+cause.OneLine(name), value)
		}
	}
	if utf8.Valid(one.Payload) {
		p.Field("Payload", string(one.Payload))
	} else {
		p.sayf("Payload: %d bytes that are not text.", len(one.Payload))
	}
}
