package aaep

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"time"
)

// The prefixes of the identifiers that the protocol knows.
const (
	PrefixEvent        = "evt_"
	PrefixSession      = "sess_"
	PrefixToken        = "rpl_"
	PrefixCall         = "call_"
	PrefixOutput       = "out_"
	PrefixSubscription = "sub_"
)

// maxMillis is the largest instant that the 48 bits of a version 7 UUID hold.
const maxMillis = 1<<48 - 1

// NewID returns prefix followed by a version 7 UUID (RFC 9562) as 32 lower-case hex
// digits: 48 bits of now in milliseconds, then 74 random bits read from rand. Ids
// that are made later sort later. An instant outside of what 48 bits hold is
// clamped. The only error is [CodeNoRandomness].
func NewID(prefix string, now time.Time, rand io.Reader) (string, error) {
	var id [16]byte
	if _, err := io.ReadFull(rand, id[6:]); err != nil {
		return "", &Error{Code: CodeNoRandomness, Message: "cannot make an identifier; try again", Cause: err}
	}
	var millis [8]byte
	binary.BigEndian.PutUint64(millis[:], uint64(min(max(now.UnixMilli(), 0), maxMillis)))
	copy(id[:6], millis[2:])
	id[6] = id[6]&0x0f | 0x70 // version 7
	id[8] = id[8]&0x3f | 0x80 // variant of RFC 9562
	return prefix + hex.EncodeToString(id[:]), nil
}

// NewToken returns a reply token: 128 random bits from rand as 32 hex digits
// (CONF-05). It carries no time, so that nothing can be guessed from it. The only
// error is [CodeNoRandomness].
func NewToken(rand io.Reader) (string, error) {
	var token [16]byte
	if _, err := io.ReadFull(rand, token[:]); err != nil {
		return "", &Error{Code: CodeNoRandomness, Message: "cannot make a reply token; try again", Cause: err}
	}
	return PrefixToken + hex.EncodeToString(token[:]), nil
}

// ExternalCallID maps a call id of another system, of any shape, to a tool_call_id:
// call_ and the first 128 bits of its SHA-256 as 32 hex digits. The same input gives
// the same id.
func ExternalCallID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return PrefixCall + hex.EncodeToString(sum[:16])
}
