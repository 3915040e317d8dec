package announce

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// flood counts the announcements that were too many to speak one by one.
type flood struct {
	count                       int // announcements
	steps, done, started, other int // of what kind
	sessions                    []string
	last                        Announcement
	plain                       string // the last text without the name of its session
	n                           int    // summaries so far, for their ids
}

func (f *flood) empty() bool { return f.count == 0 }

// canSummarize reports whether an announcement may be held back and counted: announcements about the work. Questions
// and their ends, an answer, an end, and whatever interrupts are always spoken.
func (n Announcement) canSummarize() bool {
	if n.Priority != Polite {
		return false
	}
	switch n.Kind {
	case KindStarted, KindState, KindProgress, KindTool, KindOther:
		return true
	case KindQuestion, KindWarning, KindResolution, KindOutput, KindHandoff, KindEnd, KindRecap:
	}
	return false
}

// countDone counts a step that ended without an announcement while others are held back.
func (a *Announcer) countDone(e aaep.Event, announced []Announcement) {
	p, is := e.Payload.(aaep.ToolCompleted)
	if is && p.Status == aaep.ToolSuccess && len(announced) == 0 && !a.replay && !a.flood.empty() {
		a.flood.done++
	}
}

// within returns what fits into the budget, and counts the rest. What was counted before is summarised first, to keep
// the order; but nothing precedes what interrupts.
func (a *Announcer) within(now time.Time, s *session, announced []Announcement) []Announcement {
	var out []Announcement
	for _, n := range announced {
		switch {
		case !n.canSummarize() && n.Priority == Assertive:
			out = append(out, n)
			continue
		case !n.canSummarize():
			out = append(append(out, a.flushed(now)...), n)
		case !a.flood.empty() || a.left(now) <= 0:
			a.summarizeLater(s, n)
			continue
		default:
			out = append(out, n)
			a.spend(now, n.Text)
		}
	}
	if a.left(now) >= enough {
		out = append(out, a.flushed(now)...)
	}
	return out
}

// summarizeLater counts what does not fit into the budget.
func (a *Announcer) summarizeLater(s *session, n Announcement) {
	f := &a.flood
	switch {
	case n.Kind == KindTool && n.Label == labelTool:
		f.steps++
	case n.Kind == KindTool:
		f.done++
	case n.Kind == KindProgress: // the last one contains it all
	case n.Kind == KindStarted:
		f.started++
	default:
		f.other++
	}
	if !slices.Contains(f.sessions, s.id) {
		f.sessions = append(f.sessions, s.id)
	}
	f.count++
	f.last, f.plain = n, a.unnamed(s, n.Text)
}

// Flush summarises what is held back, if no more events will come.
func (a *Announcer) Flush(now time.Time) []Announcement { return a.remember(a.flushed(now)) }

// flushed returns the one sentence about what was held back, if anything was.
func (a *Announcer) flushed(now time.Time) []Announcement {
	f := a.flood
	if f.empty() {
		return nil
	}
	a.flood = flood{n: f.n + 1}
	n := f.last
	if f.count == 1 { // a single one is announced unchanged
		a.spend(now, n.Text)
		return []Announcement{n}
	}
	n.ID += ".flood" + strconv.Itoa(f.n+1)
	n.Kind, n.Label, n.At = KindRecap, labelMeanwhile, now
	n.Text, n.Language = a.floodText(f)
	if len(f.sessions) == 1 {
		n.Text = a.named(a.known(f.last.Session), saying{text: n.Text})
	}
	n.Text = legible.Shorten(n.Text, MaxText)
	a.spend(now, n.Text)
	return []Announcement{n}
}

// floodText is the sentence about what was held back, and its language; with what was said last, if that is in the same one.
func (a *Announcer) floodText(f flood) (text, language string) {
	latest := f.plain
	text, language = a.list(f.counts())
	if len(f.sessions) > 1 {
		latest = f.last.Text
		text += " " + a.in(language, "in "+legible.Counted(int64(len(f.sessions)), "session"))
	}
	if text = strings.TrimSpace(text); text != "" {
		text += "."
	}
	if now := a.in(language, "Now:"); now != "" && speaks(language, f.last.Language) {
		text = join(text, now+" "+latest)
	}
	if text == "" {
		return f.last.Text, f.last.Language
	}
	return text, language
}

// counts returns how much was held back: 12 steps, 3 done.
func (f flood) counts() []string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, what)
		}
	}
	add(f.started, legible.Counted(int64(f.started), "session")+" started")
	add(f.steps, legible.Counted(int64(f.steps), "step"))
	done := legible.Grouped(int64(f.done)) + " done"
	if f.steps == 0 {
		done = legible.Counted(int64(f.done), "step") + " done"
	}
	add(f.done, done)
	add(f.other, legible.Counted(int64(f.other), "other message"))
	return parts
}

// floodDue returns when to summarise at the latest what was held back; zero if nothing is, or if only the next event
// can trigger it.
func (a *Announcer) floodDue() time.Time {
	rate := a.preferences.Pace.budget().rate
	if a.flood.empty() || rate == 0 {
		return time.Time{}
	}
	wait := (enough - a.purse.words) / rate
	return a.purse.at.Add(time.Duration(max(wait, 0)*float64(time.Second)) + time.Millisecond)
}
