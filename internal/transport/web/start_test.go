package web_test

import (
	"context"
	"regexp"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// startable offers an agent that needs a folder.
func startable(o *web.Options) {
	o.Startable = []web.StartAgent{{
		Name: "tidy", About: "It tidies.", Folders: []string{"/home/ada/Pictures"},
		Args: func(_, folder string) (jsontext.Value, error) {
			if folder == "" {
				return nil, &web.Refusal{Kind: api.KindInvalid, Message: "tidy needs a folder", Hint: "choose one"}
			}
			raw, err := json.Marshal(map[string]string{"root": folder})
			return raw, err
		},
	}}
	o.Agents = func(context.Context, *api.TurnStart) error { return nil }
}

// TestStart: the box starts a turn of its visitor's, once, and leads to its session.
func TestStart(t *testing.T) {
	t.Parallel()
	s := newScene(t, startable)
	s.login("ada")
	page := s.page("/", "@ada")
	wants(t, page, "Start something", `value="/home/ada/Pictures"`, "It tidies.", `<details open>`)
	key := regexp.MustCompile(`name="key" value="([^"]+)"`).FindStringSubmatch(page)[1]
	fields := "form=" + s.form + "&key=" + key + "&agent=tidy&request=+Tidy+my+pictures.+&folder=/home/ada/Pictures"
	for range 2 {
		if w := s.submit("/turns", "@ada", fields); w.Code != 303 || w.Header().Get("Location") != "/?session=sess_9#session" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
	}
	if w := s.submit("/turns", "@ada", fields, "Accept", "application/json"); w.Body.String() != `{"text":"Started.","session":"sess_9"}`+"\n" {
		t.Errorf("with scripts: %s", w.Body)
	}
	turn := s.room.turns[0]
	if turn.Agent != "tidy" || turn.Request != "Tidy my pictures." || string(turn.Args) != `{"root":"/home/ada/Pictures"}` || turn.Key != key || s.room.turns[1].Key != key {
		t.Errorf("started were %+v", s.room.turns)
	}
}

// TestStartIsRefused: somebody who may not start gets no box; what is wrong is said, and starts nothing.
func TestStartIsRefused(t *testing.T) {
	t.Parallel()
	s := newScene(t, startable)
	s.login("lis")
	lacks(t, s.page("/", "@lis"), "Start something")
	if w := s.submit("/turns", "@lis", "form="+s.form+"&agent=tidy&folder=/x"); w.Code != 403 {
		t.Errorf("a listener starts: %d", w.Code)
	}
	s.login("ada")
	if w := s.submit("/turns", "@ada", "agent=tidy&folder=/x"); w.Code != 403 {
		t.Errorf("without the form's token: %d", w.Code)
	}
	for fields, want := range map[string]string{
		"&agent=tidy":            "Not started: tidy needs a folder. Choose one.",
		"&agent=clerk&folder=/x": "Not started: there is no agent “clerk” to start here. Choose one of the list.",
		"&request=x&folder=/x":   "Not started: there is no agent “” to start here. Choose one of the list.",
	} {
		if w := s.submit("/turns", "@ada", "form="+s.form+fields, "Accept", "application/json"); w.Body.String() != `{"text":"`+want+`","refused":true}`+"\n" {
			t.Errorf("%s: %s", fields, w.Body)
		}
	}
	if len(s.room.turns) != 0 {
		t.Errorf("started were %+v", s.room.turns)
	}
	lacks(t, newSceneOf(t).page("/", "@ada"), "Start something")
}

// newSceneOf is a scene whose server offers no agent.
func newSceneOf(t *testing.T) *scene {
	t.Helper()
	s := newScene(t)
	s.login("ada")
	return s
}
