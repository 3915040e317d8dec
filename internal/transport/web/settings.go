package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/preference"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// setting is one field of the settings page: a preference of which every surface takes notice.
type setting struct {
	name, label, help string
	answers           bool               // only for those who answer
	values            []page.FieldChoice // to choose from; none where it is typed
	groups            []page.FieldGroup  // of further values
	value             func(now api.Preferences) string
	read              func(text string, changes api.Preferences) (api.Preferences, error)
	tell              func(person string, now api.Preferences) string
}

// settings are the fields, in their order.
func (s *Server) settings() []setting {
	words := preference.Settings()
	all := make([]setting, 0, 2+len(words))
	all = append(all,
		timeSetting("answer-time", "Time to answer", "How long a question stays open once you have been shown it: 30s to 24h, such as 90s, 15m or 2h. "+
			"Or unlimited, for no time limit, or default, for what the policy and the tool say.",
			func(p *api.Preferences) **int { return &p.AnswerSeconds }, preference.AnswerTime, preference.Answer),
		timeSetting("undo-time", "Time to undo", "How long you can take an accept back before what cannot be undone starts: 3s to 2m, such as 20s or 1m. "+
			"Or default, for the usual time.",
			func(p *api.Preferences) **int { return &p.UndoSeconds }, preference.UndoTime, preference.Undo),
	)
	for _, one := range words {
		field := setting{name: one.Command, label: one.Label, help: one.Help, value: one.Value, read: one.Read, tell: one.Describe}
		values := s.choices(one)
		if one.Name == "time_zone" {
			field.groups = page.Zones()
		}
		if len(values)+len(field.groups) > 0 {
			field.values = append([]page.FieldChoice{{Value: preference.Text(0)}}, values...)
		}
		all = append(all, field)
	}
	return all
}

// choices are the values of a setting to choose from; none where it is typed.
func (s *Server) choices(one preference.Setting) []page.FieldChoice {
	var all []page.FieldChoice
	if one.Name != "language" {
		for _, value := range one.Values {
			all = append(all, page.FieldChoice{Value: value})
		}
		return all
	}
	for _, tag := range s.options.Manifest.LanguagesSupported {
		all = append(all, page.FieldChoice{
			Value: tag, Text: preference.LanguageName(tag), Language: tag, Machine: slices.Contains(s.options.MachineWritten, tag),
		})
	}
	return all
}

func timeSetting(
	name, label, help string, of func(*api.Preferences) **int, read func(string, bool) (*int, error), tell func(string, int) string,
) setting {
	return setting{
		name: name, label: label, help: help, answers: true,
		value: func(now api.Preferences) string { return preference.Text(api.Preferred(*of(&now))) },
		read: func(text string, changes api.Preferences) (api.Preferences, error) {
			seconds, err := read(text, true)
			*of(&changes) = seconds
			return changes, err
		},
		tell: func(person string, now api.Preferences) string { return tell(person, api.Preferred(*of(&now))) },
	}
}

// settingsRoutes are the addresses of the settings page and its forms.
func (s *Server) settingsRoutes(mux *http.ServeMux) {
	mux.Handle("GET /settings", s.known(api.Listen, s.settingsPage))
	mux.Handle("POST /settings", s.known(api.Listen, s.settingsForm))
	mux.Handle("POST /permissions/{number}/revoke", s.known(api.Answer, s.revokeForm))
}

func (s *Server) settingsPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	now, err := s.hub.Prefer(r.Context(), v.Principal, api.Preferences{})
	if err != nil {
		return err
	}
	view, err := s.settingsView(r, v, now)
	if err != nil {
		return err
	}
	view.Notice = s.noticeOf(r, v)
	return s.show(w, r, http.StatusOK, "settings", view)
}

// settingsView is the page of what holds now.
func (s *Server) settingsView(r *http.Request, v visitor, now api.Preferences) (page.Settings, error) {
	view := page.Settings{Navigation: s.navigation(v), Form: v.form, Zone: page.ZoneName(s.now(), v.zone), MayAnswer: v.form != "" && v.May(api.Answer)}
	for _, one := range s.settings() {
		if v.form == "" || one.answers && !view.MayAnswer {
			view.ReadOnly = append(view.ReadOnly, one.tell(v.Name, now))
			continue
		}
		view.Fields = append(view.Fields, page.Field{
			Name: one.name, Label: one.label, Help: one.help, Value: one.value(now), Choices: one.values, Groups: one.groups, Now: one.tell(v.Name, now),
		})
	}
	err := s.permissionsInto(r, v, &view)
	return view, err
}

