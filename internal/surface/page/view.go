package page

import (
	"html/template"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// Record is what a session did, from its first event on: every line and every call. The zero value is ready.
type Record struct {
	story Story
	lines []Line
	calls calls
}

// Line is one line of it.
type Line struct {
	Step

	Clock string // the time of the day, where its reader is
	Link  string // its own address
	Call  *Call  // that stands under it; nil for none
}

// Add adds the next event.
func (r *Record) Add(raw []byte, seq int64) {
	r.story.Last = seq
	e, err := aaep.DecodeEvent(raw)
	if err != nil {
		return // not an event that this version can read; the record has it
	}
	if step, _ := r.story.add(e, seq); step.Text != "" {
		r.lines = append(r.lines, Line{Step: step})
	}
	if r.calls == nil {
		r.calls = calls{}
	}
	r.calls.add(e, seq)
}

// Last is the sequence number of the last event.
func (r *Record) Last() int64 { return r.story.Last }

// Story is a copy of what a page shows of the session, with its outputs laid out.
func (r *Record) Story() Story {
	s := r.story
	s.Steps = slices.Clone(s.Steps)
	s.LayOut()
	s.written = nil
	return s
}

// Laid is the HTML of an output that is complete; "" where it stays plain.
func (r *Record) Laid(id string) template.HTML {
	html, _ := r.story.Laid(id)
	return html
}

// Selection says which lines of a record to show: those around At, those before Before, or the newest ones; of these, the
// ones that contain Find.
type Selection struct {
	At, Before int64
	Find       string
}

// View is a session on a page of its own. Nothing on it changes by itself.
type View struct {
	Session
	Tree

	Lines   []Line
	Calls   []*Call // those that stand under the lines
	Plot    *Plot   // of these calls; nil where they are few
	Outputs []Piece
	Density string // how much room its reader wants between the parts
	Find    string
	Found   int    // lines that contain what was looked for
	Last    int64  // the newest line of the session
	Newest  bool   // it is here, and nothing between is left out
	Earlier string // the address of the lines before; "" where there are none
	Later   string // and of those behind
}

// View shows a part of a record. Times are told in the zone.
func (r *Record) View(one Session, tree Tree, want Selection, zone *time.Location) View {
	v := View{Session: one, Tree: tree, Outputs: r.story.written.pieces(viewLevel), Find: want.Find}
	lines, under := r.lines, r.calls.byLine()
	if n := len(lines); n > 0 {
		v.Last = lines[n-1].Seq
	}
	if want.Find != "" {
		lines = find(lines, under, want.Find)
		v.Found = len(lines)
	}
	from, to := want.window(lines)
	v.Lines = slices.Clone(lines[from:to]) // the record itself goes on
	for i := range v.Lines {
		line := &v.Lines[i]
		line.Clock = line.clock(zone)
		if call := under[line.Seq]; call != nil {
			copied := *call
			line.Call = &copied
		}
		line.Link = address(one.ID, "at", line.Seq, "") + "#step-" + strconv.FormatInt(line.Seq, 10)
		if line.Call != nil {
			v.Calls = append(v.Calls, line.Call)
		}
	}
	v.Plot = newPlot(v.Lines, zone)
	v.Newest = want.Find == "" && to == len(lines)
	if from > 0 {
		v.Earlier = address(one.ID, "before", lines[from].Seq, want.Find)
	}
	if to < len(lines) {
		v.Later = address(one.ID, "at", lines[to].Seq, want.Find)
	}
	return v
}

func (l *Line) clock(zone *time.Location) string { return l.At.In(zone).Format(time.TimeOnly) }

// window is the span of the lines to show.
func (s Selection) window(lines []Line) (from, to int) {
	to = len(lines)
	index := func(seq int64) int { return sort.Search(len(lines), func(i int) bool { return lines[i].Seq >= seq }) }
	switch {
	case s.At > 0:
		to = min(to, max(index(s.At)+mostSteps/2, mostSteps))
	case s.Before > 0:
		to = index(s.Before)
	}
	return max(0, to-mostSteps), to
}

// find keeps the lines that contain a text, themselves or in the call under them, whatever its letters' size.
func find(lines []Line, under map[int64]*Call, text string) []Line {
	text = strings.ToLower(text)
	var found []Line
	for _, line := range lines {
		if strings.Contains(strings.ToLower(line.Text), text) || under[line.Seq].says(text) {
			found = append(found, line)
		}
	}
	return found
}

func address(session, name string, seq int64, find string) string {
	query := url.Values{name: {strconv.FormatInt(seq, 10)}}
	if find != "" {
		query.Set("find", find)
	}
	return "/sessions/" + url.PathEscape(session) + "?" + query.Encode()
}

// Text is all of a record as plain text: what was asked, each line with its time, and the answer as its agent wrote it.
func (r *Record) Text(one Session, tree Tree, zone *time.Location) string {
	var b strings.Builder
	b.WriteString(one.Name + "\n")
	if one.Request != "" {
		b.WriteString("Request: " + one.Request + "\n")
	}
	b.WriteString("Started " + one.When + ". State: " + one.State + ".\n")
	tree.write(&b)
	b.WriteString("\n")
	for _, line := range r.lines {
		b.WriteString(line.clock(zone) + "  " + line.Text + "\n")
	}
	for _, o := range r.story.written.pieces(viewLevel) {
		b.WriteString("\n" + strings.TrimRight(o.Text, "\n") + "\n")
	}
	return b.String()
}
