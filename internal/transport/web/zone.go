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

// zoneText names a time zone as of now: by its abbreviation, if there is one, and its offset.
func (s *Server) zoneText(zone *time.Location) string {
	now := s.now().In(zone)
	letters, offset := now.Format("MST"), now.Format("UTC-07:00")
	switch {
	case letters == "UTC":
		return letters
	case strings.ContainsAny(letters, "+-"):
		return offset
	}
	return letters + " (" + offset + ")"
}
