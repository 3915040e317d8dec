package storetest

import (
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

func handleCases() []exercise {
	return []exercise{
		{"each leads to its turn", handlesLead},
		{"stay when the turn has forgotten them", handlesStay},
		{"belong to one turn", handlesBelong},
		{"nothing leads nowhere", handlesMissing},
		{"calls are listed", callsAreListed},
	}
}

func (l *ledger) leads(what string, ref store.TurnRef, turnID string) {
	l.t.Helper()
	if got := l.turn(ref).State.Turn; got != turnID {
		l.t.Errorf("%s leads to %q, want %q", what, got, turnID)
	}
}

func handlesLead(l *ledger) {
	for n := 1; n <= 3; n++ {
		r := asking(n)
		l.save(store.Batch{Turn: &r})
	}
	l.leads("turn", store.TurnRef{Turn: "turn_2"}, "turn_2")
	l.leads("session", store.TurnRef{Session: "sess_2"}, "turn_2")
	l.leads("call", store.TurnRef{Call: "tc_2"}, "turn_2")
	l.leads("token", store.TurnRef{Token: "token_2"}, "turn_2")
	l.leads("question", store.TurnRef{Question: 2}, "turn_2")
}

func handlesStay(l *ledger) {
	r := asking(1)
	l.save(store.Batch{Turn: &r})
	r.Version = 1 // extended: a new token, the old one is spent
	r.Questions = []consent.Question{r.Questions[0]}
	r.Questions[0].SpentTokens, r.Questions[0].Token = []string{"token_1"}, "token_new"
	l.save(store.Batch{Turn: &r})
	l.leads("a spent token", store.TurnRef{Token: "token_1"}, "turn_1")
	l.leads("the new token", store.TurnRef{Token: "token_new"}, "turn_1")
	r.Version, r.State.Calls, r.Questions, r.State.Status = 2, nil, nil, turn.Ended
	l.save(store.Batch{Turn: &r})
	l.leads("a call of an earlier step", store.TurnRef{Call: "tc_1"}, "turn_1")
	l.leads("a closed question", store.TurnRef{Question: 1}, "turn_1")
	l.leads("its token", store.TurnRef{Token: "token_new"}, "turn_1")
	l.leads("its spent token", store.TurnRef{Token: "token_1"}, "turn_1")
	spent := asking(2) // asked and extended in one step: no save has seen its first token
	spent.Questions[0].SpentTokens = []string{"token_unseen"}
	l.save(store.Batch{Turn: &spent})
	l.leads("a token that was spent before it was saved", store.TurnRef{Token: "token_unseen"}, "turn_2")
}

func handlesBelong(l *ledger) {
	r := asking(1)
	r.Questions[0].SpentTokens = []string{"token_spent"}
	l.save(store.Batch{Turn: &r})
	steal := func(why string, take func(*store.Record)) {
		thief := asking(2)
		take(&thief)
		l.refuse(why, store.ErrConflict, store.Batch{Turn: &thief})
	}
	steal("another turn's call", func(r *store.Record) { r.State.Calls[0].ID = "tc_1" })
	steal("another turn's call as it is", func(r *store.Record) { r.State.Calls = asking(1).State.Calls })
	steal("another turn's question", func(r *store.Record) { r.Questions[0].Number = 1 })
	steal("another question's token", func(r *store.Record) { r.Questions[0].Token = "token_1" })
	steal("another question's spent token", func(r *store.Record) { r.Questions[0].Token = "token_spent" })
	steal("a spent token as spent", func(r *store.Record) { r.Questions[0].SpentTokens = []string{"token_spent"} })
	l.leads("the call", store.TurnRef{Call: "tc_1"}, "turn_1")
	l.leads("the question", store.TurnRef{Question: 1}, "turn_1")
	l.leads("the token", store.TurnRef{Token: "token_1"}, "turn_1")
	again := asking(1) // a question of the same turn, under the number's own token
	again.Version = 1
	again.Questions = append(again.Questions, asking(3).Questions[0])
	again.Questions[1].Token = "token_1"
	l.refuse("one token for two questions", store.ErrConflict, store.Batch{Turn: &again})
}

func callsAreListed(l *ledger) {
	r, other := asking(1), asking(2)
	second, third := r.State.Calls[0], r.State.Calls[0]
	second.ID, second.Tool, second.Question = "tc_1b", "mail.send", 0
	third.ID, third.Question = "tc_1c", 0
	r.State.Calls = append(r.State.Calls, third, second)
	l.save(store.Batch{Turn: &r})
	l.save(store.Batch{Turn: &other})
	for _, tt := range []struct {
		what string
		f    store.CallFilter
		want []string
	}{
		{"all", store.CallFilter{Turn: "turn_1"}, []string{"tc_1", "tc_1b", "tc_1c"}},
		{"one", store.CallFilter{Turn: "turn_1", Call: "tc_1b"}, []string{"tc_1b"}},
		{"another turn's", store.CallFilter{Turn: "turn_1", Call: "tc_2"}, nil},
		{"of a tool", store.CallFilter{Turn: "turn_1", Tools: []string{"files.delete", "none"}}, []string{"tc_1", "tc_1c"}},
		{"of no tool", store.CallFilter{Turn: "turn_1", Tools: []string{}}, nil},
		{"a page", store.CallFilter{Turn: "turn_1", After: "tc_1a", Limit: 1}, []string{"tc_1b"}},
		{"of no turn", store.CallFilter{}, nil},
	} {
		l.view(func(tx store.Tx) error {
			rows, err := tx.Calls(tt.f)
			var got []string //nolint:prealloc // none is nil
			for _, c := range rows {
				got = append(got, c.ID)
			}
			same(l, tt.what, got, tt.want)
			return err
		})
	}
}

func handlesMissing(l *ledger) {
	r := asking(1)
	l.save(store.Batch{Turn: &r})
	for what, ref := range map[string]store.TurnRef{
		"no handle": {}, "turn": {Turn: "sess_1"}, "session": {Session: "turn_1"}, "call": {Call: "tc_2"},
		"token": {Token: "token_2"}, "question": {Question: 2}, "negative question": {Question: -1}, "pattern": {Turn: "turn_%"},
	} {
		l.missing(what, func(tx store.Tx) error {
			_, err := tx.Turn(ref)
			return err
		})
	}
}
