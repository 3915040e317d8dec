package terminal

import (
	"strconv"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// durationText writes a time to come, rounded up to whole seconds: "4 minutes 30
// seconds". From ten minutes on it leaves the seconds out.
func durationText(d time.Duration) string {
	seconds := int64((d + time.Second - 1) / time.Second)
	if seconds < 1 {
		return "0 seconds"
	}

	if seconds >= 600 {
		seconds = (seconds + 59) / 60 * 60
	}

	var parts []string

	for _, unit := range []struct {
		seconds int64
		noun    string
	}{{3600, "hour"}, {60, "minute"}, {1, "second"}} {
		if n := seconds / unit.seconds; n > 0 {
			parts = append(parts, legible.Counted(n, unit.noun))
			seconds -= n * unit.seconds
		}
	}

	return strings.Join(parts, " ")
}

// momentText writes a deadline as the clock on the wall shows it, with the day
// when it is another one.
func momentText(at, now time.Time, zone *time.Location) string {
	at, now = at.In(zone), now.In(zone)

	layout := "15:04:05"
	if at.YearDay() != now.YearDay() || at.Year() != now.Year() {
		layout = "2 January 15:04:05"
	}

	return at.Format(layout)
}

// percentText rounds down, so that nothing is 100 % before it is done.
func percentText(percent float64) string { return strconv.Itoa(int(percent)) + " %" }
