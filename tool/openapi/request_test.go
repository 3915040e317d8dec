package openapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/utp"
)

// TestPath: a value stays in its place in the path, however it is written.
func TestPath(t *testing.T) {
	t.Parallel()
	s := serve(t, ok)
	made := loaded(t, s.section(`{tool: web.get, description: Get., method: GET, url: '`+s.URL+`/files/{name}/info', parameters: {name: {in: path}}}`))
	for value, want := range map[string]string{
		"a": "a", "a b": "a%20b", "a/b": "a%2Fb", "a?b=c": "a%3Fb=c", "a#b": "a%23b", "a%2fb": "a%252fb", `a\b`: "a%5Cb", "ü": "%C3%BC", "a;b": "a%3Bb", "@evil.net": "@evil.net",
		"//evil.net": "%2F%2Fevil.net", "http://evil.net/": "http:%2F%2Fevil.net%2F", "a\r\nHost: evil": "a%0D%0AHost:%20evil", "...": "...", "a..b": "a..b", "%": "%25", "{name}": "%7Bname%7D",
		"..": "", ".": "", "../x": "", "x/..": "", "..%2f": "", "..%2Fetc": "", "%2e%2e": "", "%2e%2e%2f": "", "%252e%252e": "", "%25252e%25252e/x": "", `..\x`: "", `x\..`: "", "..;/x": "",
		"x/../../y": "", "": "", ".\t": "",
	} {
		before := len(s.asked())
		raw, err := json.Marshal(map[string]string{"name": value})
		if err != nil {
			t.Fatal(err)
		}
		got := call(within(t), t, made, string(raw))
		asked := s.asked()[before:]
		if want == "" {
			if len(asked) != 0 || got.code() != utp.CodeBadRequest || !got.err.IsUntouched() {
				t.Errorf("%q was sent: %+v, %v", value, asked, got.err)
			}
			continue
		}
		if len(asked) != 1 || asked[0].uri != "/files/"+want+"/info" {
			t.Errorf("%q was sent as %+v, want %q (%v)", value, asked, want, got.err)
		}
	}
}

// FuzzPath: a request that is sent goes to the one path, with the value whole in its place.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"a", "..", "%2e%2e/", "a/b", "\x00", "?", "#", "//", "\\", "ü", "%zz"} {
		f.Add(seed)
	}
	s := serveFuzz(f)
	made, err := load(s.section(`{tool: web.get, description: Get., method: GET, url: '`+s.URL+`/a/{x}/b', parameters: {x: {in: path}}}`), openAPIOptions())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, value string) {
		raw, err := json.Marshal(map[string]string{"x": value})
		if err != nil {
			return // it is not text
		}
		before := len(s.asked())
		got := call(t.Context(), t, made.Tools()[0], string(raw))
		asked := s.asked()[before:]
		if got.err != nil {
			if len(asked) != 0 && got.err.Code == utp.CodeBadRequest && got.err.HTTPStatus == 0 {
				t.Fatalf("%q was refused and sent", value)
			}
			return
		}
		placeholder := strings.TrimSuffix(strings.TrimPrefix(asked[0].uri, "/a/"), "/b")
		back, err := url.PathUnescape(placeholder)
		if err != nil || back != value || strings.ContainsAny(placeholder, "/?#") || placeholder == "." || placeholder == ".." {
			t.Fatalf("%q was sent as %q", value, asked[0].uri)
		}
	})
}

