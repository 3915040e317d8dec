package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/boxes"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// addedTypes are the types of cards that a worker may add to its turn, beside those of calls: what v1r4's workers write
// down of their work (UTP, "Cards"). None of them means anything to the kernel, which keeps them with the turn.
var addedTypes = []string{
	"agent.thought", "agent.error", "task.instruction", "task.result_fields", "meta.parent_pointer",
	"sys.profile", "sys.rendered_prompt", "sys.tools", "sys.must_end_with_required", "sys.judge_feedback",
}

// addCard saves a card that an agent adds to its turn while that is under way, and puts it into the turn's output box if
// the agent names that. The same card again changes nothing.
func (k *Kernel) addCard(ctx context.Context, from Caller, card utp.Card, box string) error {
	_, err := utp.DecodeContent(card.Content)
	switch {
	case !slices.Contains(addedTypes, card.Type):
		return api.NewFault(utp.CodeBadRequest, fmt.Sprintf("a worker writes no card of the type %.64q", card.Type))
	case err != nil:
		return api.NewFault(utp.CodeBadRequest, err.Error())
	case card.TurnID() == "":
		return api.NewFault(utp.CodeNotFound, "the card names no turn: it is in its agent_turn_id")
	case card.ToolCallID != "":
		return api.NewFault(utp.CodeBadRequest, "only cards of the types tool.call and tool.result belong to a call")
	}
	return k.step(ctx, store.TurnRef{Turn: card.TurnID()}, func(s *step) error {
		st := s.rec.State
		switch {
		case st.Agent != from.Name || st.Outside:
			return api.NewFault(utp.CodeNotFound, "the card names no turn of this agent")
		case st.Status == turn.Ended:
			return api.NewFault(utp.CodeTurnEnded, "the turn has ended and takes no more cards")
		case st.Status == turn.Queued:
			return api.NewFault(utp.CodeStale, "nobody holds the turn; claim it first")
		case box != "" && box != st.Boxes.OutputBox:
			return api.NewFault(utp.CodeAuthFailed, fmt.Sprintf("the box %.128q is not the output of the turn", box))
		}
		if err := s.countCard(card.ID); err != nil {
			return err
		}
		s.cards.Add(card)
		if box == "" {
			return nil
		}
		before, err := s.tx.BoxEntries(store.BoxFilter{Owner: st.Owner, Box: box, Card: card.ID, Limit: 1})
		if err != nil || len(before) > 0 {
			return err
		}
		if err := boxes.Check(s.tx, st, box); err != nil {
			return err
		}
		return s.boxes.Add("", card.ID)
	})
}

// countCard counts a card that is added, unless it is there already, and refuses one beyond the limit.
func (s *step) countCard(id string) error {
	_, err := s.cards.Card(id)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if most := s.k.o.AddedCards; s.rec.State.AddedCards >= most {
		return api.NewFault(utp.CodeTooLarge, fmt.Sprintf(
			"%d cards were added to this turn, which is the most; nothing was kept of this one, and the others stay; begin another turn, or have an operator raise --max-cards", most))
	}
	s.rec.State.AddedCards++
	return nil
}
