package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/api"
)

// place is where a list in order of time goes on: behind what began then and has that id. It holds also once that has gone.
type place struct {
	begun time.Time
	id    string
}

func (p place) String() string { return strconv.FormatInt(p.begun.UnixNano(), 10) + "-" + p.id }

func (p place) compare(other place) int {
	if d := p.begun.Compare(other.begun); d != 0 {
		return d
	}
	return strings.Compare(p.id, other.id)
}

// behind reports whether a place lies behind another; the zero place is before all.
func (p place) behind(other place) bool { return other == place{} || p.compare(other) > 0 }

// placeIn reads a place from an address; without one it is the zero place.
func placeIn(r *http.Request, name string) (place, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return place{}, nil
	}
	begun, id, ok := strings.Cut(text, "-")
	nanoseconds, err := strconv.ParseInt(begun, 10, 64)
	if !ok || err != nil {
		return place{}, refuse(api.KindInvalid, "the address does not say where the list goes on", "open the list from its beginning")
	}
	return place{time.Unix(0, nanoseconds), id}, nil
}
