package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport/sse"
)

// sessionRate is how many events a second the one session tells.
const sessionRate = 1000

// criticalEvery is how many of its events are from one that is critical to the next.
const criticalEvery = 500

// voice is a subscriber of the one session.
type voice struct {
	name         string
	rate         int // events a second; 0 is without a limit
	capabilities string
	excluded     string // a type that its terms leave out
}

var voices = []voice{
	{"braille", 1, `{"max_events_per_second":1,"coalesce_boundaries":["sentence"],"event_filters":{"exclude":["aaep:agent.progress.updated"]}}`, aaep.TypeProgressUpdated},
	{"screen reader", 3, `{"max_events_per_second":3,"coalesce_boundaries":["sentence"]}`, ""},
	{"logger", 0, `{"coalesce_boundaries":["none"]}`, ""},
}

// session has one session told at a rate, heard by three at once, and says of each what it got.
func (s settings) session() error {
	s.rate = cmp.Or(s.rate, sessionRate)
	s.listeners, s.open = len(voices), 1
	os.Args = append(os.Args, fmt.Sprint("-listeners=", s.listeners), "-open=1")
	c, err := s.start("hub")
	if err != nil {
		return err
	}
	defer c.leave()
	var all []*hearing
	for n, v := range voices {
		l, err := dial(c.at.Address, c.at.Tokens[n], v.capabilities)
		if err != nil {
			return err
		}
		h := &hearing{voice: v, ended: make(chan struct{})}
		all, c.listeners = append(all, h), append(c.listeners, l)
		c.reading.Go(func() { h.listen(sse.NewReader(l.body, "")) })
	}
	count := int(s.lasts.Seconds()) * s.rate
	if err := c.say("session %d %d", count, s.rate); err != nil {
		return err
	}
	if _, err := c.ask("figures"); err != nil { // it has been told
		return err
	}
	for _, h := range all {
		select {
		case <-h.ended:
		case <-time.After(time.Minute):
			return fmt.Errorf("the end of the text has not come to the %s", h.name)
		}
	}
	fmt.Printf("one session, %d events at %d a second, every %dth of them critical\n", count, s.rate, criticalEvery)
	fmt.Println("subscriber     terms   got  early  left out  text  critical  p50 ms  p99 ms  latest ms")
	for _, h := range all {
		h.report(count)
	}
	return nil
}

// tellSession tells the events of the one session: texts, and among them progress and what is critical.
func tellSession(l *ledger, name, owner string, count, rate int) {
	position := int64(0)
	pace(count, rate, func(n int) {
		switch {
		case n == count-1:
			l.tell(name, owner, "", aaep.OutputStreaming{Position: position, Complete: true, CoalesceHint: aaep.BoundaryCompletion})
		case n%criticalEvery == criticalEvery-1:
			l.tell(name, owner, aaep.UrgencyCritical, step)
		case n%10 == 3:
			percent := float64(n) * 100 / float64(count)
			l.tell(name, owner, "", aaep.ProgressUpdated{Progress: aaep.Progress{Percent: &percent}, SummaryNormal: padding})
		default:
			text := piece(n)
			l.tell(name, owner, "", aaep.OutputStreaming{Chunk: text, Position: position, CoalesceHint: aaep.BoundarySentence})
			position += int64(len(text))
		}
	})
}

func piece(n int) string { return fmt.Sprintf("%06d. ", n) }

// heard is one event that came.
type heard struct {
	at    time.Time
	wait  time.Duration
	event aaep.Event
}

// hearing is what one subscriber got.
type hearing struct {
	voice
	all    []heard
	failed error
	ended  chan struct{} // closed when the text is complete
}

func (h *hearing) listen(from *sse.Reader) {
	for {
		m, err := from.Next(func() {})
		if err != nil {
			return // the stream has ended
		}
		now := time.Now()
		e, err := aaep.DecodeEvent([]byte(m.Data))
		if err != nil {
			h.failed = err
			return
		}
		one := heard{at: now, event: e}
		stamps([]byte(m.Data), func(nanos int64) { one.wait = time.Duration(now.UnixNano() - nanos) })
		h.all = append(h.all, one)
		if p, is := e.Payload.(aaep.OutputStreaming); is && p.Complete {
			close(h.ended)
			return
		}
	}
}

// critical are the waits of those that are critical.
func (h *hearing) critical() (waits []time.Duration) {
	for _, one := range h.all {
		if one.event.Urgency == aaep.UrgencyCritical {
			waits = append(waits, one.wait)
		}
	}
	slices.Sort(waits)
	return waits
}

// text is what came of the agent's text.
func (h *hearing) text() string {
	var all strings.Builder
	for _, one := range h.all {
		if p, is := one.event.Payload.(aaep.OutputStreaming); is {
			all.WriteString(p.Chunk)
		}
	}
	return all.String()
}

// clumsy is how early an event may come because the one before it was late on its way.
const clumsy = 100 * time.Millisecond

// early counts the events that came before the rate allowed them. What a critical event pushes ahead comes on credit,
// right before it; the debt is paid by those after it.
func (h *hearing) early() (n int) {
	if h.rate == 0 {
		return 0
	}
	interval := time.Second / time.Duration(h.rate)
	var next time.Time
	for i, one := range h.all {
		if one.event.Urgency == aaep.UrgencyCritical {
			continue
		}
		if one.at.Add(clumsy).Before(next) && !h.pushed(i) {
			n++
		}
		if next.Before(one.at) {
			next = one.at
		}
		next = next.Add(interval)
	}
	return n
}

// pushed reports whether an event came together with a critical one behind it.
func (h *hearing) pushed(i int) bool {
	for _, later := range h.all[i+1:] {
		if later.at.Sub(h.all[i].at) > clumsy {
			return false
		}
		if later.event.Urgency == aaep.UrgencyCritical {
			return true
		}
	}
	return false
}

// toldText is the text of so many events.
func toldText(count int) string {
	var all strings.Builder
	for n := range count - 1 {
		if n%criticalEvery != criticalEvery-1 && n%10 != 3 {
			all.WriteString(piece(n))
		}
	}
	return all.String()
}

func (h *hearing) report(count int) {
	waits := h.critical()
	excluded, text := 0, "NOT"
	if h.text() == toldText(count) {
		text = "whole"
	}
	for _, one := range h.all {
		if h.excluded != "" && aaep.CompactType(one.event.Type()) == h.excluded {
			excluded++
		}
	}
	terms := "in full"
	if h.rate > 0 {
		terms = fmt.Sprintf("%d/s", h.rate)
	}
	p := func(q float64) float64 { return millis(waits[int(q*float64(len(waits)-1))]) }
	fmt.Printf("%-13s %6s %5d %6d %9d %5s %4d/%-4d %7.2f %7.2f %10.2f\n", h.name, terms, len(h.all), h.early(), excluded, text, len(waits), (count-1)/criticalEvery, p(.5), p(.99), p(1))
	if h.failed != nil {
		fmt.Println("  ", h.failed)
	}
}
