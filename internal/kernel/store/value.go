package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

func SHA256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// bytes reads a body, wherever it lies.
func ReadBody(tx Tx, b api.Body) ([]byte, error) {
	if b.SHA256 == "" {
		return b.Inline, nil
	}
	return ReadBlob(tx, b.SHA256)
}

const (
	MaxName = 128 // a key, a code, or who holds a turn or a call
)

// Clip cuts a text to at most n bytes, at a character, and shows that it did.
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	const mark = "…"
	return strings.ToValidUTF8(text[:n-len(mark)], "") + mark
}

// Reference stands in a card for a value that is larger than [api.InlineLimit].
type Reference struct {
	SHA256 string `json:"$blob"`
	Size   int64  `json:"size"`
}

func ReferenceIn(v jsontext.Value) (Reference, bool) {
	var r Reference
	if len(v) > 200 || v.Kind() != '{' || json.Unmarshal(v, &r, json.RejectUnknownMembers(true)) != nil {
		return r, false
	}
	return r, len(r.SHA256) == sha256.Size*2
}

// ReadValue reads a value back that outOfLine may have moved.
func ReadValue(tx Tx, v jsontext.Value) (jsontext.Value, error) {
	r, moved := ReferenceIn(v)
	if !moved {
		return v, nil
	}
	return ReadBlob(tx, r.SHA256)
}

var blobReference = regexp.MustCompile(`"\$blob"\s*:\s*"([0-9a-f]{64})"`)

// BlobsIn finds the blobs that the content of a card refers to. A text that merely looks like
// a reference counts as one, which only keeps a blob for longer.
func BlobsIn(content []byte) []string {
	if !bytes.Contains(content, []byte(`"$blob"`)) {
		return nil
	}
	var found []string
	for _, m := range blobReference.FindAllSubmatch(content, -1) {
		found = append(found, string(m[1]))
	}
	return found
}
