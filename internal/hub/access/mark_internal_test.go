package access

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestMarkTellsWhoMayRead: a file that was opened to others is another one, also where that came
// within the same tick of its file system's clock as the last change.
func TestMarkTellsWhoMayRead(t *testing.T) {
	t.Parallel()
	private := unix.Stat_t{Ino: 7, Size: 100, Mode: unix.S_IFREG | 0o600, Uid: 1000}
	open, foreign := private, private
	open.Mode |= 0o044
	foreign.Uid = 1001
	for what, other := range map[string]unix.Stat_t{"opened to others": open, "given away": foreign} {
		if stateOf(&other) == stateOf(&private) {
			t.Errorf("%s, it seems the same", what)
		}
	}
}
