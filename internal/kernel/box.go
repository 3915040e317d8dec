package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// A box is a list of cards under an id that the caller of a turn has chosen (UTP, "Cards"). The results of a turn's calls
// and its answer are put into its output box, in the transactions that save them. Its worker reads its context and its
// output. Each person has boxes of their own: an id of one leads to nothing of another.

// boxPage is how many entries one answer holds at most.
const boxPage = 50

// boxed puts a card into the turn's output box; call is the call that it is the result of, or "".
func (s *step) boxed(call, card string) error {
	box := s.rec.State.Boxes.OutputBox
	if box == "" {
		return nil
	}
	if may, err := s.admission.MayUse(box); err != nil || !may {
		return err // of a box that others have filled meanwhile: the card stays with its turn
	}
	s.addBoxEntry(api.BoxEntry{Box: box, Use: api.BoxWrite, Call: call, Card: card})
	return nil
}

func (s *step) addBoxEntry(e api.BoxEntry) {
	e.Owner, e.Turn, e.Agent, e.At = s.rec.State.Owner, s.rec.State.Turn, s.rec.State.Agent, s.now.Wall
	s.batch.Boxes = append(s.batch.Boxes, e)
}

// boxText puts the answer of a turn that has no fields into its output box, as a card of text.
func (s *step) boxText(q api.DeliverRequest, end turn.End) error {
	text := cmp.Or(q.Output, q.Summary)
	if s.rec.State.Boxes.OutputBox == "" || text == "" || !end.Completes() {
		return nil
	}
	card, err := s.cards.Answer(q.Fields, q.Status == utp.StatusPartial)
	if err != nil {
		return err
	}
	if card.Content, err = utp.EncodeContent(utp.Text{Text: text}); err != nil {
		return api.NewFault(utp.CodeBadRequest, "the result: "+err.Error())
	}
	s.cards.Add(card)
	return s.boxed("", card.ID)
}

// readBox gives a worker the cards of its turn's context or output, and keeps in the box that the turn has read it.
func (k *Kernel) readBox(ctx context.Context, from Caller, q api.ReadBoxRequest) (api.ReadBoxAnswer, error) {
	var a api.ReadBoxAnswer
	err := k.stepAgentTurn(ctx, from, q.Turn, func(s *step) error {
		st := s.rec.State
		switch {
		case st.Status == turn.Ended:
			return api.NewFault(utp.CodeTurnEnded, "the turn has ended")
		case !st.Recognizes(workerClaim(from, q.WorkerRequest, st)):
			return api.NewFault(utp.CodeStale, "the turn is leased under another epoch; claim it again")
		case q.Box == "" || q.Box != st.Boxes.ContextBox && q.Box != st.Boxes.OutputBox:
			return api.NewFault(utp.CodeAuthFailed, fmt.Sprintf("the box %.128q is neither the context nor the output of the turn", q.Box))
		}
		if err := s.admission.CheckBox(q.Box); err != nil {
			return err
		}
		var err error
		if a, err = s.boxCards(q); err != nil || a.After == q.After {
			return err
		}
		return s.keepRead(q.Box, a.After)
	})
	return a, err
}

// boxCards reads a page of the cards of a box.
func (s *step) boxCards(q api.ReadBoxRequest) (api.ReadBoxAnswer, error) {
	a := api.ReadBoxAnswer{After: q.After}
	entries, err := s.tx.BoxEntries(store.BoxFilter{
		Owner: s.rec.State.Owner, Box: q.Box, Use: string(api.BoxWrite), After: q.After, Limit: boxPage,
	})
	if err != nil {
		return a, err
	}
	room := api.InlineLimit
	for _, e := range entries {
		card, err := s.cards.Card(e.Card)
		if errors.Is(err, store.ErrNotFound) { // erased
			a.After = e.N
			continue
		}
		if err != nil {
			return a, err
		}
		raw, err := utp.EncodeCard(card)
		if err != nil {
			return a, store.Unexpected("a card", err)
		}
		if room -= len(raw); room < 0 && len(a.Cards) > 0 {
			a.More = true
			return a, nil
		}
		a.Cards, a.After = append(a.Cards, api.BoxCard{N: e.N, Card: jsontext.Value(raw)}), e.N
	}
	a.More = len(entries) == boxPage
	return a, nil
}

// keepRead records a read once, also if it is repeated.
func (s *step) keepRead(box string, through int64) error {
	st := s.rec.State
	reads, err := s.tx.BoxEntries(store.BoxFilter{Owner: st.Owner, Box: box, Turn: st.Turn, Use: string(api.BoxRead)})
	if err != nil {
		return err
	}
	for _, r := range reads {
		if r.Through >= through {
			return nil
		}
	}
	s.addBoxEntry(api.BoxEntry{Box: box, Use: api.BoxRead, Through: through})
	return nil
}
