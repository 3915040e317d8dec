package narrate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// TestRestartedAndChanged: a question that is asked again after a restart names what has changed since the yes
// beside the restart, also where it is not the first restart.
func TestRestartedAndChanged(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(s *stage)
		want   string
	}{
		"nothing": {func(*stage) {}, "Earshot restarted after your yes. "},
		"the tool": {func(s *stage) {
			tool := s.tools["files.delete"]
			tool.Digest = "d_changed"
			s.tools["files.delete"] = tool
		}, "Earshot restarted after your yes, and the tool has changed since. "},
		"the arguments": {func(s *stage) {
			c, _ := s.state.FindQuestion(s.asked)
			s.args[c.ID] = jsontext.Value(`{"root":"/home/anna","sets":[]}`)
		}, "Earshot restarted after your yes, and what it would be done to has changed since. "},
		"the review": {func(s *stage) {
			tool := s.tools["files.delete"]
			tool.Risk = utp.RiskMedium
			s.tools["files.delete"] = tool
		}, "Earshot restarted after your yes, and an operator has reviewed the tool again since. "},
	} {
		for restarts, again := range []string{"", "This is the third time that this is asked. "} {
			t.Run(name+", after "+[]string{"one restart", "two"}[restarts], func(t *testing.T) {
				s := newStage(t)
				asks(s)
				for n := range restarts {
					s.answer(s.asked, true, false)
					s.feed(turn.Orphan{Generation: "g" + string(rune('2'+n))})
				}
				s.answer(s.asked, true, false)
				s.after(time.Second)
				tt.change(s)
				s.feed(turn.Orphan{Generation: "last"})
				body := string(s.rows[len(s.rows)-1].Body)
				if !strings.Contains(body, again) || !strings.Contains(body, tt.want) {
					t.Errorf("want %q and %q in\n%s", again, tt.want, body)
				}
				if restarts == 1 && (name != "nothing") == strings.Contains(body, "Each time for the same reason") {
					t.Errorf("the reasons are not told apart:\n%s", body)
				}
			})
		}
	}
}
