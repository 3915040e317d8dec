package aaep

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DecodeEvent reads one event as a subscriber does: it refuses, with an [*Error] of
// [CodeBadMessage], only what cannot be read or would be unsafe to act on (see
// [ModeConsumer]). Types that this package does not know become [Other]; members of an
// event that it does not know are kept in its Unknown. What must be critical reads as critical, and a confirmation that either
// member calls irreversible reads as irreversible (C-16, C-21).
func DecodeEvent(raw []byte) (Event, error) {
	document := Read(raw)
	found := Errors(document.Validate(ModeConsumer))
	if len(found) > 0 {
		return Event{}, &Error{Code: CodeBadMessage, Message: "not an event that can be acted on", Violations: found}
	}
	written, _ := document.Text("type")
	message, known := Lookup(written)
	if known && !message.Event {
		return Event{}, &Error{Code: CodeBadMessage, Message: "found the message " + message.Type + ", expected an event"}
	}
	event, err := decodeEnvelope(raw, document)
	if err != nil {
		return Event{}, &Error{Code: CodeBadMessage, Message: "not an event that can be read", Cause: err}
	}
	if message.Critical != "" {
		event.Urgency = UrgencyCritical
	}
	event.Variants, event.Unknown = additionalMembers(document, message)
	event.Payload, err = decodePayload(raw, written, document)
	if err != nil {
		return Event{}, &Error{Code: CodeBadMessage, Message: "not an event that can be read", Cause: err}
	}
	return event, nil
}

// reading accepts an integral number in any notation where Go has an integer (C-18).
var reading = json.WithUnmarshalers(json.JoinUnmarshalers(json.UnmarshalFromFunc(readWhole[int64]), json.UnmarshalFromFunc(readWhole[int])))

func readWhole[N int | int64](decoder *jsontext.Decoder, target *N) error {
	token, err := decoder.ReadToken()
	if err != nil {
		return err //nolint:wrapcheck // the caller names it
	}
	literal := token.String()
	value, ok := int64(0), false
	if token.Kind() == jsontext.KindNumber {
		value, ok = parseWhole([]byte(literal))
	}
	if !ok {
		return &Error{Code: CodeBadMessage, Message: "found " + clip(literal) + ", expected an integer within 2^53"}
	}
	*target = N(value)
	return nil
}

// decodeEnvelope reads what stands around the payload.
func decodeEnvelope(raw []byte, document Document) (Event, error) {
	var envelope struct {
		Sequence      *int64             `json:"sequence_number"`
		Producer      Producer           `json:"producer"`
		Hints         *LocalizationHints `json:"localization_hints"`
		CorrelationID string             `json:"correlation_id"`
		tail
	}
	if err := json.Unmarshal(raw, &envelope, reading); err != nil {
		return Event{}, err //nolint:wrapcheck // DecodeEvent names it
	}
	textAt := func(name string) string {
		text, _ := document.Text(name)
		return text
	}
	when, _ := ParseTime(textAt("timestamp"))
	contexts := document.Texts("@context")
	return Event{
		ID: textAt("event_id"), SessionID: textAt("session_id"), Sequence: envelope.Sequence, Time: when, Producer: envelope.Producer,
		Verbosity: Verbosity(textAt("verbosity")), Urgency: Urgency(textAt("urgency")), Hints: envelope.Hints,
		CorrelationID: envelope.CorrelationID, Extensions: envelope.Extensions, Contexts: slices.Clone(contexts[min(1, len(contexts)):]),
		Version: textAt("aaep_version"),
	}, nil
}

