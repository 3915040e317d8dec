package schema

import (
	"strings"
	"time"
)

func timeFormat(name string) func(string) bool {
	switch name {
	case "date-time":
		return isDateTime
	case "date":
		return isDate
	case "time":
		return isTime
	case "duration":
		return isDuration
	case "period":
		return isPeriod
	default:
		return nil
	}
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

func isDateTime(s string) bool {
	const date = len(time.DateOnly)
	return len(s) > date && (s[date] == 'T' || s[date] == 't') && isDate(s[:date]) && isTime(s[date+1:])
}

// isTime takes the full-time of RFC 3339. A leap second is taken where one can be, at the last second of a day of UTC.
func isTime(s string) bool {
	const length = len("15:04:05")
	if len(s) <= length || s[2] != ':' || s[5] != ':' {
		return false
	}
	hour, minute, second := twoDigits(s, 23), twoDigits(s[3:], 59), twoDigits(s[6:], 60)
	rest := s[length:]
	if fraction, has := strings.CutPrefix(rest, "."); has {
		rest = strings.TrimLeft(fraction, "0123456789")
		if len(rest) == len(fraction) {
			return false
		}
	}
	offset, ok := zone(rest)
	if !ok || hour < 0 || minute < 0 || second < 0 {
		return false
	}
	const day = 24 * 60
	return second < 60 || (hour*60+minute-offset+day)%day == day-1
}

// zone returns the minutes that a time zone is ahead of UTC.
func zone(s string) (minutes int, ok bool) {
	if s == "Z" || s == "z" {
		return 0, true
	}
	if len(s) != len("+00:00") || s[3] != ':' || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	hours, minutes := twoDigits(s[1:], 23), twoDigits(s[4:], 59)
	if hours < 0 || minutes < 0 {
		return 0, false
	}
	if minutes += hours * 60; s[0] == '-' {
		minutes = -minutes
	}
	return minutes, true
}

// twoDigits returns the number that a text begins with, and -1 if there is none or it is above the highest.
func twoDigits(s string, highest int) int {
	if len(s) < 2 || !isDigit(rune(s[0])) || !isDigit(rune(s[1])) {
		return -1
	}
	if n := int(s[0]-'0')*10 + int(s[1]-'0'); n <= highest {
		return n
	}
	return -1
}

func isDigit(c rune) bool { return c >= '0' && c <= '9' }

// isDuration takes a duration of RFC 3339, and one that leaves a unit in the middle out.
func isDuration(s string) bool {
	s, is := strings.CutPrefix(s, "P")
	if !is || s == "" {
		return false
	}
	if weeks, is := strings.CutSuffix(s, "W"); is {
		return weeks != "" && strings.Trim(weeks, "0123456789") == ""
	}
	days, hours, timed := strings.Cut(s, "T")
	return hasUnits(days, "YMD") && hasUnits(hours, "HMS") && (!timed || hours != "")
}

// hasUnits reports whether a text is made of numbers with these units, each at most once and in this order.
func hasUnits(s, units string) bool {
	for s != "" {
		rest := strings.TrimLeft(s, "0123456789")
		if rest == "" || len(rest) == len(s) {
			return false
		}
		i := strings.IndexByte(units, rest[0])
		if i < 0 {
			return false
		}
		units, s = units[i+1:], rest[1:]
	}
	return true
}

// isPeriod takes two ends of a time, or one end and a duration.
func isPeriod(s string) bool {
	start, end, is := strings.Cut(s, "/")
	switch {
	case !is:
		return false
	case strings.HasPrefix(start, "P"):
		return isDuration(start) && isDateTime(end)
	default:
		return isDateTime(start) && (isDateTime(end) || isDuration(end))
	}
}
