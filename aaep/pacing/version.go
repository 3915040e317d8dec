package pacing

import (
	"cmp"
	"strings"
)

// chooseVersion returns the version that will be used, of those that are spoken
// (C-55): the very one that is asked for; else the highest of the same major number
// that is not above it; else, where all that are spoken are above it, the one that is
// asked for, because a minor version only adds. A pre-release is spoken only where it
// is listed.
func chooseVersion(asked string, supported []string) (string, bool) {
	best, related := "", false
	for _, version := range supported {
		if version == asked {
			return version, true
		}
		if isPreRelease(asked) || isPreRelease(version) || major(version) != major(asked) {
			continue
		}
		related = true
		if compareVersions(version, asked) <= 0 && (best == "" || compareVersions(version, best) > 0) {
			best = version
		}
	}
	if best == "" {
		best = asked
	}
	return best, related
}

func isPreRelease(version string) bool { return strings.Contains(version, "-") }

func major(version string) string {
	number, _, _ := strings.Cut(version, ".")
	return strings.TrimLeft(number, "0")
}

// compareVersions compares number by number, of any length.
func compareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, y := strings.TrimLeft(as[i], "0"), strings.TrimLeft(bs[i], "0")
		if order := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); order != 0 {
			return order
		}
	}
	return cmp.Compare(len(as), len(bs))
}
