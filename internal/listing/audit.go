package listing

import (
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/wording"
)

// EntryLine is an entry of the audit chain in a line.
func (p Printer) EntryLine(e api.AuditEntry) string {
	return fmt.Sprintf("Entry %d, %s: %s.", e.N, p.Time(e.At), cause.OneLine(wording.Entry(e)))
}

// Audit tells what a verification came to; known is the head that it had to find.
func (p Printer) Audit(r audit.Report, known audit.Head) {
	for _, line := range wording.Report(r, known) {
		p.Line(line.String())
	}
}
