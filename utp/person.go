package utp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// The names under which a step's calls that no service runs stand in cards and
// transcripts. No tool can be registered under them.
const (
	// AskPerson is a question that an agent puts to the person.
	AskPerson = "ask_person"
	// SubmitResult is the answer of a turn that was started with required result fields
	// (UTP, "Result fields").
	SubmitResult = "submit_result"
)

// The kinds of answers that a [Question] takes.
const (
	AnswerText   = "freetext"
	AnswerYesNo  = "yes_no"
	AnswerChoice = "multiple_choice"
	AnswerNumber = "numeric"
)

// Question is what an agent asks the person. It asks for information; consent to a call
// is never given by it.
type Question struct {
	// Text is the question itself, 1 to 4,096 characters.
	Text string `json:"question"`
	// Context is what helps to understand it, at most 4,096 characters.
	Context string `json:"context,omitzero"`
	// Kinds are the kinds of answers that it takes, any of them; default free text, or
	// one of the choices where there are any.
	Kinds []string `json:"kinds,omitzero"`
	// Choices are the answers of a multiple choice, 2 to 32.
	Choices []Choice `json:"choices,omitzero"`
	// Default is the answer when nobody gives one in time, as text whatever its kind
	// ("true" and "false" for yes and no); none when empty.
	Default string `json:"default,omitzero"`
	// Seconds is how long it stays open, 1 to 86,400; 0 leaves it to the person's wish and
	// the usual 5 minutes.
	Seconds int `json:"seconds,omitzero"`
}

// Choice is one answer of a multiple choice.
type Choice struct {
	// Value is what the agent gets, 1 to 256 printable characters; Label what a person
	// reads, 1 to 1,024 characters.
	Value string `json:"value"`
	Label string `json:"label"`
}

const (
	maxQuestion = 4096
	maxWait     = 86_400
	maxValue    = 256
)

// Complete fills in what is left to be understood, and says what is wrong with the rest.
// The kinds, the choices and the default among each other are judged where it is asked.
func (q Question) Complete() (Question, error) {
	if len(q.Kinds) == 0 {
		q.Kinds = []string{AnswerText}
		if len(q.Choices) > 0 {
			q.Kinds = []string{AnswerChoice}
		}
	}
	q.Text = strings.TrimSpace(q.Text)
	switch {
	case q.Text == "" || utf8.RuneCountInString(q.Text) > maxQuestion:
		return q, wrong("question", fmt.Sprintf("%d characters", utf8.RuneCountInString(q.Text)), "1 to 4096 characters")
	case utf8.RuneCountInString(q.Context) > maxQuestion:
		return q, wrong("context", fmt.Sprintf("%d characters", utf8.RuneCountInString(q.Context)), "at most 4096 characters")
	case utf8.RuneCountInString(q.Default) > maxQuestion:
		return q, wrong("default", fmt.Sprintf("%d characters", utf8.RuneCountInString(q.Default)), "at most 4096 characters")
	case q.Seconds < 0 || q.Seconds > maxWait:
		return q, wrong("seconds", strconv.Itoa(q.Seconds), "0 to 86400")
	}
	for _, c := range q.Choices {
		if !printable(c.Value, maxValue) {
			return q, wrong("choices", shown(c.Value), "values of 1 to 256 printable characters")
		}
		if strings.TrimSpace(c.Label) == "" {
			return q, wrong("choices", "the value "+shown(c.Value)+" without a label", "a label for each value")
		}
	}
	return q, nil
}

// FieldError says what is wrong with what an agent asks, hands over or answers.
type FieldError struct{ Field, Found, Expected string }

func (e *FieldError) Error() string {
	return e.Field + " is " + e.Found + "; expected " + e.Expected
}

// Code is bad_request.
func (*FieldError) Code() Code { return CodeBadRequest }

func wrong(field, found, expected string) error {
	return &FieldError{Field: field, Found: found, Expected: expected}
}

