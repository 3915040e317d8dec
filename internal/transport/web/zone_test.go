package web_test

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/transport/web"
)

// TestZone: times are told in the zone of anyone who reads, which a cookie names: on the page, in the
// list of sessions, in what became of an act, and in what is spoken. Without one that is known they
// are told in the server's.
func TestZone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		server := time.FixedZone("CET", 60*60)
		s := played(t, func(o *web.Options) { o.Zone = server })
		s.login("ada")
		for cookie, want := range map[string]struct{ clock, zone string }{
			"":                          {"01:05", "CET (UTC+01:00)"},
			"Asia/Tokyo":                {"09:05", "JST (UTC+09:00)"},
			"America/Argentina/Ushuaia": {"21:05", "UTC-03:00"},
			"UTC":                       {"00:05", "UTC"},
			"Local":                     {"01:05", "CET (UTC+01:00)"},
			"Nowhere/Land":              {"01:05", "CET (UTC+01:00)"},
			"../../etc/passwd":          {"01:05", "CET (UTC+01:00)"},
			"/etc/localtime":            {"01:05", "CET (UTC+01:00)"},
			strings.Repeat("a/", 40):    {"01:05", "CET (UTC+01:00)"},
		} {
			headers := []string{"Accept", "text/html"}
			if cookie != "" {
				headers = append(headers, "Cookie", "earshot_page=cookie-of-ada; earshot_zone="+cookie)
			}
			page := s.do("GET", "/", "@ada", "", headers...).Body.String()
			wants(t, page, `<time datetime="2000-01-01T00:05:00Z">Answer by `+want.clock+".</time>", "Times are in "+strings.ReplaceAll(want.zone, "+", "&#43;")+".")
		}
		tokyo := []string{"Cookie", "earshot_page=cookie-of-ada; earshot_zone=Asia/Tokyo"}
		wants(t, s.do("GET", "/sessions", "@ada", "", append(tokyo, "Accept", "text/html")...).Body.String(), "Since 1 January 2000, 09:00")
		r := s.stream("/page/events?after=evt_11", "@ada", tokyo...)
		defer r.close()
		wants(t, r.text(), "Answer by 09:05.", "Since 1 January 2000, 09:00", `"when":"1 January 2000, 09:00"`, "Answer by 09:05")
		s.room.fail = expired()
		w := s.submit("/questions/2/accept", "@ada", "form="+s.form+"&token="+tokenA, append(tokyo, "Accept", "application/json")...)
		wants(t, w.Body.String(), "ended at 08:59:00")
	})
}
