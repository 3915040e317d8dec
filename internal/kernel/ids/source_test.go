package ids_test

import (
	"bytes"
	"crypto/rand"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/ids"
)

var uuid7 = regexp.MustCompile(`^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$`)

// TestTurn: turns begin in the order of their ids, also within a millisecond, while the clock is set back, and where the count carries over
// into the time.
func TestTurn(t *testing.T) {
	t.Parallel()
	s := ids.New(bytes.NewReader(slices.Repeat([]byte{0xff}, 10*10_000)))
	now := time.UnixMilli(1_700_000_000_000)
	last := ""
	for i := range 10_000 {
		if i == 9_000 {
			now = now.Add(-time.Hour)
		}
		id, err := s.Turn(now)
		if err != nil || !uuid7.MatchString(id) || id <= last {
			t.Fatalf("turn %d is %s after %s, %v", i, id, last, err)
		}
		last = id
	}
}

// TestConcurrent: no two names are the same.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	s, made := ids.New(rand.Reader), make(chan string, 4*8*100)
	now := time.Now()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				for _, name := range []func() (string, error){
					func() (string, error) { return s.ID(now) }, func() (string, error) { return s.Turn(now) }, s.Token, s.Nonce,
				} {
					id, err := name()
					if err != nil {
						t.Error(err)
					}
					made <- id
				}
			}
		})
	}
	all.Wait()
	close(made)
	seen := map[string]bool{}
	for id := range made {
		if seen[id] {
			t.Errorf("%s was made twice", id)
		}
		seen[id] = true
	}
}

// TestNoRandomness: without randomness nothing is named.
func TestNoRandomness(t *testing.T) {
	t.Parallel()
	s := ids.New(iotest.ErrReader(iotest.ErrTimeout))
	now := time.Now()
	for _, name := range []func() (string, error){
		func() (string, error) { return s.ID(now) }, func() (string, error) { return s.Turn(now) }, s.Token, s.Salt, s.Nonce,
	} {
		if id, err := name(); id != "" || err == nil || !strings.Contains(err.Error(), "randomness") {
			t.Errorf("got %q, %v", id, err)
		}
	}
}
