package aaep

import (
	_ "embed" // the example
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// TypeManifest is the type of the document in which a producer describes itself. It
// is fetched, and never an event: [Validate] refuses it, [ValidateManifest] judges it
// (C-19).
const TypeManifest = "aaep:producer.manifest"

//go:embed examples/producer.manifest.json
var exampleManifest string

// Manifest describes a producer to those who may subscribe (§5.10). AgentID and
// AAEPVersionsSupported are required; an empty member says nothing.
type Manifest struct {
	AgentID                    string                    `json:"agent_id"` // required, that of the events' producer
	AgentVersion               string                    `json:"agent_version,omitzero"`
	AgentName                  string                    `json:"agent_name,omitzero"`
	AAEPVersionsSupported      []string                  `json:"aaep_versions_supported"`               // required, at least one
	ConformanceLevelsSupported []int                     `json:"conformance_levels_supported,omitzero"` // of 1, 2, 3
	TransportsSupported        []Transport               `json:"transports_supported,omitzero"`
	LanguagesSupported         []string                  `json:"languages_supported,omitzero"`          // BCP 47 tags
	EventTypesEmitted          []string                  `json:"event_types_emitted,omitzero"`          // types, or beginnings of them and an asterisk
	ExtensionsSupported        []string                  `json:"extensions_supported,omitzero"`         // URIs
	DefaultVerbosity           Verbosity                 `json:"default_verbosity,omitzero"`            // not said: normal
	MaxConcurrentSubscriptions int                       `json:"max_concurrent_subscriptions,omitzero"` // beyond it: rate_limit (MAN-09)
	Contact                    string                    `json:"contact,omitzero"`
	Extensions                 map[string]jsontext.Value `json:"extensions,omitzero"` // one object for each prefix; see [Event]
	// Contexts are further entries of @context, as those of an [Event].
	Contexts []string `json:"-"`
}

// Transport is a way in which messages travel.
type Transport string

// The transports of MAN-04: the first three are AAEP's names, for the others it has
// none.
const (
	TransportSSE       Transport = "sse"
	TransportWebSocket Transport = "websocket"
	TransportStdio     Transport = "stdio-jsonrpc"
	TransportPipe      Transport = "named-pipe"
	TransportUnix      Transport = "unix-socket"
	TransportGRPC      Transport = "grpc"
)

// The names under a prefix of a manifest's extensions that say what AAEP wants said
// and has no members for (C-93).
const (
	ManifestPathPrefix = "path_prefix"         // text: under which path the HTTP transports live (MAN-05)
	ManifestFraming    = "framing"             // text: how messages are told apart on a Unix socket (MAN-05)
	ManifestPattern    = "multi_agent_pattern" // text: how several agents share sessions (MAN-08)
	ManifestStates     = "states"              // array of texts: states beyond the standard ones (MAN-08)
	// ManifestDeviations is an array of objects: where the producer departs from AAEP on purpose, each
	// with the rules (an array of texts) and the address of the reason (see, a URI).
	ManifestDeviations = "deviations"
)

// Extend returns a copy of the manifest in which extensions.<prefix>.<name> is value,
// as [Event.Extend] does.
func (m Manifest) Extend(prefix, name string, value any) (Manifest, error) {
	extensions, err := extend(m.Extensions, prefix, name, value)
	if err != nil {
		return m, err
	}
	m.Extensions = extensions
	return m, nil
}

// Encode writes the manifest as one line of JSON, the same manifest always as the same
// bytes. One that breaks a rule is refused with an [*Error] of [CodeBadEvent];
// warnings pass.
func (m Manifest) Encode() ([]byte, error) {
	head := struct {
		Context any    `json:"@context"`
		Type    string `json:"type"`
	}{contextsOf(m.Contexts, m.Extensions), TypeManifest}
	raw, err := join(head, m)
	if err != nil {
		return nil, &Error{Code: CodeBadEvent, Message: "cannot write the manifest as JSON", Cause: err}
	}
	if found := Errors(ValidateManifest(raw, ModeProducer)); len(found) > 0 {
		return nil, &Error{Code: CodeBadEvent, Message: "the manifest breaks a rule; correct it before publishing", Violations: found}
	}
	return raw, nil
}

// DecodeManifest reads a manifest as a subscriber does: refused is, with an [*Error]
// of [CodeBadMessage], what cannot be read in one way only, or has no agent_id that
// can be compared (JWS-06). Members that this package does not know are ignored.
func DecodeManifest(raw []byte) (Manifest, error) {
	if found := Errors(ValidateManifest(raw, ModeConsumer)); len(found) > 0 {
		return Manifest{}, &Error{Code: CodeBadMessage, Message: "not a manifest that can be used", Violations: found}
	}
	var m Manifest
	if err := json.Unmarshal(raw, &m, reading); err != nil {
		return Manifest{}, &Error{Code: CodeBadMessage, Message: "not a manifest that can be read", Cause: err}
	}
	if contexts := Read(raw).Texts("@context"); len(contexts) > 1 {
		m.Contexts = slices.Clone(contexts[1:])
	}
	return m, nil
}

// ValidateManifest judges a manifest as [Validate] judges a message.
func ValidateManifest(raw []byte, mode Mode) []Violation {
	d := Read(raw)
	if !d.Readable() {
		return d.Violations()
	}
	p, in := manifestPlan(), &inspection{}
	in.begin(d.tape, mode, nil)
	in.plan = p
	in.members(&p.outer, 0, strangers)
	in.run(p.Rules, 0)
	in.limits()
	return in.end()
}

// manifest is the description of the document.
var manifest = sync.OnceValue(func() Message {
	return Message{
		Type: TypeManifest, Spec: "§5.10.1", Closed: "MAN-03",
		Description: "A producer tells what it is and what it can; a document to fetch, not an event.",
		Example:     exampleManifest,
		Fields: []Field{
			{Name: "@context", Rule: "MAN-02", Also: []string{"ENV-08", "ENV-09"}, Kind: KindContext, Required: true, Safety: true, Checks: []Rule{contextRule}, Description: envelope()[0].Description},
			oneOf("type", "MAN-02", TypeManifest).required().safety().means("The type of this document."),
			text("agent_id", "MAN-03", 1, 0).required().safety().means("The stable name of the agent, as its events have it."),
			text("agent_version", "MAN-03", 1, 0).means("The version of the agent, best as a semantic version."),
			text("agent_name", "MAN-03", 1, 0).means("A name of the agent that can be read to a person."),
			array("aaep_versions_supported", "VER-08", 1, 0, Field{Kind: KindString, Pattern: PatternVersion}).unique().required().means("The versions of AAEP that the producer follows."),
			array("conformance_levels_supported", "MAN-03", 1, 3, Field{Kind: KindInteger, Low: 1, High: 3, Bounded: true}).unique().means("The conformance levels that the producer has."),
			array("transports_supported", "MAN-03", 0, 0, Field{Kind: KindString, MinLen: 1, Checks: []Rule{transportRule}}).also("MAN-04").unique().means("The ways in which it can be reached: sse, websocket, stdio-jsonrpc, named-pipe, unix-socket, grpc."),
			array("languages_supported", "MAN-03", 0, 0, languageItem).also("I18N-03").unique().means("The languages in which it can tell things."),
			array("event_types_emitted", "MAN-03", 0, 0, Field{Kind: KindString, MinLen: 1, MaxLen: short, Checks: []Rule{filterPatternRule}}).unique().means("The types of events that it emits: a type, or the beginning of one and an asterisk."),
			array("extensions_supported", "MAN-03", 0, 0, Field{Kind: KindString, Format: FormatURI}).unique().means("The namespaces of the extensions that it emits."),
			oneOf("default_verbosity", "MAN-03", verbosities...).otherwise("normal").means("How wordy the texts are where nobody asks otherwise."),
			integer("max_concurrent_subscriptions", "MAN-03", 1, maxSafeInteger).also("MAN-09").means("How many subscriptions it serves at a time; beyond, it answers rate_limit."),
			text("contact", "MAN-03", 1, 0).means("Whom to ask about it."),
			{
				Name: "extensions", Rule: "MAN-05", Kind: KindObject, Each: &Field{Rule: "MAN-05", Kind: KindObject}, Checks: []Rule{prefixRule},
				Description: "What AAEP has no member for, one object under each prefix: path_prefix, framing, multi_agent_pattern, states, deviations.",
			},
		},
		Rules: []Rule{discoverableRule},
	}
})

var manifestPlan = sync.OnceValue(func() *plan { return compilePlan(manifest()) })

var (
	transportRule    = Rule{Name: "known transport", IDs: []string{"MAN-04"}, check: checkTransport, advice: []string{"MAN-04"}}
	discoverableRule = Rule{Name: "what a client must know", IDs: []string{"MAN-05"}, check: checkDiscoverable, advice: []string{"MAN-05"}}
)

var transports = []string{
	string(TransportSSE), string(TransportWebSocket), string(TransportStdio), string(TransportPipe), string(TransportUnix), string(TransportGRPC),
}

func checkTransport(in *inspection, n uint32) {
	if !contains(transports, in.text(n)) {
		in.warn(n, "§5.10.1", fmt.Sprintf("found the transport %s, which has no agreed meaning", in.describe(n)), "MAN-04")
	}
}

// checkDiscoverable: the path of an HTTP transport and the framing of a Unix socket
// are told under some prefix of extensions (C-93).
func checkDiscoverable(in *inspection, whole uint32) {
	transports := in.member(whole, "transports_supported")
	if in.mode == ModeConsumer || !in.is(transports, kindArray) {
		return
	}
	for _, need := range []struct {
		name string
		of   []Transport
	}{{ManifestPathPrefix, []Transport{TransportSSE, TransportWebSocket}}, {ManifestFraming, []Transport{TransportUnix}}} {
		uses := slices.ContainsFunc(need.of, func(t Transport) bool { return in.has(transports, string(t)) })
		if uses && !in.hasPrefixedText(whole, need.name) {
			in.note(SeverityWarning, "/extensions", "B.1.1", fmt.Sprintf("found no %q under a prefix, expected it beside the transport %s", need.name, need.of[0]), "MAN-05")
		}
	}
}

// hasPrefixedText reports whether extensions.<any prefix>.<name> is a text.
func (in *inspection) hasPrefixedText(whole uint32, name string) bool {
	extensions := in.member(whole, "extensions")
	if !in.is(extensions, kindObject) {
		return false
	}
	first, end := in.inside(extensions)
	for n := first; n < end; n = in.nodes[n].next {
		if in.is(n, kindObject) && len(in.textOf(n, name)) > 0 {
			return true
		}
	}
	return false
}
