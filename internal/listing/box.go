package listing

import (
	"fmt"
	"strings"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
)

// BoxLine tells of a box in a line.
func (p Printer) BoxLine(b api.BoxDetail) string {
	cards := "1 card"
	if b.Cards != 1 {
		cards = fmt.Sprintf("%d cards", b.Cards)
	}
	return fmt.Sprintf("%s of %s: %s, last used %s.", cause.OneLine(b.Box), cause.OneLine(b.Owner), cards, p.Time(b.Used))
}

// BoxEntryLine tells of an entry of a box in a line: which turn wrote which card, or has read it.
func (p Printer) BoxEntryLine(e api.BoxEntry) string {
	if e.Use == api.BoxRead {
		return fmt.Sprintf("%d: read by %s of %s up to entry %d, %s.", e.N, e.Turn, cause.OneLine(e.Agent), e.Through, p.Time(e.At))
	}
	from := "its answer"
	if e.Call != "" {
		from = "the result of call " + e.Call
	}
	return fmt.Sprintf("%d: %s, written by %s of %s, %s, %s.", e.N, e.Card, e.Turn, cause.OneLine(e.Agent), from, p.Time(e.At))
}

// BoxesOf says in which boxes a card is.
func (p Printer) BoxesOf(entries []api.BoxEntry) {
	boxes := make([]string, 0, len(entries))
	for _, e := range entries {
		boxes = append(boxes, cause.OneLine(e.Box)+" of "+cause.OneLine(e.Owner))
	}
	p.Field("Box", strings.Join(boxes, ", "))
}
