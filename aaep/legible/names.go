package legible

import (
	"fmt"
	"strings"
)

// names is text in which some characters stand by their names: <U+202E>, and as often as
// they follow each other: <U+202E ×3>.
type names struct {
	out   strings.Builder
	last  rune
	times int // how often last is to be named
}

func (n *names) show(r rune) {
	n.flush()
	n.out.WriteRune(r)
}

func (n *names) name(r rune) {
	if n.times == 0 || n.last != r {
		n.flush()
		n.last = r
	}
	n.times++
}

// noText names a byte that is not UTF-8.
func (n *names) noText(b byte) {
	n.flush()
	fmt.Fprintf(&n.out, "<0x%02X>", b)
}

func (n *names) flush() {
	switch n.times {
	case 0:
	case 1:
		fmt.Fprintf(&n.out, "<U+%04X>", n.last)
	default:
		fmt.Fprintf(&n.out, "<U+%04X ×%d>", n.last, n.times)
	}
	n.times = 0
}

func (n *names) String() string {
	n.flush()
	return n.out.String()
}
