package boottime_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/boottime"
)

func Example() {
	began := boottime.Now()
	fmt.Println(boottime.Since(began) < time.Minute)
	// Output: true
}

// TestNow: the clock runs, never backwards, and tells one boot.
func TestNow(t *testing.T) {
	t.Parallel()
	first, boot := boottime.Now(), boottime.Boot()
	if since := boottime.Since(first); first <= 0 || since < 0 || since > time.Minute {
		t.Errorf("it was %s, and that is %s ago", first, since)
	}
	if boot != boottime.Boot() {
		t.Errorf("the boot was %q and is %q", boot, boottime.Boot())
	}
}
