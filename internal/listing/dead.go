package listing

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/wording"
)

// DeadLine tells of a message that was put aside in a line.
func (p Printer) DeadLine(one api.DeadDetail) string {
	return wording.Dead(one, p.Time(one.Died))
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
