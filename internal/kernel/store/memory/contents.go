package memory

import (
	"cmp"
	"slices"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// Contents are the rows that [store.Tx] cannot list. Tests compare them with what happened.
type Contents struct {
	Consents []Consent      // in the order of their calls
	Grants   []store.Grant  // in the order of their calls and fences
	Reports  []store.Report // in the order of their calls
	Late     []store.Report // in the order of their calls
}

// Consent is a saved consent; Used says that it was consumed.
type Consent struct {
	store.Consent

	Used bool
}

// Contents returns copies of the committed rows.
func (l *Ledger) Contents() Contents {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	var c Contents
	for _, row := range l.rows.consents.all() {
		c.Consents = append(c.Consents, row)
	}
	for _, row := range l.rows.grants.all() {
		c.Grants = append(c.Grants, row)
	}
	for _, row := range l.rows.reports.all() {
		c.Reports = append(c.Reports, row.Report)
	}
	for _, rows := range l.rows.late.all() {
		c.Late = append(c.Late, rows...)
	}
	slices.SortFunc(c.Consents, func(a, b Consent) int { return cmp.Compare(a.Call, b.Call) })
	slices.SortFunc(c.Grants, func(a, b store.Grant) int {
		return cmp.Or(cmp.Compare(a.Call, b.Call), cmp.Compare(a.Fence, b.Fence))
	})
	byCall := func(a, b store.Report) int { return cmp.Compare(a.Call, b.Call) }
	slices.SortFunc(c.Reports, byCall)
	slices.SortStableFunc(c.Late, byCall)
	return c
}
