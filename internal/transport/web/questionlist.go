package web

import (
	"net/http"
	"strconv"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

const (
	// usualQuestions is the default length of a list, mostQuestions the maximum.
	usualQuestions = 50
	mostQuestions  = 100
)

// QuestionListOptions select open questions for a list.
type QuestionListOptions struct {
	// After is the number of a question: the list continues after it. Limit is its maximum length; 0 means all.
	After, Limit int
	// Peek lists the questions without marking them as shown.
	Peek bool
	// Overview also counts the open questions and says which sessions have one.
	Overview bool
	// Language is the language of their titles and events, as a BCP 47 tag. One that is not offered, and "", is English.
	Language string
}

// QuestionList is one page of the open questions. More reports that there are more after it.
type QuestionList struct {
	Questions []api.OpenQuestion
	More      bool
	// Total is how many there are in all, and Waiting holds the sessions with an open question, on any page, and whether
	// the principal can answer one of them. Both are part of the overview.
	Total   int
	Waiting map[string]bool
}

// next returns the cursor of the next page: its last number, or 0.
func (l QuestionList) next() int {
	if !l.More {
		return 0
	}
	return l.Questions[len(l.Questions)-1].Number
}

// wantedQuestions parses ?limit=, ?after=, ?look= and ?lang=.
func wantedQuestions(r *http.Request) (QuestionListOptions, error) {
	w := QuestionListOptions{Limit: usualQuestions, Peek: onlyPeeks(r), Language: r.URL.Query().Get("lang")}
	after, err := number(r, "after")
	if err != nil {
		return w, err
	}
	w.After = int(after)
	if text := r.URL.Query().Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return w, refuse(api.KindInvalid, "found the limit "+clip(text)+", expected a number from 1 on", "correct the address; one answer holds 100 at most")
		}
		w.Limit = min(n, mostQuestions)
	}
	return w, nil
}

// questionsPage is a part of the list of open questions as a page of its own, for what the first page has no room for. It
// works without scripts, and nothing on it changes by itself.
func (s *Server) questionsPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	want, err := wantedQuestions(r)
	if err != nil {
		return err
	}
	want.Peek, want.Overview, want.Language = isHead(r), true, s.language(v)
	listed, err := s.hub.Questions(r.Context(), v.Principal, want)
	if err != nil {
		return err
	}
	view := page.QuestionList{Questions: page.Questions{Total: listed.Total, Heading: "Questions: " + page.OpenCount(listed.Total)}}
	if want.After > 0 {
		view.Heading += ", those after number " + strconv.Itoa(want.After)
	}
	view.Title = view.Heading + " - Earshot"
	for _, q := range listed.Questions {
		view.Open = append(view.Open, s.ask(q, v))
	}
	if next := listed.next(); next != 0 {
		view.More = page.LaterQuestions(next)
	}
	return s.show(w, r, http.StatusOK, "later", view)
}
