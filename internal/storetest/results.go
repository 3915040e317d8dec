package storetest

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

func resultCases() []exercise {
	return []exercise{
		{"are applied in order", resultsInOrder},
		{"are applied with their reports", appliedWithReports},
		{"lead to their cards", resultsLeadToCards},
		{"are reported once", reportsOnce},
		{"are applied once", appliedOnce},
		{"are applied with their own card only", appliedWithTheirCard},
		{"belong to a turn", reportsNeedATurn},
		{"one of many who apply one wins", resultsRace},
		{"many who apply different ones all do", resultsTogether},
		{"late ones are kept beside", lateResults},
	}
}

// reported saves a turn with n reports, of the calls tc_1 to tc_n.
func (l *ledger) reported(n int) {
	l.t.Helper()
	r := plain(1)
	b := store.Batch{Turn: &r}
	for i := 1; i <= n; i++ {
		row := report(i)
		row.Turn = "turn_1"
		b.Reports = append(b.Reports, row)
	}
	l.save(b)
}

func apply(n ...int) store.Batch {
	var b store.Batch
	for _, i := range n {
		row := applied(i)
		row.Key = id("key", i)
		b.Applied = append(b.Applied, row)
	}
	return b
}

func resultsInOrder(l *ledger) {
	l.reported(7)
	l.save(apply(3, 1))
	l.save(apply(2))
	l.save(apply(7, 6, 5, 4))
	want := []int{3, 1, 2, 7, 6, 5, 4}
	rows := l.results("turn_1")
	for i, row := range rows {
		same(l, "result", row, store.ResultRow{N: i + 1, Key: id("key", want[i]), Call: id("tc", want[i]), Tool: "files.delete", Card: id("result", want[i])})
	}
	for _, c := range []struct{ after, limit, first, n int }{{0, 2, 1, 2}, {2, 2, 3, 2}, {6, 9, 7, 1}, {7, 9, 0, 0}, {0, 0, 0, 0}} {
		l.view(func(tx store.Tx) error {
			page, err := tx.Results("turn_1", c.after, c.limit)
			what := fmt.Sprintf("after %d, at most %d", c.after, c.limit)
			same(l, what, len(page), c.n)
			if len(page) > 0 {
				same(l, what, page[0], rows[c.first-1])
			}
			return err
		})
	}
	same(l, "results of another turn", len(l.results("turn_2")), 0)
}

// appliedWithReports: what one step reports and applies has the places that it says.
func appliedWithReports(l *ledger) {
	l.reported(1)
	b := apply(3, 1, 4)
	for _, n := range []int{2, 3, 4} { // the second is not applied
		r := report(n)
		r.Turn = "turn_1"
		b.Reports = append(b.Reports, r)
	}
	l.save(b)
	l.save(apply(2))
	for i, row := range l.results("turn_1") {
		same(l, "result", row.Call, id("tc", []int{3, 1, 4, 2}[i]))
		same(l, "its place", row.N, i+1)
	}
	l.refuse("one that was applied with its report", store.ErrConflict, apply(3))
}

// resultsLeadToCards: what is read of a result's card is the card, small or large, and also
// where there is none.
func resultsLeadToCards(l *ledger) {
	l.reported(3)
	small, large := card(1), card(2)
	large.Content = jsontext.Value(`"` + strings.Repeat("ü", 9000) + `"`)
	b := apply(1, 2, 3)
	b.Cards = []utp.Card{small, large}
	l.save(b)
	l.view(func(tx store.Tx) error {
		rows, err := tx.Results("turn_1", 0, 9)
		same(l, "results", len(rows), 3)
		for i, want := range [][]utp.Card{{small}, {large}, nil} {
			got, err := tx.Cards(store.CardFilter{IDs: []string{rows[i].Card}})
			if same(l, "cards of a result", got, want); err != nil {
				return err
			}
		}
		return err
	})
}

func reportsOnce(l *ledger) {
	l.reported(1)
	again := report(1)
	l.refuse("a second report of a call", store.ErrConflict, store.Batch{Reports: []store.Report{again}})
	l.save(apply(1))
	l.refuse("a report of an applied call", store.ErrConflict, store.Batch{Reports: []store.Report{again}})
	same(l, "results", len(l.results("turn_1")), 1)
}

func appliedOnce(l *ledger) {
	l.reported(2)
	l.refuse("a result without a report", store.ErrConflict, apply(1, 9))
	l.refuse("a result twice in one step", store.ErrConflict, apply(1, 1))
	l.save(apply(1))
	l.refuse("a result again", store.ErrConflict, apply(2, 1))
	l.save(apply(2))
	same(l, "results", len(l.results("turn_1")), 2)
}

func appliedWithTheirCard(l *ledger) {
	l.reported(1)
	b := apply(1)
	b.Applied[0].Card = "another"
	l.refuse("a result with another card", store.ErrConflict, b)
	l.refuse("one that is reported with it", store.ErrConflict, store.Batch{
		Reports: []store.Report{{Turn: "turn_1", Call: "tc_2", Card: "c"}}, Applied: []store.ResultRow{{Call: "tc_2", Card: "d"}},
	})
	l.save(apply(1))
}

func reportsNeedATurn(l *ledger) {
	r := report(1)
	l.refuse("a report of no turn", store.ErrConflict, store.Batch{Reports: []store.Report{r}})
	l.reported(1)
}

func resultsRace(l *ledger) {
	l.reported(rounds)
	for n := 1; n <= rounds; n++ {
		l.oneSucceeds("applying", func(int) error { return l.try(apply(n)) })
	}
	for i, row := range l.results("turn_1") {
		same(l, "place", row.N, i+1)
	}
	same(l, "results", len(l.results("turn_1")), rounds)
}

// resultsTogether: each report that waits is applied, no matter who applies others of the turn.
func resultsTogether(l *ledger) {
	l.reported(racers)
	race(func(i int) {
		if err := l.try(apply(i + 1)); err != nil {
			l.t.Errorf("applying the report of call %d: %v", i+1, err)
		}
	})
	rows := l.results("turn_1")
	for i, row := range rows {
		same(l, "place", row.N, i+1)
	}
	same(l, "results", len(rows), racers)
}

func lateResults(l *ledger) {
	l.reported(1)
	l.save(store.Batch{Late: []store.Report{report(1)}})
	l.save(store.Batch{Late: []store.Report{report(1)}})
	l.refuse("applying a late result", store.ErrConflict, apply(2))
	l.save(apply(1))
	same(l, "results", len(l.results("turn_1")), 1)
}
