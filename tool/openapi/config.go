package openapi

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// config is the section `http` of a file.
type config struct {
	Target            string              `yaml:"target"`
	Document          string              `yaml:"document"`
	Server            string              `yaml:"server"`
	Hosts             []string            `yaml:"hosts"`
	Networks          []string            `yaml:"networks"`
	CA                string              `yaml:"ca"`
	Secrets           settings.Secrets    `yaml:"secrets"`
	Auth              []credential        `yaml:"auth"`
	Headers           map[string]string   `yaml:"headers"`
	IdempotencyHeader string              `yaml:"idempotency_header"`
	Limits            limits              `yaml:"limits"`
	Operations        []operationSettings `yaml:"operations"`
}

// operationSettings name one operation: by its id in the document, or in full.
type operationSettings struct {
	Operation   string                       `yaml:"operation"`
	Tool        string                       `yaml:"tool"`
	Description string                       `yaml:"description"`
	Class       utp.Class                    `yaml:"class"`
	Risk        utp.Risk                     `yaml:"risk"`
	Method      string                       `yaml:"method"`
	URL         string                       `yaml:"url"`
	Parameters  map[string]parameterSettings `yaml:"parameters"`
	Body        *bodySettings                `yaml:"body"`
	Binary      bool                         `yaml:"binary"`
	Limits      limits                       `yaml:"limits"`

	settings.Phrases `yaml:",inline"`
}

// parameterSettings are a parameter of an operation without a document. Its key is the
// name of the argument.
type parameterSettings struct {
	In       string    `yaml:"in"`
	Name     string    `yaml:"name"` // on the wire; default the argument's
	Required bool      `yaml:"required"`
	Schema   yaml.Node `yaml:"schema"`
}

type bodySettings struct {
	Media    string    `yaml:"media"` // default application/json
	Required bool      `yaml:"required"`
	Schema   yaml.Node `yaml:"schema"`
}

// credential is a header or a query parameter with secrets, named in braces: the value
// "Bearer {token}" takes the secret `token`.
type credential struct {
	Header string `yaml:"header"`
	Query  string `yaml:"query"`
	Value  string `yaml:"value"`
}

// limits of a section, or of one operation; what is 0 is taken from the section, or is
// the default.
type limits struct {
	Time     time.Duration `yaml:"time"`     // from dialling to the last byte; default 30 s
	Request  settings.Size `yaml:"request"`  // of a body; default 1 MiB
	Response settings.Size `yaml:"response"` // of a body; default 1 MiB
}

const (
	defaultTime   = 30 * time.Second
	maxTime       = time.Hour
	defaultBody   = 1 << 20
	maxBody       = 8 << 20
	maxHeader     = 64 << 10
	maxDocument   = 16 << 20
	maxRedirects  = 5
	maxAddress    = 8 << 10 // of an address with its query, in bytes
	handshakeTime = 10 * time.Second
	// stopGrace is how long the answer to a request with an effect is waited for when the
	// call is stopped: it says what has become of it.
	stopGrace = 4 * time.Second
)

// withDefaults is l where it says something, else base, else the default.
func (l limits) withDefaults(base limits) limits {
	first := func(values ...int64) int64 {
		for _, v := range values {
			if v != 0 {
				return v
			}
		}
		return 0
	}
	return limits{
		Time:     time.Duration(first(int64(l.Time), int64(base.Time), int64(defaultTime))),
		Request:  settings.Size(first(int64(l.Request), int64(base.Request), defaultBody)),
		Response: settings.Size(first(int64(l.Response), int64(base.Response), defaultBody)),
	}
}