// TestPlaces: query, headers, cookies and bodies, each with what would break out of it.
func TestPlaces(t *testing.T) {
	t.Parallel()
	s := serve(t, ok)
	operation := `
tool: web.do
description: Do.
method: POST
url: ` + s.URL + `/do?fixed=1
parameters:
  q: {in: query}
  many: {in: query, schema: {type: array, items: {type: string}}}
  open: {in: query, schema: {type: object, additionalProperties: {type: string}}}
  trace: {in: header, name: X-Trace}
  session: {in: cookie}
body: {schema: {type: object, properties: {text: {type: string}}}}
`
	made := loaded(t, s.section(operation, "secrets: {key: {env: KEY}}\nauth: [{query: api_key, value: '{key}'}, {header: Authorization, value: 'Bearer {key}'}]\nheaders: {X-Fixed: yes it is}"))
	for _, tt := range []struct {
		args, uri, trace, cookie, body string // an empty uri is refused
	}{
		{`{}`, "/do?fixed=1", "", "", ""},
		{`{"q":"a&b=c d+e"}`, "/do?fixed=1&q=a%26b%3Dc%20d%2Be", "", "", ""},
		{`{"q":"x#y\r\nz"}`, "/do?fixed=1&q=x%23y%0D%0Az", "", "", ""},
		{`{"many":["a","b,c&d"]}`, "/do?fixed=1&many=a&many=b%2Cc%26d", "", "", ""},
		{`{"open":{"b":"2","a":"1&x=y"}}`, "/do?fixed=1&a=1%26x%3Dy&b=2", "", "", ""},
		{`{"open":{"api_key":"mine"}}`, "", "", "", ""},
		{`{"open":{"fixed":"2"}}`, "", "", "", ""},
		{`{"open":{"q":"2"}}`, "", "", "", ""},
		{`{"open":{"x&api_key=mine":"2"}}`, "/do?fixed=1&x%26api_key%3Dmine=2", "", "", ""},
		{`{"trace":"abc","session":"s1"}`, "/do?fixed=1", "abc", "session=s1", ""},
		{`{"trace":"a\r\nX-Evil: b"}`, "", "", "", ""},
		{`{"trace":"a\nb"}`, "", "", "", ""},
		{`{"trace":"a\u0000b"}`, "", "", "", ""},
		{`{"trace":" a"}`, "", "", "", ""},
		{`{"trace":"ü"}`, "", "", "", ""},
		{`{"session":"a; admin=1"}`, "", "", "", ""},
		{`{"session":"a\r\nb"}`, "", "", "", ""},
		{`{"body":{"text":"x\r\n\r\nGET / HTTP/1.1"}}`, "/do?fixed=1", "", "", `{"text":"x\r\n\r\nGET / HTTP/1.1"}`},
		{`{"host":"evil.net"}`, "", "", "", ""},
		{`{"Authorization":"mine"}`, "", "", "", ""},
		{`{"q":"` + strings.Repeat("x", 9000) + `"}`, "", "", "", ""},
		{`{"q":{"a":1}}`, "/do?fixed=1&a=1", "", "", ""},
		{`{"many":[["a"]]}`, "", "", "", ""},
		{`[]`, "", "", "", ""},
	} {
		before := len(s.asked())
		got := call(within(t), t, made, tt.args)
		asked := s.asked()[before:]
		if tt.uri == "" {
			if len(asked) != 0 || got.code() != utp.CodeBadRequest || !got.err.IsUntouched() {
				t.Errorf("%.60s was sent: %+v, %v", tt.args, asked, got.err)
			}
			continue
		}
		if len(asked) != 1 {
			t.Errorf("%s: %+v, %v", tt.args, asked, got.err)
			continue
		}
		r := asked[0]
		if r.uri != tt.uri+"&api_key=sesame-key" || r.header.Get("X-Trace") != tt.trace || r.header.Get("Cookie") != tt.cookie || r.body != tt.body {
			t.Errorf("%s was sent as %+v", tt.args, r)
		}
		for name, want := range map[string]string{
			"Authorization": "Bearer sesame-key", "Idempotency-Key": "tc_7", "X-Fixed": "yes it is", "User-Agent": "earshot", "X-Evil": "", "Referer": "", "Accept-Encoding": "",
		} {
			if r.header.Get(name) != want {
				t.Errorf("%s: the header %s is %q, want %q", tt.args, name, r.header.Get(name), want)
			}
		}
	}
}

