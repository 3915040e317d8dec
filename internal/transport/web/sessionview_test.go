package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// called is a session with a call that was allowed, one that was asked about and taken back, and an answer.
func called(t *testing.T) *scene {
	t.Helper()
	s := newScene(t)
	s.login("ada")
	s.room.begin("sess_1", "tidy <Documents>")
	took := int64(1400)
	s.room.tell("sess_1", aaep.ToolInvoked{Tool: "files.scan", ToolCallID: "call_1", SummaryNormal: "Looking through it.", ArgsSummary: "root: “/home/<ada>”."})
	s.room.tell("sess_1", aaep.ToolCompleted{
		Tool: "files.scan", ToolCallID: "call_1", Status: aaep.ToolSuccess, DurationMS: &took, SummaryNormal: "Found 2 files.", SummaryDetailed: "Found 2 files.\n<a>\nb",
	})
	s.room.extended("sess_1", aaep.AwaitingConfirmation{Action: "Delete 2 files.", Consequence: "It cannot be undone.", Irreversible: true, ReplyToken: tokenA, TimeoutSeconds: 60, DefaultDecision: aaep.DecisionReject, SummaryNormal: "?"}, map[string]any{
		"question": 2, "tool": "files.delete", "tool_call_id": "call_2",
		"arguments": map[string]any{"values": []map[string]any{{"path": "/name", "kind": "text", "value": "<b>.jpg"}}},
	})
	yes := map[string]any{"question": 2, "by": "ada", "surface": "page", "resolution": "accepted", "tool_call_id": "call_2", "undo_seconds": 8}
	s.room.extended("sess_1", aaep.StateChanged{FromState: "awaiting_input", ToState: "deciding", SummaryNormal: "Recorded: yes."}, yes)
	s.room.extended("sess_1", aaep.StateChanged{FromState: "deciding", ToState: "thinking", SummaryNormal: "Taken back in time."}, map[string]any{
		"question": 2, "by": "ada", "surface": "terminal", "resolution": "stopped", "tool": "files.delete", "tool_call_id": "call_2",
	})
	s.room.tell("sess_1", aaep.OutputStreaming{Chunk: "## Two files\n\n<i>x</i>", Complete: true})
	s.room.tell("sess_1", aaep.SessionCompleted{SummaryNormal: "Done."})
	return s
}

// TestSessionPage is a session on a page of its own, and as text.
func TestSessionPage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := called(t)
		golden(t, "session.html", s.page("/sessions/sess_1", "@ada"))
		w := s.do("GET", "/sessions/sess_1/text", "@ada", "")
		if kind := w.Header().Get("Content-Type"); w.Code != 200 || kind != "text/plain; charset=utf-8" {
			t.Errorf("as text: %d %s", w.Code, kind)
		}
		golden(t, "session.txt", w.Body.String())
	})
}

// TestSessionPageFind: lines are found by their text and by that of the call under them, whatever the size of letters.
func TestSessionPageFind(t *testing.T) {
	t.Parallel()
	s := called(t)
	for text, want := range map[string]string{"LOOKING": "1 line contains", "%3Cb%3E.JPG": "1 line contains", "files.scan": "1 line contains", "nothing+of+it": "0 lines contain"} {
		if page := s.page("/sessions/sess_1?find="+text, "@ada"); !strings.Contains(page, "<p>"+want) {
			t.Errorf("%s: not %q:\n%s", text, want, page)
		}
	}
	if w := s.do("GET", "/sessions/sess_1?find="+strings.Repeat("a", 201), "@ada", ""); w.Code != 400 {
		t.Errorf("a long text: %d", w.Code)
	}
}

