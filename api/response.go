package api

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// Response is the answer to a clarification. In JSON it is a text, true or false, or a number.
type Response struct {
	// Text is the answer in words; true, false and numbers are written as in JSON.
	Text string
	// Type is [ResponseBool] or [ResponseNumber] if the answer had that type. A text, which has none, is read as the
	// kind of answer that was asked for: "true" also answers yes or no.
	Type string
}

// MarshalJSONTo implements [json.MarshalerTo].
func (r Response) MarshalJSONTo(to *jsontext.Encoder) error {
	if r.Type == ResponseBool || r.Type == ResponseNumber {
		return to.WriteValue(jsontext.Value(r.Text)) //nolint:wrapcheck // the encoder says where it is
	}
	return to.WriteToken(jsontext.String(r.Text)) //nolint:wrapcheck // the same
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom].
func (r *Response) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	value, err := from.ReadValue()
	if err != nil {
		return err //nolint:wrapcheck // the decoder says where it is
	}
	switch value.Kind() {
	case jsontext.KindString:
		*r = Response{}
		return json.Unmarshal(value, &r.Text) //nolint:wrapcheck // the same
	case jsontext.KindTrue, jsontext.KindFalse:
		*r = Response{Text: strconv.FormatBool(value.Kind() == jsontext.KindTrue), Type: ResponseBool}
	case jsontext.KindNumber:
		*r = Response{Text: string(value), Type: ResponseNumber}
	default:
		return wrong("response", utp.Shown(string(value)), "a text, true or false, or a number")
	}
	return nil
}
