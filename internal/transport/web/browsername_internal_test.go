package web

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBrowserName(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                                  "Firefox 140 on Linux",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36":                                   "Chrome 138 on Linux",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/138.0.0.0 Safari/537.36":                           "Chrome without a window 138 on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36 Edg/138.0.3351.55":       "Edge 138 on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15":                   "Safari 18 on macOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1": "Safari 18 on iPhone",
		"Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36":                            "Chrome 138 on Android",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15 Epiphany/48":                       "GNOME Web 48 on Linux",
		"Firefox/":             "Firefox",
		"Firefox/99999999":     "Firefox 9999",
		"Lynx/2.9.2 libwww-FM": "Lynx/2.9.2 libwww-FM",
		"":                     "",
		"a\u202eb\n\x1b[2Jc":   "a<U+202E>b <U+001B>[2Jc",
	} {
		if got := browserName(agent); got != want {
			t.Errorf("%q is %q, want %q", agent, got, want)
		}
	}
	if got := browserName(strings.Repeat("x", 9000)); utf8.RuneCountInString(got) > longestName+1 {
		t.Errorf("%d characters are kept", utf8.RuneCountInString(got))
	}
}
