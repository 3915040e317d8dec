package web_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
)

// worked tells of a tool that only reads, of a question, and of one that fails.
func (s *scene) worked() {
	s.Helper()
	s.room.urgency = aaep.UrgencyBackground
	s.room.tell("sess_1", aaep.ToolInvoked{
		Tool: "files.list", SummaryTerse: "Listing.", SummaryNormal: "Listing the folder.", SummaryDetailed: "Listing the folder Downloads, which has 9 files.",
	})
	s.room.tell("sess_1", aaep.ToolCompleted{Tool: "files.list", Status: aaep.ToolSuccess, SummaryNormal: "Listed.", SummaryDetailed: "Listed 9 files."})
	s.room.urgency = ""
	s.room.ask("sess_1", 2, tokenA)
	s.room.settle("sess_1", 2, "accepted")
	s.room.tell("sess_1", aaep.ToolCompleted{
		Tool: "files.delete", Status: aaep.ToolError, SummaryTerse: "Deleting failed.", SummaryNormal: "Deleting the files failed.",
		SummaryDetailed: "Deleting the files failed: the disk is read only.",
	})
}

// recapped are the sentences of a session's recap.
func (s *scene) recapped(as string) []string {
	s.Helper()
	var list api.AnnouncementList
	if err := json.Unmarshal(s.do("GET", "/api/v1/sessions/sess_1/recap?n=50", as, "").Body.Bytes(), &list); err != nil {
		s.Fatal(err)
	}
	var texts []string
	for _, one := range list.Announcements {
		texts = append(texts, one.Text)
	}
	return texts
}

// usual is what is heard of [scene.worked] at the usual length.
var usual = []string{
	"Listing the folder.", "Question 2: Delete 5 files in Downloads, cannot be undone. Answer by 00:05.",
	"Recorded: question 2 is accepted.", "Deleting the files failed: the disk is read only.",
}

// TestVerbosity: what somebody hears has the length that they prefer wherever they hear it, in the order of the events. Who has no
// preference hears the usual length of the same events. No length leaves out a question, nor what failed.
func TestVerbosity(t *testing.T) {
	for verbosity, want := range map[string][]string{
		"": usual, "normal": usual,
		"terse": {"Question 2: Delete 5 files in Downloads, cannot be undone. Answer by 00:05.", "Recorded: question 2 is accepted.", "Deleting failed."},
		"detailed": {
			"Listing the folder Downloads, which has 9 files.", "Listed 9 files.",
			"Question 2: Delete 5 files in Downloads, cannot be undone. They do not go to the trash. Answer by 00:05.",
			"Recorded: question 2 is accepted.", "Deleting the files failed: the disk is read only.",
		},
	} {
		t.Run(verbosity, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newScene(t)
				s.room.wish, s.room.wisher = api.Preferences{Verbosity: &verbosity}, "ada"
				s.login("ada")
				s.room.begin("sess_1", "tidy Downloads")
				page, program, other := s.stream("/page/events?fresh=true", "@ada"), s.stream("/api/v1/announcements", "ada"), s.stream("/api/v1/announcements", "lis")
				defer page.close()
				defer program.close()
				defer other.close()
				for _, r := range []*reader{page, program, other} {
					r.frames(t)
				}
				s.worked()
				s.hears("the page", unprioritised(spoken(page.frames(t))), want)
				texts, _ := sentences(program.frames(t))
				s.hears("a program", texts, want)
				s.hears("the recap", s.recapped("ada"), append([]string{"Tidy has started."}, want...))
				texts, _ = sentences(other.frames(t))
				theirs := slices.Clone(usual)
				theirs[2] = "Question 2 was accepted by ada."
				s.hears("somebody else", texts, theirs)
			})
		})
	}
}

func (s *scene) hears(where string, got, want []string) {
	s.Helper()
	if !slices.Equal(got, want) {
		s.Errorf("%s: heard is\n%q, want\n%q", where, got, want)
	}
}

// unprioritised are the sentences without their priorities.
func unprioritised(spoken []string) []string {
	var texts []string
	for _, one := range spoken {
		_, text, _ := strings.Cut(one, ": ")
		texts = append(texts, text)
	}
	return texts
}
