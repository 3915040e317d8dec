package listen

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// grouped writes n with commas: 1,234,567.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""

	if n < 0 {
		sign, digits = "-", digits[1:]
	}

	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}

	return sign + digits
}

// counted writes n and its noun: 1 item, 2 items.
func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}

	return grouped(n) + " " + noun + "s"
}

// bytesText writes a size exactly and, where that helps, as a rounded one too.
func bytesText(n int64) string {
	exact := counted(n, "byte")
	if n < 10_000 {
		return exact
	}

	size, units := float64(n)/1000, []string{"kB", "MB", "GB", "TB", "PB", "EB"}
	for size >= 999.95 && len(units) > 1 {
		size, units = size/1000, units[1:]
	}

	return fmt.Sprintf("%s (%.1f %s)", exact, size, units[0])
}

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
			parts = append(parts, counted(n, unit.noun))
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
