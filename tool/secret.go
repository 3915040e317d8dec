package tool

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// Secret is an argument that the operator's environment supplies: its field has the tag env:"NAME". The model never
// sees it, cards and events contain only a reference, and the value comes with the grant of the start. It prints and
// logs as [secret], and is never written as JSON.
type Secret struct{ value string }

// Value is the secret itself.
func (s Secret) Value() string { return s.value }

// String hides the value.
func (Secret) String() string { return "[secret]" }

// GoString hides the value.
func (Secret) GoString() string { return "tool.Secret{}" }

// LogValue hides the value.
func (Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// MarshalJSON returns an error: results are stored and read by others.
func (Secret) MarshalJSON() ([]byte, error) {
	return nil, errors.New("tool: a secret is never written as JSON")
}

// secretsOf reads the references in the arguments as the values that were handed out.
func secretsOf(values map[string]string) json.Options {
	return json.WithUnmarshalers(json.UnmarshalFromFunc(func(dec *jsontext.Decoder, s *Secret) error {
		var reference struct {
			Ref string `json:"$secret"`
			MAC string `json:"mac"`
		}
		if err := json.UnmarshalDecode(dec, &reference); err != nil {
			return fmt.Errorf("a secret: %w", err)
		}
		value, found := values[reference.Ref]
		if !found {
			return &utp.ToolError{Code: utp.CodeBadRequest, Message: "the start handed out no value of " + reference.Ref}
		}
		s.value = value
		return nil
	}))
}
