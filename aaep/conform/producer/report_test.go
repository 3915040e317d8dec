package producer_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/earshot-dev/earshot/aaep/conform/producer"
	"github.com/earshot-dev/earshot/aaep/conform/report"
)

// faulty is the report about a producer that deletes after a no, and whose status for a reply is not as advised.
func faulty(t *testing.T) (r report.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		p.behind["reject"], p.replied = granted, 200
		r = judged(t, p, producer.Options{})
	})
	return r
}

// TestExpect: what is known to be broken does not fail, and what is kept all the same is told.
func TestExpect(t *testing.T) {
	t.Parallel()
	r := faulty(t)
	if r.Passed(false) || r.Passed(true) {
		t.Error("it has passed")
	}
	known := map[string]string{"ENV-18": "soon"}
	for _, v := range r.Verdicts {
		if v.State == report.Broken && v.Grave() {
			known[v.Rule] = "we know"
		}
	}
	if kept := r.Expect(known); len(kept) != 1 || kept[0] != "ENV-18" {
		t.Errorf("kept are %v", kept)
	}
	if !r.Passed(false) || r.Passed(true) {
		t.Errorf("passed %v, strictly %v; expected only the first", r.Passed(false), r.Passed(true))
	}
	if tally := r.Tally(); tally.Known != len(known)-1 || tally.Broken != 0 || tally.NotFollowed == 0 {
		t.Errorf("found %+v", tally)
	}
}

// TestForms: each form of a report says the same.
func TestForms(t *testing.T) {
	t.Parallel()
	r := faulty(t)
	tally := r.Tally()
	var text, lines, junit, page strings.Builder
	for _, err := range []error{r.WriteText(&text, true), r.WriteJSON(&lines), r.WriteJUnit(&junit, false), r.WriteHTML(&page)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(text.String(), " kept: "); n != tally.Passed {
		t.Errorf("the text names %d kept rules, expected %d", n, tally.Passed)
	}
	if !strings.Contains(text.String(), "  SEQ-22 broken: ") || !strings.Contains(text.String(), "  TR-SSE-08 not followed: ") || !strings.Contains(text.String(), `of "main", evt_9`) {
		t.Errorf("the text is\n%s", &text)
	}
	if n := strings.Count(lines.String(), "\n"); n != len(r.Verdicts)+2 {
		t.Errorf("found %d lines of JSON, expected %d", n, len(r.Verdicts)+2)
	}
	for line := range strings.Lines(lines.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("found %s", line)
		}
	}
	var suites struct {
		Suites []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Skipped  int `xml:"skipped,attr"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(junit.String()), &suites); err != nil {
		t.Fatal(err)
	}
	all, failed, skipped := 0, 0, 0
	for _, s := range suites.Suites {
		all, failed, skipped = all+s.Tests, failed+s.Failures, skipped+s.Skipped
	}
	if all != len(r.Verdicts) || failed != tally.Broken || skipped != tally.NotExercised+tally.NotFollowed {
		t.Errorf("JUnit counts %d, failed %d, skipped %d; expected %d and %+v", all, failed, skipped, len(r.Verdicts), tally)
	}
	accessible(t, page.String())
}

// accessible demands of the page what a screen reader needs: a language, a title, headings that leave no level out, a
// caption and scopes for each table; and that nothing in it runs or is fetched.
func accessible(t *testing.T, page string) {
	t.Helper()
	level, tables, captions, titles := 0, 0, 0, 0
	in := xml.NewDecoder(strings.NewReader(page))
	in.Strict, in.AutoClose, in.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		next, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		token, is := next.(xml.StartElement)
		if !is {
			continue
		}
		attributes := map[string]string{}
		for _, a := range token.Attr {
			attributes[a.Name.Local] = a.Value
			if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "src" || a.Name.Local == "href" {
				t.Errorf("found %v", token)
			}
		}
		switch token.Name.Local {
		case "html":
			if attributes["lang"] != "en" {
				t.Error("the page names no language")
			}
		case "h1", "h2", "h3":
			deeper := int(token.Name.Local[1] - '0')
			if deeper > level+1 {
				t.Errorf("found a heading of level %d behind one of level %d", deeper, level)
			}
			level = deeper
		case "table":
			tables++
		case "caption":
			captions++
		case "title":
			titles++
		case "th":
			if attributes["scope"] == "" {
				t.Errorf("found %v without a scope", token)
			}
		case "script", "link", "img", "iframe":
			t.Errorf("found %v", token)
		}
	}
	if tables == 0 || tables != captions || titles != 1 {
		t.Errorf("found %d tables, %d captions, %d titles", tables, captions, titles)
	}
}
