package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
)

// Limits of the page: running and ended sessions in the lists, and characters of their texts. The rest is on separate
// pages.
const (
	mostRunning = 50
	mostBefore  = 50
	mostAsked   = 50
	maxSummary  = 240
)

// homeView is the page. Its parts are separate templates, which the stream sends again when they change.
type homeView struct {
	Person    string
	Form      string
	Zone      string // of the displayed times
	After     string // the newest event when the page was made
	Title     string
	Where     string
	Notice    *notice
	Sessions  sessionsView
	Chosen    *chosenView
	Questions questionsView
}

type sessionsView struct {
	Running, Before []sessionLine
	// The addresses of the rest of the lists; "" if there is none.
	MoreRunning, MoreBefore string
}

type sessionLine struct {
	api.Session

	Name    string
	State   string
	Current bool
	When    string
}

type chosenView struct {
	sessionLine
	story

	Form    string
	MayStop bool
}

type questionsView struct {
	Open    []asked
	Heading string
	Total   int
	More    string // the address of the rest of the list; "" if there is none
}

func (s *Server) pageRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", s.home)
	mux.HandleFunc("GET /login", s.loginPage)
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("POST /logout", s.logout)
	mux.HandleFunc("GET /page/{file}", s.static)
	mux.Handle("GET /page/events", s.known(api.Listen, s.pageEvents))
	mux.Handle("GET /questions", s.known(api.Listen, s.questionsPage))
	mux.Handle("GET /sessions", s.known(api.Listen, s.sessionsPage))
	mux.Handle("GET /questions/{number}/arguments", s.known(api.Listen, s.argumentsPage))
	mux.Handle("POST /questions/{number}/{act}", s.known(api.Answer, s.questionForm))
	mux.Handle("POST /sessions/{session}/stop", s.known(api.Stop, s.stopForm))
}

// elsewhereRoutes replaces the page under the host names that every server of this machine has. It says where to look,
// but not the page's name: whoever knows that name could attract the page's cookie.
func (s *Server) elsewhereRoutes(mux *http.ServeMux) {
	for _, path := range []string{"/{$}", "/login", "/logout", "/page/", "/questions", "/questions/", "/sessions", "/sessions/"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			s.fail(w, r, refuse(api.KindMisdirected, "the page has an address of its own, which is not this one",
				"its address was printed when the server started; the command earshot code prints it again"))
		})
	}
}

