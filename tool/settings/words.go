package settings

import (
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// Phrases are what an operation says of itself to people where its file brings words of its own: how it asks, what is said
// while it works, and what is said of its result. They are passed on as they stand, in the definition's options of these
// names; anyone who reads the file has them judged.
type Phrases struct {
	Consent yaml.Node `yaml:"consent"`
	Doing   yaml.Node `yaml:"doing"`
	Result  yaml.Node `yaml:"result"`
}

// options are the words as members of a definition's options.
func (w Phrases) options() (map[string]jsontext.Value, error) {
	options := map[string]jsontext.Value{}
	for name, node := range map[string]*yaml.Node{"consent": &w.Consent, "doing": &w.Doing, "result": &w.Result} {
		if node.IsZero() {
			continue
		}
		raw, err := JSON(node)
		if err != nil {
			return nil, err
		}
		options[name] = raw
	}
	return options, nil
}
