package web_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// permitted is a scene with a standing permission.
func permitted(t *testing.T) *scene {
	t.Helper()
	s := newScene(t)
	s.room.permissions = []api.StandingPermission{{
		Number: 4, Owner: "ada", By: "ada", Question: 7, Tool: "files.move", Agent: "<clerk>", Bounds: []api.Bound{{Argument: "/to", Rule: api.BoundAny}},
		BoundsText: `to is anything, and all else is as in question 7`, Uses: 10, Left: 9, Expires: noon.Add(time.Hour),
	}}
	s.login("ada")
	return s
}

// TestSettings: the page shows what holds, saves all of it at once, and says so once.
func TestSettings(t *testing.T) {
	t.Parallel()
	s := permitted(t)
	page := s.page("/settings", "@ada")
	golden(t, "settings.html", page)
	wants(t, s.page("/", "@ada"), `<a href="/settings">Settings</a>`)

	w := s.submit("/settings", "@ada", "form="+s.form+"&answer-time=+15m+&undo-time=20s")
	if w.Code != 303 || w.Header().Get("Location") != "/settings#notice" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	if api.Preferred(s.room.wish.AnswerSeconds) != 900 || api.Preferred(s.room.wish.UndoSeconds) != 20 {
		t.Errorf("kept is %+v", s.room.wish)
	}
	if w := s.do("HEAD", "/settings", "@ada", ""); w.Code != 200 {
		t.Errorf("HEAD: %d", w.Code)
	}
	page = s.page("/settings", "@ada")
	wants(t, page, `role="status" tabindex="-1">Saved: questions to ada stay open for 15 minutes once they are shown. Also: ada can take an accept back for 20 seconds`, `value="15m"`, `value="20s"`)
	lacks(t, s.page("/settings", "@ada"), "Saved:")

	s.submit("/settings", "@ada", "form="+s.form+"&answer-time=unlimited&undo-time=")
	wants(t, s.page("/settings", "@ada"), "have no time limit", `value="unlimited"`, `value="default"`)
}

// TestSettingsAreRefused: what cannot be read is said beside its field, what was typed stays, and nothing is saved.
func TestSettingsAreRefused(t *testing.T) {
	t.Parallel()
	s := permitted(t)
	w := s.submit("/settings", "@ada", "form="+s.form+"&answer-time="+url.QueryEscape(`"><b>`)+"&undo-time=1h")
	if w.Code != 400 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	golden(t, "settings-wrong.html", w.Body.String())
	w = s.submit("/settings", "@ada", "form="+s.form+"&answer-time=15m&undo-time=20")
	wants(t, w.Body.String(), `value="15m" autocomplete="off" spellcheck="false" aria-describedby="answer-time-help">`, "has no unit")
	if s.room.wish != (api.Preferences{}) {
		t.Errorf("kept is %+v", s.room.wish)
	}
	if w := s.submit("/settings", "@ada", "answer-time=15m"); w.Code != 403 {
		t.Errorf("without the form's token: %d", w.Code)
	}
}

// TestWordSettings: words and the time zone are saved, act on the page, and are refused with what is allowed.
func TestWordSettings(t *testing.T) {
	t.Parallel()
	s := permitted(t)
	w := s.submit("/settings", "@ada", "form="+s.form+"&verbosity=loud&time-zone=Mars/Base&density=compact")
	wants(t, w.Body.String(), "The setting verbosity cannot be &#34;loud&#34;; it can be terse, normal or detailed.",
		"The setting time zone cannot be &#34;Mars/Base&#34;; it can be a time zone such as Europe/Berlin, or UTC.", `<option value="compact" selected>compact</option>`, `<option value="Mars/Base" lang="en" selected>Mars/Base</option>`, "time-zone-error")
	if w.Code != 400 || s.room.wish != (api.Preferences{}) {
		t.Errorf("%d, kept is %+v", w.Code, s.room.wish)
	}
	if w := s.submit("/settings", "@ada", "form="+s.form+"&verbosity=terse&time-zone=Asia/Tokyo&density=compact&questions=one"); w.Code != 303 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	wants(t, s.page("/settings", "@ada"), "what ada hears is short", `<option value="Asia/Tokyo" selected>Asia/Tokyo</option>`, `<optgroup lang="en" label="Asia">`, "Times are told in JST", `<option value="one" selected>one</option>`)
	wants(t, s.page("/", "@ada"), `data-density="compact"`)
}

// TestLanguageSetting: the page offers the languages of the server, and no others.
func TestLanguageSetting(t *testing.T) {
	t.Parallel()
	s := newScene(t, func(o *web.Options) {
		o.Manifest.LanguagesSupported, o.MachineWritten = []string{"en", "es", "tlh"}, []string{"es"}
	})
	s.login("ada")
	page := s.page("/settings", "@ada")
	wants(t, page, `<select id="language"`, `<option value="en" lang="en">English</option>`, `<option value="es" lang="es">Español</option>`, `<option value="tlh" lang="tlh">tlh</option>`, "what agents do is told to ada in English")
	if w := s.submit("/settings", "@ada", "form="+s.form+"&language=es"); w.Code != 303 || api.Chosen(s.room.wish.Language) != "es" {
		t.Fatalf("%d, kept is %+v", w.Code, s.room.wish)
	}
	wants(t, s.page("/settings", "@ada"), `<option value="es" lang="es" selected>Español</option>`, "told to ada in Español (es)")
	wants(t, page, `not read by a native speaker yet: <bdi lang="es">Español</bdi>.`)
	if w := s.submit("/settings", "@ada", "form="+s.form+"&language=spanish"); w.Code != 400 || !strings.Contains(w.Body.String(), "it can be the tag of a language that the server offers") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestSettingsOfListeners: who only listens reads the page, and changes nothing.
func TestSettingsOfListeners(t *testing.T) {
	t.Parallel()
	s := permitted(t)
	s.login("lis")
	page := s.page("/settings", "@lis")
	wants(t, page, "<li>questions to lis stay open", "You only listen here", "Permission 4:", `<select id="verbosity"`)
	lacks(t, page, `<input id="answer-time"`, "/revoke")
	if w := s.submit("/settings", "@lis", "form="+s.form+"&verbosity=terse"); w.Code != 303 || api.Chosen(s.room.wish.Verbosity) != "terse" {
		t.Errorf("a listener sets how things are told: %d, %+v", w.Code, s.room.wish)
	}
	for _, target := range []string{"/settings", "/permissions/4/revoke"} {
		if w := s.submit(target, "@lis", "form="+s.form+"&answer-time=15m"); w.Code != 403 {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
	if w := s.do("GET", "/settings", "", "", "Accept", "text/html"); w.Code != 401 || !strings.Contains(w.Body.String(), "Log in first") {
		t.Errorf("nobody: %d", w.Code)
	}
}

// TestRevokeForm ends a standing permission from the page.
func TestRevokeForm(t *testing.T) {
	t.Parallel()
	s := permitted(t)
	if w := s.submit("/permissions/4/revoke", "@ada", "form="+s.form); w.Code != 303 || w.Header().Get("Location") != "/settings#notice" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	wants(t, s.page("/settings", "@ada"), "Standing permission 4 is revoked.")
	for target, code := range map[string]int{"/permissions/x/revoke": 404, "/permissions/4/revoke": 403} {
		if w := s.submit(target, "@ada", "form=forged"); w.Code != code && w.Code != 403 {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
	s.room.permissions = nil
	wants(t, s.page("/settings", "@ada"), "None is in force.")
}
