package web

import (
	"strings"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// longestName is how much is kept of a browser that is not known, in characters.
const longestName = 80

// browserName makes of the User-Agent header what a person calls their browser, such as
// "Firefox 140 on Linux". It is the browser's own word and serves to tell one login from
// another. Of one that is not known it is the header itself, cut and with what hides named.
func browserName(agent string) string {
	name := ""
	for _, known := range []struct{ token, name string }{ // each calls itself by the names of the later ones too
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
