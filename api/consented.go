package api

import (
	"crypto/sha256"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

const consentDomain = "earshot-consent-1\n"

// Consented is everything that a consent is bound to. If any of it changes between the question and the start, the
// digests differ and nothing starts (call protocol, "What is consented to").
type Consented struct {
	Project string
	Session string
	Turn    string
	Call    string // the tool_call_id
	Tool    string
	// Definition is the digest of the tool's definition, see [utp.Definition.Digest].
	Definition string
	// Args are the resolved arguments, byte for byte as the service will receive them.
	Args jsontext.Value
	// Policy is the rule that applied, in its canonical form.
	Policy string
	// Question is the number of the question; 0 if policy allowed the call without one.
	Question int
}

// Digest returns the SHA-256 of `earshot-consent-1\n` followed by the RFC 8785 form of an object with the members args,
// definition, policy, project, question, session, tool, tool_call_id and turn. No field may be empty, because a consent
// that is not bound to a field would fit every value of it. An empty field, and arguments that [utp.Canonical] refuses,
// are an [*utp.ArgumentError].
func (c Consented) Digest() ([sha256.Size]byte, error) {
	var sum [sha256.Size]byte
	args, err := utp.Canonical(c.Args)
	if err != nil {
		return sum, err
	}
	if c.Question < 0 {
		return sum, unbound("question", strconv.Itoa(c.Question), nil)
	}
	// The members stand in the order of RFC 8785, so the whole is canonical as written.
	head := append([]byte(consentDomain), `{"args":`...)
	var tail []byte
	for _, m := range []struct{ name, value string }{
		{"definition", c.Definition},
		{"policy", c.Policy},
		{"project", c.Project},
		{"question", ""},
		{"session", c.Session},
		{"tool", c.Tool},
		{"tool_call_id", c.Call},
		{"turn", c.Turn},
	} {
		tail = append(tail, `,"`+m.name+`":`...)
		if m.name == "question" {
			tail = strconv.AppendInt(tail, int64(c.Question), 10)
			continue
		}
		if m.value == "" {
			return sum, unbound(m.name, "nothing", nil)
		}
		if tail, err = jsontext.AppendQuote(tail, m.value); err != nil {
			return sum, unbound(m.name, "bytes that are not UTF-8", err)
		}
	}
	h := sha256.New()
	for _, part := range [][]byte{head, args, append(tail, '}')} {
		_, _ = h.Write(part) // a hash never fails
	}
	h.Sum(sum[:0])
	return sum, nil
}

func unbound(name, found string, err error) error {
	return &utp.ArgumentError{Found: "a consent with " + found + " as its " + name, Expected: "a value: the consent is bound to it", Err: err}
}

// MustBeRead reports whether a consent to a call requires that the person was shown or has read all of its arguments:
// if its effect cannot be undone, if its risk is high, or if class or risk is unknown.
func MustBeRead(c utp.Class, r utp.Risk) bool {
	return c.Order() == utp.Irreversible.Order() || r.Order() == utp.RiskHigh.Order()
}
