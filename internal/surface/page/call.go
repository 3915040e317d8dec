package page

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// Call is a call of a tool as the page of its session shows it.
type Call struct {
	Seq          int64 // of the line that it stands under
	Tool         string
	Values       []value // its arguments, as its question listed them
	Unread       string  // what of them is not among the values
	Args         said    // what was said of them, where nobody was asked
	State        string
	Tone         string // of the badge: good, bad, waits, or "" for none of these
	Result       said   // its first line
	More         said   // all of it, where there is more
	Duration     string
	Milliseconds int64
	Consent      said // who said yes or no, and where
}

// said is a sentence of an event, or of the page itself. Language and Direction are those of the event, "" for English.
type said struct {
	Text, Language, Direction string
}

func sayingOf(e aaep.Event, text string) said {
	tag, direction := language(e)
	return said{text, tag, direction}.ours()
}

// ours leaves English to the page, which translates what it knows of it.
func (s said) ours() said {
	if s.Language == "" || s.Language == english {
		return said{Text: s.Text}
	}
	return s
}

// entryOf is the line that an event is in a record. Who answered a question is a sentence of the page: the event's own, in another language, is
// for who has just answered.
func entryOf(e aaep.Event) said {
	tag, direction := language(e)
	if tag != "" && tag != english {
		if text := announce.Decided(e); text != "" {
			return said{Text: text, Direction: automatic}
		}
	}
	return said{announce.Entry(e), tag, direction}
}

// The states of a call, in the words of its badge.
const (
	callWaits     = "waiting for an answer"
	callAccepted  = "accepted"
	callTakenBack = "taken back"
	callRuns      = "running"
)

// resolvedStates are the states of a call after its question.
var resolvedStates = map[aaep.Resolution]string{ //nolint:gochecknoglobals // a table
	aaep.ResolutionAccepted: callAccepted, aaep.ResolutionRejected: "rejected", aaep.ResolutionExpired: "not answered in time",
	aaep.ResolutionWithdrawn: "withdrawn", aaep.ResolutionStopped: "stopped",
}

// calls are those of a session by their id.
type calls map[string]*Call

// add takes what an event says of a call.
func (c calls) add(e aaep.Event, seq int64) {
	ours := aaep.Read(e.Extensions[aaep.PrefixEarshot])
	id, _ := ours.Text("tool_call_id")
	switch p := e.Payload.(type) {
	case aaep.AwaitingConfirmation:
		if one := c.find(id, seq); one != nil {
			tool, _ := ours.Text("tool")
			one.ask(tool, e)
		}
	case aaep.StateChanged:
		if _, standing := ours.Whole("standing_permission"); standing || resolvedTo(ours) != "" {
			if one := c.find(id, seq); one != nil {
				one.resolve(ours, entryOf(e).ours())
			}
		}
	case aaep.ToolInvoked:
		if one := c.find(p.ToolCallID, seq); one != nil {
			one.Seq, one.State, one.Tone = seq, callRuns, ""
			one.Tool = legible.Text(p.Tool)
			one.Args = sayingOf(e, legible.Text(p.ArgsSummary))
			one.Consent = cmp.Or(one.Consent, said{Text: "Nobody was asked: the policy allows it."})
		}
	case aaep.ToolCompleted:
		if one := c.find(p.ToolCallID, seq); one != nil {
			one.end(e, p)
		}
	}
}

// find is the call of an id, made where it is new; nil without an id.
func (c calls) find(id string, seq int64) *Call {
	if id == "" {
		return nil
	}
	if c[id] == nil {
		c[id] = &Call{Seq: seq}
	}
	return c[id]
}

// byLine are they by the line that they stand under.
func (c calls) byLine() map[int64]*Call {
	under := make(map[int64]*Call, len(c))
	for _, one := range c {
		under[one.Seq] = one
	}
	return under
}

func (c *Call) ask(tool string, e aaep.Event) {
	var q Question
	q.arguments(e)
	c.Tool, c.Values, c.Unread = legible.Text(tool), q.Values, q.Unread
	c.State, c.Tone = callWaits, "waits"
}

// resolve notes how its question ended, or that a standing permission allows it. The text is that of the line.
func (c *Call) resolve(ours aaep.Document, ended said) {
	if _, standing := ours.Whole("standing_permission"); standing {
		c.Consent = ended
		return
	}
	state := resolvedTo(ours)
	if c.State == callAccepted && state == resolvedStates[aaep.ResolutionStopped] {
		state = callTakenBack
	}
	if tool, named := ours.Text("tool"); named {
		c.Tool = legible.Text(tool)
	}
	c.State, c.Tone = state, ""
	ended.Text = strings.TrimSpace(c.Consent.Text + " " + ended.Text)
	c.Consent = ended
}

// resolvedTo is the state of a call whose question has ended so; "" where it has not.
func resolvedTo(ours aaep.Document) string {
	how, _ := ours.Text("resolution")
	return resolvedStates[aaep.Resolution(how)]
}

func (c *Call) end(e aaep.Event, p aaep.ToolCompleted) {
	how := outcomeOf(e)
	if how == Ended { // without its exact status
		how = map[aaep.ToolStatus]Outcome{aaep.ToolSuccess: Done, aaep.ToolError: Failed, aaep.ToolTimeout: TimedOut}[p.Status]
	}
	c.Tool = cmp.Or(c.Tool, legible.Text(p.Tool))
	c.State, c.Tone = string(how), how.Tone()
	all := legible.Text(cmp.Or(p.SummaryDetailed, p.SummaryNormal, p.ErrorMessage, p.SummaryTerse))
	line, _, _ := strings.Cut(cmp.Or(legible.Text(p.SummaryNormal), all), "\n")
	if c.Result = sayingOf(e, line); all != line {
		c.More = sayingOf(e, all)
	}
	if p.DurationMS != nil {
		c.Milliseconds, c.Duration = *p.DurationMS, inWords(*p.DurationMS)
	}
}

// inWords is a duration in words.
func inWords(ms int64) string {
	if ms < 1000 {
		return legible.Counted(ms, "millisecond")
	}
	if d := time.Duration(ms) * time.Millisecond; d >= time.Minute {
		return d.Round(time.Second).String()
	}
	text := strings.TrimSuffix(strconv.FormatFloat(float64(ms)/1000, 'f', 1, 64), ".0")
	if text == "1" {
		return "1 second"
	}
	return text + " seconds"
}

// says reports whether any of its texts contains one, which is in small letters.
func (c *Call) says(text string) bool {
	if c == nil {
		return false
	}
	parts := []string{c.Tool, c.State, c.Args.Text, c.Result.Text, c.More.Text, c.Consent.Text}
	for _, v := range c.Values {
		parts = append(parts, v.Name, v.Text)
	}
	return strings.Contains(strings.ToLower(strings.Join(parts, "\n")), text)
}
