package consent

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// maxResponse is the longest text response in characters (CLA-04).
const maxResponse = 16_384

// ResponseKind is a sort of answer that a clarification can use.
type ResponseKind string

// The kinds of response (CLA-03).
const (
	FreeText       ResponseKind = "freetext"
	YesNo          ResponseKind = "yes_no"
	MultipleChoice ResponseKind = "multiple_choice"
	Numeric        ResponseKind = "numeric"
)

func (k ResponseKind) valid() bool {
	return k == FreeText || k == YesNo || k == MultipleChoice || k == Numeric
}

// ResponseType is the JSON type of a [Response].
type ResponseType string

// The scalars that a response can be.
const (
	TypeText   ResponseType = "text"
	TypeBool   ResponseType = "bool"
	TypeNumber ResponseType = "number"
)

// Response is the answer to a clarification: a text, a yes or no, or a number.
// The zero value is not an answer. Values compare with ==.
type Response struct {
	Type   ResponseType `json:"type,omitzero"`
	Text   string       `json:"text,omitzero"`
	Bool   bool         `json:"bool,omitzero"`
	Number float64      `json:"number,omitzero"`
}

// TextResponse is a free text or the value of a choice.
func TextResponse(text string) Response { return Response{Type: TypeText, Text: text} }

// BoolResponse is a yes or a no.
func BoolResponse(yes bool) Response { return Response{Type: TypeBool, Bool: yes} }

// NumberResponse is a number.
func NumberResponse(n float64) Response { return Response{Type: TypeNumber, Number: n} }

// fits returns why a response does not fit the question; an empty reason means
// that it fits. A response of any listed kind fits (CLA-06), and without a list
// any scalar does (C-29).
func (q Question) fits(r Response) Reason {
	listed := func(k ResponseKind) bool {
		return len(q.ResponseKinds) == 0 || slices.Contains(q.ResponseKinds, k)
	}

	switch r.Type {
	case TypeBool:
		return reasonUnless(listed(YesNo), WrongResponseType)
	case TypeNumber:
		finite := !math.IsNaN(r.Number) && !math.IsInf(r.Number, 0)

		return reasonUnless(finite && listed(Numeric), WrongResponseType)
	case TypeText:
		return q.fitsText(r.Text, listed)
	default:
		return WrongResponseType
	}
}

func (q Question) fitsText(text string, listed func(ResponseKind) bool) Reason {
	switch {
	case !within(text, maxResponse):
		return WrongResponseType
	case listed(FreeText):
		return ""
	case listed(MultipleChoice):
		return reasonUnless(q.isChoice(text), NotAChoice)
	default:
		return WrongResponseType
	}
}

func (q Question) isChoice(value string) bool {
	return slices.ContainsFunc(q.Choices, func(c Choice) bool { return c.Value == value })
}

// fallback reads the default response, which is text on the wire, as the kind
// of answer it stands for (C-29). Zero when there is none or it fits no kind.
func (q Question) fallback() Response {
	text := TextResponse(q.DefaultResponse)

	candidates := []Response{asBool(q.DefaultResponse), asNumber(q.DefaultResponse), text}
	if len(q.ResponseKinds) == 0 || q.isChoice(q.DefaultResponse) {
		candidates = slices.Insert(candidates, 0, text)
	}

	for _, candidate := range candidates {
		if q.fits(candidate) == "" {
			return candidate
		}
	}

	return Response{}
}

func asBool(text string) Response {
	if text != "true" && text != "false" {
		return Response{}
	}

	return BoolResponse(text == "true")
}

func asNumber(text string) Response {
	// ParseFloat takes more than JSON does ("inf", "0x1"), JSON more than numbers.
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !json.Valid([]byte(text)) {
		return Response{}
	}

	return NumberResponse(n)
}

func reasonUnless(ok bool, reason Reason) Reason {
	if ok {
		return ""
	}

	return reason
}
