package openapi_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/openapi"
	"github.com/earshot-dev/earshot/utp"
)

// tickets is a document with what documents have.
const tickets = `openapi: 3.0.3
info: {title: Tickets, version: "1"}
servers: [{url: "SERVER/v1"}]
paths:
  /tickets/{id}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: integer, minimum: 0, exclusiveMinimum: true}}
      - {name: Accept, in: header, schema: {type: string}}
      - {name: verbose, in: query, schema: {type: string}}
    get:
      operationId: getTicket
      summary: Read one ticket.
      parameters:
        - {name: verbose, in: query, schema: {type: boolean}}
        - {name: fields, in: query, style: pipeDelimited, explode: false, schema: {type: array, items: {type: string}}}
        - {name: filter, in: query, style: deepObject, explode: true, schema: {type: object, properties: {state: {type: string, enum: [open, done]}}}}
        - {name: id, in: header, schema: {type: string}}
        - {name: where, in: query, content: {application/json: {schema: {type: object, properties: {a: {type: integer}}}}}}
    put:
      operationId: putTicket
      x-class: read
      description: Replace a ticket.
      requestBody: {$ref: "#/components/requestBodies/Ticket"}
    delete: {operationId: deleteTicket, x-earshot-class: read}
  /tickets:
    post:
      operationId: addTicket
      summary: Add a ticket.
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Special"}}}}
  /files: {post: {operationId: upload, summary: Upload., requestBody: {content: {multipart/form-data: {schema: {type: object}}}}}}
  /away: {get: {operationId: away, summary: Away., servers: [{url: "https://evil.net"}]}}
  /outside: {get: {operationId: outside, summary: Out., parameters: [{$ref: "https://evil.net/p.yaml"}]}}
  /matrix/{m}: {get: {operationId: matrix, summary: M., parameters: [{name: m, in: path, required: true, style: matrix, schema: {type: string}}]}}
  /circle: {get: {operationId: circle, summary: C., parameters: [{$ref: "#/components/parameters/A"}]}}
  /host: {get: {operationId: host, summary: H., parameters: [{name: Host, in: header, schema: {type: string}}]}}
components:
  parameters: {A: {$ref: "#/components/parameters/B"}, B: {$ref: "#/components/parameters/A"}}
  requestBodies:
    Ticket: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Ticket"}}, application/xml: {}}}
  schemas:
    Ticket:
      type: object
      required: [id, title]
      properties:
        id: {type: integer, readOnly: true}
        title: {type: string, maxLength: 9, example: x}
        note: {type: string, nullable: true}
        parent: {$ref: "#/components/schemas/Ticket"}
        free: {type: object}
        open: {type: object, properties: {a: {type: string}}, additionalProperties: {type: integer}}
    Special:
      allOf:
        - {$ref: "#/components/schemas/Ticket"}
        - {type: object, properties: {level: {type: integer}}}
`

// documented is a section over the document.
func documented(t *testing.T, s *server, document, operation, more string) (*openapi.Service, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tickets.yaml"), []byte(strings.ReplaceAll(document, "SERVER", s.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	o := openAPIOptions()
	o.Folder = dir
	return load(s.section(operation, "document: tickets.yaml\n"+more), o)
}

func documentTool(t *testing.T, s *server, operation string) tool.Tool {
	t.Helper()
	made, err := documented(t, s, tickets, operation, "")
	if err != nil {
		t.Fatal(err)
	}
	return made.Tools()[0]
}

// TestDocument: the requests are those of the document, and its schemas are what an agent
// may say, all of it.
func TestDocument(t *testing.T) {
	t.Parallel()
	s := serve(t, ok)
	for _, tt := range []struct{ operation, args, uri, body string }{
		{"getTicket", `{"id":7}`, "/v1/tickets/7", ""},
		{
			"getTicket", `{"id":7,"verbose":true,"fields":["a","b|c"],"filter":{"state":"open"},"where":{"a":1}}`,
			"/v1/tickets/7?verbose=true&fields=a%7Cb%7Cc&filter%5Bstate%5D=open&where=%7B%22a%22%3A1%7D", "",
		},
		{"putTicket", `{"id":7,"body":{"title":"x","parent":{"title":"y"}}}`, "/v1/tickets/7", `{"title":"x","parent":{"title":"y"}}`},
		{"addTicket", `{"body":{"title":"x","level":3}}`, "/v1/tickets", `{"title":"x","level":3}`},
	} {
		before := len(s.asked())
		got := call(within(t), t, documentTool(t, s, "operation: "+tt.operation), tt.args)
		asked := s.asked()[before:]
		if len(asked) != 1 || asked[0].uri != tt.uri || asked[0].body != tt.body {
			t.Errorf("%s %s was sent as %+v, %v", tt.operation, tt.args, asked, got.err)
		}
	}
	d := documentTool(t, s, "operation: getTicket").Definition
	if d.Tool != "web.getTicket" || d.Description != "Read one ticket." || d.Class != utp.Read || d.Target != "cg.v1r4.{project_id}.{channel_id}.cmd.tool.web.call" {
		t.Errorf("the definition is %+v", d)
	}
}

