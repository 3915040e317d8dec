package consent_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/consent"
)

// TestCountdown: half of a long time and a tenth of it are told, once each, and anew where the question has another end; not those
// of a short time, of one that does not run, or after an answer (CONF-73).
func TestCountdown(t *testing.T) {
	t.Parallel()

	long := deletion()
	long.Timeout = 300
	q := mustAsk(t, long)
	steps := []struct {
		at   time.Duration
		told bool
		next time.Duration
	}{
		{149 * time.Second, false, 150 * time.Second},
		{150 * time.Second, true, 270 * time.Second},
		{151 * time.Second, false, 270 * time.Second},
		{270 * time.Second, true, 0},
		{299 * time.Second, false, 0},
	}

	for _, s := range steps {
		next, told := q.Warn(after(s.at))
		if told != s.told {
			t.Errorf("after %v: told is %v", s.at, told)
		}

		if told {
			q = next
		}

		if got := q.WarnAt(); s.next == 0 != got.IsZero() || s.next != 0 && !got.Equal(after(s.next)) {
			t.Errorf("after %v: next at %v", s.at, got)
		}
	}

	longer, _ := q.Extend(after(280*time.Second), "rpl_2")
	if at := longer.WarnAt(); !at.Equal(after(280*time.Second + 160*time.Second)) {
		t.Errorf("more time is told of at %v", at)
	}

	if late, told := mustAsk(t, long).Warn(after(280 * time.Second)); !told || !late.WarnAt().IsZero() {
		t.Errorf("both at once: %v, then %v", told, late.WarnAt())
	}

	if _, told := mustAsk(t, long).Warn(after(300 * time.Second)); told {
		t.Error("told at the end")
	}

	short, unseen := deletion(), long
	short.Timeout, unseen.Unseen = 60, true
	answered, _ := mustAsk(t, long).Reply(after(0), accept())
	waiting, _ := mustAsk(t, unseen).Await(after(6*time.Second), "rpl_2")

	for name, q := range map[string]consent.Question{"short": mustAsk(t, short), "unseen": mustAsk(t, unseen), "answered": answered, "waiting": waiting} {
		if at := q.WarnAt(); !at.IsZero() {
			t.Errorf("%s: told at %v", name, at)
		}
	}
}
