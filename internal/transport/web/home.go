package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

func (s *Server) pageRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", s.home)
	mux.HandleFunc("GET /login", s.loginPage)
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("POST /logout", s.logout)
	mux.HandleFunc("GET /page/{file}", s.static)
	mux.Handle("GET /page/events", s.known(api.Listen, s.pageEvents))
	mux.Handle("GET "+pageSocketPath, s.known(api.Listen, s.pageSocket))
	mux.Handle("GET /questions", s.known(api.Listen, s.questionsPage))
	mux.Handle("GET /questions/together", s.known(api.Answer, s.togetherPage))
	mux.Handle("POST /questions/together", s.known(api.Answer, s.togetherForm))
	mux.Handle("GET /sessions", s.known(api.Listen, s.sessionsPage))
	mux.Handle("GET /sessions/{session}", s.known(api.Listen, s.sessionPage))
	mux.Handle("GET /sessions/{session}/text", s.known(api.Listen, s.sessionText))
	mux.Handle("GET /questions/{number}/arguments", s.known(api.Listen, s.argumentsPage))
	mux.Handle("POST /questions/{number}/{act}", s.known(api.Answer, s.questionForm))
	mux.Handle("GET /start/{agent}", s.known(api.Start, s.startPage))
	mux.Handle("POST /start/{agent}", s.known(api.Start, s.startFormOf))
	mux.Handle("POST /turns", s.known(api.Start, s.startForm))
	mux.Handle("POST /sessions/{session}/stop", s.known(api.Stop, s.stopForm))
	s.providerRoutes(mux)
	s.installedRoutes(mux)
	s.passkeyRoutes(mux)
	s.settingsRoutes(mux)
	s.operatorRoutes(mux)
}

