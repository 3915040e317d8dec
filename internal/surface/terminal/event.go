package terminal

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
)

// onEvent processes an event: it shows what the announcer returns, and updates the questions.
func (t *Terminal) onEvent(e aaep.Event) {
	asked, asks := announce.ReadQuestion(e)
	if asks && asked.Number == 0 { // another producer's: numbered here
		asked.Number = t.highest + 1
		e = numbered(e, asked.Number)
	}

	announced := t.announcer.Event(t.now, e, 0)
	waits := slices.ContainsFunc(announced, func(n announce.Announcement) bool { return n.Waits })
	fresh := asks && t.ask(asked, waits)
	expiry := t.expiry(e)

	switch p := e.Payload.(type) {
	case aaep.StateChanged:
		t.resolved(e)
	case aaep.ToolInvoked:
		t.starts(p.ToolCallID)
	default:
		if e.IsTerminal() {
			t.endQuestions(e.SessionID)
			t.releaseIfClosed()
		}
	}

	for _, n := range announced {
		if n.Kind == announce.KindQuestion && n.Question == asked.Number && fresh && !waits {
			t.show(t.find(asked.Number))
			t.screen.heard = n

			fresh = false

			continue
		}

		if n.Kind == announce.KindResolution && expiry != "" {
			n.Text = expiry
		}

		t.showAnnouncements([]announce.Announcement{n})
	}

	if fresh && !waits { // the same was asked and announced a moment ago
		t.show(t.find(asked.Number))
	}

	t.releaseIfClosed()
}

// numbered returns a question's event with a number, so that every text uses it.
func numbered(e aaep.Event, number int) aaep.Event {
	ours := map[string]jsontext.Value{}
	if raw := e.Extensions[aaep.PrefixEarshot]; raw != nil && json.Unmarshal(raw, &ours) != nil {
		ours = map[string]jsontext.Value{}
	}

	ours["question"] = jsontext.Value(strconv.Itoa(number))

	raw, err := json.Marshal(ours)
	if err != nil {
		return e // it stays without a number
	}

	e.Extensions = maps.Clone(e.Extensions)
	if e.Extensions == nil {
		e.Extensions = map[string]jsontext.Value{}
	}

	e.Extensions[aaep.PrefixEarshot] = raw

	return e
}

// showAnnouncements lays announcements out: those about a question go to the prompt, all others become labelled lines.
func (t *Terminal) showAnnouncements(announced []announce.Announcement) {
	for _, n := range announced {
		if n.Priority == announce.Silent {
			continue
		}

		count := t.bufferedCount()

		switch n.Kind {
		case announce.KindQuestion:
			t.showNext(n)
		case announce.KindWarning:
			if q := t.find(n.Question); q == nil || q.stage == stageOpen && q.answer == 0 {
				t.promptf("%s", n.Text)
			}
		case announce.KindResolution:
			t.showResolution(n)
		case announce.KindOutput:
			t.narrate(t.output(n))
		case announce.KindStarted, announce.KindState, announce.KindProgress, announce.KindTool, announce.KindHandoff, announce.KindEnd,
			announce.KindOther, announce.KindRecap:
			if n.Priority == announce.Assertive {
				t.interrupt(labelled(n))
			} else {
				t.narrate(labelled(n))
			}
		}

		if t.bufferedCount() <= count { // more than that is held
			t.screen.heard = n
		}
	}
}

// showNext shows the question that has waited, in full, or prints what there is to say about one.
func (t *Terminal) showNext(n announce.Announcement) {
	q := t.waiting(n.Question)
	if q == nil || n.Waits {
		t.promptf("%s", n.Text)

		return
	}

	q.waits = false
	t.discardTyped()
	t.show(q)
}

// showResolution reports how a question ended. When an action that was accepted here starts, that is reported only once
// the answer has been confirmed.
func (t *Terminal) showResolution(n announce.Announcement) {
	q := t.find(n.Question)
	if q == nil || q.answer == 0 || n.Offer != announce.OfferUndo || q.reply != string(aaep.DecisionAccept) {
		t.promptf("%s", n.Text)

		return
	}

	q.startText, q.startAfter = n.Text, t.now.Add(resultGrace)
}

func labelled(n announce.Announcement) string {
	if n.Label == "" {
		return n.Text
	}

	return n.Label + ": " + n.Text
}

// output formats the agent's own text. Its code is marked, so that none of its lines is broken; a block of code may
// continue from one announcement to the next.
func (t *Terminal) output(n announce.Announcement) string {
	if n.Session != t.codeOf {
		t.code, t.codeOf = false, n.Session
	}

	lines := strings.Split(n.Text, "\n")
	for i, line := range lines {
		ends := strings.HasPrefix(strings.TrimSpace(line), fence)
		if t.code && !ends && line != "" {
			lines[i] = codeIndent + line
		}

		t.code = t.code != ends
	}

	space := " "
	if isCode(lines[0]) {
		space = "\n"
	}

	text := strings.Join(lines, "\n")
	if n.Label == "" {
		return text
	}

	return n.Label + ":" + space + text
}

// starts ends the time to undo: the action has started.
func (t *Terminal) starts(call string) {
	for _, q := range slices.Clone(t.questions) {
		if q.stage == stageAccepted && call != "" && q.Call == call {
			q.ended = true
			t.close(q)
		}
	}
}

// endQuestions forgets the questions of a session when it ends (SEQ-38).
func (t *Terminal) endQuestions(session string) {
	for _, q := range slices.Clone(t.questions) {
		if q.Session == session {
			q.ended = true
			t.close(q)
		}
	}
}

// showStarts reports when an accepted action starts: after its answer was confirmed or, if that takes too long, without
// it.
func (t *Terminal) showStarts() {
	for _, q := range t.questions {
		due := q.startDue()
		if due.IsZero() || due.After(t.now) {
			continue
		}

		t.promptf("%s", q.startText)
		q.startText = ""
	}
}

func (q *question) startDue() time.Time {
	if q.stage != stageAccepted || q.startText == "" {
		return time.Time{}
	}

	return q.startAfter
}
