package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// streams measures the hub alone, without rights that change, connections and readers: each batch of events comes as soon as
// everybody has got the one before. The processor time of a delivery depends little on what else the machine does.
func (s settings) streams() error {
	l := &ledger{sessions: map[string]*session{}}
	translations, tags, err := translations()
	if err != nil {
		return err
	}
	h := hub.Open(hub.Options{
		Conn: l, Offer: pacing.Offer{Producer: aaep.Producer{AgentID: "earshot"}, Languages: tags}, Translations: translations,
		Subscriptions: s.listeners, SubscriptionsEach: s.listeners,
	})
	ctx, cancel := context.WithCancel(context.Background())
	var owned sync.WaitGroup
	owned.Go(func() { _ = h.Run(ctx) })
	defer owned.Wait()
	defer cancel()
	for !l.open() {
		time.Sleep(time.Millisecond)
	}
	s.begin(l)
	c := &crowd{settings: s, arrived: make(chan struct{}, 1)}
	for n := range s.listeners {
		request, err := aaep.DecodeSubscriptionRequest(fmt.Appendf(nil, `{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"bench","capabilities":%s}`, different(n)))
		if err != nil {
			return err
		}
		sub, rejected, err := h.Subscribe(ctx, access.Principal{Name: s.owner(n), Roles: []access.Role{access.Listener}}, request)
		if err != nil || rejected != nil {
			return fmt.Errorf("%v %w", rejected, err)
		}
		owned.Go(func() {
			count := 0
			for d, err := range sub.Deliveries(ctx, "") {
				if err != nil {
					return
				}
				if count++; !d.More {
					c.hear(count)
					count = 0
				}
			}
		})
	}
	time.Sleep(2 * time.Second)
	var costs []time.Duration
	for range s.rounds {
		before, heard := used(), c.heard.Load()
		for n := range s.batches {
			for m := range s.batch {
				l.tell(s.name(n*s.batch+m), s.owner(0), "", step)
			}
			if err := c.wait(heard + int64((n+1)*s.batch*s.listeners)); err != nil {
				return err
			}
		}
		costs = append(costs, (used()-before)/time.Duration(s.batches*s.batch*s.listeners))
	}
	slices.Sort(costs)
	fmt.Printf("%d streams, %d events at once: %.2f µs of processor time for each delivery (least %.2f)\n", s.listeners, s.batch, micros(costs[len(costs)/2]), micros(costs[0]))
	return nil
}
