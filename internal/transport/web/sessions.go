package web

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// oneSession describes one session, with its outcome if it has ended.
func (s *Server) oneSession(_ http.ResponseWriter, r *http.Request, v visitor) (api.Session, error) {
	return s.hub.Session(r.Context(), v.Principal, r.PathValue("session"))
}

// sessionEvents writes a session's events so far as JSON lines; ?after=N begins after a sequence number. They are
// those of the ledger, byte for byte, unless ?lang= asks for another language.
func (s *Server) sessionEvents(w http.ResponseWriter, r *http.Request, v visitor) error {
	after, err := number(r, "after")
	if err != nil {
		return err
	}
	control := http.NewResponseController(w)
	begun := false
	begin := func() {
		if !begun {
			w.Header().Set("Content-Type", "application/jsonl")
			begun = true
		}
	}
	for row, err := range s.hub.Events(r.Context(), v.Principal, r.PathValue("session"), after, r.URL.Query().Get("lang")) {
		if err != nil && !begun {
			return err
		}
		if err != nil {
			panic(http.ErrAbortHandler) // abort, so that the client notices that the answer is incomplete
		}
		begin()
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // each line has its own deadline; not every writer supports one
		if _, err := w.Write(append(slices.Clip(row.Body), '\n')); err != nil {
			return nil
		}
	}
	begin()
	return nil
}

// recap returns the last announcements of a session; ?n= is their number, default 5.
func (s *Server) recap(_ http.ResponseWriter, r *http.Request, v visitor) (api.AnnouncementList, error) {
	n, err := number(r, "n")
	if err != nil {
		return api.AnnouncementList{}, err
	}
	if n == 0 {
		n = 5
	}
	one, err := s.hub.Session(r.Context(), v.Principal, r.PathValue("session"))
	if err != nil {
		return api.AnnouncementList{}, err
	}
	s.personal(r.Context(), &v)
	lang := r.URL.Query().Get("lang")
	v.reads(lang)
	narration := announce.New(announce.Preferences{
		Language: lang, Person: v.Name, Zone: v.zone, Verbosity: aaep.Verbosity(api.Chosen(v.prefers.Verbosity)),
		Translation: s.pages.In(s.language(v)).Announcers(),
	})
	if err := s.tell(r.Context(), v, one, 0, math.MaxInt64, narration.Observe); err != nil {
		return api.AnnouncementList{}, err
	}
	answer := narration.Recap(int(min(n, 100)))
	list := make([]api.Announcement, 0, len(answer))
	for _, a := range answer {
		list = append(list, page.Announcement(a))
	}
	return api.AnnouncementList{Announcements: list}, nil
}

// stopSession stops a session's turn.
func (s *Server) stopSession(_ http.ResponseWriter, r *http.Request, v visitor) (api.ReplyAnswer, error) {
	return s.hub.Reply(r.Context(), v.Principal, Reply{Verb: VerbStop, Session: r.PathValue("session"), At: s.now()})
}

// number parses an integer query parameter; if absent it is 0.
func number(r *http.Request, name string) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, refuse(api.KindInvalid, "found "+name+" "+clip(text)+", expected a whole number from 0 on", "correct the address")
	}
	return n, nil
}
