package pacing

import "github.com/earshot-dev/earshot/aaep"

// Item is one event of a session on its way to one subscriber.
type Item struct {
	Session string     // its id
	Seq     int64      // its place in the session
	Event   aaep.Event // as decoded from Raw
	Raw     []byte     // the JSON as the ledger has it; nobody changes it any more
}

// Delivery is one event as it leaves for the subscriber. First and Last are the places
// of the events that it stands for; as long as nothing is merged they are equal.
type Delivery struct {
	Session     string
	First, Last int64
	EventID     string
	Raw         []byte // the JSON as it leaves
	Critical    bool
	Begins      bool // it is session.started, at which numbers begin
}

// delivery is the item as it leaves.
func (i *Item) delivery(critical bool) Delivery {
	_, begins := i.Event.Payload.(aaep.SessionStarted)
	return Delivery{Session: i.Session, First: i.Seq, Last: i.Seq, EventID: i.Event.ID, Raw: i.Raw, Critical: critical, Begins: begins}
}