// decodePayload reads the members beside the envelope.
func decodePayload(raw []byte, written string, document Document) (Payload, error) {
	switch CompactType(written) {
	case TypeSessionStarted:
		return payloadOf[SessionStarted](raw)
	case TypeSessionCompleted:
		return payloadOf[SessionCompleted](raw)
	case TypeSessionErrored:
		return payloadOf[SessionErrored](raw)
	case TypeSessionCancelled:
		return payloadOf[SessionCancelled](raw)
	case TypeStateChanged:
		return payloadOf[StateChanged](raw)
	case TypeProgressUpdated:
		return payloadOf[ProgressUpdated](raw)
	case TypeToolInvoked:
		return payloadOf[ToolInvoked](raw)
	case TypeToolCompleted:
		return payloadOf[ToolCompleted](raw)
	case TypeOutputStreaming:
		return payloadOf[OutputStreaming](raw)
	case TypeAwaitingConfirmation:
		confirmation, err := payloadOf[AwaitingConfirmation](raw)
		if c, ok := confirmation.(AwaitingConfirmation); ok {
			c.Irreversible = document.tape.irreversible(0)
			return c, err
		}
		return confirmation, err
	case TypeAwaitingClarification:
		return payloadOf[AwaitingClarification](raw)
	case TypeHandoffRequested:
		return payloadOf[HandoffRequested](raw)
	default:
		return decodeOther(raw, written)
	}
}

func payloadOf[P Payload](raw []byte) (Payload, error) {
	var payload P
	if err := json.Unmarshal(raw, &payload, reading); err != nil {
		return nil, err //nolint:wrapcheck // DecodeEvent names it
	}
	return payload, nil
}

func decodeOther(raw []byte, written string) (Payload, error) {
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err //nolint:wrapcheck // DecodeEvent names it
	}
	maps.DeleteFunc(members, func(name string, _ jsontext.Value) bool {
		return slices.ContainsFunc(envelope(), func(f Field) bool { return f.Name == name })
	})
	return Other{Type: written, Members: members}, nil
}

// additionalMembers collects what stands beside the rows of a core event: readable fields in
// further languages, and members that are not known here. The payload of any other
// event holds such members itself.
func additionalMembers(document Document, message Message) (variants map[string]string, unknown map[string]jsontext.Value) {
	known := plans()[message.Type]
	if known == nil {
		return nil, nil
	}
	t := document.tape
	first, end := t.inside(0)
	for n := first; n < end; n = t.nodes[n].next {
		name := t.name(n)
		switch {
		case known.outer.find(name) != nil:
		case t.is(n, kindString) && variantOf(known.outer.list, name) != nil:
			variants = put(variants, name, string(t.text(n)))
		default:
			unknown = put(unknown, name, jsontext.Value(t.literal(n)).Clone())
		}
	}
	return variants, unknown
}

func put[V any](all map[string]V, name []byte, value V) map[string]V {
	if all == nil {
		all = map[string]V{}
	}
	all[string(name)] = value
	return all
}

// decodeStrict reads a reply of one type: every error of the producer's mode refuses
// it, because a reply may say yes on behalf of a person.
func decodeStrict[M any](raw []byte, messageType string) (M, error) {
	return decodeMessage[M](raw, messageType, ModeProducer, json.RejectUnknownMembers(true))
}

// decodeMessage reads a message of one type, refused by every error of a mode.
func decodeMessage[M any](raw []byte, messageType string, mode Mode, options ...json.Options) (M, error) {
	var message, none M
	document := Read(raw)
	if found := document.Violations(); len(found) > 0 {
		return none, &Error{Code: CodeBadMessage, Message: "not a " + messageType + " that can be read", Violations: found}
	}
	if written, _ := document.Text("type"); written != messageType {
		return none, &Error{Code: CodeBadMessage, Message: "not a " + messageType, Violations: []Violation{otherType(written, messageType)}}
	}
	if found := Errors(document.Validate(mode)); len(found) > 0 {
		return none, &Error{Code: CodeBadMessage, Message: "not a valid " + messageType, Violations: found}
	}
	if err := json.Unmarshal(raw, &message, append(options, reading)...); err != nil {
		return none, &Error{Code: CodeBadMessage, Message: "not a valid " + messageType, Cause: err}
	}
	return message, nil
}

// otherType is the finding that a message is not of the type that is expected.
func otherType(written, messageType string) Violation {
	found := Violation{Severity: SeverityError, Path: "/type", Message: fmt.Sprintf("found type %q, expected %s", clip(written), messageType)}
	if m, ok := Lookup(messageType); ok {
		i := slices.IndexFunc(m.Fields, func(f Field) bool { return f.Name == "type" })
		found.Rule, found.Spec = m.Fields[i].Rule, m.Spec
	}
	return found
}
