package argument

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// OutOfLine returns what a card holds in place of a large value, a reference, and the pieces of the blob that it names.
// Any other value is returned as it is, without pieces.
func OutOfLine(v jsontext.Value) (jsontext.Value, []api.PutRequest, error) {
	if _, mistakable := store.ReferenceIn(v); len(v) <= api.InlineLimit && !mistakable {
		return v, nil, nil
	}
	sum := sha256.Sum256(v)
	r := store.Reference{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(v))}
	var pieces []api.PutRequest
	for at := 0; at < len(v); at += api.ChunkLimit {
		pieces = append(pieces, api.PutRequest{SHA256: r.SHA256, Size: r.Size, Offset: int64(at), Data: v[at:min(at+api.ChunkLimit, len(v))]})
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, nil, store.Unexpected("a reference", err)
	}
	return raw, pieces, nil
}

// Body returns a value of a card in the form in which it is sent.
func Body(v jsontext.Value) api.Body {
	if ref, moved := store.ReferenceIn(v); moved {
		return api.Body{SHA256: ref.SHA256, Size: ref.Size}
	}
	return api.Body{Inline: v}
}

// MaxNesting is how deep a result may be nested: nobody reads deeper values, and they cost everything that walks
// through them.
const MaxNesting = 256

// TooDeep reports whether valid JSON is nested deeper than a result may be.
func TooDeep(v jsontext.Value) bool {
	depth, text := 0, false
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{', c == '[':
			if depth++; depth > MaxNesting {
				return true
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return false
}