// elsewhereRoutes replaces the page under the host names that every server of this machine has. It says where to look,
// but not the page's name: whoever knows that name could attract the page's cookie.
func (s *Server) elsewhereRoutes(mux *http.ServeMux) {
	for _, path := range []string{
		"/{$}", "/login", "/login/", "/logout", "/page/", "/questions", "/questions/", "/sessions", "/sessions/", "/passkeys", "/passkeys/", "/turns", "/start/",
		"/settings", "/permissions/", "/agents", "/tools", "/tools/", "/audit", "/audit/", "/dead", "/dead/", "/logins", "/logins/", "/policy",
		"/alerts", "/worker.js",
	} {
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
	r = s.inLanguageOf(r, v)
	if err = denied(v.Principal, api.Listen); err == nil {
		var view page.Home
		if view, err = s.homeView(r.Context(), v, r.URL.Query().Get("session"), isHead(r)); err == nil {
			s.fillIn(r.Context(), v, view.Start, r.URL.Query().Get("again"))
			if n, ok := s.flashes.remove(v.form); ok && r.Method == http.MethodGet {
				view.Notice = &n
			} else if ok { // HEAD shows nothing to anybody
				s.flashes.add(v.form, n)
			}
			err = s.show(w, r, http.StatusOK, "home", view)
		}
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// navigation lists the pages that a visitor may go to.
func (s *Server) navigation(v visitor) page.Navigation {
	inspects := v.May(api.Inspect)
	return page.Navigation{
		Passkeys: s.options.Passkeys != nil && v.May(api.Answer), Inspects: inspects,
		Logins: inspects && s.options.Directory != nil, Policy: inspects && s.options.Policy != nil,
	}
}

func (s *Server) homeView(ctx context.Context, v visitor, chosen string, peek bool) (page.Home, error) {
	view := page.Home{
		Person: v.Name, Navigation: s.navigation(v), Form: v.form, Zone: page.ZoneName(s.now(), v.zone), Density: api.Chosen(v.prefers.Density),
		Machine: slices.Contains(s.options.MachineWritten, s.language(v)),
	}
	var err error
	if view.After, err = s.hub.Newest(ctx, v.Principal); err != nil {
		return view, err
	}
	n, err := s.news(ctx, v, chosen, peek)
	if err != nil {
		return view, err
	}
	view.Sessions, view.Questions, view.Title, view.Where = n.Sessions, n.Questions, n.Title(), n.Where()
	_, marks, err := s.lists(n, s.pages.In(s.language(v)))
	if err != nil {
		return view, err
	}
	view.Lists = strings.Join(marks, ".")
	if box := s.startBox(ctx, v, view.After); box != nil {
		view.Start = box
		box.Open = n.Questions.Total == 0 && len(n.Sessions.Running) == 0
		box.Before = page.Templates(slices.Concat(n.Sessions.Running, n.Sessions.Before), v.Name, slices.Concat(box.Agents, box.Others))
	}
	if n.Chosen != nil {
		err = s.chosenInto(ctx, v, &view, *n.Chosen)
	}
	return view, err
}

// chosenInto adds the chosen session to the page, with its story.
func (s *Server) chosenInto(ctx context.Context, v visitor, view *page.Home, one page.Session) error {
	c := page.Chosen{Session: one, Form: v.form, MayStop: !one.Ended && v.May(api.Stop)}
	if err := s.record(ctx, v, one.Session, func(r *page.Record) { c.Story = r.Story() }); err != nil {
		return err
	}
	view.Chosen = &c
	if c.Undo != 0 && !c.Ended && v.May(api.Answer) { // a page that is loaded again offers it still
		view.Notice = &page.Notice{Text: announce.Recorded(c.Undo, aaep.ResolutionAccepted), Undo: c.Undo}
	}
	return nil
}

// news reads the sessions and the questions. Without a choice the newest session that
// runs is chosen, or else the newest.
func (s *Server) news(ctx context.Context, v visitor, chosen string, peek bool) (page.News, error) {
	var n page.News
	most := page.MostAsked
	if v.single() {
		most = 1
	}
	listed, err := s.hub.Questions(ctx, v.Principal, QuestionListOptions{Limit: most, Peek: peek, Overview: true, Language: s.language(v)})
	if err != nil {
		return n, err
	}
	for _, q := range listed.Questions {
		n.Questions.Open = append(n.Questions.Open, s.ask(q, v))
	}
	n.Open, n.Questions.Total = listed.Questions, listed.Total
	if next := listed.next(); next != 0 {
		n.Questions.More = page.LaterQuestions(next)
	}
	if err := s.listInto(ctx, v, &n, page.WaitingOn(listed.Waiting), chosen); err != nil {
		return n, err
	}
	n.Questions.Count()
	forms(v, &n)
	n.Questions.Heading = "Questions: " + page.OpenCount(listed.Total)
	return n, nil
}

// forms completes the forms of the page: they lead back to the session that it shows.
func forms(v visitor, n *page.News) {
	back := ""
	if n.Chosen != nil {
		back = n.Chosen.ID
	}
	for i := range n.Questions.Open {
		n.Questions.Open[i].Back = back
	}
	for i, one := range n.Sessions.Running {
		if n.Sessions.Running[i].Back = back; v.Stops(one.Owner) {
			n.Sessions.Running[i].Form = v.form
		}
	}
}

// listInto reads the newest sessions, and the chosen one wherever it stands.
func (s *Server) listInto(ctx context.Context, v visitor, n *page.News, waiting map[string]string, chosen string) error {
	running, err := s.hub.Sessions(ctx, v.Principal, ListOptions{Open: true, Limit: page.MostRunning})
	if err != nil {
		return err
	}
	before, err := s.hub.Sessions(ctx, v.Principal, ListOptions{Ended: true, Limit: page.MostBefore})
	if err != nil {
		return err
	}
	n.Sessions.MoreRunning, n.Sessions.MoreBefore = moreOf(running, true), moreOf(before, false)
	for _, one := range running.Sessions {
		if !slices.ContainsFunc(before.Sessions, func(b api.Session) bool { return b.ID == one.ID }) { // it may have ended meanwhile
			if err := s.add(ctx, v, &n.Sessions.Running, one, waiting[one.ID]); err != nil {
				return err
			}
		}
	}
	for _, one := range before.Sessions {
		if err := s.add(ctx, v, &n.Sessions.Before, one, ""); err != nil {
			return err
		}
	}
	return s.choose(ctx, v, n, waiting, chosen)
}

func moreOf(l Page, open bool) string {
	if next := l.next(); next != "" {
		return page.OlderSessions(next, open, "")
	}
	return ""
}

// choose marks the chosen session. One that is not among the newest is added to the list,
// so that a page always says where its reader is.
func (s *Server) choose(ctx context.Context, v visitor, n *page.News, waiting map[string]string, chosen string) error {
	lists := []*[]page.Session{&n.Sessions.Running, &n.Sessions.Before}
	choose := func(list *[]page.Session, i int) {
		(*list)[i].Current = true
		n.Chosen = &(*list)[i]
	}
	for _, list := range lists {
		if i := slices.IndexFunc(*list, func(l page.Session) bool { return l.ID == chosen }); i >= 0 {
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
			err = s.add(ctx, v, list, one, waiting[one.ID])
			choose(list, len(*list)-1)
			return err
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