// home serves the page. Visitors who are not logged in are redirected to the login.
func (s *Server) home(w http.ResponseWriter, r *http.Request) {
	v, err := s.visitor(r)
	if err != nil {
		http.Redirect(w, r, "/login", http.StatusSeeOther)
		return
	}
	if err = denied(v.Principal, api.Listen); err == nil {
		var view homeView
		if view, err = s.homeView(r.Context(), v, r.URL.Query().Get("session"), isHead(r)); err == nil {
			if n, ok := s.flashes.remove(v.form); ok && r.Method == http.MethodGet {
				view.Notice = &n
			} else if ok { // HEAD shows nothing to anybody
				s.flashes.add(v.form, n)
			}
			err = s.show(w, http.StatusOK, "home", view)
		}
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

func (s *Server) homeView(ctx context.Context, v visitor, chosen string, peek bool) (homeView, error) {
	view := homeView{Person: v.Name, Form: v.form, Zone: s.zoneText(v.zone)}
	var err error
	if view.After, err = s.hub.Newest(ctx, v.Principal); err != nil {
		return view, err
	}
	n, err := s.news(ctx, v, chosen, peek)
	if err != nil {
		return view, err
	}
	view.Sessions, view.Questions, view.Title, view.Where = n.sessions, n.questions, n.title(), n.where()
	if n.chosen != nil {
		c := chosenView{sessionLine: *n.chosen, Form: v.form, MayStop: !n.chosen.Ended && v.May(api.Stop)}
		for row, err := range s.hub.Events(ctx, v.Principal, c.ID, 0) {
			if err != nil {
				return view, err
			}
			c.take(row.Body, row.Seq)
		}
		view.Chosen = &c
		if c.Undo != 0 && !c.Ended && v.May(api.Answer) { // a reloaded page still offers it
			view.Notice = &notice{Text: announce.Recorded(c.Undo, aaep.ResolutionAccepted), Undo: c.Undo}
		}
	}
	return view, nil
}

// news is what the page shows besides the chosen session's story.
type news struct {
	sessions  sessionsView
	questions questionsView
	chosen    *sessionLine
	open      []api.OpenQuestion // those in the list
}

// news reads the sessions and the questions. By default it chooses the newest running session, or else the newest.
func (s *Server) news(ctx context.Context, v visitor, chosen string, peek bool) (news, error) {
	var n news
	listed, err := s.hub.Questions(ctx, v.Principal, QuestionListOptions{Limit: mostAsked, Peek: peek})
	if err != nil {
		return n, err
	}
	for _, q := range listed.Questions {
		n.questions.Open = append(n.questions.Open, s.ask(q, v))
	}
	n.open, n.questions.Total = listed.Questions, listed.Total
	if next := listed.next(); next != 0 {
		n.questions.More = laterQuestions(next)
	}
	if err := s.listInto(ctx, v, &n, waitingOn(listed.Waiting), chosen); err != nil {
		return n, err
	}
	for i := range n.questions.Open {
		if n.chosen != nil {
			n.questions.Open[i].Back = n.chosen.ID
		}
	}
	n.questions.Heading = "Questions: " + open0(listed.Total)
	return n, nil
}

// listInto reads the newest sessions, and the chosen one even if it is older.
func (s *Server) listInto(ctx context.Context, v visitor, n *news, waiting map[string]string, chosen string) error {
	running, err := s.hub.Sessions(ctx, v.Principal, ListOptions{Open: true, Limit: mostRunning})
	if err != nil {
		return err
	}
	before, err := s.hub.Sessions(ctx, v.Principal, ListOptions{Ended: true, Limit: mostBefore})
	if err != nil {
		return err
	}
	n.sessions.MoreRunning, n.sessions.MoreBefore = moreOf(running, true), moreOf(before, false)
	for _, one := range running.Sessions {
		if !slices.ContainsFunc(before.Sessions, func(b api.Session) bool { return b.ID == one.ID }) { // it may have ended meanwhile
			n.sessions.Running = append(n.sessions.Running, s.line(one, waiting[one.ID], v.zone))
		}
	}
	for _, one := range before.Sessions {
		n.sessions.Before = append(n.sessions.Before, s.line(one, "", v.zone))
	}
	return s.choose(ctx, v, n, waiting, chosen)
}

func moreOf(l Page, open bool) string {
	if next := l.next(); next != "" {
		return older(next, open)
	}
	return ""
}

// choose marks the chosen session. If it is not among the newest, it is added to the list, so that a page always shows
// where its reader is.
func (s *Server) choose(ctx context.Context, v visitor, n *news, waiting map[string]string, chosen string) error {
	lists := []*[]sessionLine{&n.sessions.Running, &n.sessions.Before}
	choose := func(list *[]sessionLine, i int) {
		(*list)[i].Current = true
		n.chosen = &(*list)[i]
	}
	for _, list := range lists {
		if i := slices.IndexFunc(*list, func(l sessionLine) bool { return l.ID == chosen }); i >= 0 {
			choose(list, i)
			return nil
		}
	}
	if chosen != "" {
		one, err := s.hub.Session(ctx, v.Principal, chosen)
		if err == nil {
			list := lists[0]
			if one.Ended {
				list = lists[1]
			}
			*list = append(*list, s.line(one, waiting[one.ID], v.zone))
			choose(list, len(*list)-1)
			return nil
		}
		if refusal, isRefusal := errors.AsType[*Refusal](err); !isRefusal || refusal.Kind != api.KindNotFound {
			return err
		}
	}
	for _, list := range lists {
		if len(*list) > 0 {
			choose(list, 0)
			return nil
		}
	}
	return nil
}

// waitingOn returns, for each session with an open question, whom it waits for.
func waitingOn(answerable map[string]bool) map[string]string {
	waiting := make(map[string]string, len(answerable))
	for session, yours := range answerable {
		if waiting[session] = "waiting for an answer"; yours {
			waiting[session] = "waiting for your answer"
		}
	}
	return waiting
}

func (s *Server) line(one api.Session, waiting string, zone *time.Location) sessionLine {
	// Cut first: making it legible may add marks that belong together.
	l := sessionLine{Session: one, Name: legible.Text(one.DisplayName()), State: stateRunning, When: one.Created.In(zone).Format("2 January 2006, 15:04")}
	switch {
	case one.Ended:
		l.State = "ended"
		if one.Status != "" && one.Status != "ended" {
			l.State = legible.Text(one.Status)
		}
	case waiting != "":
		l.State = waiting
	case one.Status == "queued":
		l.State = "not begun yet"
	}
	l.Summary = legible.Text(shorten(one.Summary, maxSummary))
	return l
}

// shorten truncates a text to a number of characters and marks the cut. The full text is in the session itself.
func shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:most-1])) + "…"
}

func open0(n int) string {
	if n == 0 {
		return "none open"
	}
	return strconv.Itoa(n) + " open"
}

// title returns the page's title: what needs the person comes first.
func (n news) title() string {
	switch open := n.questions.Total; open {
	case 0:
		return "Earshot"
	case 1:
		return "(1 question) Earshot"
	default:
		return fmt.Sprintf("(%d questions) Earshot", open)
	}
}

// where summarizes the state of all sessions.
func (n news) where() string { return strings.Join(n.standing(), " ") }

// underWay counts the sessions that run and those that wait, for a person or in the queue.
func (n news) underWay() string {
	running := 0
	for _, l := range n.sessions.Running {
		if l.State == stateRunning {
			running++
		}
	}
	var text string
	switch waiting := len(n.sessions.Running) - running; {
	case running+waiting == 0:
		return "No session is running."
	case waiting == 0:
		text = counted(running, "session") + " running."
	case running == 0:
		text = counted(waiting, "session") + " waiting."
	default:
		text = fmt.Sprintf("%s running, %d waiting.", counted(running, "session"), waiting)
	}
	if n.sessions.MoreRunning != "" {
		return "More than " + text
	}
	return text
}

// stateRunning is the state of a session that is working right now.
const stateRunning = "running"

// standing returns the state of all sessions, in sentences.
func (n news) standing() []string {
	parts := []string{n.underWay()}
	switch open := n.questions.Open; len(open) {
	case 0:
		parts = append(parts, "No question is open.")
	default:
		numbers := make([]string, 0, len(open))
		for _, q := range open {
			numbers = append(numbers, strconv.Itoa(q.Number))
		}
		list := strings.Join(numbers, ", ")
		if n.questions.More != "" {
			list += " and more"
		}
		parts = append(parts, counted(n.questions.Total, "question")+" open: "+list+".")
	}
	if n.chosen != nil {
		parts = append(parts, "You are looking at "+legible.Value(strings.Join(strings.Fields(n.chosen.DisplayName()), " "))+", "+n.chosen.State+".")
	}
	return parts
}
