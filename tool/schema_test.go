package tool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

type folder struct {
	Name string   `json:"name"`
	In   []folder `json:"in,omitempty"`
}

type chain struct {
	Value int    `json:"value"`
	Next  *chain `json:"next"`
}

type page struct {
	After string `json:"after,omitzero" description:"where to go on"`
	Limit int    `json:"limit" default:"50" minimum:"1" maximum:"500"`
}

type even int

func (even) JSONSchema() jsontext.Value { return jsontext.Value(`{"type":"integer","multipleOf":2}`) }

func (e *even) UnmarshalJSON(raw []byte) error { return json.Unmarshal(raw, (*int)(e)) }

type closedBox struct{}

func (*closedBox) UnmarshalJSON([]byte) error { return nil }

// schemaOf is the schema without what every one begins with.
func schemaOf[T any]() (string, error) {
	raw, err := tool.SchemaFor[T]()
	if err == nil && !strings.Contains(string(raw), `"additionalProperties":false`) {
		return "it is open", nil
	}
	text := strings.Replace(string(raw), `"$schema":"https://json-schema.org/draft/2020-12/schema",`, "", 1)
	return strings.Replace(text, `"additionalProperties":false,`, "", 1), err
}

// TestSchemaFor: what is derived from each sort of type. Each schema compiles, takes what
// the type encodes to, and comes out the same every time.
func TestSchemaFor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		derive func() (string, error)
		want   string
	}{
		{"nothing", schemaOf[struct{}], `{"properties":{},"type":"object"}`},
		{
			"plain", schemaOf[struct {
				B bool    `json:"b"`
				S string  `json:"s"`
				F float64 `json:"f"`
				I int     `json:"i"`
				U uint    `json:"u"`
				T int8    `json:"t"`
				A any     `json:"a"`
			}],
			`{"properties":{"a":{},"b":{"type":"boolean"},"f":{"type":"number"},"i":{"type":"integer"},"s":{"type":"string"},` +
				`"t":{"maximum":127,"minimum":-128,"type":"integer"},"u":{"minimum":0,"type":"integer"}},"required":["a","b","f","i","s","t","u"],"type":"object"}`,
		},
		{
			"not required", schemaOf[struct {
				P *int   `json:"p"`
				Z string `json:"z,omitzero"`
				E string `json:"e,omitempty"`
				D string `json:"d" default:"x"`
				R string `json:"r"`
			}],
			`{"properties":{"d":{"default":"x","type":"string"},"e":{"type":"string"},"p":{"type":"integer"},"r":{"type":"string"},"z":{"type":"string"}},"required":["r"],"type":"object"}`,
		},
		{
			"names", schemaOf[struct {
				Plain  int
				Other  int `json:"other"`
				Hidden int `json:"-"`
				own    int
			}],
			`{"properties":{"Plain":{"type":"integer"},"other":{"type":"integer"}},"required":["Plain","other"],"type":"object"}`,
		},
		{
			"keywords", schemaOf[struct {
				S []string `json:"s" minItems:"1" uniqueItems:"true" minLength:"2" pattern:"^a" description:"some"`
				E string   `json:"e" enum:"low,high"`
				N int      `json:"n" enum:"1,2" exclusiveMinimum:"0"`
				F string   `json:"f" format:"email" maxLength:"9"`
			}],
			`{"properties":{"e":{"enum":["low","high"],"type":"string"},"f":{"format":"email","maxLength":9,"type":"string"},` +
				`"n":{"enum":[1,2],"exclusiveMinimum":0,"type":"integer"},` +
				`"s":{"description":"some","items":{"minLength":2,"pattern":"^a","type":"string"},"minItems":1,"type":"array","uniqueItems":true}},"required":["e","f","n","s"],"type":"object"}`,
		},
		{
			"time, bytes, lists, maps", schemaOf[struct {
				T time.Time         `json:"t"`
				B []byte            `json:"b"`
				H [4]byte           `json:"h"`
				L [2]bool           `json:"l"`
				M map[string][]uint `json:"m"`
				A netip.Addr        `json:"a"`
			}],
			`{"properties":{"a":{"type":"string"},"b":{"contentEncoding":"base64","type":"string"},"h":{"contentEncoding":"base64","maxLength":8,"minLength":8,"type":"string"},` +
				`"l":{"items":{"type":"boolean"},"maxItems":2,"minItems":2,"type":"array"},` +
				`"m":{"additionalProperties":{"items":{"minimum":0,"type":"integer"},"type":"array"},"type":"object"},"t":{"format":"date-time","type":"string"}},` +
				`"required":["a","b","h","l","m","t"],"type":"object"}`,
		},
		{
			"embedded", schemaOf[struct {
				page

				Root string `json:"root"`
			}],
			`{"properties":{"after":{"description":"where to go on","type":"string"},"limit":{"default":50,"maximum":500,"minimum":1,"type":"integer"},"root":{"type":"string"}},"required":["root"],"type":"object"}`,
		},
		{
			"inside", schemaOf[struct {
				In struct {
					N int `json:"n"`
				} `json:"in"`
			}],
			`{"properties":{"in":{"additionalProperties":false,"properties":{"n":{"type":"integer"}},"required":["n"],"type":"object"}},"required":["in"],"type":"object"}`,
		},
		{"contains itself", schemaOf[chain], `{"properties":{"next":{"$ref":"#"},"value":{"type":"integer"}},"required":["value"],"type":"object"}`},
		{
			"contains what contains itself", schemaOf[struct {
				Top folder `json:"top"`
			}],
			`{"$defs":{"folder":{"properties":{"in":{"items":{"$ref":"#/$defs/folder"},"type":"array"},"name":{"type":"string"}},"required":["name"],"type":"object"}},` +
				`"additionalProperties":false,"properties":{"top":{"$ref":"#/$defs/folder"}},"required":["top"],"type":"object"}`,
		},
		{
			"says its own", schemaOf[struct {
				E even `json:"e" description:"no odd one"`
			}],
			`{"properties":{"e":{"description":"no odd one","multipleOf":2,"type":"integer"}},"required":["e"],"type":"object"}`,
		},
		{
			"a secret", schemaOf[struct {
				Key tool.Secret `json:"key" env:"API_KEY"`
			}],
			`{"properties":{"key":{"type":"string","x-secret":true}},"required":["key"],"type":"object"}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.derive()
			if err != nil || got != tt.want {
				t.Fatalf("%v\n got %s\nwant %s", err, got, tt.want)
			}
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			compiler := jsonschema.NewCompiler()
			if err := compiler.AddResource("urn:x", doc); err != nil {
				t.Fatal(err)
			}
			if _, err := compiler.Compile("urn:x"); err != nil {
				t.Error(err)
			}
			for range 50 {
				if again, err := tt.derive(); again != got || err != nil {
					t.Fatalf("another time: %s, %v", again, err)
				}
			}
		})
	}
}

func funcError[A any]() error {
	_, err := tool.Func(utp.Definition{Tool: "x.y", Description: "d"}, func(context.Context, *tool.Call, A) (int, error) { return 0, nil })
	return err
}

// TestFuncRefuses: what has no schema is refused when the tool is made, with the place and
// what is wrong with it.
func TestFuncRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"no struct", funcError[string](), "the arguments of type string: the arguments of a tool are a struct"},
		{"a time alone", funcError[time.Time](), "the arguments of a tool are a struct"},
		{"channel", funcError[struct {
			A []struct {
				C chan int `json:"c"`
			} `json:"a"`
		}](), "the argument a[].c of type chan int: JSON has nothing like it"},
		{"function", funcError[struct{ F func() }](), "the argument F of type func(): JSON has nothing like it"},
		{"complex", funcError[struct{ C complex64 }](), "the argument C of type complex64"},
		{"interface", funcError[struct{ E error }](), "take a struct"},
		{"duration", funcError[struct{ D time.Duration }](), "number of seconds"},
		{"keys", funcError[struct{ M map[int]string }](), "the keys of a map are strings"},
		{"in a map", funcError[struct{ M map[string]chan int }](), "the argument M.* of type chan int"},
		{"decodes itself", funcError[struct{ B closedBox }](), "JSONSchema"},
		{"json option", funcError[struct {
			N int `json:"n,string"`
		}](), "the option string"},
		{"two of a name", funcError[struct {
			page
			Again string `json:"after"`
		}](), "two fields have this name"},
		{"embedded pointer", funcError[struct{ *chain }](), "embedded, by value"},
		{"keyword of another type", funcError[struct {
			N int `minLength:"1"`
		}](), "the keyword minLength is not about this type"},
		{"keyword that cannot be read", funcError[struct {
			N int `minimum:"one"`
		}](), `its tag minimum:"one" cannot be read`},
		{"enum of another type", funcError[struct {
			N int `enum:"1,two"`
		}](), `its enum has "two"`},
		{"default of another type", funcError[struct {
			N int `default:"many"`
		}](), `its default "many" is not of its type`},
		{"default out of bounds", funcError[struct {
			N int `default:"7" maximum:"5"`
		}](), "the default of N"},
		{"default inside", funcError[struct {
			In struct {
				N int `default:"7"`
			}
		}](), "a default is put in beside the arguments only"},
		{"pattern", funcError[struct {
			S string `pattern:"("`
		}](), "parameters is refused"},
		{"secret without a variable", funcError[struct{ K tool.Secret }](), `needs the tag env:"NAME"`},
		{"secret inside", funcError[struct {
			In struct {
				K tool.Secret `env:"K"`
			}
		}](), "stands beside the arguments"},
		{"variable for no secret", funcError[struct {
			K string `env:"K"`
		}](), "only a tool.Secret"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) || !strings.Contains(tt.err.Error(), "x.y") && !strings.Contains(tt.err.Error(), "tool") {
				t.Errorf("got %v; want ...%s...", tt.err, tt.want)
			}
		})
	}
	if wrong, is := errors.AsType[*tool.TypeError](funcError[struct{ F func() }]()); !is || wrong.Path != "F" || wrong.Type != "func()" {
		t.Errorf("the error is %+v", wrong)
	}
}

// TestFuncDefinition: what is left out is the cautious value, and the definition's digest
// is this one in every run and under every version of Go: another digest is a tool that
// every operator has to review again.
func TestFuncDefinition(t *testing.T) {
	t.Parallel()
	type args struct {
		page

		Root string      `json:"root" minLength:"1" description:"the folder"`
		Key  tool.Secret `json:"key" env:"FILES_KEY"`
		Top  folder      `json:"top"`
	}
	made, err := tool.Func(utp.Definition{Tool: "files.list.deep", Description: "List files."},
		func(context.Context, *tool.Call, args) ([]string, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	d := made.Definition
	if d.Class != utp.Irreversible || d.Risk != utp.RiskHigh || d.AfterExecution != utp.Suspend {
		t.Errorf("not the cautious values: %+v", d)
	}
	if d.Target != "cg.v1r4.{project_id}.{channel_id}.cmd.tool.files.list_deep" {
		t.Errorf("the target is %s", d.Target)
	}
	if want := `{"args":{"defaults":{"limit":50},"envs":{"key":"FILES_KEY"}}}`; string(d.Options) != want {
		t.Errorf("the options are %s; want %s", d.Options, want)
	}
	digest, err := d.Digest()
	if want := "71e43bd9a30161c716ba1f7cfe14b6b0b22f63cef44d16fc67e142a273cdb583"; err != nil || digest != want {
		t.Errorf("the digest is %s, %v; want %s", digest, err, want)
	}
	type turned struct {
		Top  folder      `json:"top"`
		Key  tool.Secret `json:"key" env:"FILES_KEY"`
		Root string      `json:"root" minLength:"1" description:"the folder"`
		page
	}
	other := tool.Must(tool.Func(utp.Definition{Tool: "files.list.deep", Description: "Other words."},
		func(context.Context, *tool.Call, turned) ([]string, error) { return nil, nil }))
	if again, err := other.Definition.Digest(); err != nil || again != digest {
		t.Errorf("another order of the fields is another definition: %s, %v", again, err)
	}
	for class, risk := range map[utp.Class]utp.Risk{utp.Read: utp.RiskLow, utp.Idempotent: utp.RiskMedium, utp.Reversible: utp.RiskMedium} {
		if d, err := tool.Complete(utp.Definition{Tool: "now", Class: class}); err != nil || d.Risk != risk || !strings.HasSuffix(d.Target, ".tool.now.run") {
			t.Errorf("%s: %+v, %v", class, d, err)
		}
	}
}

// FuzzDecode: whatever arguments come, a handler gets what fits its type, or is not run.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"name":"a","in":[{"name":"b"}]}`, `{"name":1}`, `{"name":"a","name":"b"}`, `{`, `[]`, "", `{"name":"\ud800"}`, `{"key":{"$secret":"env:X","mac":"m"}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var args struct {
			folder

			Key tool.Secret `json:"key"`
		}
		err := (&tool.Call{Args: raw, Secrets: map[string]string{"env:X": "s"}}).Decode(&args)
		if err == nil && !jsontext.Value(bytes.Clone(raw)).IsValid() {
			t.Errorf("%q was taken", raw)
		}
		if bad, is := errors.AsType[*utp.ToolError](err); err != nil && (!is || bad.Code != utp.CodeBadRequest) {
			t.Errorf("%q: %v", raw, err)
		}
	})
}
