package report

import (
	_ "embed" // the page
	"encoding/xml"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
)

// WriteJSON writes the report for programs: one JSON object a line, first what was judged, then one for each rule,
// then {"summary": …}.
func (r Report) WriteJSON(to io.Writer) error {
	lines := append(make([]any, 0, len(r.Verdicts)+2), r)
	for _, v := range r.Verdicts {
		lines = append(lines, v)
	}
	for _, value := range append(lines, map[string]Tally{"summary": r.Tally()}) {
		raw, err := json.Marshal(value, json.Deterministic(true))
		if err != nil {
			return err //nolint:wrapcheck // it says what it is about
		}
		if _, err := to.Write(append(raw, '\n')); err != nil {
			return err //nolint:wrapcheck // it is the writer's
		}
	}
	return nil
}

// suite is a group of rules in the form that CI servers read.
type suite struct {
	Name     string  `xml:"name,attr"`
	Tests    int     `xml:"tests,attr"`
	Failures int     `xml:"failures,attr"`
	Skipped  int     `xml:"skipped,attr"`
	Cases    []check `xml:"testcase"`
}

// check is one rule.
type check struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Failure *outcome `xml:"failure"`
	Skipped *outcome `xml:"skipped"`
}

type outcome struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the report as JUnit XML: a suite for each group, a case for each rule. What is not exercised, known,
// or advice that is not followed is skipped; strict counts advice as a failure.
func (r Report) WriteJUnit(to io.Writer, strict bool) error {
	var all struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		Suites  []suite  `xml:"testsuite"`
	}
	all.Name = "AAEP conformance of the " + string(r.Judges) + " at " + r.URL
	for _, g := range r.groups() {
		s := suite{Name: g.Name, Tests: len(g.Verdicts)}
		for _, v := range g.Verdicts {
			c := v.check(g.Name, strict)
			if c.Failure != nil {
				s.Failures++
			}
			if c.Skipped != nil {
				s.Skipped++
			}
			s.Cases = append(s.Cases, c)
		}
		all.Suites = append(all.Suites, s)
	}
	raw, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err //nolint:wrapcheck // it says what it is about
	}
	_, err = io.WriteString(to, xml.Header+string(raw)+"\n")
	return err //nolint:wrapcheck // it is the writer's
}

func (v Verdict) check(group string, strict bool) check {
	c := check{Class: group, Name: v.Rule + " " + v.Title}
	if v.State == Passed {
		return c
	}
	o := &outcome{Message: v.word(), Text: v.details()}
	if v.State == Broken && v.Known == "" && (v.Grave() || strict) {
		c.Failure = o
		return c
	}
	c.Skipped = o
	return c
}

// details are the findings, a line for each.
func (v Verdict) details() string {
	var b strings.Builder
	if v.Known != "" {
		fmt.Fprintln(&b, "known:", v.Known)
	}
	for _, f := range v.Findings {
		fmt.Fprintln(&b, f)
		if f.Message != "" {
			fmt.Fprintln(&b, f.Message)
		}
	}
	return b.String()
}

//go:embed report.html
var pageText string

// pageOf is the page of a report: one document without scripts, for any browser and screen reader.
var pageOf = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("report").Parse(pageText))
})

// WriteHTML writes the report as one page for people.
func (r Report) WriteHTML(to io.Writer) error {
	type row struct {
		Verdict

		Word string
		More int
	}
	type table struct {
		Name string
		Rows []row
		Idle []Verdict
	}
	page := struct {
		Report

		About, Summary string
		Tables         []table
	}{Report: r, About: r.length(), Summary: r.summary()}
	for _, g := range r.groups() {
		t := table{Name: g.Name}
		for _, v := range g.Verdicts {
			if v.State == NotExercised {
				t.Idle = append(t.Idle, v)
				continue
			}
			t.Rows = append(t.Rows, row{Verdict: v, Word: v.word(), More: v.Occurrences - len(v.Findings)})
		}
		page.Tables = append(page.Tables, t)
	}
	return pageOf().Execute(to, page) //nolint:wrapcheck // it says what it is about
}
