package schema

import (
	"bytes"
	"encoding/json" // whose Number keeps every digit
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Decode decodes a JSON value into the form that [Schema.Validate] validates without loss: a number is a [json.Number], so
// that no digit is rounded. It refuses duplicate names and invalid UTF-8.
func Decode(value jsontext.Value) (any, error) {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(value))
	decoded, err := decode(decoder)
	if errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	if _, err := decoder.ReadToken(); err == nil {
		return nil, errors.New("there is more than one value")
	} else if !errors.Is(err, io.EOF) {
		return nil, err //nolint:wrapcheck // it says where the JSON breaks off
	}
	return decoded, nil
}

//nolint:wrapcheck // the decoder says where the JSON breaks off
func decode(decoder *jsontext.Decoder) (any, error) {
	token, err := decoder.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{':
		object := map[string]any{}
		for decoder.PeekKind() != '}' {
			name, err := decoder.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String()
			if object[key], err = decode(decoder); err != nil {
				return nil, err
			}
		}
		_, err := decoder.ReadToken()
		return object, err
	case '[':
		list := []any{}
		for decoder.PeekKind() != ']' {
			entry, err := decode(decoder)
			if err != nil {
				return nil, err
			}
			list = append(list, entry)
		}
		_, err := decoder.ReadToken()
		return list, err
	case '"':
		return token.String(), nil
	case '0':
		return json.Number(token.String()), nil
	case 't', 'f':
		return token.Bool(), nil
	default:
		return nil, nil //nolint:nilnil // null is a value
	}
}

// types is a set of the types of JSON. An integer is a number, too.
type types uint8

const (
	typeNull types = 1 << iota
	typeBoolean
	typeNumber
	typeInteger
	typeString
	typeArray
	typeObject
)

// typeNames are the names of the types, in the order of their bits.
var typeNames = [...]string{"null", "boolean", "number", "integer", "string", "array", "object"}

func typeNamed(name string) (types, bool) {
	i := slices.Index(typeNames[:], name)
	return 1 << max(i, 0), i >= 0
}

// names lists the types of a set.
func (t types) names() []string {
	var list []string
	for i, name := range typeNames {
		if t&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	return list
}

// typeOf returns the type of a value, none for what is not JSON. Every number is a number here.
func typeOf(v any) types {
	switch v := v.(type) {
	case nil:
		return typeNull
	case bool:
		return typeBoolean
	case string:
		return typeString
	case []any:
		return typeArray
	case map[string]any:
		return typeObject
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0
		}
		return typeNumber
	case float32:
		return typeOf(float64(v))
	case json.Number, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return typeNumber
	default:
		return 0
	}
}

// canonical appends a text that two values have in common if JSON Schema takes them for equal, and only then: 1 is 1.0, and
// the order of members does not count.
func canonical(text []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(text, 'n')
	case bool:
		return strconv.AppendBool(text, v)
	case string:
		return append(append(strconv.AppendInt(append(text, '"'), int64(len(v)), 10), ':'), v...)
	case []any:
		text = append(text, '[')
		for _, entry := range v {
			text = append(canonical(text, entry), ',')
		}
		return append(text, ']')
	case map[string]any:
		text = append(text, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text = canonical(canonical(text, name), v[name])
		}
		return append(text, '}')
	default:
		d := parseDecimal(numberText(v))
		if d.negative {
			text = append(text, '-')
		}
		return strconv.AppendInt(append(append(append(text, '#'), d.digits...), 'e'), d.point, 10)
	}
}
