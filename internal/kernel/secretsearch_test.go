package kernel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// TestSecretMarks: a mark is found wherever a schema can put one, and the search ends,
// whatever the schema is.
func TestSecretMarks(t *testing.T) {
	const secret = `{"type":"string","x-secret":true}`
	deep := strings.Repeat(`{"a":`, 40) + `"x"` + strings.Repeat(`}`, 40)
	tests := map[string]struct {
		schema, args string
		refused      bool
	}{
		"property":           {`{"properties":{"a":` + secret + `}}`, `{"a":"x"}`, true},
		"escaped mark":       {`{"properties":{"a":{"x-\u0073ecret":true}}}`, `{"a":"x"}`, true},
		"mark that is off":   {`{"properties":{"a":{"x-secret":false}}}`, `{"a":"x"}`, false},
		"not given":          {`{"properties":{"a":` + secret + `,"b":{}}}`, `{"b":"x"}`, false},
		"deep":               {`{"properties":{"a":{"properties":{"b":` + secret + `}}}}`, `{"a":{"b":"x"}}`, true},
		"pattern":            {`{"patternProperties":{"^p":` + secret + `}}`, `{"pw":"x"}`, true},
		"other properties":   {`{"additionalProperties":` + secret + `}`, `{"pw":"x"}`, true},
		"element":            {`{"properties":{"a":{"items":` + secret + `}}}`, `{"a":["x"]}`, true},
		"first element":      {`{"properties":{"a":{"prefixItems":[` + secret + `]}}}`, `{"a":["x"]}`, true},
		"second element":     {`{"properties":{"a":{"prefixItems":[{},` + secret + `]}}}`, `{"a":["x"]}`, false},
		"alternative":        {`{"anyOf":[{"properties":{"a":` + secret + `}},{}]}`, `{"a":"x"}`, true},
		"reference":          {`{"$defs":{"p":` + secret + `},"properties":{"a":{"$ref":"#/$defs/p"}}}`, `{"a":"x"}`, true},
		"recursion":          {`{"properties":{"a":{"$ref":"#"},"b":` + secret + `},"additionalProperties":true}`, `{"a":{"a":{"b":"x"}}}`, true},
		"recursion, none":    {`{"properties":{"a":{"$ref":"#"},"b":` + secret + `},"additionalProperties":true}`, `{"a":{"a":{}}}`, false},
		"a maze":             {`{"properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]},"b":` + secret + `},"additionalProperties":true}`, deep, true},
		"without marks":      {`{}`, deep, false},
		"reference to a box": {`{}`, `{"a":[{"b":{"$secret":"env:HOME"}}]}`, true},
		"escaped reference":  {`{}`, `{"a":{"\u0024secret":"env:HOME"}}`, true},
		"the word":           {`{}`, `{"secret":"$secret"}`, false},
	}
	inWorld(t, nil, func(t *testing.T, w *world) {
		var all []tool.Tool
		w.serve("post", func(s *service) []tool.Tool {
			for name, tt := range tests {
				d := definition("t."+strings.Map(func(r rune) rune {
					if r < 'a' || r > 'z' {
						return '_'
					}
					return r
				}, name), utp.Irreversible, `{}`)
				d.Parameters = jsontext.Value(tt.schema)
				d.Target = strings.Replace(d.Target, "tool."+target, "tool.post", 1)
				d.Description = name
				all = append(all, s.tool(d))
			}
			return all
		})
		a := w.begin()
		h := w.hand()
		began := time.Now()
		for _, made := range all {
			name := made.Definition.Description
			if err := h.calls(made.Definition.Tool, api.Body{Inline: jsontext.Value(tests[name].args)}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			c := w.last(a.Turn)
			if refused := c.State == turn.Closed; refused != tests[name].refused {
				t.Errorf("%s: the call is %s %+v; want refused: %v", name, c.State, c.Outcome, tests[name].refused)
			}
			for _, q := range w.questions() {
				w.say(q, "reject")
			}
			h.results()
		}
		if time.Since(began) > time.Second {
			t.Error("the search took long")
		}
		h.deliver()
		w.over(a.Turn)
	})
}
