package legible

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Grouped writes a number with commas: 1,234,567.
func Grouped(n int64) string {
	digits, sign := strconv.FormatInt(n, 10), ""
	if n < 0 {
		digits, sign = digits[1:], "-"
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}

// Counted writes a number and its regular noun: 1 line, 2 lines.
func Counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Grouped(n) + " " + noun + "s"
}

// Duration writes a length of time as it is said, in whole seconds: 20 seconds, 1 minute 30 seconds, 7 days.
func Duration(d time.Duration) string {
	left := max(int64(d.Round(time.Second)/time.Second), 0)
	var parts []string
	for _, unit := range []struct {
		seconds int64
		noun    string
	}{{24 * 3600, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}} {
		if n := left / unit.seconds; n > 0 {
			parts = append(parts, Counted(n, unit.noun))
		}
		left %= unit.seconds
	}
	if len(parts) == 0 {
		return "0 seconds"
	}
	return strings.Join(parts, " ")
}

// Size writes a size of bytes as it is said, rounded: 48 bytes, 35.1 kB, 2 MB.
func Size(n int64) string {
	if n < 1000 {
		return Counted(n, "byte")
	}
	size, units := float64(n)/1000, []string{"kB", "MB", "GB", "TB", "PB", "EB"}
	for size >= 999.95 && len(units) > 1 {
		size, units = size/1000, units[1:]
	}
	return strconv.FormatFloat(math.Round(size*10)/10, 'f', -1, 64) + " " + units[0]
}

// Bytes writes a size exactly and, where that helps, rounded too: 35,108 bytes (35.1 kB).
func Bytes(n int64) string {
	exact := Counted(n, "byte")
	if n < 10_000 {
		return exact
	}
	return exact + " (" + Size(n) + ")"
}
