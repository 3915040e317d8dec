package web_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestTemplates: the start box offers what its reader has asked before, each request once, and a link fills it in; nothing
// starts.
func TestTemplates(t *testing.T) {
	t.Parallel()
	s := newScene(t, startable)
	for _, id := range []string{"sess_1", "sess_2", "sess_3", "sess_4"} {
		s.room.begin(id, "tidy <Pictures>")
	}
	s.room.change(func() {
		for i := range s.room.sessions {
			one := &s.room.sessions[i]
			one.Agent, one.Name, one.Request = "tidy", "Pictures", "Find <twins>."
			one.Args = jsontext.Value(`{"root": "/home/ada/Pictures/2024"}`)
		}
		s.room.sessions[2].Owner = "eve"
		s.room.sessions[3].Agent = "clerk"
	})
	s.login("ada")
	page := s.page("/", "@ada")
	wants(t, page, "Asked before", `<li><a href="/?again=sess_2#start"><span class="unseen">Fill in: </span><span lang="" dir="auto">Find &lt;twins&gt;.</span></a>`)
	lacks(t, page, "again=sess_1", "again=sess_3", "again=sess_4", "Filled in")
	page = s.page("/?again=sess_2", "@ada")
	wants(t, page, "<details open>", "Filled in from what was asked in", "\nFind &lt;twins&gt;.</textarea>", `<option value="tidy" lang="" selected>`, `value="/home/ada/Pictures/2024"`)
	for _, other := range []string{"sess_3", "sess_4", "sess_7"} {
		lacks(t, s.page("/?again="+other, "@ada"), "Filled in")
	}
	if len(s.room.turns) != 0 {
		t.Errorf("started were %+v", s.room.turns)
	}
}
