// Package listing says what operators ask for of a ledger: a line for each turn, card, tool, message, login and entry of the
// audit chain in a list, and the lines of one that is shown in full. The texts of others are on one line each, and act on no
// terminal.
package listing

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Printer writes what it is about, in the form that the caller gives to lines, fields and documents.
type Printer struct {
	Line     func(line string)
	Field    func(label, value string) // leaves out what is empty
	Document func(label string, value jsontext.Value)
	Since    func(label string, at time.Time) // leaves out the zero time
	Time     func(time.Time) string           // a time as its reader's clock has it
}

func (p Printer) sayf(format string, args ...any) { p.Line(fmt.Sprintf(format, args...)) }
