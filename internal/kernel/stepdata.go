package kernel

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// saveStepData saves the agent's own data about a step with the step.
func (s *step) saveStepData(stepID string, body api.Body) error {
	if body.SHA256 == "" && len(body.Inline) == 0 {
		return nil
	}
	if max(int64(len(body.Inline)), body.Size) > api.StepDataLimit {
		return api.NewFault(utp.CodeTooLarge, fmt.Sprintf("a step's own data may have %d MiB", api.StepDataLimit>>20))
	}
	raw, err := store.ReadBody(s.tx, body)
	data := jsontext.Value(raw)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return api.NewFault(utp.CodeBadRequest, "the blob of the step's data has not been put, or not completely")
	case err != nil:
		return err
	case data.Kind() != jsontext.KindBeginObject || !data.IsValid():
		return api.NewFault(utp.CodeBadRequest, "a step's own data is a JSON object")
	}
	return s.cards.AddStepData(stepID, data)
}
