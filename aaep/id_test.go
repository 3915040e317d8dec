package aaep_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

func TestNewID(t *testing.T) {
	t.Parallel()
	random := rand.NewChaCha8([32]byte{})
	now := time.UnixMilli(0x0123456789ab)
	id, err := aaep.NewID(aaep.PrefixEvent, now, random)
	if err != nil {
		t.Fatal(err)
	}
	if !aaep.PatternEventID.Match(id) || len(id) != 36 || !strings.HasPrefix(id, "evt_0123456789ab7") || !strings.ContainsAny(id[20:21], "89ab") {
		t.Errorf("id = %s, want a version 7 UUID", id)
	}
	later, err := aaep.NewID(aaep.PrefixEvent, now.Add(time.Millisecond), random)
	if err != nil || later <= id {
		t.Errorf("%s does not sort behind %s", later, id)
	}
	for start, odd := range map[string]time.Time{"call_0000000000007": {}, "call_ffffffffffff7": time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if id, err := aaep.NewID(aaep.PrefixCall, odd, random); err != nil || !aaep.PatternCallID.Match(id) || !strings.HasPrefix(id, start) {
			t.Errorf("at %v: %s, %v, want it clamped to %s…", odd, id, err, start)
		}
	}
}

func TestNewToken(t *testing.T) {
	t.Parallel()
	token, err := aaep.NewToken(bytes.NewReader([]byte("0123456789abcdef")))
	if err != nil || token != "rpl_30313233343536373839616263646566" || !aaep.PatternReplyToken.Match(token) {
		t.Errorf("token = %s, %v", token, err)
	}
}

// TestNoRandomness: an id is never made from less randomness than it needs.
func TestNoRandomness(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	_, err := aaep.NewID(aaep.PrefixEvent, time.Now(), iotest.ErrReader(broken))
	_, err2 := aaep.NewToken(strings.NewReader("short"))
	for _, err := range []error{err, err2} {
		if e, ok := errors.AsType[*aaep.Error](err); !ok || e.Code != aaep.CodeNoRandomness || !e.SafeToRetry() {
			t.Errorf("got %v", err)
		}
	}
	if !errors.Is(err, broken) {
		t.Errorf("%v hides its cause", err)
	}
}

func TestForeignCallID(t *testing.T) {
	t.Parallel()
	if got := aaep.ExternalCallID("abc"); got != "call_ba7816bf8f01cfea414140de5dae2223" {
		t.Errorf("got %s", got)
	}
	for _, id := range []string{"", "toolu/ü 1", strings.Repeat("x", 9999)} {
		if got := aaep.ExternalCallID(id); !aaep.PatternCallID.Match(got) {
			t.Errorf("%q gives %s", id, got)
		}
	}
}

func TestRanked(t *testing.T) {
	t.Parallel()
	got := aaep.Ranked("CONF-20", "", "I18N-03", "CONFM-15", "ENV-60", "ENV-09", "CONF-20", "SEQ-04", "QEXT-01", "mystery")
	if want := "ENV-09 ENV-60 CONFM-15 SEQ-04 CONF-20 I18N-03 QEXT-01 mystery"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
