package utp

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The `__type__` of contents that do not belong to a call (UTP, "Cards").
const (
	typeText   = "TextContent"
	typeFields = "FieldsSchemaContent"
	typeTools  = "ToolContent"
)

// Content is the content of a card that does not belong to a call: [Text], [Data], [Fields] or [Tools]. Its JSON has
// exactly the keys of its type, because peers refuse any other.
type Content interface{ contentType() string }

// Text is plain text: a thought, an instruction or an answer.
type Text struct {
	Text string `json:"text"`
}

// Data is an object or an array.
type Data struct {
	Data jsontext.Value `json:"data"`
}

// Fields are the fields that a result must have.
type Fields struct {
	Fields []RequestedField `json:"fields"`
}

// RequestedField is one required field. Its name is not empty.
type RequestedField struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Tools are the tools that were offered to a model, each an object.
type Tools struct {
	Tools []jsontext.Value `json:"tools"`
}

func (Text) contentType() string   { return typeText }
func (Data) contentType() string   { return typeJSON }
func (Fields) contentType() string { return typeFields }
func (Tools) contentType() string  { return typeTools }

// EncodeContent writes the content object of a card, its `__type__` first. The error is a
// [*CardError].
func EncodeContent(c Content) (jsontext.Value, error) {
	if err := checkContent(c); err != nil {
		return nil, err
	}
	body, err := marshal(c)
	if err != nil {
		return nil, contentError("the content", "malformed: "+clip(err.Error()), "valid JSON", err)
	}
	return concat([]byte(`{"__type__":"`+c.contentType()+`",`), bytes.TrimPrefix(body, []byte("{"))), nil
}

// DecodeContent reads a content object of the four types. Unknown members are ignored; the card's raw content keeps
// them. The error is a [*CardError]: invalid_card_type if the `__type__` is missing or unknown.
func DecodeContent(raw jsontext.Value) (Content, error) {
	var head struct {
		Type string `json:"__type__"` //nolint:tagliatelle // the name on the wire
	}
	if err := decodeContent(raw, &head); err != nil {
		return nil, err
	}
	var c Content
	var err error
	switch head.Type {
	case typeText:
		c, err = contentOf[Text](raw)
	case typeJSON:
		c, err = contentOf[Data](raw)
	case typeFields:
		c, err = contentOf[Fields](raw)
	case typeTools:
		c, err = contentOf[Tools](raw)
	default:
		return nil, &CardError{
			Reason: CodeInvalidCardType, Field: "content.__type__", Found: Shown(head.Type),
			Expected: "TextContent, JsonContent, FieldsSchemaContent or ToolContent",
		}
	}
	if err != nil {
		return nil, err
	}
	return c, checkContent(c)
}

func contentOf[T Content](raw jsontext.Value) (Content, error) {
	var c T
	if err := decodeContent(raw, &c); err != nil {
		return nil, err
	}
	return c, nil
}

func decodeContent(raw jsontext.Value, into any) error {
	if raw.Kind() != jsontext.KindBeginObject {
		return contentError("the content", "not an object", "a JSON object", nil)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return contentError("the content", "malformed: "+clip(err.Error()), "what its type demands", err)
	}
	return nil
}

func checkContent(c Content) error {
	switch c := c.(type) {
	case Data:
		if kind := c.Data.Kind(); kind != jsontext.KindBeginObject && kind != jsontext.KindBeginArray {
			return contentError("content.data", "no object and no array", "one of the two", nil)
		}
	case Fields:
		for _, f := range c.Fields {
			if f.Name == "" {
				return contentError("content.fields", "a field without a name", "a name for each", nil)
			}
		}
	case Tools:
		for _, t := range c.Tools {
			if t.Kind() != jsontext.KindBeginObject {
				return contentError("content.tools", "a tool that is not an object", "objects", nil)
			}
		}
	default: // any text is valid
	}
	return nil
}

func contentError(field, found, expected string, err error) error {
	return &CardError{Reason: CodeBadRequest, Field: field, Found: found, Expected: expected, Err: err}
}
