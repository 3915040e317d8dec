package aaep

import (
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Payload is the content of an event apart from its envelope: one of the twelve core payloads of this package, as a
// value, or [Other].
type Payload interface {
	// EventType returns the type of the event in compact form.
	EventType() string
}

// Event is one AAEP event. ID, SessionID, Time, Producer and Payload are required.
type Event struct {
	ID        string    // evt_ and 1 to 64 letters or digits
	SessionID string    // sess_ and the same
	Sequence  *int64    // only on transports that can reorder
	Time      time.Time // written in UTC to the millisecond
	Producer  Producer
	Verbosity Verbosity // "" is written as normal
	Urgency   Urgency   // "" is written as the default of the type
	// Hints names the language of the text; nil is allowed but advised against.
	Hints         *LocalizationHints
	CorrelationID string
	Payload       Payload
	// Variants holds readable fields in further languages, by the full name of the
	// member, such as summary_normal_yo (PAY-01).
	Variants map[string]string
	// Unknown holds the other members, by name, exactly as written: those of a later version, or errors. They are
	// retained so that forwarding an event loses nothing; an event of our own has none (ENV-47).
	Unknown map[string]jsontext.Value
	// Extensions holds one JSON object for each prefix, exactly as written. Every prefix needs its context; the
	// contexts of [PrefixEarshot] and [PrefixUTP] are added automatically.
	Extensions map[string]jsontext.Value
	// Contexts are further entries of @context, after the core one.
	Contexts []string
	Version  string // "" is written as 1.0.0
}

// Type returns the type of the event in compact form, or "" without a payload.
func (e Event) Type() string {
	if e.Payload == nil {
		return ""
	}
	return e.Payload.EventType()
}

// IsTerminal reports whether the event ends its session.
func (e Event) IsTerminal() bool {
	return slices.Contains([]string{TypeSessionCompleted, TypeSessionErrored, TypeSessionCancelled}, e.Type())
}

// Extend returns a copy of the event in which extensions.<prefix>.<name> is value, anything that JSON can represent.
// Other members of the prefix are kept. The error is an [*Error] with [CodeBadEvent].
func (e Event) Extend(prefix, name string, value any) (Event, error) {
	extensions, err := extend(e.Extensions, prefix, name, value)
	if err != nil {
		return e, err
	}
	e.Extensions = extensions
	return e, nil
}

// extend returns a copy of extensions in which <prefix>.<name> is value.
func extend(extensions map[string]jsontext.Value, prefix, name string, value any) (map[string]jsontext.Value, error) {
	members := map[string]jsontext.Value{}
	if old, ok := extensions[prefix]; ok {
		if err := json.Unmarshal(old, &members); err != nil {
			return nil, &Error{Code: CodeBadEvent, Message: "extensions." + prefix + " is not an object", Cause: err}
		}
	}
	raw, err := json.Marshal(value, writing)
	if err != nil {
		return nil, &Error{Code: CodeBadEvent, Message: "extensions." + prefix + "." + name + " cannot be written as JSON", Cause: err}
	}
	members[name] = raw
	object, err := json.Marshal(members, writing)
	if err != nil {
		return nil, &Error{Code: CodeBadEvent, Message: "extensions." + prefix + " cannot be written as JSON", Cause: err}
	}
	extended := maps.Clone(extensions)
	if extended == nil {
		extended = map[string]jsontext.Value{}
	}
	extended[prefix] = object
	return extended, nil
}

// Extension returns the text at extensions.<prefix>.<name>, or "".
func (e Event) Extension(prefix, name string) string {
	text, _ := Read(e.Extensions[prefix]).Text(name)
	return text
}

// head and tail are the parts of the envelope before and after the payload (ENV-58).
type head struct {
	Context       any                `json:"@context"` // one string, or an array that begins with it
	Version       string             `json:"aaep_version,omitzero"`
	Type          string             `json:"type"`
	ID            string             `json:"event_id"`
	SessionID     string             `json:"session_id"`
	Sequence      *int64             `json:"sequence_number,omitzero"`
	Timestamp     string             `json:"timestamp"`
	Producer      Producer           `json:"producer"`
	Verbosity     Verbosity          `json:"verbosity,omitzero"`
	Urgency       Urgency            `json:"urgency,omitzero"`
	Hints         *LocalizationHints `json:"localization_hints,omitzero"`
	CorrelationID string             `json:"correlation_id,omitzero"`
}

type tail struct {
	Extensions map[string]jsontext.Value `json:"extensions,omitzero"`
}

// writing makes output deterministic, with times in the protocol's format, and with other producers' values unchanged.
var writing = json.JoinOptions(
	json.Deterministic(true), jsontext.PreserveRawStrings(true),
	json.WithMarshalers(json.MarshalToFunc(func(encoder *jsontext.Encoder, t time.Time) error {
		return encoder.WriteToken(jsontext.String(FormatTime(t)))
	})),
)

// Encode writes the event as one line of JSON without a line end: the envelope in the recommended order, with the
// payload's members after correlation_id, in the order of the payload's table (ENV-58). The same event always gives the
// same bytes. An event that breaks a rule for producers is refused with an [*Error] of [CodeBadEvent] that names the
// rules; warnings are accepted.
func (e Event) Encode() ([]byte, error) { return e.encode(ModeProducer) }

// Forward encodes another producer's event, which was read with [DecodeEvent], as [Event.Encode] does. It tolerates
// what a consumer tolerates: unknown members, words and types, and whatever is only advised against. It refuses only
// what no consumer may act on.
func (e Event) Forward() ([]byte, error) { return e.encode(ModeConsumer) }

func (e Event) encode(mode Mode) ([]byte, error) {
	if e.Payload == nil {
		return nil, &Error{Code: CodeBadEvent, Message: "found no payload, expected one"}
	}
	raw, err := e.write()
	if err != nil {
		return nil, &Error{Code: CodeBadEvent, Message: "cannot write " + e.Type() + " as JSON", Cause: err}
	}
	if found := Errors(Validate(raw, mode)); len(found) > 0 {
		return nil, &Error{Code: CodeBadEvent, Message: "the event " + e.Type() + " breaks a rule; correct it before sending", Violations: found}
	}
	return raw, nil
}

func (e Event) write() ([]byte, error) {
	h := head{
		Context: contextsOf(e.Contexts, e.Extensions), Version: e.Version, Type: e.Type(), ID: e.ID, SessionID: e.SessionID, Sequence: e.Sequence,
		Timestamp: FormatTime(e.Time), Producer: e.Producer, Verbosity: e.Verbosity, Urgency: e.Urgency, Hints: e.Hints,
		CorrelationID: e.CorrelationID,
	}
	if h.Version == "" {
		h.Version = Version
	}
	if h.Verbosity == "" {
		h.Verbosity = VerbosityNormal
	}
	if h.Urgency == "" {
		h.Urgency = DefaultUrgency(h.Type)
	}
	var payload any = e.Payload
	if other, ok := e.Payload.(Other); ok {
		payload = exact(other.Members)
	}
	return join(h, payload, e.Variants, exact(e.Unknown), enclosed{"extensions", e.Extensions})
}

// contextsOf is the core context, then the given ones, then those of the registered
// prefixes in use; alone, the core context is a plain string.
func contextsOf(extra []string, extensions map[string]jsontext.Value) any {
	contexts := append([]string{CoreContext}, extra...)
	for _, prefix := range slices.Sorted(maps.Keys(extensions)) {
		if context, ok := extensionPrefixes[prefix]; ok && !slices.Contains(contexts, context) {
			contexts = append(contexts, context)
		}
	}
	if len(contexts) == 1 {
		return CoreContext
	}
	return contexts
}
