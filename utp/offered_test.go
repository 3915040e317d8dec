package utp_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// TestOffered: whoever fills the arguments in sees neither what the definition sets nor what the environment does, and the
// defaults of the rest (UTP, "Arguments").
func TestOffered(t *testing.T) {
	t.Parallel()
	const whole = `{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer","default":1},"key":{"type":"string"},"mode":true},"required":["key","path","mode"]}`
	for name, tt := range map[string]struct{ parameters, options, want string }{
		"no options": {whole, ``, whole},
		"fixed":      {whole, `{"args":{"fixed":{"n":3}}}`, `{"type":"object","properties":{"path":{"type":"string"},"key":{"type":"string"},"mode":true},"required":["key","path","mode"]}`},
		"envs": {
			whole, `{"envs":{"key":"TOKEN"},"args":{"envs":{"mode":"MODE"}}}`,
			`{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer","default":1}},"required":["path"]}`,
		},
		"defaults": {
			whole, `{"args":{"defaults":{"n":7,"path":"/tmp","mode":"x"}}}`,
			`{"type":"object","properties":{"path":{"type":"string","default":"/tmp"},"n":{"type":"integer","default":7},"key":{"type":"string"},"mode":true},"required":["key"]}`,
		},
		"fixed goes before a default": {
			`{"properties":{"n":{}}}`, `{"args":{"defaults":{"n":7},"fixed":{"n":8}}}`, `{"properties":{}}`,
		},
		"nothing required is left": {`{"required":["n"],"type":"object"}`, `{"args":{"fixed":{"n":3}}}`, `{"type":"object"}`},
		"nothing described":        {`{"type":"object"}`, `{"args":{"fixed":{"n":3}}}`, `{"type":"object"}`},
		"an odd schema":            {`{"properties":[],"required":"n"}`, `{"args":{"fixed":{"n":3}}}`, `{"properties":[],"required":"n"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := utp.Definition{Parameters: jsontext.Value(tt.parameters), Options: jsontext.Value(tt.options)}
			got, err := d.Offered()
			if err != nil || string(got) != tt.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
	if _, err := (utp.Definition{Parameters: jsontext.Value(whole), Options: jsontext.Value(`[]`)}).Offered(); err == nil {
		t.Error("options that are not an object")
	}
}