// TestBodies: each form of a body, and its limit.
func TestBodies(t *testing.T) {
	t.Parallel()
	s := serve(t, ok)
	with := func(media, schema string) string {
		return s.section("tool: web.do\ndescription: Do.\nmethod: PUT\nclass: idempotent\nurl: " + s.URL + "/x\nbody: {required: true, media: " + media + ", schema: " + schema + "}\nlimits: {request: 64}")
	}
	for _, tt := range []struct{ media, args, want string }{
		{"application/merge-patch+json", `{"body":{"a":1.50}}`, `{"a":1.50}`},
		{"application/x-www-form-urlencoded", `{"body":{"b":"1&c=2","a":3}}`, "a=3&b=1%26c%3D2"},
		{"application/x-www-form-urlencoded", `{"body":"a=b"}`, ""},
		{"text/plain", `{"body":"x\ny"}`, "x\ny"},
		{"text/plain", `{"body":3}`, ""},
		{"text/plain", `{"body":"` + strings.Repeat("x", 65) + `"}`, ""},
	} {
		before := len(s.asked())
		got := call(within(t), t, loaded(t, with(tt.media, "{}")), tt.args)
		asked := s.asked()[before:]
		if tt.want == "" && (len(asked) != 0 || got.err == nil) || tt.want != "" && (len(asked) != 1 || asked[0].body != tt.want || asked[0].header.Get("Content-Type") != tt.media) {
			t.Errorf("%s %s: %+v, %v", tt.media, tt.args, asked, got.err)
		}
	}
	if _, err := load(with("multipart/form-data", "{}"), openAPIOptions()); err == nil {
		t.Error("a multipart body was taken")
	}
}

// TestReservedParameters: what frames a request, or is the operator's, is not an agent's.
func TestReservedParameters(t *testing.T) {
	t.Parallel()
	s := serve(t, ok)
	for _, name := range []string{"Host", "content-length", "Transfer-Encoding", "Authorization", "Cookie", "X-HTTP-Method-Override", "Idempotency-Key", "X-Key", "X-Fixed", "bad name", "a\nb"} {
		text := s.section("tool: web.do\ndescription: Do.\nmethod: GET\nurl: "+s.URL+"/x\nparameters: {p: {in: header, name: \""+strings.ReplaceAll(name, "\n", `\n`)+"\"}}",
			"secrets: {key: {env: KEY}}\nauth: [{header: x-key, value: '{key}'}]\nheaders: {x-fixed: '1'}")
		if _, err := load(text, openAPIOptions()); err == nil {
			t.Errorf("%q may be set", name)
		}
	}
}

// TestClasses: GET and HEAD are reads and all else is irreversible, unless the file says.
func TestClasses(t *testing.T) {
	t.Parallel()
	s := serve(t, ok)
	for _, tt := range []struct {
		method, class string
		want          utp.Class
		risk          utp.Risk
	}{
		{http.MethodGet, "", utp.Read, utp.RiskLow},
		{http.MethodHead, "", utp.Read, utp.RiskLow},
		{http.MethodOptions, "", utp.Irreversible, utp.RiskHigh},
		{http.MethodPut, "", utp.Irreversible, utp.RiskHigh},
		{http.MethodDelete, "", utp.Irreversible, utp.RiskHigh},
		{http.MethodPost, "", utp.Irreversible, utp.RiskHigh},
		{http.MethodPatch, "", utp.Irreversible, utp.RiskHigh},
		{http.MethodPut, "idempotent", utp.Idempotent, utp.RiskHigh},
		{http.MethodGet, "reversible", utp.Reversible, utp.RiskHigh},
	} {
		text := "tool: web.do\ndescription: Do.\nmethod: " + tt.method + "\nurl: " + s.URL + "/x"
		if tt.class != "" {
			text += "\nclass: " + tt.class
		}
		made := loaded(t, s.section(text))
		if made.Definition.Class != tt.want || made.Definition.Risk != tt.risk {
			t.Errorf("%s: %s, %s", tt.method, made.Definition.Class, made.Definition.Risk)
		}
		call(within(t), t, made, `{}`)
		asked := s.asked()
		if key := asked[len(asked)-1].header.Get("Idempotency-Key"); (key == "tc_7") != tt.want.Effectful() {
			t.Errorf("%s %s: the key is %q", tt.method, tt.class, key)
		}
	}
	for _, method := range []string{"get", "TRACE", "CONNECT", "", "GET\r\n"} {
		if _, err := load(s.section("tool: web.do\ndescription: Do.\nmethod: \""+strings.ReplaceAll(method, "\r\n", `\r\n`)+"\"\nurl: "+s.URL+"/x"), openAPIOptions()); err == nil {
			t.Errorf("the method %q was taken", method)
		}
	}
}