// TestSessionPageParts: of a long session the newest lines are shown; each line has an address, and earlier and later ones
// are a link away.
func TestSessionPageParts(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.login("ada")
	s.room.begin("sess_1", "tidy Documents") // line 1
	for i := range 500 {
		s.room.tell("sess_1", aaep.StateChanged{FromState: "idle", ToState: "thinking", SummaryNormal: fmt.Sprintf("Step %d.", i+2)})
	}
	for query, want := range map[string][4]string{
		"":            {"302", "501", "?before=302", ""},
		"?before=302": {"102", "301", "?before=102", "?at=302"},
		"?before=102": {"1", "101", "", "?at=102"},
		"?at=5":       {"1", "200", "", "?at=201"},
		"?at=300":     {"200", "399", "?before=200", "?at=400"},
		"?at=9999":    {"302", "501", "?before=302", ""},
		"?find=step":  {"302", "501", "?before=302&amp;find=step", ""},
	} {
		page := s.page("/sessions/sess_1"+query, "@ada")
		for what, part := range map[string]string{"the first line": `<li id="step-` + want[0] + `"`, "the last line": `<li id="step-` + want[1] + `"`} {
			if !strings.Contains(page, part) {
				t.Errorf("%s: not %s %s", query, what, part)
			}
		}
		if n := strings.Count(page, "<li id=\"step-"); n > 200 {
			t.Errorf("%s: %d lines", query, n)
		}
		for what, to := range map[string]string{`id="earlier"`: want[2], "Later lines": want[3]} {
			if strings.Contains(page, what) != (to != "") || to != "" && !strings.Contains(page, `"/sessions/sess_1`+to+`"`) {
				t.Errorf("%s: %s does not lead to %q", query, what, to)
			}
		}
	}
	if w := s.do("GET", "/sessions/sess_1?at=x", "@ada", ""); w.Code != 400 {
		t.Errorf("another address: %d", w.Code)
	}
}

// TestSessionPageRights: nobody sees a session that they may not follow, and nobody is told that it is there.
func TestSessionPageRights(t *testing.T) {
	t.Parallel()
	s := called(t)
	for _, target := range []string{"/sessions/sess_1", "/sessions/sess_1/text"} {
		if w := s.do("GET", target, "", ""); w.Code != 401 {
			t.Errorf("%s without a login: %d", target, w.Code)
		}
		if w := s.do("GET", strings.Replace(target, "sess_1", "sess_none", 1), "@ada", ""); w.Code != 404 {
			t.Errorf("%s of no session: %d", target, w.Code)
		}
	}
}

// TestSessionPageTree: a session that has handed work to other agents lists theirs, each in its place, with what it waits for or how it
// has ended; and the page of a part leads to what it is a part of.
func TestSessionPageTree(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.login("ada")
		s.room.begin("sess_1", "tidy Documents")
		s.room.begin("sess_2", "file <part> 0")
		s.room.ask("sess_2", 7, tokenA)
		s.room.change(func() {
			s.room.sessions[1].PartOf = &api.SessionPart{Session: "sess_1", Agent: "tidy", Name: "tidy, <Documents>", Status: "suspended"}
			s.room.sessions[0].Parts = []api.SessionPart{
				{Session: "sess_2", Agent: "clerk", Name: "clerk, file <part> 0", Request: "file <part> 0", Status: "suspended", Parts: []api.SessionPart{
					{Session: "sess_3", Agent: "scribe", Request: "write", Status: "ended", Result: utp.StatusFailed},
				}},
				{Session: "sess_4", Agent: "clerk", Name: "clerk, 2", Status: "queued"},
			}
			s.room.sessions[0].MoreParts = true
		})
		golden(t, "session-tree.html", s.page("/sessions/sess_1", "@ada"))
		golden(t, "session-tree.txt", s.do("GET", "/sessions/sess_1/text", "@ada", "").Body.String())
		if page := s.page("/sessions/sess_2", "@ada"); !strings.Contains(page, `<p>Part of <a href="/sessions/sess_1"><bdi lang="">tidy, &lt;Documents&gt;</bdi></a>.</p>`) {
			t.Error(page)
		}
	})
}
