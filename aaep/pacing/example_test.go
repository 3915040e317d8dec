package pacing_test

import (
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
)

// A subscriber that takes one event a second: the second one waits, a question does
// not, and takes what was held of its session with it.
func Example() {
	request := aaep.SubscriptionRequest{
		AAEPVersion: "1.0.0", SubscriberID: "reader",
		Capabilities: aaep.Capabilities{MaxEventsPerSecond: 1, SupportsConfirmationReply: new(true), Languages: []string{"en-GB"}},
	}
	offer := pacing.Offer{Producer: aaep.Producer{AgentID: "earshot"}, Languages: []string{"en"}}
	terms, accepted, rejected := pacing.Negotiate(request, offer, "sub_1")
	if rejected != nil {
		fmt.Println(rejected.ReasonMessage)
		return
	}
	raw, err := accepted.Encode()
	fmt.Println(string(raw), err)

	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	pacer := pacing.NewPacer(terms, now)
	tell := func(deliveries []pacing.Delivery) {
		for _, d := range deliveries {
			fmt.Println(d.EventID, d.Critical)
		}
	}
	tell(pacer.Offer(now, pacing.Item{Session: "sess_1", Seq: 1, Event: aaep.Event{ID: "evt_1", Payload: aaep.SessionStarted{}}}))
	tell(pacer.Offer(now, pacing.Item{Session: "sess_1", Seq: 2, Event: aaep.Event{ID: "evt_2", Payload: aaep.StateChanged{}}}))
	fmt.Println("held:", pacer.Queued(), "until:", pacer.Wake().Format(time.TimeOnly))
	tell(pacer.Offer(now, pacing.Item{Session: "sess_1", Seq: 3, Event: aaep.Event{ID: "evt_3", Payload: aaep.AwaitingConfirmation{}}}))

	// Output:
	// {"type":"subscription.accepted","subscription_id":"sub_1","aaep_version":"1.0.0","producer":{"agent_id":"earshot"},"honored_capabilities":{"max_events_per_second":1,"languages":["en-GB"],"supports_confirmation_reply":true}} <nil>
	// evt_1 false
	// held: 1 until: 09:00:01
	// evt_2 false
	// evt_3 true
}
