package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// BoxUse is what a turn did with a box.
type BoxUse string

// The uses of a box.
const (
	BoxWrite BoxUse = "write"
	BoxRead  BoxUse = "read"
)

// BoxEntry is one entry of a box: that a turn put a card into it, or that it read the box. The cards of a box are those
// of its writes, in their order.
type BoxEntry struct {
	// Owner is the person whose box it is: boxes of two people never meet, even under one id.
	Owner string `json:"owner"`
	Box   string `json:"box_id"`
	// N counts the entries of the box from 1.
	N     int64  `json:"n,omitzero"`
	Use   BoxUse `json:"use"`
	Turn  string `json:"turn_id"`
	Agent string `json:"agent"`
	// Call is the call whose result the card is; "" for the answer of the turn itself.
	Call string `json:"tool_call_id,omitzero"`
	// Card is the card that was written.
	Card string `json:"card_id,omitzero"`
	// Through is the number of the last entry that the turn has read.
	Through int64     `json:"through,omitzero"`
	At      time.Time `json:"at"`
}

// BoxDetail is a box in a list: how many cards it holds, and when it was used last.
type BoxDetail struct {
	Owner string    `json:"owner"`
	Box   string    `json:"box_id"`
	Cards int       `json:"cards"`
	Used  time.Time `json:"used"`
}

// BoxesRequest asks for the list of boxes behind a box of an owner; for the entries of one box after a number; or for
// the writes of one card.
type BoxesRequest struct {
	Owner string `json:"owner,omitzero"`
	Box   string `json:"box_id,omitzero"`
	Card  string `json:"card_id,omitzero"`
	After int64  `json:"after,omitzero"`
	// AfterOwner and AfterBox are those of the last box of the page before.
	AfterOwner string `json:"after_owner,omitzero"`
	AfterBox   string `json:"after_box_id,omitzero"`
}

// BoxesAnswer is a page of boxes, or of entries.
type BoxesAnswer struct {
	Boxes   []BoxDetail `json:"boxes,omitzero"`
	Entries []BoxEntry  `json:"entries,omitzero"`
	More    bool        `json:"more,omitzero"`
}

// ReadBoxRequest asks for the cards of a box of a claimed turn: of its context or of its output. A turn reads no other.
type ReadBoxRequest struct {
	WorkerRequest

	Box string `json:"box_id"`
	// After is the number of the last entry that was read.
	After int64 `json:"after,omitzero"`
}

// BoxCard is a card of a box, in the form of [utp.EncodeCard], with the number of its entry.
type BoxCard struct {
	N    int64          `json:"n"`
	Card jsontext.Value `json:"card"`
}

// ReadBoxAnswer is a page of cards, in the order in which they were written. A card that was erased is left out.
type ReadBoxAnswer struct {
	Cards []BoxCard `json:"cards,omitzero"`
	// After is the number to go on after.
	After int64 `json:"after,omitzero"`
	More  bool  `json:"more,omitzero"`
}
