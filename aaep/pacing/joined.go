package pacing

import (
	"crypto/sha256"
	"encoding/hex"
)

// Ids of Earshot's own events have this size. A joined one is longer.
const (
	ownSize    = len("evt_") + 32
	joinedMark = 'm'
	joinedSize = ownSize + 1 + 12
)

// joinedID names an event that stands for others: the same for the same ones, and another than theirs, for it has
// another content (ENV-20). It begins with the later id where that is one of ours, so that [Original] finds it.
func joinedID(a, b string) string {
	sum := sha256.Sum256([]byte(a + " " + b))
	if last := Original(b); len(last) == ownSize {
		return last + string(joinedMark) + hex.EncodeToString(sum[:6])
	}
	return "evt_" + hex.EncodeToString(sum[:16])
}

// Original returns the id of the event of the session that a delivery of this id ends with: the id itself, unless the
// delivery stands for several. A stream can resume behind it.
func Original(id string) string {
	if len(id) == joinedSize && id[ownSize] == joinedMark {
		return id[:ownSize]
	}
	return id
}
