package aaep

import (
	"fmt"
	"regexp"
	"slices"
	"time"
)

// timeLayout writes exactly three digits of a second, where the layouts of package
// time would trim zeros to counts that §3.2.5 forbids.
const timeLayout = "2006-01-02T15:04:05.000Z"

// instant is the shape of a timestamp; the fraction is judged apart.
var instant = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$`)

// FormatTime writes an instant as the protocol wants it: UTC, three digits of a
// second, cut and not rounded.
func FormatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

// ParseTime reads a timestamp of any legal form: upper-case T, Z or a numeric offset,
// no fraction or one of 1 to 9 digits (of which a producer may write 3 or 6). It
// answers false for anything else, and for instants that no calendar has.
func ParseTime(s string) (time.Time, bool) {
	parts := instant.FindStringSubmatch(s)
	if len(parts) == 0 || len(parts[1]) > 10 {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil
}

// timestamp judges §3.2.5: the shape (the row's own rule), then the fraction and the
// calendar, which are rules of their own in the envelope.
func (in *inspection) timestamp(f Field, at place) {
	shape, fraction, calendar := f.Rule, f.Rule, f.Rule
	if len(f.Also) == 2 {
		fraction, calendar = f.Also[0], f.Also[1]
	}
	parts := instant.FindStringSubmatch(at.value.text)
	if parts == nil {
		in.wrong(f, at.path, fmt.Sprintf("found %s, expected a timestamp such as 2026-05-24T14:22:11.342Z", at.value.describe()), shape)
		return
	}
	if digits := len(parts[1]); digits != 0 && digits != 4 && digits != 7 {
		if in.mode == ModeConsumer && digits <= 10 {
			f.Safety = false // read all the same (C-11)
		}
		in.wrong(f, at.path, fmt.Sprintf("found a fraction of %d digits, expected none, 3 or 6", digits-1), fraction)
	}
	t, err := time.Parse(time.RFC3339Nano, at.value.text)
	if err != nil {
		f.Safety = true
		in.wrong(f, at.path, fmt.Sprintf("found %s, which is no instant of the calendar", at.value.describe()), calendar)
		return
	}
	if placeholders := []int64{0, time.Time{}.Unix()}; slices.Contains(placeholders, t.Unix()) {
		in.add(SeverityWarning, at.path, f.Spec, fmt.Sprintf("found %s, which looks like a placeholder; expected the time of the event", at.value.describe()), calendar)
	}
}
