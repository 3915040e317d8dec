package mcp

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// answers gives one answer after the other, and keeps what was asked. An answer that begins with ! is the code of an error.
type answers struct {
	given []string
	asked []api.Question
}

func (a *answers) ask(_ context.Context, q api.Question) (api.Answered, error) {
	a.asked = append(a.asked, q)
	if len(a.given) == 0 {
		return api.Answered{}, errors.New("nothing more is answered")
	}
	next := a.given[0]
	a.given = a.given[1:]
	if code, is := strings.CutPrefix(next, "!"); is {
		return api.Answered{}, &utp.ToolError{Code: utp.Code(code)}
	}
	return api.Answered{Answer: jsontext.Value(next), By: "anna"}, nil
}

// TestForm: each field is a question of its own, and what the person does not answer is not agreed to.
func TestForm(t *testing.T) {
	t.Parallel()
	const all = `{"type":"object","required":["size","colour"],"properties":{
		"colour":{"type":"string","title":"Colour","enum":["red","blue"],"enumNames":["Red","Blue"]},
		"size":{"type":"integer","description":"in pixels","minimum":1,"maximum":10},
		"note":{"type":"string","minLength":2},
		"deep":{"type":"boolean"},
		"tags":{"type":"array","items":{"anyOf":[{"const":"a","title":"Ay"},{"const":"b","title":"Bee"}]}}
	}}`
	for name, tt := range map[string]struct {
		schema, action, content string
		given                   []string
	}{
		"all of it":       {all, actionAccept, `{"colour":"blue","size":3,"note":"hello","deep":true,"tags":["a","b"]}`, []string{`3`, `"blue"`, `true`, `"hello"`, `"Ay, b"`}},
		"only the needed": {all, actionAccept, `{"colour":"red","size":3}`, []string{`3`, `"red"`, `"skip"`, `"skip"`, `"skip"`}},
		"asked again":     {all, actionAccept, `{"colour":"red","size":10}`, []string{`11`, `10`, `"red"`, `"skip"`, `"skip"`, `"skip"`}},
		"never fits":      {all, actionCancel, ``, []string{`11`, `12`, `2.5`}},
		"declined":        {all, actionDecline, ``, []string{`3`, `"decline"`}},
		"dismissed":       {all, actionCancel, ``, []string{`"dismiss"`}},
		"nobody answers":  {all, actionCancel, ``, []string{`3`, `!consent_expired`}},
		"stopped":         {all, actionCancel, ``, []string{`!stopped`}},
		"no fields, yes":  {`{"type":"object","properties":{}}`, actionAccept, `{}`, []string{`"continue"`}},
		"no fields, no":   {`{"type":"object","properties":{}}`, actionDecline, ``, []string{`"decline"`}},
		"no form, nobody": {`null`, actionCancel, ``, []string{`!consent_withdrawn`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requested any
			if err := json.Unmarshal([]byte(tt.schema), &requested); err != nil {
				t.Fatal(err)
			}
			f, err := formOf("Paint it.", requested)
			if err != nil {
				t.Fatal(err)
			}
			person := &answers{given: tt.given}
			got, err := f.fill(t.Context(), person.ask)
			if err != nil || got.Action != tt.action || len(person.given) != 0 {
				t.Fatalf("%+v, %v, not answered: %q", got, err, person.given)
			}
			var want map[string]any
			if tt.content != "" && json.Unmarshal([]byte(tt.content), &want) != nil || !reflect.DeepEqual(got.Content, want) {
				t.Errorf("the content is %v; want %v", got.Content, want)
			}
			for _, q := range person.asked {
				if _, err := q.Complete(); err != nil || q.Default != "" || !strings.Contains(q.Text, "Paint it.") {
					t.Errorf("the question is %+v, %v", q, err)
				}
			}
		})
	}
}

// TestFormAsks: a question says what is asked for, which values there are, and that nothing need be answered.
func TestFormAsks(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]struct{ text, context, kinds, choices string }{
		`{"type":"string","title":"Name","description":"your own"}`: {"Who? Name: your own?", "", "multiple_choice freetext", "skip decline"},
		`{"type":"integer","default":7}`:                            {"Who? x: usually 7?", "", "multiple_choice numeric", "skip decline"},
		`{"type":"boolean"}`:                                        {"Who? x?", "", "multiple_choice yes_no", "skip decline"},
		`{"type":"string","oneOf":[{"const":"a","title":"A"}]}`:     {"Who? x?", "", "multiple_choice", "a skip decline"},
		`{"type":"string","enum":["decline","b"]}`:                  {"Who? x?", "There are: decline, b", "multiple_choice freetext", "skip decline"},
	} {
		var requested any
		if err := json.Unmarshal([]byte(`{"properties":{"x":`+schema+`}}`), &requested); err != nil {
			t.Fatal(err)
		}
		f, err := formOf("Who?", requested)
		if err != nil {
			t.Fatal(err)
		}
		person := &answers{given: []string{`"skip"`}}
		_, _ = f.fill(t.Context(), person.ask)
		q := person.asked[0]
		var values []string
		for _, c := range q.Choices {
			values = append(values, c.Value)
		}
		if q.Text != want.text || q.Context != want.context || strings.Join(q.Kinds, " ") != want.kinds || strings.Join(values, " ") != want.choices {
			t.Errorf("%s: %+v", schema, q)
		}
	}
}

// TestFormRefused: what is not a form of simple fields is not asked for.
func TestFormRefused(t *testing.T) {
	t.Parallel()
	many := map[string]any{}
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		many[string(c)] = map[string]any{"type": "string"}
	}
	for _, requested := range []any{
		map[string]any{"properties": many}, map[string]any{"properties": map[string]any{"a": "text"}}, "text", slices.Repeat([]any{1}, 2),
	} {
		if f, err := formOf("Who?", requested); err == nil {
			t.Errorf("%v is taken as %+v", requested, f)
		}
	}
}
