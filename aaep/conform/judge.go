package conform

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/manifest"
	"github.com/earshot-dev/earshot/aaep/session"
)

// ErrUnsupported is what a [Judge] returns for what it cannot judge at all: a mode or
// an option that it does not have.
var ErrUnsupported = errors.New("this judge does not support it")

// Case is what a [Judge] is given.
type Case struct {
	ID       string // of the vector
	Kind     Kind
	Mode     Mode
	Options  Options
	Messages [][]byte
}

// Judge returns the findings for each message of the case and, for a stream, behind
// them those that only its end shows.
type Judge func(Case) ([][]aaep.Violation, error)

// Outcome is how a vector fared with a judge.
type Outcome struct {
	Vector  Vector
	Problem string // what was expected and what was found; "" when the vector held
	// Unsupported is why the judge cannot judge such a case at all; then Problem is empty, and nothing is known of it.
	Unsupported string
}

// Passed reports whether the judge found what the vector names.
func (o Outcome) Passed() bool { return o.Problem == "" && o.Unsupported == "" }

// Run asks the judge.
func (v Vector) Run(judge Judge) Outcome {
	messages, err := v.Messages()
	if err != nil {
		return Outcome{Vector: v, Problem: err.Error()}
	}
	c := Case{ID: v.ID, Kind: v.Kind, Mode: v.Mode, Messages: messages}
	if v.Options != nil {
		c.Options = *v.Options
	}
	found, err := judge(c)
	switch {
	case errors.Is(err, ErrUnsupported):
		return Outcome{Vector: v, Unsupported: err.Error()}
	case err != nil:
		return Outcome{Vector: v, Problem: err.Error()}
	}
	return Outcome{Vector: v, Problem: v.compare(found)}
}

// compare says how the findings differ from the verdict, or "".
func (v Vector) compare(found [][]aaep.Violation) string {
	if v.Verdict == VerdictValid {
		for _, f := range flat(found) {
			if f.Severity == aaep.SeverityError || slices.ContainsFunc(v.Rules(), f.Names) {
				return "expected no finding, found " + f.String()
			}
		}
		return ""
	}
	if !slices.ContainsFunc(v.there(found), v.meets) {
		return fmt.Sprintf("expected %s, found %s", v.expected(), summary(flat(found)))
	}
	for _, rule := range v.Also {
		if !slices.ContainsFunc(flat(found), func(f aaep.Violation) bool { return f.Names(rule) }) {
			return fmt.Sprintf("expected a finding that names %s too, found %s", rule, summary(flat(found)))
		}
	}
	for _, f := range flat(found) {
		if f.Severity == aaep.SeverityError && (v.Verdict != VerdictError || !slices.ContainsFunc(append(v.Rules(), v.named()), f.Names)) {
			return fmt.Sprintf("expected %s only, found also %s", v.expected(), f.String())
		}
	}
	return ""
}

// named is the rule that the finding must name.
func (v Vector) named() string {
	if v.Finding != "" {
		return v.Finding
	}
	return v.Rule
}

func (v Vector) meets(f aaep.Violation) bool {
	return f.Names(v.named()) && string(f.Severity) == string(v.Verdict) && (v.Path == nil || f.Path == *v.Path)
}

// there is what was found where the vector expects it.
func (v Vector) there(found [][]aaep.Violation) []aaep.Violation {
	if v.At == nil {
		return flat(found)
	}
	if *v.At >= len(found) {
		return nil
	}
	return found[*v.At]
}

func (v Vector) expected() string {
	text := fmt.Sprintf("%s %s", v.named(), v.Verdict)
	if v.Path != nil {
		text += fmt.Sprintf(" at %q", *v.Path)
	}
	if v.At != nil && *v.At == len(v.Stream) {
		text += ", at the end of the stream"
	} else if v.At != nil {
		text += fmt.Sprintf(", message %d", *v.At)
	}
	return text
}

func flat(found [][]aaep.Violation) []aaep.Violation { return slices.Concat(found...) }

func summary(found []aaep.Violation) string {
	if len(found) == 0 {
		return "nothing"
	}
	lines := make([]string, len(found))
	for i, f := range found {
		lines[i] = f.String()
	}
	return strings.Join(lines, "; ")
}

