package openapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"go.yaml.in/yaml/v3"

	"github.com/earshot-dev/earshot/internal/egress"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// Options of a service.
type Options struct {
	// Folder is the base of the section's relative paths.
	Folder string
	// LookupEnv returns the secrets; required.
	LookupEnv func(string) (string, bool)
	// Lookup resolves a host; default the system's resolver. Exactly the addresses that it returns are dialled.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Dial connects to an address with a port; default TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

// Service is a validated section: operations as tools of one target.
type Service struct {
	target     string
	operations []*operation
}

// loader validates a section.
type loader struct {
	in       settings.Section
	c        config
	shared   *shared
	document *document
}

// Load reads the section `http` of a file and the document that it names, and validates them. The error is a
// [*settings.Error]. It sends nothing.
func Load(in settings.Section, o Options) (*Service, error) {
	l := &loader{in: in}
	if err := in.Decode(&l.c); err != nil {
		return nil, err
	}
	if want := settings.CheckTarget(l.c.Target); want != "" {
		return nil, in.Fault([]any{"target"}, fmt.Sprintf("it is %q", l.c.Target), want, "")
	}
	if err := l.c.Secrets.Check(in, "secrets"); err != nil {
		return nil, err
	}
	l.shared = &shared{secrets: l.c.Secrets, headers: l.c.Headers, idempotency: "Idempotency-Key", o: o}
	for _, read := range []func() error{l.origins, l.headers, l.credentials, l.authorities, l.readDocument} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	named, err := l.networks()
	if err != nil {
		return nil, err
	}
	client := l.shared.client(&egress.Network{Named: named, Lookup: o.Lookup, Dial: o.Dial})
	s := &Service{target: l.c.Target}
	if len(l.c.Operations) == 0 {
		return nil, l.fault("there is none", "at least one", "operations")
	}
	for i := range l.c.Operations {
		op, err := l.operation(i)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(s.operations, func(other *operation) bool { return other.tool == op.tool }) {
			return nil, l.fault("there is another tool of the name "+op.tool, "a name of its own", "operations", i)
		}
		op.client = client
		s.operations = append(s.operations, op)
	}
	return s, nil
}

// Target is the name of the service.
func (s *Service) Target() string { return s.target }

// Tools are the operations as tools.
func (s *Service) Tools() []tool.Tool {
	tools := make([]tool.Tool, 0, len(s.operations))
	for _, op := range s.operations {
		tools = append(tools, tool.Tool{Definition: op.definition, Run: op.run})
	}
	return tools
}

func (l *loader) fault(found, expected string, path ...any) error {
	return l.in.Fault(path, found, expected, "")
}

func (l *loader) origins() error {
	if len(l.c.Hosts) == 0 {
		return l.fault("no host is allowed", "hosts, such as [api.example.org]", "hosts")
	}
	for i, text := range l.c.Hosts {
		o, err := allowedOrigin(text)
		if err != nil {
			return l.fault(err.Error(), "", "hosts", i)
		}
		l.shared.origins = append(l.shared.origins, o)
	}
	return nil
}

func (l *loader) networks() ([]netip.Prefix, error) {
	var named []netip.Prefix
	for i, text := range l.c.Networks {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			var a netip.Addr
			if a, err = netip.ParseAddr(text); err == nil {
				p = netip.PrefixFrom(a, a.BitLen())
			}
		}
		if err != nil || p.Bits() == 0 || p.Addr().Zone() != "" {
			return nil, l.fault(fmt.Sprintf("it is %q", text), "an address or a network that is not everything, such as 10.1.0.0/16", "networks", i)
		}
		named = append(named, p.Masked())
	}
	return named, nil
}

func (l *loader) headers() error {
	for name, value := range l.c.Headers {
		if !httpToken(name) || !fieldValue(value) || slices.Contains(framing, strings.ToLower(name)) {
			return l.fault("it is not a header that can be set", "a name and a value of HTTP", "headers", name)
		}
	}
	if l.c.IdempotencyHeader != "" {
		l.shared.idempotency = l.c.IdempotencyHeader
	}
	if !httpToken(l.shared.idempotency) || slices.Contains(reservedHeaders, strings.ToLower(l.shared.idempotency)) {
		return l.fault("it is not a header that can be set", "a name such as Idempotency-Key", "idempotency_header")
	}
	return nil
}

