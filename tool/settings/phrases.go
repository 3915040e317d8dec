package settings

import (
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// Phrases are an operation's own texts for people, if its file has any: the question, what is said while it works, and
// what is said about its result. They are stored unchanged in the definition's options of these names; the reader of
// the file has them validated.
type Phrases struct {
	Consent yaml.Node `yaml:"consent"`
	Doing   yaml.Node `yaml:"doing"`
	Result  yaml.Node `yaml:"result"`
}

// options returns the texts as members of a definition's options.
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
