package web

import (
	"net/http"
	"time"

	"github.com/earshot-dev/earshot/api"
)

// zoneCookie holds the time zone of the page's reader. The page's script sets it, because browsers do not send the time
// zone.
const zoneCookie = "earshot_zone"

// zone returns the time zone for the displayed times: the reader's if it is known, otherwise the server's.
func (s *Server) zone(r *http.Request) *time.Location {
	cookie, err := r.Cookie(zoneCookie)
	if err != nil {
		return s.options.Zone
	}
	zone, err := api.Zone(cookie.Value)
	if err != nil {
		return s.options.Zone
	}
	return zone
}
