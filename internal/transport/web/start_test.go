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
				return nil, &web.Refusal{Kind: api.KindInvalid, Message: "tidy needs a folder", Hint: "choose one", Field: "folder"}
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
		if w := s.submit("/turns", "@ada", fields); w.Code != 303 || w.Header().Get("Location") != "/?session=sess_9#session-heading" {
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
	for fields, want := range map[string]struct{ text, field string }{
		"&agent=tidy":            {"tidy needs a folder. Choose one.", "folder"},
		"&agent=clerk&folder=/x": {"there is no agent “clerk” to start here. Choose one of the list.", "agent"},
		"&request=x&folder=/x":   {"there is no agent “” to start here. Choose one of the list.", "agent"},
	} {
		if w := s.submit("/turns", "@ada", "form="+s.form+fields, "Accept", "application/json"); w.Body.String() != `{"text":"Not started: `+want.text+`","refused":true,"field":"`+want.field+`"}`+"\n" {
			t.Errorf("%s: %s", fields, w.Body)
		}
		w := s.submit("/turns", "@ada", "form="+s.form+fields+"&request=Tidy+%3Call%3E&folder=+", "Accept", "text/html")
		if w.Code != 400 {
			t.Errorf("%s: without scripts: %d", fields, w.Code)
		}
		wants(t, w.Body.String(), "<title>Not started: ", `role="alert"`, `<a href="#start-`+want.field+`">`, `aria-describedby="start-`+want.field+"-error", `aria-invalid="true"`,
			`<p class="reason" id="start-`+want.field+`-error">`+want.text, "<details open>")
	}
	typed := s.submit("/turns", "@ada", "form="+s.form+"&agent=tidy&request=Tidy+%3Call%3E&folder=", "Accept", "text/html").Body.String()
	wants(t, typed, "\nTidy &lt;all&gt;</textarea>", `<option value="tidy" lang="" selected>`)
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

// parameters are those of the agent that has a form of its own.
const parameters = `{"type":"object","properties":{"to":{"type":"string","title":"Recipient"},"copies":{"type":"integer","minimum":1}},"required":["to"]}`

// defined adds definitions of agents, one of which takes arguments, and agents that only the bus knows.
func defined(o *web.Options) {
	startable(o)
	never := false
	o.Startable = append(o.Startable, web.StartAgent{Name: "idle", Args: o.Startable[0].Args})
	o.Definitions = func(context.Context) ([]api.AgentDefinition, error) {
		return []api.AgentDefinition{
			{Name: "tidy", DisplayName: "The <tidier>"},
			{Name: "idle", Active: &never},
			{Name: "clerk", DisplayName: "The clerk", Parameters: jsontext.Value(parameters)},
			{Name: "far", Parameters: jsontext.Value(parameters)},
		}, nil
	}
	o.KnownAgents = func() ([]web.KnownAgent, error) {
		return []web.KnownAgent{{Name: "tidy"}, {Name: "clerk", Credential: "agent/clerk"}, {Name: "scout", Credential: "agent/scout"}}, nil
	}
}

// TestStartNames: agents are shown by the names that they are defined with; those that take arguments have a form of their own, and
// those that cannot be started here are not offered.
func TestStartNames(t *testing.T) {
	t.Parallel()
	s := newScene(t, defined)
	s.login("ada")
	page := s.page("/", "@ada")
	wants(t, page, `<option value="tidy" lang="">The &lt;tidier&gt;</option>`, `<a href="/start/clerk"><span class="unseen">Start </span><bdi lang="">The clerk</bdi></a>`, "is started from its own program")
	lacks(t, page, "idle", "scout", "far")
	alike := newScene(t, defined, func(o *web.Options) {
		o.Definitions = func(context.Context) ([]api.AgentDefinition, error) {
			return []api.AgentDefinition{{Name: "tidy", DisplayName: "Ada"}, {Name: "clerk", DisplayName: "Ada", Parameters: jsontext.Value(parameters)}}, nil
		}
	})
	alike.login("ada")
	wants(t, alike.page("/", "@ada"), ">Ada (tidy)</option>", ">Ada (clerk)</bdi>")
	failing := newScene(t, startable, func(o *web.Options) {
		o.Definitions = func(context.Context) ([]api.AgentDefinition, error) { return nil, context.DeadlineExceeded }
	})
	failing.login("ada")
	wants(t, failing.page("/", "@ada"), `id="questions"`)
	lacks(t, failing.page("/", "@ada"), "Start something")
	if w := failing.submit("/turns", "@ada", "form="+failing.form+"&agent=tidy&folder=/x"); w.Code != 503 {
		t.Errorf("the definitions cannot be read: %d", w.Code)
	}
}

// TestStartForm: the form of an agent starts one turn with its arguments; what is not taken is said for each field, and nothing
// that was typed is lost. Only those who may start get it.
func TestStartForm(t *testing.T) {
	t.Parallel()
	s := newScene(t, defined)
	s.login("lis")
	if w := s.submit("/start/clerk", "@lis", "form="+s.form+"&arg-dG8=Ada"); w.Code != 403 {
		t.Errorf("a listener starts: %d", w.Code)
	}
	s.login("ada")
	if w := s.submit("/start/clerk", "@ada", "arg-dG8=Ada"); w.Code != 403 {
		t.Errorf("without the form's token: %d", w.Code)
	}
	for _, other := range []string{"tidy", "idle", "far", "scout", "none"} {
		if w := s.submit("/start/"+other, "@ada", "form="+s.form+"&arg-dG8=Ada"); w.Code != 404 {
			t.Errorf("%s is started: %d", other, w.Code)
		}
	}
	wants(t, s.page("/start/clerk", "@ada"), `<label for="arg-dG8"><bdi lang="">Recipient</bdi> (needed)</label>`, `id="arg-Y29waWVz" name="arg-Y29waWVz" value="" autocomplete="off" inputmode="decimal"`)
	w := s.submit("/start/clerk", "@ada", "form="+s.form+"&request=Write+%3Cit%3E&arg-Y29waWVz=zero", "Accept", "text/html")
	if w.Code != 400 {
		t.Errorf("what is wrong is answered with %d", w.Code)
	}
	golden(t, "startform-wrong.html", w.Body.String())
	wants(t, w.Body.String(), "<title>Not started: ", `role="alert"`, `<a href="#arg-dG8"><bdi lang="">Recipient</bdi>: It is empty. It is needed.</a>`, `<a href="#arg-Y29waWVz">`,
		`value="zero"`, "\nWrite &lt;it&gt;</textarea>", `aria-describedby="arg-Y29waWVz-error arg-Y29waWVz-help" aria-invalid="true"`)
	if len(s.room.turns) != 0 {
		t.Errorf("started were %+v", s.room.turns)
	}
	fields := "form=" + s.form + "&key=k1&request=Write.&arg-dG8=Ada&arg-Y29waWVz=2"
	s.room.change(func() {
		s.room.fail = &web.Refusal{Kind: api.KindInvalid, Message: "the arguments do not fit", Hint: "look again"}
	})
	w = s.submit("/start/clerk", "@ada", fields, "Accept", "text/html")
	wants(t, w.Body.String(), "The arguments do not fit. Look again.", `value="Ada"`)
	lacks(t, w.Body.String(), `value="k1"`)
	s.room.change(func() {
		s.room.fail = &web.Refusal{Kind: api.KindUncertain, Message: "no answer came", Hint: "try again"}
	})
	wants(t, s.submit("/start/clerk", "@ada", fields, "Accept", "text/html").Body.String(), `name="key" value="k1"`)
	s.room.change(func() { s.room.fail = nil })
	if w := s.submit("/start/clerk", "@ada", fields, "Accept", "text/html"); w.Code != 303 || w.Header().Get("Location") != "/?session=sess_9#session-heading" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if turn := s.room.turns[len(s.room.turns)-1]; turn.Agent != "clerk" || turn.Request != "Write." || string(turn.Args) != `{"to":"Ada","copies":2}` || turn.Key != "k1" {
		t.Errorf("started was %+v", turn)
	}
}

// TestStartFormMisfit: what only the schema can say is said beside its field too, before anything is started.
func TestStartFormMisfit(t *testing.T) {
	t.Parallel()
	s := newScene(t, defined, func(o *web.Options) {
		o.Definitions = func(context.Context) ([]api.AgentDefinition, error) {
			return []api.AgentDefinition{{Name: "clerk", DisplayName: "The clerk", Parameters: jsontext.Value(
				`{"type":"object","properties":{"to":{"type":"string","pattern":"^A"},"all":{"type":"array","items":{"type":"integer"}}}}`,
			)}}, nil
		}
	})
	s.login("ada")
	fields := "form=" + s.form + "&key=k1&request=Write.&arg-dG8="
	for typed, want := range map[string]string{
		"Eve":                            `<a href="#arg-dG8"><bdi lang="">to</bdi>: Expected text that matches the pattern ^A.</a>`,
		"Ada&arg-YWxs=%5B1%2C%22b%22%5D": `<a href="#arg-YWxs"><bdi lang="">all</bdi>: In /1, found text, expected a whole number.</a>`,
	} {
		w := s.submit("/start/clerk", "@ada", fields+typed, "Accept", "text/html")
		if w.Code != 400 {
			t.Errorf("%s is answered with %d", typed, w.Code)
		}
		wants(t, w.Body.String(), want, `aria-invalid="true"`, "Write.</textarea>")
	}
	whole := newScene(t, defined, func(o *web.Options) {
		o.Definitions = func(context.Context) ([]api.AgentDefinition, error) {
			return []api.AgentDefinition{{Name: "clerk", Parameters: jsontext.Value(
				`{"type":"object","properties":{"to":{"type":"string"}},"allOf":[{"type":"object"}]}`,
			)}}, nil
		}
	})
	whole.login("ada")
	w := whole.submit("/start/clerk", "@ada", "form="+whole.form+"&key=k1&request=Write.&arg-=%7B%22to%22%3A1%7D", "Accept", "text/html")
	wants(t, w.Body.String(), "In /to, found a number, expected text.")
	if len(s.room.turns)+len(whole.room.turns) != 0 {
		t.Errorf("started were %+v", s.room.turns)
	}
	if w := s.submit("/start/clerk", "@ada", fields+"Ada&arg-YWxs=%5B1%5D", "Accept", "text/html"); w.Code != 303 {
		t.Errorf("what fits is answered with %d", w.Code)
	}
}

// TestStartFormAgain: what was asked before fills in the form of its agent, for the person who asked.
func TestStartFormAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t, defined)
	for _, id := range []string{"sess_1", "sess_2"} {
		s.room.begin(id, "write to <Ada>")
	}
	s.room.change(func() {
		for i := range s.room.sessions {
			s.room.sessions[i].Agent, s.room.sessions[i].Args = "clerk", jsontext.Value(`{"to":"Ada <a>"}`)
		}
		s.room.sessions[1].Owner = "eve"
	})
	s.login("ada")
	wants(t, s.page("/", "@ada"), `<a href="/start/clerk?again=sess_1">`)
	wants(t, s.page("/start/clerk?again=sess_1", "@ada"), "Filled in from", `value="Ada &lt;a&gt;"`, "\nwrite to &lt;Ada&gt;</textarea>")
	lacks(t, s.page("/start/clerk?again=sess_2", "@ada"), "Filled in from", "Ada")
	if len(s.room.turns) != 0 {
		t.Errorf("started were %+v", s.room.turns)
	}
}
