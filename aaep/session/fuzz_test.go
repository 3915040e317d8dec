package session_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// tellings are what the fuzzer tells a checker of its stream.
func tellings() []session.Stream {
	return []session.Stream{
		{},
		{JoinedLate: true},
		{Reordering: true},
		{Terms: terms()},
		{Terms: terms("aaep:agent.tool.*")},
		{Terms: including("aaep:agent.state.*"), JoinedLate: true},
		{Terms: &aaep.Capabilities{Languages: []string{"en"}, CoalesceBoundaries: []aaep.CoalesceHint{aaep.BoundaryWord}}},
		{Mode: aaep.ModeConsumer, CutShort: true},
		{Mode: aaep.ModeEnvelope},
	}
}

// FuzzChecker: no stream makes the checker panic, what it remembers is bounded by what
// it was given, and two checkers find the same, whatever their hashes.
func FuzzChecker(f *testing.F) {
	for i, c := range ruleCases {
		for _, stream := range c.breaks {
			f.Add(bytes.Join(messages(f, stream), []byte("\n")), uint8(i%7))
		}
	}
	for i, c := range streamCases {
		for _, stream := range append(c.keeps, c.breaks...) {
			f.Add(bytes.Join(messages(f, stream), []byte("\n")), uint8(i%7))
		}
	}
	for i, c := range consentCases {
		f.Add(bytes.Join(messages(f, c.stream+"\ncompleted at=999\nreject"), []byte("\n")), uint8(i%7))
	}
	f.Fuzz(func(t *testing.T, stream []byte, reported uint8) {
		all := tellings()
		about := all[int(reported)%len(all)]
		first, second := session.NewStreamChecker(about), session.NewStreamChecker(about)
		lines := 0
		for line := range bytes.Lines(stream) {
			lines++
			if a, b := first.Check(line), second.Check(line); !reflect.DeepEqual(a, b) {
				t.Fatalf("found%s and%s in\n%s", list(a), list(b), line)
			}
		}
		if a, b := first.CloseEach(), second.CloseEach(); !reflect.DeepEqual(a, b) {
			t.Fatalf("at the end found %v and %v", a, b)
		}
		if size := first.Size(); size.Open+size.Ended > lines || size.IDs > 2*lines || size.Things > 2*lines {
			t.Fatalf("remembers %+v of %d lines", size, lines)
		}
	})
}
