package utp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/utp"
)

// TestResolve covers UTP, "Arguments", and U-44.
func TestResolve(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, options, args, want string
		defaults, fixed           []string
		envs                      map[string]string
	}{
		{"no options keep every byte", ``, ` {"b" : 1.50 , "a":"\u00e9"} `, ` {"b" : 1.50 , "a":"\u00e9"} `, nil, nil, nil},
		{"no arguments", `null`, ``, `{}`, nil, nil, nil},
		{"null arguments", `{}`, `null`, `{}`, nil, nil, nil},
		{"default", `{"args":{"defaults":{"limit":1.0,"all":false}}}`, `{"b":1e2}`, `{"b":1e2,"all":false,"limit":1.0}`, []string{"all", "limit"}, nil, nil},
		{"default into nothing", `{"args":{"defaults":{"limit":10}}}`, `{ }`, `{"limit":10}`, []string{"limit"}, nil, nil},
		{"an explicit null is present", `{"args":{"defaults":{"limit":10}}}`, `{"limit": null}`, `{"limit": null}`, nil, nil, nil},
		{"an escaped name is present", `{"args":{"defaults":{"limit":10}}}`, `{"\u006cimit":1}`, `{"\u006cimit":1}`, nil, nil, nil},
		{"fixed overwrites in place", `{"args":{"fixed":{"root":"/srv"}}}`, `{"root": "/", "n": 1.0}`, `{"root":"/srv","n":1.0}`, nil, []string{"root"}, nil},
		{"fixed beats default", `{"args":{"fixed":{"a":1},"defaults":{"a":2}}}`, `{}`, `{"a":1}`, nil, []string{"a"}, nil},
		{"env deletes", `{"envs":{"key":"FILES_KEY"}}`, `{"a":1,"key":"mine","b":2}`, `{"a":1,"b":2}`, nil, nil, map[string]string{"key": "FILES_KEY"}},
		{"env inside args", `{"args":{"envs":{"key":"K"}}}`, `{"key":"mine"}`, `{}`, nil, nil, map[string]string{"key": "K"}},
		{"env in both places", `{"envs":{"key":"K"},"args":{"envs":{"key":"K","t":"T"}}}`, `{"a":1}`, `{"a":1}`, nil, nil, map[string]string{"key": "K", "t": "T"}},
		{"env beats fixed and default", `{"envs":{"k":"K"},"args":{"fixed":{"k":1},"defaults":{"k":2}}}`, `{"k":3}`, `{}`, nil, nil, map[string]string{"k": "K"}},
		{"unknown options", `{"ui_allowed":true,"args":{"later":1}}`, `{}`, `{}`, nil, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			options, err := utp.ParseOptions([]byte(tt.options))
			if err != nil {
				t.Fatal(err)
			}
			args := []byte(tt.args)
			got, err := utp.Resolve(args, options)
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Args) != tt.want || string(args) != tt.args {
				t.Errorf("got %s, want %s; the original is %s", got.Args, tt.want, args)
			}
			if !slices.Equal(got.Defaults, tt.defaults) || !slices.Equal(got.Fixed, tt.fixed) || !maps.Equal(got.Envs, tt.envs) {
				t.Errorf("got %v %v %v, want %v %v %v", got.Defaults, got.Fixed, got.Envs, tt.defaults, tt.fixed, tt.envs)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	for _, args := range []string{`[]`, `1`, `{`, `{"a":1,"a":2}`, `{"a":{"b":1,"b":2}}`, `{} {}`, `{"a":}`, `{"a"`, `{a:1}`, "{\"\xff\":1}", `?`} {
		_, err := utp.Resolve([]byte(args), utp.Options{})
		if _, ok := errors.AsType[*utp.ArgumentError](err); !ok {
			t.Errorf("%s: %v", args, err)
		}
	}
	for _, options := range []utp.Options{
		{Defaults: map[string]jsontext.Value{"a": []byte(`{`)}},
		{Fixed: map[string]jsontext.Value{"b": nil}},
		{Fixed: map[string]jsontext.Value{"\xff": []byte(`1`)}},
	} {
		if got, err := utp.Resolve([]byte(`{"b":1}`), options); err == nil {
			t.Errorf("%v: %s", options, got.Args)
		}
	}
}

func TestParseOptionsRefuses(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`[]`, `{`, `{"args":[]}`, `{"args":{"defaults":1}}`, `{"envs":{"a":1}}`, `{"envs":{"a":""}}`,
		`{"envs":{"a":"X"},"args":{"envs":{"a":"Y"}}}`, `{"envs":{},"envs":{}}`,
	} {
		_, err := utp.ParseOptions([]byte(raw))
		if wrong, ok := errors.AsType[*utp.DefinitionError](err); !ok || wrong.Code() != utp.CodeBadRequest {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestSetMember(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, args, member, value, want string }{
		{"first", `{ }`, "a", `1`, `{ "a":1}`},
		{"last", ` { "b" : 1.50 } `, "a", `{"$secret":"r"}`, ` { "b" : 1.50 ,"a":{"$secret":"r"}} `},
		{"in place", `{"a" : [1, 2] , "b":"\u00e9"}`, "a", `null`, `{"a" : null , "b":"\u00e9"}`},
		{"escaped name", `{"\u0061":1}`, "a", `2`, `{"\u0061":2}`},
		{"only at the top", `{"b":{"a":1}}`, "a", `2`, `{"b":{"a":1},"a":2}`},
		{"name to escape", `{}`, "a\"\n", `2`, `{"a\"\n":2}`},
		{"braces in a string", `{"b":"}"}`, "a", `2`, `{"b":"}","a":2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := []byte(tt.args)
			got, err := utp.SetMember(args, tt.member, []byte(tt.value))
			if err != nil || string(got) != tt.want || string(args) != tt.args {
				t.Errorf("got %s, %v; want %s; the original is %s", got, err, tt.want, args)
			}
		})
	}
	for _, bad := range [][3]string{{`[]`, "a", `1`}, {`{}`, "a", `{`}, {`{}`, "a", ``}, {`{}`, "\xff", `1`}, {`{"a":1,"a":2}`, "a", `1`}} {
		_, err := utp.SetMember([]byte(bad[0]), bad[1], []byte(bad[2]))
		if _, ok := errors.AsType[*utp.ArgumentError](err); !ok {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestResolveAgainstMaps compares with the same rules on decoded maps.
func TestResolveAgainstMaps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), rapid.SampledFrom([]string{`1.0`, `"\u00e9"`, `null`, `{"x": [ ]}`}), 0, 4)
		values := func(m map[string]string) map[string]jsontext.Value {
			out := map[string]jsontext.Value{}
			for name, v := range m {
				out[name] = jsontext.Value(v)
			}
			return out
		}
		given, envs := some.Draw(t, "given"), map[string]string{}
		for name := range some.Draw(t, "envs") {
			envs[name] = "ENV_" + name
		}
		options := utp.Options{Defaults: values(some.Draw(t, "defaults")), Fixed: values(some.Draw(t, "fixed")), Envs: envs}

		var raw bytes.Buffer
		separator := "{ "
		for _, name := range slices.Sorted(maps.Keys(given)) {
			raw.WriteString(separator + `"` + name + `" : ` + given[name])
			separator = " , "
		}
		if len(given) == 0 {
			raw.WriteString("{")
		}
		raw.WriteString("}")

		want := values(given)
		for name, v := range options.Defaults {
			if _, ok := want[name]; !ok {
				want[name] = v
			}
		}
		maps.Copy(want, options.Fixed)
		for name := range envs {
			delete(want, name)
		}

		got, err := utp.Resolve(raw.Bytes(), options)
		if err != nil {
			t.Fatal(err)
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(got.Args, &members); err != nil || len(members) != len(want) {
			t.Fatalf("%s: %v; want %v", got.Args, err, want)
		}
		for name, v := range want {
			if string(members[name]) != string(v) { // literal bytes
				t.Fatalf("%s: %s is %s, want %s", got.Args, name, members[name], v)
			}
		}
	})
}
