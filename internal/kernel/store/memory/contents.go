package memory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// Contents are rows that [store.Tx] does not list. Tests compare them with what happened.
type Contents struct {
	// Commits is how many updates the ledger has committed.
	Commits   int
	Questions []Question     // in the order of their numbers
	Tokens    map[string]int // the questions of all tokens
	Consents  []Consent      // in the order of their calls
	Grants    []store.Grant  // in the order of their calls and fences
	Reports   []store.Report // in the order of their calls
	Late      []store.Report // in the order of their calls
	Sealed    []store.Sealed // in the order of their calls
	Keys      []store.RequestKey
	Counters  map[string]int64
	Blobs     []string
}

// Question is a question that was asked, also one that its turn has dropped.
type Question struct {
	Number int
	Turn   string
	Token  string
	State  consent.State
}

// Consent is a saved consent; Used says that it was consumed.
type Consent struct {
	store.Consent

	Used bool
}

// Commits returns how many updates the ledger has committed.
func (l *Ledger) Commits() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rows.commits
}

// Contents returns copies of the committed rows.
func (l *Ledger) Contents() Contents {
	l.mu.Lock()
	rows := l.rows
	l.views++
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.views--
		l.mu.Unlock()
	}()
	c := Contents{
		Commits: rows.commits, Tokens: map[string]int{}, Counters: map[string]int64{},
		Consents: sorted(&rows.consents, func(a, b Consent) int { return cmp.Compare(a.Call, b.Call) }),
		Grants: sorted(&rows.grants, func(a, b store.Grant) int {
			return cmp.Or(cmp.Compare(a.Call, b.Call), cmp.Compare(a.Fence, b.Fence))
		}),
		Keys: sorted(&rows.keys, func(a, b store.RequestKey) int {
			return cmp.Or(cmp.Compare(a.Principal, b.Principal), cmp.Compare(a.Key, b.Key))
		}),
	}
	for number, q := range rows.questions.all() {
		c.Questions = append(c.Questions, Question{Number: number, Turn: q.turn, Token: q.token, State: q.state})
	}
	slices.SortFunc(c.Questions, func(a, b Question) int { return cmp.Compare(a.Number, b.Number) })
	for _, r := range sorted(&rows.reports, func(a, b report) int { return cmp.Compare(a.Call, b.Call) }) {
		c.Reports = append(c.Reports, r.Report)
	}
	for _, late := range rows.late.all() {
		c.Late = append(c.Late, late...)
	}
	slices.SortStableFunc(c.Late, func(a, b store.Report) int { return cmp.Compare(a.Call, b.Call) })
	for _, sealed := range rows.sealed.all() {
		c.Sealed = append(c.Sealed, copyOf(sealed)...)
	}
	slices.SortFunc(c.Sealed, func(a, b store.Sealed) int { return cmp.Or(cmp.Compare(a.Call, b.Call), cmp.Compare(a.Ref, b.Ref)) })
	maps.Insert(c.Tokens, rows.tokens.all())
	maps.Insert(c.Counters, rows.counters.all())
	for sha := range rows.blobs.all() {
		c.Blobs = append(c.Blobs, sha)
	}
	slices.Sort(c.Blobs)
	return c
}

func sorted[K comparable, V any](t *table[K, V], order func(a, b V) int) []V {
	var rows []V
	for _, row := range t.all() {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, order)
	return rows
}
