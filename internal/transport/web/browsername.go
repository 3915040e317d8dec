package web

import (
	"strings"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// longestName is how many characters of an unknown browser's name are kept.
const longestName = 80

// browserName turns the User-Agent header into a readable name, such as "Firefox 140 on Linux". It is unverified, and
// serves to distinguish logins. For an unknown browser it is the header itself, truncated and with invisible characters
// named.
func browserName(agent string) string {
	name := ""
	for _, known := range []struct{ token, name string }{ // each browser also names the later ones
		{"Edg/", "Edge"},
		{"EdgA/", "Edge"},
		{"OPR/", "Opera"},
		{"Vivaldi/", "Vivaldi"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"Epiphany/", "GNOME Web"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Firefox/", "Firefox"},
		{"HeadlessChrome/", "Chrome without a window"},
		{"Chromium/", "Chromium"},
		{"Chrome/", "Chrome"},
		{"Version/", "Safari"},
	} {
		if _, rest, found := strings.Cut(agent, known.token); found {
			name = known.name
			if major := leadingDigits(rest); major != "" {
				name += " " + major
			}
			break
		}
	}
	if name == "" {
		return legible.Shorten(legible.Line(agent), longestName)
	}
	for _, known := range []struct{ token, name string }{
		{"iPhone", "iPhone"},
		{"iPad", "iPad"},
		{"Android", "Android"},
		{"Windows", "Windows"},
		{"CrOS", "ChromeOS"},
		{"Macintosh", "macOS"},
		{"FreeBSD", "FreeBSD"},
		{"Linux", "Linux"},
	} {
		if strings.Contains(agent, known.token) {
			return name + " on " + known.name
		}
	}
	return name
}

func leadingDigits(text string) string {
	const most = 4
	end := 0
	for end < len(text) && end < most && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	return text[:end]
}
