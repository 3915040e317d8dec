package pacing

import "time"

const (
	// wordRunes is how many code points a spoken word stands for: five letters and a space, in any script.
	wordRunes = 6
	// maxReading bounds how long text waits for a voice. A person can stop a voice at any time, and nobody tells us.
	maxReading = 10 * time.Second
)

// reading is when a voice at the pace of the terms has read out the text that has left (CAP-12).
type reading struct {
	wpm   int // words a minute; 0 means that nobody said how fast
	until time.Time
	last  time.Time // the latest now
}

// see notes the time. A clock that was set back moves the end of the reading with it.
func (r *reading) see(now time.Time) {
	if back := r.last.Sub(now); back > 0 {
		r.until = r.until.Add(-back)
	}
	r.last = now
}

// read adds a text that leaves now.
func (r *reading) read(runes int) {
	if r.wpm == 0 {
		return
	}
	if r.until.Before(r.last) {
		r.until = r.last
	}
	r.until = r.until.Add(time.Duration(runes) * time.Minute / time.Duration(r.wpm*wordRunes))
	if most := r.last.Add(maxReading); r.until.After(most) {
		r.until = most
	}
}

// busy reports whether the voice is still at what left before.
func (r *reading) busy() bool { return r.last.Before(r.until) }
