package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/surface/page"
)

// shape tells which fields a form has.
func shape(f page.Form) string {
	var parts []string
	for _, a := range f.Fields {
		text := string(a.Control) + " " + a.Label
		if a.Required {
			text += "!"
		}
		for _, c := range a.Choices {
			text += "|" + c.Text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

const whole = "json Arguments!"

// TestForm: each simple property is a field of its kind, in the schema's order; what no form can show is asked for as JSON.
func TestForm(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 500 {
		fmt.Fprintf(&many, `,"p%d":{"type":"string"}`, i)
	}
	for name, tt := range map[string]struct{ schema, want string }{
		"simple": {
			`{"type":"object","required":["to"],"properties":{"to":{"type":"string","title":"Recipient"},"n":{"type":"integer"},"x":{"type":"number"},` +
				`"urgent":{"type":"boolean"},"tone":{"enum":["warm","cool",3,null]},"on":{"type":"string","format":"date"},"body":{"type":"string","maxLength":2000},"only":{"const":"a"}}}`,
			"text Recipient!, number n, number x, choice urgent|Yes|No, choice tone|warm|cool|3|null, date on, long body, choice only|a",
		},
		"other shapes are JSON": {
			`{"properties":{"list":{"type":"array"},"deep":{"type":"object","properties":{}},"either":{"type":["string","null"]},"any":{},"yes":true,"none":false,"odd":7,"e":{"enum":[{"a":1}]}}}`,
			"json list, json deep, json either, json any, json yes, json none, json odd, json e",
		},
		"no arguments":          {`{"type":"object","properties":{}}`, ""},
		"nothing said":          {`{}`, ""},
		"500 properties":        {`{"properties":{"a":{}` + many.String() + `}}`, whole},
		"not an object":         {`{"type":"array"}`, whole},
		"alternatives":          {`{"properties":{"a":{}},"oneOf":[{}]}`, whole},
		"a reference":           {`{"$ref":"#/$defs/a"}`, whole},
		"a long name":           {`{"properties":{"` + strings.Repeat("n", 129) + `":{}}}`, whole},
		"needs what it hides":   {`{"properties":{"a":{"type":"string"}},"required":["b"]}`, whole},
		"not JSON":              {`{"properties":`, whole},
		"true":                  {`true`, whole},
		"nested without an end": {strings.Repeat(`{"properties":`, 9000) + "1" + strings.Repeat("}", 9000), "json properties"},
		"odd names": {
			`{"properties":{"":{"type":"string"},"__proto__":{"type":"string"},"<b>\"&":{"type":"string"},"a\u202eb":{"type":"string"},"a b\n":{"type":"string","title":" "}}}`,
			"text A value without a name, text __proto__, text <b>\"&, text a<U+202E>b, text a b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			form := page.NewForm(jsontext.Value(tt.schema))
			if got := shape(form); got != tt.want {
				t.Errorf("the fields are %q", got)
			}
			ids := map[string]bool{}
			for _, a := range form.Fields {
				if ids[a.ID()] || strings.ContainsAny(a.ID(), " \"<>&\n") || strings.ContainsAny(a.Label+a.About+a.Help, "\u202e\n") {
					t.Errorf("a field is %q, %q, %q", a.ID(), a.Label, a.Help)
				}
				ids[a.ID()] = true
			}
		})
	}
}

// TestFormRead: what was typed becomes the JSON that the schema asks for; what does not is said for its field, all of it at once, and
// nothing that was typed is lost.
func TestFormRead(t *testing.T) {
	t.Parallel()
	const one = `{"properties":{"v":%s}}`
	for name, tt := range map[string]struct{ schema, typed, want, wrong string }{
		"text":                {`{"type":"string"}`, ` say "hi" <b> `, `{"v":"say \"hi\" <b>"}`, ""},
		"text like a number":  {`{"type":"string"}`, `7`, `{"v":"7"}`, ""},
		"lines":               {`{"type":"string","maxLength":900}`, "a\r\nb", `{"v":"a\nb"}`, ""},
		"too long":            {`{"type":"string","maxLength":3}`, `äöüß`, "", "At most 3"},
		"left out":            {`{"type":"string"}`, `  `, `{}`, ""},
		"whole number":        {`{"type":"integer"}`, `+12`, `{"v":12}`, ""},
		"a part of a number":  {`{"type":"integer"}`, `1.5`, "", "It is not a whole number."},
		"number":              {`{"type":"number"}`, `-1.5e3`, `{"v":-1.5e3}`, ""},
		"a comma":             {`{"type":"number"}`, `1,5`, "", "It is not a number."},
		"infinite":            {`{"type":"number"}`, `1e999`, "", "It is not a number."},
		"not a number":        {`{"type":"number"}`, `NaN`, "", "It is not a number."},
		"another notation":    {`{"type":"number"}`, `0x10`, "", "It is not a number."},
		"too small":           {`{"type":"integer","minimum":1,"maximum":5}`, `0`, "", "It is not a whole number from 1 up to 5."},
		"yes":                 {`{"type":"boolean"}`, `true`, `{"v":true}`, ""},
		"not a choice":        {`{"enum":["a","b"]}`, `"c"`, "", "not one of the choices"},
		"choice":              {`{"enum":["a","b",1]}`, `"b"`, `{"v":"b"}`, ""},
		"date":                {`{"type":"string","format":"date"}`, `2026-02-28`, `{"v":"2026-02-28"}`, ""},
		"no such date":        {`{"type":"string","format":"date"}`, `2026-02-30`, "", "It is not a date."},
		"JSON":                {`{"type":"array"}`, `[1, {"a":2}]`, `{"v":[1, {"a":2}]}`, ""},
		"not JSON":            {`{"type":"array"}`, `[1,`, "", "It is not valid JSON."},
		"a member more":       {`{"type":"array"}`, `1,"w":2`, "", "It is not valid JSON."},
		"not UTF-8 as a text": {`{"type":"string"}`, "\xff", "", "It is not UTF-8."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			form := page.NewForm(jsontext.Value(fmt.Sprintf(one, tt.schema)))
			args, ok := form.Read(func(string) string { return tt.typed })
			if got := form.Fields[0].Error; ok != (tt.wrong == "") || !strings.Contains(got, tt.wrong) || got != "" && tt.wrong == "" {
				t.Errorf("it is %v, and the field says %q", ok, got)
			}
			if string(args) != tt.want || ok && !args.IsValid() {
				t.Errorf("the arguments are %s", args)
			}
			if form.Fields[0].Value != strings.ReplaceAll(tt.typed, "\r\n", "\n") {
				t.Errorf("what was typed is now %q", form.Fields[0].Value)
			}
		})
	}
	form := page.NewForm(jsontext.Value(`{"properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{"type":"string","default":"x"}},"required":["a"]}`))
	if form.Fields[2].Value != "x" {
		t.Errorf("the default is %q", form.Fields[2].Value)
	}
	if _, ok := form.Read(func(id string) string { return map[bool]string{true: "soon"}[id == form.Fields[1].ID()] }); ok || len(form.Wrong()) != 2 {
		t.Errorf("wrong are %+v", form.Wrong())
	}
	form.Fill(jsontext.Value(`{"b":3,"a":"Ada","z":1}`))
	if got := []string{form.Fields[0].Value, form.Fields[1].Value, form.Fields[2].Value}; strings.Join(got, "|") != "Ada|3|" {
		t.Errorf("filled in is %q", got)
	}
	all := page.NewForm(jsontext.Value(`true`))
	if _, ok := all.Read(func(string) string { return "[]" }); ok {
		t.Error("a list is taken for the arguments")
	}
	if args, ok := all.Read(func(string) string { return ` {"a":1} ` }); !ok || string(args) != `{"a":1}` {
		t.Errorf("all of them are %s", args)
	}
}