// Reference judges with this module: [aaep.Validate] for each message, a
// [session.Checker] for streams, the answer held against its request, and package manifest for what is signed. Where a type
// of message is expected, it decides as the decoder of that type does.
func Reference(c Case) ([][]aaep.Violation, error) {
	mode, err := modeOf(c.Mode)
	if err != nil {
		return nil, err
	}
	if c.Options.Expect != "" {
		found, err := expected(c.Options.Expect, c.Messages[0])
		return [][]aaep.Violation{found}, err
	}
	if c.Kind == KindSigned {
		found, err := signed(c)
		return [][]aaep.Violation{found}, err
	}
	found := make([][]aaep.Violation, len(c.Messages), len(c.Messages)+1)
	validate := aaep.Validate
	if c.Kind == KindDocument {
		validate = aaep.ValidateManifest
	}
	for i, raw := range c.Messages {
		found[i] = validate(raw, mode)
	}
	switch c.Kind {
	case KindStream:
		return judgeStream(c, mode, found)
	case KindExchange:
		found[1] = append(found[1], answers(c.Messages)...)
	case KindEvent, KindMessage, KindDocument, KindSigned:
	}
	return found, nil
}

func judgeStream(c Case, mode aaep.Mode, found [][]aaep.Violation) ([][]aaep.Violation, error) {
	stream := session.Stream{JoinedLate: c.Options.JoinedLate, Reordering: c.Options.Reordering, CutShort: c.Options.CutShort, Mode: mode}
	if c.Options.Terms != nil {
		stream.Terms = &aaep.Capabilities{}
		if err := json.Unmarshal(c.Options.Terms, stream.Terms); err != nil {
			return nil, fmt.Errorf("conform: the terms: %w", err)
		}
	}
	checker := session.NewStreamChecker(stream)
	for i, raw := range c.Messages {
		found[i] = append(found[i], checker.Check(raw)...)
	}
	return append(found, checker.Close()), nil
}

// answers holds an answer against its request. What cannot be read has findings of its
// own.
func answers(messages [][]byte) []aaep.Violation {
	request, err := aaep.DecodeSubscriptionRequest(messages[0])
	if err != nil {
		return nil
	}
	answer, err := aaep.DecodeSubscriptionAccepted(messages[1])
	if err != nil {
		return nil
	}
	return answer.Answers(request)
}

// expected returns the findings for which a message of an expected type is refused.
func expected(messageType string, raw []byte) ([]aaep.Violation, error) {
	var err error
	switch messageType {
	case aaep.TypeConfirmationReply:
		_, err = aaep.DecodeConfirmationReply(raw)
	case aaep.TypeClarificationReply:
		_, err = aaep.DecodeClarificationReply(raw)
	case aaep.TypeSubscriptionRequest:
		_, err = aaep.DecodeSubscriptionRequest(raw)
	case aaep.TypeSubscriptionAccepted:
		_, err = aaep.DecodeSubscriptionAccepted(raw)
	case aaep.TypeSubscriptionRejected:
		_, err = aaep.DecodeSubscriptionRejected(raw)
	default:
		return nil, fmt.Errorf("the expected type %q: %w", messageType, ErrUnsupported)
	}
	if refusal, ok := errors.AsType[*aaep.Error](err); ok {
		return refusal.Violations, nil
	}
	return nil, err
}

// signed returns why a signed manifest is refused, held against the answer that it came with.
func signed(c Case) ([]aaep.Violation, error) {
	keys, err := manifest.ParseKeys(c.Options.Keys)
	if err != nil {
		return nil, fmt.Errorf("conform: the keys: %w", err)
	}
	expected := manifest.Expected{Keys: keys}
	if c.Options.Answer != nil {
		answer, err := aaep.DecodeSubscriptionAccepted(c.Options.Answer)
		if err != nil {
			return nil, fmt.Errorf("conform: the answer: %w", err)
		}
		expected.AgentID, expected.Offer = answer.Producer.AgentID, manifest.OfferOf(answer, aaep.Transport(c.Options.Transport))
	}
	_, err = expected.Verify(string(c.Messages[0]))
	if refused, is := errors.AsType[*manifest.Error](err); is {
		return []aaep.Violation{{Rule: refused.Rule, Severity: aaep.SeverityError, Spec: "§10.4", Message: refused.Plain()}}, nil
	}
	return nil, err
}

func modeOf(m Mode) (aaep.Mode, error) {
	switch m {
	case ModeProducer:
		return aaep.ModeProducer, nil
	case ModeConsumer:
		return aaep.ModeConsumer, nil
	case ModeEnvelope:
		return aaep.ModeEnvelope, nil
	default:
		return 0, fmt.Errorf("the mode %q: %w", m, ErrUnsupported)
	}
}
