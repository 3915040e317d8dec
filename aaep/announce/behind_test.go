package announce_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
)

// TestBehind: text that is late is said to be, by how much, and when that is over; a clock that is wrong, and what is only sent again, is not late.
func TestBehind(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	late := []int{0, 3, 19, 40, 60, 79, 85, 20, 4, 0, 25}
	want := []string{"3: This text is 40 seconds behind.", "6: This text is 1 minute 25 seconds behind.", "8: The text is no longer behind.", "10: This text is 25 seconds behind."}
	for name, c := range map[string]struct {
		preferences announce.Preferences
		wrong       time.Duration // of the producer's clock
		want        []string
	}{
		"right clock":   {announce.Preferences{Surface: announce.Surface{Output: announce.OutputAsItComes}}, 0, want},
		"slow clock":    {announce.Preferences{Surface: announce.Surface{Output: announce.OutputAsItComes}}, -time.Hour, want},
		"fast clock":    {announce.Preferences{Surface: announce.Surface{Output: announce.OutputAsItComes}}, time.Hour, want},
		"elsewhere":     {announce.Preferences{}, 0, nil},
		"quiet":         {announce.Preferences{Pace: announce.PaceQuiet, Surface: announce.Surface{Output: announce.OutputAsItComes}}, 0, nil},
		"heard earlier": {announce.Preferences{Since: began.Add(24 * time.Hour), Surface: announce.Surface{Output: announce.OutputAsItComes}}, 0, nil},
	} {
		a := announce.New(c.preferences)
		var got []string
		offer := func(n int, now, at time.Time, p aaep.Payload) {
			for _, one := range a.Event(now, aaep.Event{ID: fmt.Sprint("evt_", n, p.EventType()), SessionID: "sess_1", Time: at.Add(c.wrong), Payload: p}, 0) {
				if strings.Contains(one.Text, "behind") {
					got = append(got, fmt.Sprint(n, ": ", one.Text))
				}
			}
		}
		for n, by := range late {
			now := began.Add(time.Duration(n) * 5 * time.Minute)
			if n == 0 {
				offer(n, now, now, aaep.SessionStarted{SummaryNormal: "It begins."})
			}
			offer(n, now, now.Add(-time.Hour), aaep.StateChanged{FromState: "idle", ToState: "idle"}) // sent again
			offer(n, now, now.Add(-time.Duration(by)*time.Second), aaep.OutputStreaming{Chunk: fmt.Sprintf("Sentence %d. ", n), Position: int64(12 * n), CoalesceHint: aaep.BoundarySentence})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, c.want)
		}
	}
}