// framing are headers that only the client sets.
var framing = []string{"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "accept-encoding", "expect"}

var secretPlaceholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{([A-Za-z0-9_]+)\}`)
})

func (l *loader) credentials() error {
	for i, c := range l.c.Auth {
		placeholders := secretPlaceholder().FindAllStringSubmatch(c.Value, -1)
		switch {
		case (c.Header == "") == (c.Query == ""):
			return l.fault("it names neither a header nor a query parameter, or both", "one of them", "auth", i)
		case len(placeholders) == 0:
			return l.fault("it names no secret", `a value such as "Bearer {token}", with token under secrets`, "auth", i, "value")
		case c.Header != "" && (!httpToken(c.Header) || slices.Contains(framing, strings.ToLower(c.Header))):
			return l.fault("it is not a header that can be set", "a name such as Authorization", "auth", i, "header")
		}
		for _, match := range placeholders {
			if _, known := l.c.Secrets[match[1]]; !known {
				return l.fault("there is no secret "+match[1]+" under secrets", "", "auth", i, "value")
			}
			l.shared.uses = append(l.shared.uses, match[1])
		}
	}
	l.shared.credentials, l.shared.uses = l.c.Auth, settings.Sorted(l.shared.uses)
	return nil
}

// authorities reads the certificate authorities for servers, if they are not the system's.
func (l *loader) authorities() error {
	if l.c.CA == "" {
		return nil
	}
	raw, err := settings.ReadFile(l.resolvePath(l.c.CA), settings.MaxFile)
	if err != nil {
		return l.fault(err.Error(), "a file with certificates", "ca")
	}
	l.shared.ca = x509.NewCertPool()
	if !l.shared.ca.AppendCertsFromPEM(raw) {
		return l.fault("it holds no certificate", "certificates in PEM form", "ca")
	}
	return nil
}

func (l *loader) resolvePath(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(l.shared.o.Folder, path)
}

func (l *loader) readDocument() error {
	if l.c.Document == "" {
		return nil
	}
	raw, err := settings.ReadFile(l.resolvePath(l.c.Document), maxDocument)
	if err == nil {
		l.document, err = readDocument(raw)
	}
	if err != nil {
		return l.fault(err.Error(), "an OpenAPI document in a file", "document")
	}
	return nil
}

// operation validates one operation of the list.
func (l *loader) operation(i int) (*operation, error) {
	s := l.c.Operations[i]
	fault := func(found, expected string, path ...any) error {
		return l.fault(found, expected, append([]any{"operations", i}, path...)...)
	}
	var op *operation
	defs := map[string]any{}
	var err error
	switch {
	case s.Operation != "" && (s.Method != "" || s.URL != "" || s.Parameters != nil || s.Body != nil):
		return nil, fault("it names an operation of the document, and says itself what that is", "one of the two")
	case s.Operation != "":
		op, defs, err = l.documented(s, fault)
	default:
		op, err = l.bare(s, fault)
	}
	if err != nil {
		return nil, err
	}
	op.shared, op.limits, op.phrases = l.shared, s.Limits.withDefaults(l.c.Limits), s.Phrases
	if op.tool == "" && s.Operation != "" {
		op.tool = l.c.Target + "." + s.Operation
	}
	if op.class == "" {
		op.class = utp.Irreversible
		if op.method == http.MethodGet || op.method == http.MethodHead {
			op.class = utp.Read
		}
	}
	if name, found, expected := settings.CheckOffer(op.tool, op.description, op.class, op.risk); name != "" {
		return nil, fault(found, expected, name)
	}
	if op.limits.Time > maxTime || op.limits.Request > maxBody || op.limits.Response > maxBody {
		return nil, fault("they are over what is possible", "at most 1h, and 8MiB", "limits")
	}
	if err := op.finish(l.c.Target, defs); err != nil {
		return nil, fault(err.Error(), "")
	}
	return op, nil
}

type faultAt func(found, expected string, path ...any) error

func (l *loader) documented(s operationSettings, fault faultAt) (*operation, map[string]any, error) {
	if l.document == nil {
		return nil, nil, fault("there is no document", "document: FILE, or method and url", "operation")
	}
	f, known := l.document.byID[s.Operation]
	if !known {
		found := "the document has no operation of that id"
		if meant := settings.Suggest(s.Operation, l.document.ids(), ""); meant != "" {
			found += "; " + meant
		}
		return nil, nil, fault(found, "an operationId of the document", "operation")
	}
	server := l.c.Server
	if server == "" {
		var err error
		if server, err = l.document.server(f); err != nil {
			return nil, nil, fault(err.Error(), "", "operation")
		}
	}
	base, err := l.allowed(server)
	if err != nil {
		return nil, nil, fault(err.Error(), "a server on an allowed host", "operation")
	}
	op, c, err := ofDocument(l.document, s, base)
	if err != nil {
		return nil, nil, fault(err.Error(), "", "operation")
	}
	return op, c.defs, nil
}

// allowed parses the address of a server, whose origin must be on the list.
func (l *loader) allowed(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("the address cannot be read")
	}
	o, err := originOf(u)
	switch {
	case err != nil:
		return nil, err
	case u.Fragment != "":
		return nil, errors.New("the address has a fragment")
	case !slices.Contains(l.shared.origins, o):
		return nil, fmt.Errorf("%s is not among the allowed hosts", o)
	}
	return u, nil
}

// bare reads an operation that is not in a document.
func (l *loader) bare(s operationSettings, fault faultAt) (*operation, error) {
	if !slices.Contains(methods, strings.ToLower(s.Method)) || strings.ToUpper(s.Method) != s.Method {
		return nil, fault(fmt.Sprintf("it is %q", s.Method), "GET, HEAD, PUT, POST, PATCH, DELETE or OPTIONS; or operation, with a document", "method")
	}
	scheme, rest, cut := strings.Cut(s.URL, "://")
	host, path, _ := strings.Cut(rest, "/")
	path, query, _ := strings.Cut(path, "?")
	if !cut || strings.ContainsAny(host+query, "{}") {
		return nil, fault(fmt.Sprintf("it is %q", settings.Clip(s.URL, 120)), "https://host/path with places in the path only", "url")
	}
	base, err := l.allowed(scheme + "://" + host + "/?" + query)
	if err != nil {
		return nil, fault(err.Error(), "an address on an allowed host", "url")
	}
	op := &operation{
		tool: s.Tool, description: s.Description, class: s.Class, risk: s.Risk, method: s.Method, base: base, path: "/" + path, binary: s.Binary,
	}
	names := make([]string, 0, len(s.Parameters))
	for name := range s.Parameters {
		names = append(names, name)
	}
	for _, arg := range settings.Sorted(names) {
		in := s.Parameters[arg]
		p := parameter{Arg: arg, Name: in.Name, In: in.In, required: in.Required, Style: "simple"}
		if p.Name == "" {
			p.Name = arg
		}
		if p.In == inQuery || p.In == inCookie {
			p.Style, p.Explode = "form", true
		}
		if p.schema, err = schemaOf(in.Schema, map[string]any{"type": "string"}); err != nil {
			return nil, fault(err.Error(), "", "parameters", arg, "schema")
		}
		if err := p.check(); err != nil {
			return nil, fault(err.Error(), "", "parameters", arg)
		}
		op.parameters = append(op.parameters, p)
	}
	if s.Body == nil {
		return op, nil
	}
	op.body = &body{Arg: bodyArg, Media: s.Body.Media, required: s.Body.Required}
	if op.body.Media == "" {
		op.body.Media = jsonMedia
	}
	if !isJSON(op.body.Media) && op.body.Media != formMedia && op.body.Media != textMedia {
		return nil, fault(fmt.Sprintf("it is %q", op.body.Media), "JSON, "+formMedia+" or "+textMedia, "body", "media")
	}
	if op.body.schema, err = schemaOf(s.Body.Schema, true); err != nil {
		return nil, fault(err.Error(), "", "body", "schema")
	}
	return op, nil
}

// client sends each request on a new connection, so that net/http never has to repeat a request because an old
// connection broke. It decompresses nothing.
func (s *shared) client(n *egress.Network) *http.Client {
	return &http.Client{
		CheckRedirect: checkRedirect,
		Transport: &http.Transport{
			DialContext: n.DialContext, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeader,
			TLSHandshakeTimeout: handshakeTime, TLSClientConfig: &tls.Config{RootCAs: s.ca, MinVersion: tls.VersionTLS12},
			TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1: one request, one connection
		},
	}
}

// schemaOf returns a schema of the file, closed like those of documents.
func schemaOf(node yaml.Node, otherwise any) (any, error) {
	if node.IsZero() {
		return otherwise, nil
	}
	raw, err := settings.JSON(&node)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, fmt.Errorf("it is not a schema: %w", err)
	}
	c := &converter{doc: &document{}, defs: map[string]any{}}
	return c.convert(value, false, 0)
}
