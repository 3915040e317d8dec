package web

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
	"github.com/earshot-dev/earshot/utp/schema"
)

// startPage shows the form of an agent that takes arguments by a schema. With ?again= it is filled in from a session of the
// visitor's; nothing starts.
func (s *Server) startPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	view, _, err := s.startView(r, v)
	if err != nil {
		return err
	}
	if session := r.URL.Query().Get("again"); session != "" {
		one, err := s.hub.Session(r.Context(), v.Principal, session)
		if err == nil && one.Owner == v.Name && one.Agent == view.Agent.Name {
			view.Fill(one.Args)
			view.Request, view.Again = one.Request, legible.Text(one.DisplayName())
		}
	}
	return s.show(w, r, http.StatusOK, "startform", view)
}

// startView is the empty form of the agent in the address, and the schema that it is made of.
func (s *Server) startView(r *http.Request, v visitor) (view page.StartForm, parameters jsontext.Value, err error) {
	name := r.PathValue("agent")
	all, err := s.startable(r.Context())
	if err != nil {
		return view, nil, err
	}
	i := slices.IndexFunc(all, func(a startable) bool { return a.Name == name && a.line.Formal })
	if i < 0 || v.form == "" {
		return view, nil, refuse(api.KindNotFound, "there is no form for an agent "+clip(name)+" here", "the page lists the agents that you can start")
	}
	return page.StartForm{
		Form: page.NewForm(all[i].parameters), Agent: all[i].line, Navigation: s.navigation(v), Token: v.form, Key: startKey(v.form, name, s.now().String()),
	}, all[i].parameters, nil
}

// misfit returns where a value in the arguments is that does not fit a schema, and why; nothing if all of them do. The kernel
// judges them all the same: this only finds the field that it is said beside.
func misfit(parameters, args jsontext.Value) (where []string, why string) {
	compiled, err := schema.Compile(parameters)
	if err != nil {
		return nil, ""
	}
	where, why, _ = schema.Explain(compiled.ValidateJSON(args))
	return where, why
}

// startFormOf starts the agent in the address with the arguments of its form. What is not taken is said beside its field, and
// what was typed stays.
func (s *Server) startFormOf(w http.ResponseWriter, r *http.Request, v visitor) error {
	if err := s.form(w, r); err != nil {
		return err
	}
	if err := v.meant(r); err != nil {
		return err
	}
	view, parameters, err := s.startView(r, v)
	if err != nil {
		return err
	}
	view.Request = r.PostForm.Get("request")
	args, ok := view.Read(r.PostForm.Get)
	if ok {
		where, why := misfit(parameters, args)
		ok = len(where) == 0 || !view.Refuse(where, why)
	}
	if !ok {
		return s.show(w, r, http.StatusBadRequest, "startform", view)
	}
	started, err := s.start(r.Context(), v, api.TurnStart{
		Agent: view.Agent.Name, Request: strings.TrimSpace(view.Request), Args: args, Key: r.PostForm.Get("key"),
	})
	if refusal, is := errors.AsType[*Refusal](err); is && correctable(refusal) {
		view.Refused, view.Key = legible.Capital(sentences(refusal)), keyAgain(r, refusal, view.Key)
		return s.show(w, r, refusal.status(), "startform", view)
	}
	if err != nil {
		return err
	}
	toSession(w, r, started.Session)
	return nil
}
