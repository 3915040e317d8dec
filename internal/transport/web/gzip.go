package web

import (
	"net/http"
	"strconv"
	"strings"
)

// takesGzip reports whether the browser reads what gzip has made smaller: pages, their style and their scripts. Streams and the API
// are sent as they are.
//
// How small a page becomes tells something of what is on it. To use that, another site would have to have the browser load pages
// again and again as the person who is logged in; it cannot, because the cookie is not sent for other sites (SameSite=Strict).
func takesGzip(r *http.Request) bool {
	for one := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, parameters, _ := strings.Cut(one, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		weight, given := strings.CutPrefix(strings.TrimSpace(parameters), "q=")
		q, err := strconv.ParseFloat(weight, 64)
		return !given || err == nil && q > 0
	}
	return false
}