// TestDocumentSchemas: arguments that fit, and that do not, by the schema that is
// registered.
func TestDocumentSchemas(t *testing.T) {
	t.Parallel()
	s := serve(t, ok)
	for _, tt := range []struct {
		operation string
		fit, not  []string
	}{
		{
			"getTicket",
			[]string{`{"id":1}`, `{"id":1,"header_id":"x","verbose":false}`, `{"id":1,"filter":{"state":"done"}}`},
			[]string{`{}`, `{"id":0}`, `{"id":"1"}`, `{"id":1,"verbose":"yes"}`, `{"id":1,"filter":{"state":"lost"}}`, `{"id":1,"filter":{"x":1}}`, `{"id":1,"Accept":"x"}`, `{"id":1,"host":"x"}`},
		},
		{"putTicket", []string{
			`{"id":1,"body":{"title":"x"}}`, `{"id":1,"body":{"title":"x","note":null,"parent":{"title":"y"}}}`, `{"id":1,"body":{"title":"x","free":{"any":1},"open":{"a":"x","b":3}}}`,
		}, []string{
			`{"id":1}`, `{"id":1,"body":{}}`, `{"id":1,"body":{"title":"x","id":3}}`, `{"id":1,"body":{"title":"x","more":1}}`, `{"id":1,"body":{"title":null}}`,
			`{"id":1,"body":{"title":"x","parent":{}}}`, `{"id":1,"body":{"title":"0123456789"}}`, `{"id":1,"body":{"title":"x","open":{"b":"x"}}}`,
		}},
		{
			"addTicket",
			[]string{`{}`, `{"body":{"title":"x","level":1}}`, `{"body":{"title":"x","level":1,"parent":{"title":"y"}}}`},
			[]string{`{"body":{"title":"x","level":"1"}}`, `{"body":{"level":1}}`, `{"body":{"title":"x","other":1}}`, `{"body":{"title":"x","parent":{"title":"y","level":1}}}`},
		},
	} {
		d := documentTool(t, s, "operation: "+tt.operation).Definition
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(d.Parameters))
		if err != nil {
			t.Fatal(err)
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("urn:x", doc); err != nil {
			t.Fatal(err)
		}
		schema, err := compiler.Compile("urn:x")
		if err != nil {
			t.Fatal(err)
		}
		judge := func(args string, want bool) {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(args))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(value); (err == nil) != want {
				t.Errorf("%s %s: %v\n%s", tt.operation, args, err, d.Parameters)
			}
		}
		for _, args := range tt.fit {
			judge(args, true)
		}
		for _, args := range tt.not {
			judge(args, false)
		}
	}
}

// TestDocumentClass: a document lowers nothing, whatever it says of itself; only the
// operator's file does.
func TestDocumentClass(t *testing.T) {
	t.Parallel()
	s := serve(t, ok)
	for operation, want := range map[string]utp.Class{
		"operation: putTicket": utp.Irreversible, "operation: deleteTicket\ndescription: Delete.": utp.Irreversible, "operation: addTicket": utp.Irreversible, "operation: getTicket": utp.Read,
		"operation: putTicket\nclass: idempotent": utp.Idempotent, "operation: getTicket\nclass: irreversible": utp.Irreversible,
	} {
		if got := documentTool(t, s, operation).Definition.Class; got != want {
			t.Errorf("%s is %s, want %s", operation, got, want)
		}
	}
}

