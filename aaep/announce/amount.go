package announce

import (
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// timeText formats a duration that lies ahead, rounded up: 3 seconds, 5 minutes.
func timeText(d time.Duration) string {
	seconds := int64((d + time.Second - 1) / time.Second)
	if seconds < 120 && seconds != 60 {
		return legible.Counted(max(seconds, 0), "second")
	}
	if minutes := (seconds + 59) / 60; minutes < 120 {
		return legible.Counted(minutes, "minute")
	}
	return legible.Counted((seconds+3599)/3600, "hour")
}

// sinceText formats a past time, with the day unless it is the same as that of now.
func sinceText(at, now time.Time, zone *time.Location) string {
	return writeTime(at, now, zone, "15:04")
}

// clockText formats a time of day, never later than it is, with the day unless it is the same as that of now. It
// includes seconds only if they matter.
func clockText(at, now time.Time, zone *time.Location) string {
	layout := "15:04"
	if at.Sub(now) < 2*time.Minute {
		layout = time.TimeOnly
	}
	return writeTime(at, now, zone, layout)
}

func writeTime(at, now time.Time, zone *time.Location, layout string) string {
	suffix := ""
	if zone == nil {
		zone, suffix = time.UTC, " UTC"
	}
	at, now = at.In(zone), now.In(zone)
	if at.YearDay() != now.YearDay() || at.Year() != now.Year() {
		return fmt.Sprintf("%s on %s", at.Format(layout)+suffix, at.Format("2 January"))
	}
	return at.Format(layout) + suffix
}
