package external

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// AnswerPrefix begins the ids of the result cards for third-party workers. Nobody else may write a card
// with such an id.
const AnswerPrefix = "card_answer_"

// answerID returns the id of the card that answers a third-party worker's call: one for each call in a
// project, so that an answer is found again and a call is never answered twice.
func answerID(project, call string) string {
	sum := sha256.Sum256([]byte("earshot-answer-1\n" + project + "\n" + call))
	return AnswerPrefix + hex.EncodeToString(sum[:16])
}

const (
	// cardReused is the type of an answer beside the one answer that a project has for each call id.
	// Its worker reads it as a tool.result.
	cardReused = "tool.reused_result"
	// maxReused is how many such answers a turn gets under one id.
	maxReused = 64
)

// Answers are the answers that a third-party worker has got, in one turn, under one call id. An id stands
// for one call of a project, ever (UTP, "Cards"). Some providers still reuse their ids in each turn or
// step. Each such step gets an answer of its own. Otherwise its worker would wait for ever, or take the
// first call's result for the second's.
type Answers struct {
	state           turn.State
	call            string
	ofTurn          []utp.ResultCard // of this turn
	projectAnswered bool             // the project's one answer under the id is written, whichever turn's it is
	free            string           // the card id for an answer beside that one; empty if there are too many
}

// AnswersTo reads the answers under one call id in a turn.
func AnswersTo(tx store.CardReader, st turn.State, call string) (Answers, error) {
	a := Answers{state: st, call: call}
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

// To reports whether a step has its answer. A command that names no step counts as a repeat.
func (a Answers) To(step string) bool {
	for _, r := range a.ofTurn {
		if step == "" || step == r.Lineage.StepID {
			return true
		}
	}
	return false
}

// card makes the card of the next answer; none if there are too many. With reused set, the project's one answer is left to
// the call that had the id first.
func (a Answers) card(r utp.ResultCard, reused bool) ([]utp.Card, error) {
	beside := a.projectAnswered || reused
	if r.ID, r.ToolCallID = answerID(a.state.Project, a.call), a.call; beside {
		r.ID = a.free
	}
	if r.ID == "" {
		return nil, nil
	}
	card, err := utp.NewToolResult(r)
	if err == nil && beside {
		card, err = store.Retyped(card, cardReused)
	}
	return []utp.Card{card}, err
}

func reusedID(st turn.State, call string, n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "earshot-answer-2\n%s\n%s\n%s\n%d", st.Project, st.Turn, call, n))
	return AnswerPrefix + hex.EncodeToString(sum[:16])
}

// answerOn reads the card of an answer.
func answerOn(tx store.CardReader, id string) (utp.ResultCard, error) {
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

// Answered reports whether a call has the one answer of its project.
func Answered(tx store.CardReader, project, call string) (bool, error) {
	_, err := answerOn(tx, answerID(project, call))
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// AnswerCall returns the card that answers a third-party worker's ended call under the worker's own id; none if it has one.
// Result is the call's own card.
func AnswerCall(tx store.CardReader, st turn.State, c turn.Call, result utp.Card, now time.Time) ([]utp.Card, error) {
	given, err := AnswersTo(tx, st, c.Origin.Call)
	if err != nil || given.To(c.Step) {
		return nil, err
	}
	r, err := utp.DecodeToolResult(result)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	r.CreatedAt = now
	lineage := r.Lineage
	if theirs, err := store.ReadCard(tx, c.Origin.Card); err == nil {
		if content, err := utp.DecodeToolCall(theirs); err == nil {
			lineage = content.Lineage.Or(r.Lineage)
		}
	} else if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	r.Lineage = lineage
	return given.card(r, false)
}