func (s *Server) permissionsInto(r *http.Request, v visitor, view *page.Settings) error {
	after, err := number(r, "after")
	if err != nil {
		return err
	}
	all, err := s.hub.Permissions(r.Context(), v.Principal, api.PermissionsRequest{After: int(after)})
	if err != nil {
		return err
	}
	for _, one := range all.Permissions {
		view.Permissions = append(view.Permissions, page.NewPermission(one, v.zone))
	}
	if all.Next != 0 {
		view.More = page.LaterPermissions(all.Next)
	}
	return nil
}

// settingsForm saves all settings, or none: what cannot be read is said beside its field.
func (s *Server) settingsForm(w http.ResponseWriter, r *http.Request, v visitor) error {
	if err := s.form(w, r); err != nil {
		return err
	}
	if err := v.meant(r); err != nil {
		return err
	}
	wanted, wrong := s.readSettings(r)
	if len(wrong) > 0 {
		return s.settingsAgain(w, r, v, wrong)
	}
	now, err := s.hub.Prefer(r.Context(), v.Principal, wanted)
	if err != nil {
		return err
	}
	var saved []string
	for _, one := range s.settings() {
		if r.PostForm.Has(one.name) {
			saved = append(saved, one.tell(v.Name, now))
		}
	}
	s.backTo(w, r, v, "/settings#notice", page.Notice{Text: "Saved: " + strings.Join(saved, " Also: ")})
	return nil
}

// readSettings reads the fields of the form, and says why some of them cannot be read.
func (s *Server) readSettings(r *http.Request) (wanted api.Preferences, wrong map[string]string) {
	wrong = map[string]string{}
	for _, one := range s.settings() {
		if !r.PostForm.Has(one.name) {
			continue
		}
		text := strings.TrimSpace(r.PostForm.Get(one.name))
		if text == "" {
			text = preference.Text(0)
		}
		var err error
		if wanted, err = one.read(text, wanted); err != nil {
			wrong[one.name] = legible.Capital(legible.Text(err.Error())) + "."
		}
	}
	return wanted, wrong
}

// settingsAgain shows the page with what was typed.
func (s *Server) settingsAgain(w http.ResponseWriter, r *http.Request, v visitor, wrong map[string]string) error {
	now, err := s.hub.Prefer(r.Context(), v.Principal, api.Preferences{})
	if err != nil {
		return err
	}
	view, err := s.settingsView(r, v, now)
	if err != nil {
		return err
	}
	for i := range view.Fields {
		if f := &view.Fields[i]; r.PostForm.Has(f.Name) {
			f.Value, f.Error = r.PostForm.Get(f.Name), wrong[f.Name]
		}
	}
	return s.show(w, r, http.StatusBadRequest, "settings", view)
}

// revokeForm ends a standing permission. It is like a no, and takes nothing but the form.
func (s *Server) revokeForm(w http.ResponseWriter, r *http.Request, v visitor) error {
	if err := s.form(w, r); err != nil {
		return err
	}
	if err := v.meant(r); err != nil {
		return err
	}
	n, err := pathNumber(r, "the standing permission", "/settings")
	if err != nil {
		return err
	}
	ended, err := s.hub.Revoke(r.Context(), v.Principal, n)
	if err != nil {
		return err
	}
	s.backTo(w, r, v, "/settings#notice", page.Notice{Text: page.RevokedText(ended)})
	return nil
}

// backTo leads back to a page that then shows the notice.
func (s *Server) backTo(w http.ResponseWriter, r *http.Request, v visitor, address string, n page.Notice) {
	s.flashes.add(v.form, n)
	http.Redirect(w, r, address, http.StatusSeeOther)
}

// noticeOf is what came of the visitor's last act, once; nil if that was shown already. HEAD shows nothing to anybody.
func (s *Server) noticeOf(r *http.Request, v visitor) *page.Notice {
	if isHead(r) {
		return nil
	}
	n, ok := s.flashes.remove(v.form)
	if !ok {
		return nil
	}
	return &n
}
