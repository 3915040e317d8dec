package web

import (
	"net/http"
	"strings"
	"time"
)

// zoneCookie names the time zone of anyone who reads the page. The page's script sets it, because a
// browser tells it to nobody else.
const zoneCookie = "earshot_zone"

// mostZone is how long the name of a time zone may be.
const mostZone = 64

// zone is the time zone in which a reader is told times: their own where it is known, or else the
// server's.
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
