package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// SHA256Hex returns the SHA-256 of some bytes, in hex.
func SHA256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// ReadBody reads a body, whether it is inline or in a blob.
func ReadBody(tx CardReader, b api.Body) ([]byte, error) {
	if b.SHA256 == "" {
		return b.Inline, nil
	}
	return ReadBlob(tx, b.SHA256)
}

const (
	MaxName = 128 // a key, a code, or the owner of a turn or a call
)

// Clip cuts a text to at most n bytes, at a character, and shows that it did.
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	const mark = "…"
	return strings.ToValidUTF8(text[:n-len(mark)], "") + mark
}

// Reference replaces a value in a card that is larger than [api.InlineLimit].
type Reference struct {
	SHA256 string `json:"$blob"`
	Size   int64  `json:"size"`
}

// ReferenceIn reports whether a value of a card is a reference to a blob, and to which.
func ReferenceIn(v jsontext.Value) (Reference, bool) {
	var r Reference
	if len(v) > 200 || v.Kind() != '{' || json.Unmarshal(v, &r, json.RejectUnknownMembers(true)) != nil {
		return r, false
	}
	return r, len(r.SHA256) == sha256.Size*2
}

// ReadValue reads a value of a card, also if it was moved to a blob.
func ReadValue(tx CardReader, v jsontext.Value) (jsontext.Value, error) {
	r, moved := ReferenceIn(v)
	if !moved {
		return v, nil
	}
	return ReadBlob(tx, r.SHA256)
}

var blobReference = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"\$blob"\s*:\s*"([0-9a-f]{64})"`)
})

// BlobsIn finds the blobs that the content of a card refers to. A text that merely looks like
// a reference counts as one, which only keeps a blob for longer.
func BlobsIn(content []byte) []string {
	if !bytes.Contains(content, []byte(`"$blob"`)) {
		return nil
	}
	var found []string
	for _, m := range blobReference().FindAllSubmatch(content, -1) {
		found = append(found, string(m[1]))
	}
	return found
}

// CheckChunk refuses an invalid piece of a blob. In a store it would look like a failure of the store, which callers
// retry.
func CheckChunk(q api.PutRequest) error {
	name, err := hex.DecodeString(q.SHA256)
	switch {
	case q.Size > api.BlobLimit || len(q.Data) > api.ChunkLimit:
		return api.NewFault(utp.CodeTooLarge, "a blob may be 64 MiB, in pieces of 256 KiB")
	case err != nil || len(name) != sha256.Size || strings.ToLower(q.SHA256) != q.SHA256:
		return api.NewFault(utp.CodeBadRequest, "a blob is named by its SHA-256, in 64 lower-case hexadecimal digits")
	case len(q.By) > MaxName:
		return api.NewFault(utp.CodeBadRequest, "the name of who puts it has more than 128 bytes")
	case q.Offset < 0 || q.Size < q.Offset || int64(len(q.Data)) > q.Size-q.Offset:
		return api.NewFault(utp.CodeBadRequest, "the piece does not lie within the blob")
	}
	return nil
}
