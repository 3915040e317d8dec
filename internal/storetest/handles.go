package storetest

import (
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

func handleCases() []exercise {
	return []exercise{
		{"each leads to its turn", handlesLead},
		{"stay when the turn has forgotten them", handlesStay},
		{"belong to one turn", handlesBelong},
		{"nothing leads nowhere", handlesMissing},
	}
}

func (l *ledger) leads(what string, ref kernel.TurnRef, turnID string) {
	l.t.Helper()
	if got := l.turn(ref).State.Turn; got != turnID {
		l.t.Errorf("%s leads to %q, want %q", what, got, turnID)
	}
}

func handlesLead(l *ledger) {
	for n := 1; n <= 3; n++ {
		r := asking(n)
		l.save(kernel.Batch{Turn: &r})
	}
	l.leads("turn", kernel.TurnRef{Turn: "turn_2"}, "turn_2")
	l.leads("session", kernel.TurnRef{Session: "sess_2"}, "turn_2")
	l.leads("call", kernel.TurnRef{Call: "tc_2"}, "turn_2")
	l.leads("token", kernel.TurnRef{Token: "token_2"}, "turn_2")
	l.leads("question", kernel.TurnRef{Question: 2}, "turn_2")
}

func handlesStay(l *ledger) {
	r := asking(1)
	l.save(kernel.Batch{Turn: &r})
	r.Version = 1 // extended: a new token, the old one is spent
	r.Questions = []consent.Question{r.Questions[0]}
	r.Questions[0].SpentTokens, r.Questions[0].Token = []string{"token_1"}, "token_new"
	l.save(kernel.Batch{Turn: &r})
	l.leads("a spent token", kernel.TurnRef{Token: "token_1"}, "turn_1")
	l.leads("the new token", kernel.TurnRef{Token: "token_new"}, "turn_1")
	r.Version, r.State.Calls, r.Questions, r.State.Status = 2, nil, nil, turn.Ended
	l.save(kernel.Batch{Turn: &r})
	l.leads("a call of an earlier step", kernel.TurnRef{Call: "tc_1"}, "turn_1")
	l.leads("a closed question", kernel.TurnRef{Question: 1}, "turn_1")
	l.leads("its token", kernel.TurnRef{Token: "token_new"}, "turn_1")
	l.leads("its spent token", kernel.TurnRef{Token: "token_1"}, "turn_1")
	spent := asking(2) // asked and extended in one step: no save has seen its first token
	spent.Questions[0].SpentTokens = []string{"token_unseen"}
	l.save(kernel.Batch{Turn: &spent})
	l.leads("a token that was spent before it was saved", kernel.TurnRef{Token: "token_unseen"}, "turn_2")
}

func handlesBelong(l *ledger) {
	r := asking(1)
	r.Questions[0].SpentTokens = []string{"token_spent"}
	l.save(kernel.Batch{Turn: &r})
	steal := func(why string, take func(*kernel.Record)) {
		thief := asking(2)
		take(&thief)
		l.refuse(why, kernel.ErrConflict, kernel.Batch{Turn: &thief})
	}
	steal("another turn's call", func(r *kernel.Record) { r.State.Calls[0].ID = "tc_1" })
	steal("another turn's call as it is", func(r *kernel.Record) { r.State.Calls = asking(1).State.Calls })
	steal("another turn's question", func(r *kernel.Record) { r.Questions[0].Number = 1 })
	steal("another question's token", func(r *kernel.Record) { r.Questions[0].Token = "token_1" })
	steal("another question's spent token", func(r *kernel.Record) { r.Questions[0].Token = "token_spent" })
	steal("a spent token as spent", func(r *kernel.Record) { r.Questions[0].SpentTokens = []string{"token_spent"} })
	l.leads("the call", kernel.TurnRef{Call: "tc_1"}, "turn_1")
	l.leads("the question", kernel.TurnRef{Question: 1}, "turn_1")
	l.leads("the token", kernel.TurnRef{Token: "token_1"}, "turn_1")
	again := asking(1) // a question of the same turn, under the number's own token
	again.Version = 1
	again.Questions = append(again.Questions, asking(3).Questions[0])
	again.Questions[1].Token = "token_1"
	l.refuse("one token for two questions", kernel.ErrConflict, kernel.Batch{Turn: &again})
}

func handlesMissing(l *ledger) {
	r := asking(1)
	l.save(kernel.Batch{Turn: &r})
	for what, ref := range map[string]kernel.TurnRef{
		"no handle": {}, "turn": {Turn: "sess_1"}, "session": {Session: "turn_1"}, "call": {Call: "tc_2"},
		"token": {Token: "token_2"}, "question": {Question: 2}, "negative question": {Question: -1}, "pattern": {Turn: "turn_%"},
	} {
		l.missing(what, func(tx kernel.Tx) error {
			_, err := tx.Turn(ref)
			return err
		})
	}
}