// printable holds what is sent and compared to what can be seen.
func printable(s string, most int) bool {
	return s != "" && utf8.RuneCountInString(s) <= most && strings.TrimSpace(s) == s &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// The types of the answer in a [ReplyRequest].
const (
	ResponseText   = "text"
	ResponseBool   = "bool"
	ResponseNumber = "number"
)

// Answered is the result of a question that was answered, or whose default holds.
type Answered struct {
	// Answer is a text, true or false, or a number.
	Answer jsontext.Value `json:"answer"`
	// By is the person who gave it, Surface where; both are empty for a default.
	By      string `json:"by,omitzero"`
	Surface string `json:"surface,omitzero"`
	// Default says that nobody answered in time.
	Default bool `json:"default,omitzero"`
}

// Handoff asks that somebody else takes the work over; it ends the agent's turn.
type Handoff struct {
	// Reason is why, in words for the person, 1 to 4,096 characters.
	Reason string `json:"reason"`
	// To is human, specialist_agent or escalation_queue; default human.
	To string `json:"to,omitzero"`
	// URI is where they can be reached; Urgency low, medium or high.
	URI     string `json:"uri,omitzero"`
	Urgency string `json:"urgency,omitzero"`
	// Context is what they need to know: an object of at most 16 KiB.
	Context jsontext.Value `json:"context,omitzero"`
}

const maxHandoffContext = 16 << 10

// Complete fills in the default, and says what is wrong with the rest.
func (h Handoff) Complete() (Handoff, error) {
	if h.To == "" {
		h.To = "human"
	}
	h.Reason = strings.TrimSpace(h.Reason)
	switch {
	case h.Reason == "" || utf8.RuneCountInString(h.Reason) > maxQuestion:
		return h, wrong("reason", fmt.Sprintf("%d characters", utf8.RuneCountInString(h.Reason)), "1 to 4096 characters")
	case !slices.Contains([]string{"human", "specialist_agent", "escalation_queue"}, h.To):
		return h, wrong("to", shown(h.To), "human, specialist_agent or escalation_queue")
	case !slices.Contains([]string{"", "low", "medium", "high"}, h.Urgency):
		return h, wrong("urgency", shown(h.Urgency), "low, medium or high")
	case len(h.Context) > 0 && (h.Context.Kind() != '{' || len(h.Context) > maxHandoffContext || !h.Context.IsValid()):
		return h, wrong("context", fmt.Sprintf("%d bytes", len(h.Context)), "a JSON object of at most 16 KiB")
	case h.URI != "" && !uri(h.URI):
		return h, wrong("uri", shown(h.URI), "a URI such as mailto:help@example.org, of at most 2048 printable ASCII characters")
	}
	return h, nil
}

// uri keeps to the plain form: a scheme, a colon, and no character that needs escaping.
func uri(s string) bool {
	const most = 2048
	scheme, rest, found := strings.Cut(s, ":")
	plain := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"<>\^{|}`+"`", r) }
	return found && scheme != "" && rest != "" && len(s) <= most && !strings.ContainsFunc(s, plain) &&
		scheme[0]|0x20 >= 'a' && scheme[0]|0x20 <= 'z' && !strings.ContainsFunc(scheme, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("+-.", r)
	})
}

// Field is one field of a turn's result (UTP, "Result fields").
type Field struct {
	Name  string         `json:"name"`
	Value jsontext.Value `json:"value"`
}

// maxFields bounds what a turn may require.
const maxFields = 64

// CheckRequired says what is wrong with the names of required result fields: at most 64,
// each once, 1 to 128 printable characters.
func CheckRequired(names []string) error {
	if len(names) > maxFields {
		return wrong("result_fields", fmt.Sprintf("%d names", len(names)), "at most 64")
	}
	for i, name := range names {
		if !printable(name, maxToken) || slices.Contains(names[:i], name) {
			return wrong("result_fields", shown(name), "names of 1 to 128 printable characters, each once")
		}
	}
	return nil
}

// CheckFields says which of the required names are missing from a result, and which stand
// in it twice (UTP, "Result fields"). Other names may be there.
func CheckFields(required []string, fields []Field) error {
	var missing, twice []string
	for i, f := range fields {
		same := func(o Field) bool { return o.Name == f.Name }
		if slices.ContainsFunc(fields[:i], same) && !slices.Contains(twice, f.Name) {
			twice = append(twice, f.Name)
		}
	}
	for _, name := range required {
		if !slices.ContainsFunc(fields, func(f Field) bool { return f.Name == name }) {
			missing = append(missing, name)
		}
	}
	var wants []string
	if len(missing) > 0 {
		wants = append(wants, "missing: "+strings.Join(missing, ", "))
	}
	if len(twice) > 0 {
		wants = append(wants, "twice: "+strings.Join(twice, ", "))
	}
	if len(wants) == 0 {
		return nil
	}
	return wrong("result.fields", strings.Join(wants, "; "), "each of "+strings.Join(required, ", ")+" once")
}
