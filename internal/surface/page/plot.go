package page

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	// leastPlotted is how many calls a plot takes: fewer are seen in the table at a glance.
	leastPlotted = 20
	// plotEdge is left free on both sides of the plot, in percent of its width, for the ends of its bars.
	plotEdge = 2.0
	// The heights of a row of the plot, in rem, so that it grows with the text: of all of it, and to the base of its label and
	// the middle of its bars.
	plotRow, plotLabel, plotBar = 2.75, 1.0, 1.875
)

// Plot shows calls over time: a row for each state, and in it a bar for each call. What it shows is in the table of calls.
type Plot struct {
	Caption     string
	Description string // all of it in words
	Rows        []PlotRow
	// Height is that of the plot, Foot where the times of its Begin and End are written.
	Height, Foot string
	Begin, End   string
}

// PlotRow are the calls of one state.
type PlotRow struct {
	State      string
	Label      string // with their number
	Tone       string // of its bars; the label says the same
	Base, Line string // of its label and of its bars, from above
	Bars       []PlotBar
}

// PlotBar is a call, from where to where on the axis, in percent.
type PlotBar struct {
	From, To string
	Text     string
}

// newPlot makes the plot of the calls of lines; nil where they are few.
func newPlot(lines []Line, zone *time.Location) *Plot {
	var called []Line
	for _, line := range lines {
		if line.Call != nil {
			called = append(called, line)
		}
	}
	if len(called) < leastPlotted {
		return nil
	}
	axis := newAxis(called)
	p := &Plot{}
	p.Begin, p.End = axis.ends(zone)
	for _, line := range called {
		row := p.row(line.Call)
		row.Bars = append(row.Bars, axis.bar(line))
	}
	counts := make([]string, 0, len(p.Rows))
	for i := range p.Rows {
		row, above := &p.Rows[i], float64(i)*plotRow
		row.Label = row.State + ": " + strconv.Itoa(len(row.Bars))
		row.Base, row.Line = rem(above+plotLabel), rem(above+plotBar)
		counts = append(counts, row.Label)
	}
	below := float64(len(p.Rows)) * plotRow
	p.Foot, p.Height = rem(below+plotLabel), rem(below+1.5*plotLabel)
	p.Caption = fmt.Sprintf("%d calls, from %s to %s", len(called), p.Begin, p.End)
	p.Description = "Time runs from left to right, and each state of the calls has a row. " + strings.Join(counts, ", ") + ". The table has each call."
	return p
}

func rem(height float64) string { return strconv.FormatFloat(height, 'f', -1, 64) + "rem" }

// row is that of the state of a call, made where it is new.
func (p *Plot) row(c *Call) *PlotRow {
	for i := range p.Rows {
		if p.Rows[i].State == c.State {
			return &p.Rows[i]
		}
	}
	p.Rows = append(p.Rows, PlotRow{State: c.State, Tone: c.Tone})
	return &p.Rows[len(p.Rows)-1]
}

// axis is the time that a plot covers.
type axis struct{ begin, end time.Time }

func newAxis(called []Line) axis {
	a := axis{begin: called[0].At, end: called[0].At}
	for _, line := range called {
		if line.At.Before(a.begin) {
			a.begin = line.At
		}
		if end := line.ended(); end.After(a.end) {
			a.end = end
		}
	}
	return a
}

// ends are when it begins and ends, with the day where that is not the same.
func (a axis) ends(zone *time.Location) (begin, end string) {
	layout := time.TimeOnly
	if a.begin.In(zone).Format(time.DateOnly) != a.end.In(zone).Format(time.DateOnly) {
		layout = "2 January, 15:04"
	}
	return a.begin.In(zone).Format(layout), a.end.In(zone).Format(layout)
}

// ended is when the call under a line had ended, as far as that is known.
func (l *Line) ended() time.Time {
	return l.At.Add(time.Duration(l.Call.Milliseconds) * time.Millisecond)
}

func (a axis) bar(line Line) PlotBar {
	end := line.ended()
	if line.Call.State == callRuns {
		end = a.end
	}
	text := line.Clock + ", " + line.Call.Tool + ", " + line.Call.State
	if line.Call.Duration != "" {
		text += ", " + line.Call.Duration
	}
	return PlotBar{From: a.at(line.At), To: a.at(end), Text: text}
}

// at is where a moment lies on the axis.
func (a axis) at(t time.Time) string {
	share := 0.0
	if span := a.end.Sub(a.begin); span > 0 {
		share = min(max(float64(t.Sub(a.begin))/float64(span), 0), 1)
	}
	return strconv.FormatFloat(plotEdge+share*(100-2*plotEdge), 'f', 2, 64) + "%"
}
