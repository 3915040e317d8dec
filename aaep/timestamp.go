package aaep

import (
	"fmt"
	"time"
)

// timeLayout writes exactly three digits of a second, where the layouts of package
// time would trim zeros to counts that §3.2.5 forbids.
const timeLayout = "2006-01-02T15:04:05.000Z"

// FormatTime writes an instant as the protocol wants it: UTC, three digits of a
// second, cut and not rounded.
func FormatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

// ParseTime reads a timestamp of any legal form: upper-case T, Z or a numeric offset,
// no fraction or one of 1 to 9 digits (of which a producer may write 3 or 6). It
// answers false for anything else, and for instants that no calendar has.
func ParseTime[T ~string | ~[]byte](s T) (time.Time, bool) {
	var i instant
	if len(s) > longestTime || !i.read([]byte(s)) || i.digits > 9 || !i.exists() {
		return time.Time{}, false
	}
	return i.time(), true
}

// longestTime is the length of a timestamp with nine digits of a second.
const longestTime = len("2006-01-02T15:04:05.000000000+07:00")

// instant is a timestamp taken apart.
type instant struct {
	year, month, day, hour, minute, second int
	nanos                                  int
	digits                                 int // of the fraction
	offsetHour, offsetMinute, offset       int // from UTC, the last one in minutes
}

// unix is the second in UTC of an instant that exists and has no offset: what
// [time.Date] computes, which has to bring its arguments into their ranges first. The
// year begins in March, so that the day which some years have more is its last.
func (i *instant) unix() int64 {
	year, month := i.year, i.month-3
	if month < 0 {
		year, month = year-1, month+12
	}
	days := 365*year + year/4 - year/100 + year/400 + (153*month+2)/5 + i.day - 1 - 719_468
	if year < 0 { // January and February of the year 0, which is a leap year
		days = i.day - 1 + 31*(i.month-1) - 719_528
	}
	return int64(days)*86_400 + int64(i.hour*3600+i.minute*60+i.second)
}

// time is an instant that exists, as package time has it.
func (i *instant) time() time.Time {
	if i.offset != 0 {
		return time.Date(i.year, time.Month(i.month), i.day, i.hour, i.minute, i.second, i.nanos, time.FixedZone("", i.offset*60))
	}
	return time.Unix(i.unix(), int64(i.nanos)).UTC()
}

// read takes a timestamp apart; whether there is such an instant is not asked.
func (i *instant) read(s []byte) bool {
	const plain = "2006-01-02T15:04:05"
	if len(s) <= len(plain) || s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return false
	}
	century, ok1 := twoDigits(s, 0)
	year, ok2 := twoDigits(s, 2)
	i.year = century*100 + year
	var ok3, ok4, ok5, ok6, ok7 bool
	i.month, ok3 = twoDigits(s, 5)
	i.day, ok4 = twoDigits(s, 8)
	i.hour, ok5 = twoDigits(s, 11)
	i.minute, ok6 = twoDigits(s, 14)
	i.second, ok7 = twoDigits(s, 17)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || !ok7 {
		return false
	}
	return i.zone(i.fraction(s[len(plain):]))
}

// fraction reads the digits behind a point, and returns what follows; nothing where
// there is a point without digits.
func (i *instant) fraction(rest []byte) []byte {
	if rest[0] != '.' {
		return rest
	}
	i.digits = upTo(classDigit, rest[1:])
	if i.digits == 0 {
		return nil
	}
	scale := 100_000_000
	for _, c := range rest[1 : 1+i.digits] {
		i.nanos += int(c-'0') * scale
		scale /= 10
	}
	return rest[1+i.digits:]
}

// zone reads Z or an offset.
func (i *instant) zone(rest []byte) bool {
	if string(rest) == "Z" {
		return true
	}
	if len(rest) != len("+07:00") || rest[0] != '+' && rest[0] != '-' || rest[3] != ':' {
		return false
	}
	var ok1, ok2 bool
	i.offsetHour, ok1 = twoDigits(rest, 1)
	i.offsetMinute, ok2 = twoDigits(rest, 4)
	i.offset = i.offsetHour*60 + i.offsetMinute
	if rest[0] == '-' {
		i.offset = -i.offset
	}
	return ok1 && ok2
}

func twoDigits(s []byte, at int) (int, bool) {
	tens, ones := s[at]-'0', s[at+1]-'0'
	return int(tens)*10 + int(ones), tens <= 9 && ones <= 9
}

// exists reports whether the calendar and the clock have such an instant. Leap seconds
// are not known to be true and not accepted.
func (i *instant) exists() bool {
	if i.month < 1 || i.month > 12 || i.day < 1 || i.hour > 23 || i.minute > 59 || i.second > 59 || i.offsetHour > 23 || i.offsetMinute > 59 {
		return false
	}
	days := [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[i.month-1]
	if i.month == 2 && i.year%4 == 0 && (i.year%100 != 0 || i.year%400 == 0) {
		days++
	}
	return i.day <= days
}

// placeholder reports whether an instant is one of those that stand for none: the
// beginning of Unix time, or of the calendar.
func (i *instant) placeholder() bool {
	return i.month == 1 && i.day == 1 && (i.year == 1970 || i.year == 1) && i.hour == 0 && i.minute == 0 && i.second == 0 && i.offset == 0
}

// timestamp judges §3.2.5: the shape (the row's own rule), then the fraction and the
// calendar, which are rules of their own in the envelope.
func (in *inspection) timestamp(r *row, n uint32) {
	shape, fraction, calendar := r.Rule, r.Rule, r.Rule
	if len(r.Also) == 2 {
		fraction, calendar = r.Also[0], r.Also[1]
	}
	i := &in.clock
	*i, in.clockAt = instant{}, 0
	if !i.read(in.text(n)) {
		in.wrong(r, n, fmt.Sprintf("found %s, expected a timestamp such as 2026-05-24T14:22:11.342Z", in.describe(n)), shape)
		return
	}
	if i.digits != 0 && i.digits != 3 && i.digits != 6 {
		message := fmt.Sprintf("found a fraction of %d digits, expected none, 3 or 6", i.digits)
		if in.mode == ModeConsumer && i.digits <= 9 { // read all the same (C-11)
			in.warn(n, r.Spec, message, fraction)
		} else {
			in.wrong(r, n, message, fraction)
		}
	}
	if !i.exists() {
		in.fail(n, r.Spec, fmt.Sprintf("found %s, which is not an instant of the calendar", in.describe(n)), calendar)
		return
	}
	if i.digits <= 9 {
		in.clockAt = n
	}
	if i.placeholder() {
		in.warn(n, r.Spec, fmt.Sprintf("found %s, which looks like a placeholder; expected the time of the event", in.describe(n)), calendar)
	}
}
