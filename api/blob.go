package api

import (
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// InlineLimit is the largest value, in bytes of JSON, that is sent and stored inside a message; a larger one is
	// content-addressed and paged.
	InlineLimit = 256 << 10
	// ChunkLimit is the most bytes of a blob in one put or get.
	ChunkLimit = 256 << 10
	// BlobLimit is the largest value, in bytes.
	BlobLimit = 64 << 20
)

// Body is a JSON value: inline up to [InlineLimit]; a larger one is identified by its hash and fetched with [OpGet].
type Body struct {
	Inline jsontext.Value `json:"inline,omitzero"`
	SHA256 string         `json:"sha256,omitzero"`
	Size   int64          `json:"size,omitzero"`
}

// PutRequest uploads a piece of a blob. Pieces come in order; the last one makes
// Offset+len(Data) equal Size and is checked against the hash.
type PutRequest struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	Offset int64  `json:"offset"`
	Data   []byte `json:"data"`
	// By is the agent for which a hub uploads it, so that it counts towards that agent's limits.
	By string `json:"by,omitzero"`
}

// GetRequest asks for at most [ChunkLimit] bytes of a blob, starting at Offset.
type GetRequest struct {
	SHA256 string `json:"sha256"`
	Offset int64  `json:"offset"`
}

// GetAnswer is a piece of a blob of Size bytes.
type GetAnswer struct {
	Size int64  `json:"size"`
	Data []byte `json:"data"`
}
