package web

import (
	"net/http"
	"strings"
	"time"
)

// zoneCookie holds the time zone of the page's reader. The page's script sets it, because browsers do not send the time
// zone.
const zoneCookie = "earshot_zone"

// mostZone is the maximum length of a time zone name.
const mostZone = 64

// zone returns the time zone for the displayed times: the reader's if it is known, otherwise the server's.
func (s *Server) zone(r *http.Request) *time.Location {
	cookie, err := r.Cookie(zoneCookie)
	if err != nil || !strings.Contains(cookie.Value, "/") && cookie.Value != "UTC" || len(cookie.Value) > mostZone {
		return s.options.Zone
	}
	zone, err := time.LoadLocation(cookie.Value)
	if err != nil {
		return s.options.Zone
	}
	return zone
}
