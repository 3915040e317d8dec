package kernel

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// takeAnswer uses the result of a call that ends the turn as the turn's answer. A text is the answer
// itself; of an object, its members summary and output are. Anything else was reported with the call.
func (s *step) takeAnswer() error {
	c, is := s.rec.State.Terminal()
	if !is {
		return nil
	}
	row := store.ResultRow{Key: c.Key, Call: c.ID, Tool: c.Tool, Card: c.Outcome.Card}
	result, err := s.cards.ResultValue(row)
	if errors.Is(err, store.ErrDamaged) { // the turn ends without an answer
		return nil
	}
	if err != nil {
		return err
	}
	var text string
	var answer struct {
		Summary jsontext.Value `json:"summary"`
		Output  jsontext.Value `json:"output"`
	}
	switch result.Kind() {
	case jsontext.KindString:
		text = unquoted(result)
		s.notification.Summary, _, _ = strings.Cut(text, "\n")
		s.notification.Output = text
	case jsontext.KindBeginObject:
		if json.Unmarshal(result, &answer) == nil {
			s.notification.Summary, s.notification.Output = unquoted(answer.Summary), unquoted(answer.Output)
		}
	default:
	}
	s.notification.Summary = store.Clip(s.notification.Summary, maxMessage)
	return nil
}

// unquoted returns the value of a JSON string, or "" for any other value.
func unquoted(v jsontext.Value) string {
	var text string
	if v.Kind() != jsontext.KindString || json.Unmarshal(v, &text) != nil {
		return ""
	}
	return text
}