// TestDocumentRefuses: what is not understood is not guessed.
func TestDocumentRefuses(t *testing.T) {
	t.Parallel()
	s := serve(t, ok)
	for _, tt := range []struct{ operation, more, want string }{
		{"operation: getTickets", "", "did you mean getTicket?"},
		{"operation: deleteTicket", "", "nothing says what it does"},
		{"operation: upload", "", "multipart/form-data"},
		{"operation: away", "", "servers of its own"},
		{"operation: outside", "", "only what stands in the document itself"},
		{"operation: matrix", "", "style matrix"},
		{"operation: circle", "", "in a circle"},
		{"operation: host", "", "not for an agent to set"},
		{"operation: getTicket\nmethod: GET", "", "one of the two"},
		{"operation: getTicket", "server: https://evil.net/v1", "not among the allowed hosts"},
	} {
		if _, err := documented(t, s, tickets, tt.operation, tt.more); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.operation, err, tt.want)
		}
	}
	for _, tt := range []struct{ from, to, want string }{
		{"openapi: 3.0.3", "swagger: '2.0'", `expected 3.0 or 3.1`},
		{`"SERVER/v1"`, `"https://{host}/v1"`, "name the one to use"},
		{`"SERVER/v1"`, `"/v1"`, "name the one to use"},
		{`"SERVER/v1"`, `"https://evil.net/v1"`, "not among the allowed hosts"},
		{"operationId: addTicket", "operationId: getTicket", "there twice"},
		{"components:", "components: &x", "anchor"},
	} {
		if _, err := documented(t, s, strings.Replace(tickets, tt.from, tt.to, 1), "operation: getTicket", ""); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.to, err, tt.want)
		}
	}
}

// TestDocument31: the schemas of 3.1 are JSON Schema; the document may be JSON.
func TestDocument31(t *testing.T) {
	t.Parallel()
	s := serve(t, ok)
	document := `{"openapi":"3.1.0","servers":[{"url":"SERVER"}],"paths":{"/x":{"post":{"operationId":"do","summary":"Do.","requestBody":{"content":{"application/json":{"schema":
		{"type":["object","null"],"properties":{"n":{"type":"integer","exclusiveMinimum":3},"k":{"const":"a"}}}}}}}}}}`
	made, err := documented(t, s, document, "operation: do", "")
	if err != nil {
		t.Fatal(err)
	}
	parameters := string(made.Tools()[0].Definition.Parameters)
	want := `{"additionalProperties":false,"properties":{"body":{"additionalProperties":false,"properties":{"k":{"const":"a"},"n":{"exclusiveMinimum":3,"type":"integer"}},"type":["object","null"]}},"type":"object"}`
	if parameters != want {
		t.Errorf("the parameters are %s", parameters)
	}
	twice := strings.Replace(document, `"openapi":"3.1.0"`, `"openapi":"3.1.0","openapi":"3.0.0"`, 1)
	if _, err := documented(t, s, twice, "operation: do", ""); err == nil {
		t.Error("a document with a name twice was taken")
	}
	strange := strings.Replace(document, `"const":"a"`, `"$dynamicRef":"#x"`, 1)
	if _, err := documented(t, s, strange, "operation: do", ""); err == nil || !strings.Contains(err.Error(), "$dynamicRef") {
		t.Errorf("an unknown keyword: %v", err)
	}
}

// TestDigest: another request under the same name is another tool.
func TestDigest(t *testing.T) {
	t.Parallel()
	s, other := serve(t, ok), serve(t, ok)
	digest := func(text string) string {
		t.Helper()
		d, err := loaded(t, text).Definition.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	base := s.section("tool: web.do\ndescription: Do.\nmethod: POST\nurl: " + s.URL + "/x\nparameters: {q: {in: query}}")
	seen := map[string]string{digest(base): "the first"}
	for name, text := range map[string]string{
		"path":       strings.Replace(base, "/x", "/y", 1),
		"host":       strings.ReplaceAll(base, s.URL, other.URL),
		"method":     strings.Replace(base, "method: POST", "method: PUT", 1),
		"place":      strings.Replace(base, "in: query", "in: header", 1),
		"wire name":  strings.Replace(base, "in: query", "in: query, name: z", 1),
		"header":     strings.Replace(base, "  networks:", "  headers: {X-A: b}\n  networks:", 1),
		"credential": strings.Replace(base, "  networks:", "  secrets: {key: {env: KEY}}\n  auth: [{header: Authorization, value: '{key}'}]\n  networks:", 1),
	} {
		d := digest(text)
		if before := seen[d]; before != "" {
			t.Errorf("%s has the digest of %s", name, before)
		}
		seen[d] = name
	}
}
