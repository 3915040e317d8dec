package hub

import "github.com/earshot-dev/earshot/aaep/pacing"

// Delivery is one event as it leaves for a subscriber.
type Delivery struct {
	pacing.Delivery

	// Resumable says that the event's id is a point to resume from: a transport gives it
	// to the subscriber as one (the id field of SSE). Where it is false the event
	// overtook others, or was sent again for somebody who came late; the id field is left
	// out, so that the point stays at the last event that had one. Every event carries its
	// event_id in its body all the same.
	Resumable bool
}
