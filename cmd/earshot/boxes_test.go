package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestBoxes: an operator sees which turn put which card into a box and from which call, and of a card in which box it is;
// at a server as in the data directory.
func TestBoxes(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	server := s.up()
	contains(t, s.does(0, "boxes", "list"), "There are no boxes")
	remote := s.dials()
	args, err := json.Marshal(map[string]any{"root": s.folder})
	must(t, err)
	begun, err := remote.Start(t.Context(), api.TurnStart{Agent: "tidy", Args: args, Request: "Tidy up.", Boxes: api.Boxes{OutputBox: "for the scout"}})
	must(t, err)
	s.awaitQuestion(1)
	s.does(0, "reply", "1", "reject")
	s.reaches(remote, begun.Session, func(e aaep.Event) bool {
		switch e.Payload.(type) {
		case aaep.SessionCompleted, aaep.SessionErrored, aaep.SessionCancelled:
			return true
		}
		return false
	})
	look := func() string {
		var entries []api.BoxEntry
		s.reads(&entries, "boxes", "show", "for the scout", "--json")
		if len(entries) < 2 || entries[0].Turn != begun.Turn || entries[0].Agent != "tidy" || entries[0].Call == "" || entries[len(entries)-1].Call != "" {
			t.Fatalf("the entries are %+v", entries)
		}
		card := s.does(0, "cards", "show", entries[0].Card)
		contains(t, card, "Turn: "+begun.Turn, "Call: "+entries[0].Call, "Box: for the scout of ")
		shown := s.does(0, "boxes", "show", "for the scout", "--owner", entries[0].Owner)
		contains(t, shown, "1: "+entries[0].Card+", written by "+begun.Turn+" of tidy, the result of call "+entries[0].Call, "of tidy, its answer")
		contains(t, s.does(1, "boxes", "show", "none"), `no box has the id "none"`, "earshot boxes list")
		contains(t, s.does(1, "boxes", "show", "for the scout", "--owner", "nobody"), "no box has the id")
		return s.does(0, "boxes", "list") + shown + card
	}
	there := look()
	contains(t, there, "for the scout of ", " cards, last used ")
	server.signal(os.Interrupt)
	server.ends(0)
	if here := look(); here != there {
		t.Errorf("the data directory says:\n%s\nand the server said:\n%s", here, there)
	}
	s.does(0, "erase", begun.Turn)
	if left := s.does(0, "boxes", "list"); !strings.Contains(left, "There are no boxes") {
		t.Errorf("after its turn was erased: %s", left)
	}
}
