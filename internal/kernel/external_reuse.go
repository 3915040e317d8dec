package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

const (
	// cardReused is the type of an answer beside the one answer that a project has for each call id.
	// Its worker reads it as a tool.result.
	cardReused = "tool.reused_result"
	// maxReused is how many such answers a turn gets under one id.
	maxReused = 64
)

// answers are the answers that a third-party worker has got, in one turn, under one call id. An id stands
// for one call of a project, ever (UTP, "Cards"). Some providers still reuse their ids in each turn or
// step. Each such step gets an answer of its own. Otherwise its worker would wait for ever, or take the
// first call's result for the second's.
type answers struct {
	ofTurn          []utp.ResultCard // of this turn
	projectAnswered bool             // the project's one answer under the id is written, whichever turn's it is
	free            string           // the card id for an answer beside that one; empty if there are too many
}

func answersTo(tx store.Tx, st turn.State, call string) (answers, error) {
	var a answers
	first, err := answerOn(tx, answerID(st.Project, call))
	switch {
	case err == nil:
		a.projectAnswered = true
		if first.Lineage.TurnID == st.Turn {
			a.ofTurn = append(a.ofTurn, first)
		}
	case !errors.Is(err, store.ErrNotFound):
		return a, err
	}
	for n := range maxReused {
		id := reusedID(st, call, n)
		r, err := answerOn(tx, id)
		if errors.Is(err, store.ErrNotFound) {
			a.free = id
			return a, nil
		}
		if err != nil {
			return a, err
		}
		a.ofTurn = append(a.ofTurn, r)
	}
	return a, nil
}

// to reports whether a step has its answer. A command that names no step counts as a repeat.
func (a answers) to(step string) bool {
	for _, r := range a.ofTurn {
		if step == "" || step == r.Lineage.StepID {
			return true
		}
	}
	return false
}

// next returns the card id and card type of the next answer. With reused set, the project's one answer
// is left to the call that had the id first.
func (a answers) next(st turn.State, call string, reused bool) (id, as string) {
	if a.projectAnswered || reused {
		return a.free, cardReused
	}
	return answerID(st.Project, call), utp.CardToolResult
}

func reusedID(st turn.State, call string, n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "earshot-answer-2\n%s\n%s\n%s\n%d", st.Project, st.Turn, call, n))
	return answerPrefix + hex.EncodeToString(sum[:16])
}

// answerOn reads the card of an answer.
func answerOn(tx store.Tx, id string) (utp.ResultCard, error) {
	card, err := store.ReadCard(tx, id)
	if err != nil {
		return utp.ResultCard{}, err
	}
	if card, err = asAnswer(card); err != nil {
		return utp.ResultCard{}, err
	}
	r, err := utp.DecodeToolResult(card)
	if err != nil {
		return r, fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return r, nil
}

// asAnswer returns a card as its worker reads it.
func asAnswer(card utp.Card) (utp.Card, error) {
	if card.Type != cardReused {
		return card, nil
	}
	return store.Retyped(card, utp.CardToolResult)
}

// answerAs makes the card of an answer.
func answerAs(r utp.ResultCard, as string) (utp.Card, error) {
	card, err := utp.NewToolResult(r)
	if err != nil || as == utp.CardToolResult {
		return card, err
	}
	return store.Retyped(card, as)
}
