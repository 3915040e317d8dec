package monotonic_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/monotonic"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// counters are those of a ledger.
type counters map[string]int64

func (c counters) Count(name string, add int64) (int64, error) {
	c[name] += add
	return c[name], nil
}

// machine is what a clock reads: the time of day is since 1970 less what it was set back.
type machine struct{ up, back time.Duration }

func (m *machine) read() turn.Timestamp {
	return turn.Timestamp{Wall: turn.Epoch.Add(1000*time.Hour + m.up - m.back), SinceBoot: m.up, Boot: "b"}
}

// TestClock: after the time of day was set back the clock goes on from the later time, also in another process on the same boot; what
// has grown by less than a second is not saved again.
func TestClock(t *testing.T) {
	t.Parallel()
	ledger, m := counters{}, &machine{up: time.Hour}
	first := monotonic.New(m.read)
	save := func(c *monotonic.Clock) time.Duration {
		t.Helper()
		kept, err := c.Save(ledger, c.Now())
		if err != nil {
			t.Fatal(err)
		}
		c.Raise(kept)
		return kept
	}
	if kept := save(first); kept != 1000*time.Hour {
		t.Errorf("the ledger keeps %v", kept)
	}
	if kept := save(first); kept != 0 {
		t.Errorf("nothing has changed, and the ledger was asked: %v", kept)
	}
	m.back, m.up = 30*time.Minute, m.up+time.Minute
	if got, want := first.At(first.Now()), turn.Epoch.Add(1001*time.Hour+time.Minute); !got.Equal(want) {
		t.Errorf("set back, the clock shows %v, want %v", got, want)
	}
	if got, want := first.Latest(first.Now()), first.At(first.Now()); !got.Equal(want) {
		t.Errorf("the latest is %v, want %v", got, want)
	}
	second := monotonic.New(m.read)
	if got, want := second.At(second.Now()), turn.Epoch.Add(1000*time.Hour+31*time.Minute); !got.Equal(want) {
		t.Errorf("before it has read the ledger another shows %v, want %v", got, want)
	}
	if err := second.Load(ledger, second.Now()); err != nil {
		t.Fatal(err)
	}
	if got, want := second.At(second.Now()), first.At(first.Now()); !got.Equal(want) {
		t.Errorf("another shows %v, want %v", got, want)
	}
	m.back -= 30*time.Minute + 500*time.Millisecond
	if save(first) != 0 || ledger["lead b"] != (1000*time.Hour).Milliseconds() {
		t.Errorf("half a second was saved: %v", ledger)
	}
	m.back -= time.Second
	if kept := save(second); kept != 1000*time.Hour+1500*time.Millisecond {
		t.Errorf("the ledger keeps %v", kept)
	}
}

// TestClockWithoutBoot: a clock that counts since its own process began means nothing to others, and is not saved.
func TestClockWithoutBoot(t *testing.T) {
	t.Parallel()
	ledger := counters{"lead ": (5000 * time.Hour).Milliseconds()}
	now := turn.Timestamp{Wall: turn.Epoch.Add(time.Hour), SinceBoot: time.Minute}
	c := monotonic.New(func() turn.Timestamp { return now })
	if err := c.Load(ledger, c.Now()); err != nil {
		t.Fatal(err)
	}
	if kept, err := c.Save(ledger, c.Now()); kept != 0 || err != nil || len(ledger) != 1 {
		t.Errorf("got %v, %v, %v", kept, err, ledger)
	}
	if got, want := c.At(c.Now()), turn.Epoch.Add(time.Hour); !got.Equal(want) {
		t.Errorf("it shows %v, want %v", got, want)
	}
}
