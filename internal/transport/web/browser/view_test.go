package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// longSession serves the page of a session with as many calls as are wanted, which take ever less time. The page is that of
// the product; only its events are made here.
type longSession struct {
	t      *testing.T
	assets *page.Assets
	calls  atomic.Int64
}

func (l *longSession) record() (page.Session, *page.Record) {
	l.t.Helper()
	var record page.Record
	seq := int64(0)
	begun := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	add := func(p aaep.Payload) {
		l.t.Helper()
		seq++
		e := aaep.Event{
			ID: "evt_" + strconv.FormatInt(seq, 10), SessionID: "sess_1", Time: begun.Add(time.Duration(seq) * time.Second), Producer: aaep.Producer{AgentID: "tidy"}, Payload: p,
			Hints: &aaep.LocalizationHints{PrimaryLanguage: "en", TextDirection: aaep.DirectionLTR},
		}
		raw, err := e.Encode()
		must(l.t, err)
		record.Add(raw, seq)
	}
	add(aaep.SessionStarted{SummaryNormal: "Tidy has started.", RequestText: "look"})
	n := l.calls.Load()
	for i := range n {
		id, took := fmt.Sprintf("call_%d", i), (n-i)*700
		add(aaep.ToolInvoked{Tool: "files.scan", ToolCallID: id, SummaryNormal: fmt.Sprintf("Looking through folder %d.", i), ArgsSummary: "root: “/home/ada”."})
		add(aaep.ToolCompleted{Tool: "files.scan", ToolCallID: id, Status: aaep.ToolSuccess, DurationMS: &took, SummaryNormal: "Found 1 file.", SummaryDetailed: "Found 1 file.\nIt is a.jpg."})
	}
	add(aaep.OutputStreaming{Chunk: "# Kept\n\n- [one](https://example.org/1)\n\n| Name | Size |\n|-|-|\n| a.jpg | 12 |\n\n```\nrm a.jpg\n```\n", Complete: true})
	one := page.NewSession(api.Session{
		ID: "sess_1", Turn: "turn_1", Agent: "tidy", Name: "tidy, folders", Request: "look", Status: "running", Created: begun,
		PartOf: &api.SessionPart{Session: "sess_0", Agent: "chat", Name: "chat, everything", Status: "suspended"},
		Parts: []api.SessionPart{{Session: "sess_2", Agent: "scout", Request: "which of them are old", Status: "suspended", Parts: []api.SessionPart{
			{Session: "sess_3", Agent: "scout", Request: "count them", Status: "ended", Result: "failed"},
		}}},
	}, "", time.UTC)
	return one, &record
}

func (l *longSession) serve() *server {
	l.t.Helper()
	mux := http.NewServeMux()
	handle := func(path, kind string, body func(r *http.Request) []byte) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src "+strings.Join(l.assets.StyleSources(), " ")+
				"; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'")
			_, _ = w.Write(body(r))
		})
	}
	handle("/sessions/sess_1", "text/html; charset=utf-8", func(r *http.Request) []byte {
		want := page.Selection{Find: r.FormValue("find")}
		want.At, _ = strconv.ParseInt(r.FormValue("at"), 10, 64)
		want.Before, _ = strconv.ParseInt(r.FormValue("before"), 10, 64)
		one, record := l.record()
		body, err := l.assets.In("").Render("session", record.View(one, page.NewTree(one.Session, nil), want, time.UTC))
		if err != nil {
			l.t.Error(err)
		}
		return body
	})
	handle("/sessions/sess_1/text", "text/plain; charset=utf-8", func(*http.Request) []byte {
		one, record := l.record()
		return []byte(record.Text(one, page.NewTree(one.Session, nil), time.UTC))
	})
	mux.HandleFunc("GET /page/{file}", func(w http.ResponseWriter, r *http.Request) {
		file, _ := l.assets.File(r.PathValue("file"))
		w.Header().Set("Content-Type", file.Kind)
		_, _ = w.Write(file.Body)
	})
	http := httptest.NewServer(mux)
	l.t.Cleanup(http.Close)
	return &server{t: l.t, page: http.URL}
}

// manyCalls make 301 lines, of which the newest 200 are shown.
const manyCalls = 150

func newLongSession(t *testing.T, calls int64) (*longSession, *tab) {
	t.Helper()
	needsChromium(t)
	assets, err := page.Load()
	must(t, err)
	l := &longSession{t: t, assets: assets}
	l.calls.Store(calls)
	b := l.serve().open()
	b.visit("/sessions/sess_1")
	b.until(`document.querySelector("th button")`) // the scripts have run
	return l, b
}

// TestSessionView: the page of a session shuts nobody out, in any look and on a phone.
func TestSessionView(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	_, b := newLongSession(t, 3)
	for _, look := range looks() {
		b.media(look)
		b.accessible(axe, fmt.Sprint("the page of a session, with ", look))
	}
	b.media(nil)
	b.shot("session")
	b.emulate(320, 640, 1)
	b.narrow("the page of a session")
	b.shot("session-phone")
	roles := map[string]int{} // both tables are tables for who cannot see them, though one looks like lines
	for _, role := range b.roles() {
		roles[role]++
	}
	if roles["table"] != 2 || roles["columnheader"] != 5+2 || roles["row"] != 4+2 || roles["rowheader"] != 3 || roles["cell"] != 3*4+2 {
		t.Errorf("on a phone the calls and the table of the answer are %v", roles)
	}
}

// roles are those of the document as a screen reader gets it.
func (b *tab) roles() (all []string) {
	b.t.Helper()
	for _, part := range b.tree() {
		all = append(all, part.role)
	}
	return all
}

// heardPart is a part of the document as a screen reader gets it.
type heardPart struct{ role, name string }

func (b *tab) tree() (all []heardPart) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		tree, err := chromedp.Call(ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			return err
		}
		for _, node := range tree.Nodes {
			var part heardPart
			if node.Role == nil || node.Ignored || json.Unmarshal(node.Role.Value, &part.role) != nil {
				continue
			}
			if node.Name != nil {
				_ = json.Unmarshal(node.Name.Value, &part.name)
			}
			all = append(all, part)
		}
		return nil
	}))
	return all
}

// TestPlot: the plot of many calls has a name, a description and its table, shuts nobody out in any look, fits on a phone, and
// is the same where a page is read from right to left.
func TestPlot(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	_, b := newLongSession(t, manyCalls)
	const bars = `[...document.querySelectorAll("#plot .bar")]`
	for what, expression := range map[string]string{
		"not each call of the table has a bar": bars + `.length === document.querySelectorAll("#calls tbody tr").length`,
		"the plot has no name":                 `document.getElementById("plot-title").textContent === "Calls over time"`,
		"the plot is not described":            `document.getElementById("plot-description").textContent.includes("done: 100.")`,
		"the table does not follow it":         `document.getElementById("plot").nextElementSibling.querySelector("table") !== null`,
	} {
		if !value[bool](b, expression) {
			t.Error(what)
		}
	}
	for _, look := range looks() {
		b.media(look)
		b.accessible(axe, fmt.Sprint("a plot, with ", look))
		if !value[bool](b, `getComputedStyle(document.querySelector("#plot .bar")).stroke !== getComputedStyle(document.body).backgroundColor`) {
			t.Errorf("with %v the bars have the colour of the ground", look)
		}
	}
	b.media(nil)
	b.shot("plot")
	b.emulate(320, 640, 1)
	b.narrow("the plot")
	const inside = `[...document.querySelectorAll("#plot text, #plot .bar")].every((part) => {
		const box = part.getBoundingClientRect();
		return box.left >= -1 && box.right <= innerWidth + 1;
	})`
	const ordered = bars + `.every((bar, i, all) => i === 0 || all[i - 1].getBoundingClientRect().left <= bar.getBoundingClientRect().left)`
	for _, way := range []string{"ltr", "rtl"} {
		value[string](b, `document.documentElement.dir = "`+way+`"`)
		if !value[bool](b, inside) {
			t.Errorf("%s: a part of the plot is not on the screen", way)
		}
		if !value[bool](b, ordered) {
			t.Errorf("%s: the bars do not run from left to right", way)
		}
	}
	b.shot("plot-phone")
}

// TestSortCalls: a button in the head of each column sorts the table, and says so; again, the other way round.
func TestSortCalls(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	_, b := newLongSession(t, 3)
	first := `document.querySelector("#calls tbody tr").cells[3].textContent`
	b.tabTo(`th:nth-child(4) button`)
	for _, want := range [][2]string{{"ascending", "700 milliseconds"}, {"descending", "2.1 seconds"}} {
		b.press(kb.Enter)
		if how := value[string](b, `document.querySelector("[aria-sort]").textContent + " " + document.querySelector("[aria-sort]").ariaSort`); how != "Duration "+want[0] {
			t.Errorf("it is sorted by %s; want %s", how, want[0])
		}
		if got := value[string](b, first); got != want[1] {
			t.Errorf("%s: the first took %s; want %s", want[0], got, want[1])
		}
		b.until(`document.activeElement.matches("th button")`)
	}
	b.accessible(axe, "a sorted table")
}

// TestEarlierLines: they load above, by keyboard, and the line that was read keeps its place and has the focus.
func TestEarlierLines(t *testing.T) {
	t.Parallel()
	_, b := newLongSession(t, manyCalls)
	b.tabTo("#earlier")
	const place = `Math.round(document.getElementById("step-102").getBoundingClientRect().top)`
	before := value[int](b, place)
	b.press(kb.Enter)
	b.until(`document.querySelectorAll("#steps > li").length === 301`)
	b.focusIs("#step-102")
	if after := value[int](b, place); after < before-1 || after > before+1 {
		t.Errorf("the line has moved from %d to %d", before, after)
	}
	for what, expression := range map[string]string{
		"the lines are not in their order":    `[...document.querySelectorAll("#steps > li")].every((line, i) => line.id === "step-" + (i + 1))`,
		"the table has not all calls":         `document.querySelectorAll("#calls tbody tr").length === 150`,
		"there is a link to what is here":     `document.getElementById("earlier") === null`,
		"it is not said":                      `document.getElementById("view-status").textContent === "101 earlier lines are above."`,
		"a column has another button, or two": `[...document.querySelectorAll("th[data-sort]")].every((head) => head.querySelectorAll("button").length === 1)`,
	} {
		if !value[bool](b, expression) {
			t.Error(what)
		}
	}
}

// TestVisits: a page that is opened again says what has come since, and where; the first visit says nothing.
func TestVisits(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	l, b := newLongSession(t, manyCalls)
	if !value[bool](b, `document.getElementById("missed").hidden`) {
		t.Error("the first visit is told what is new")
	}
	l.calls.Add(3)
	b.visit("/sessions/sess_1?at=3#step-3") // does not show what is new, and counts for nothing
	b.visit("/sessions/sess_1")
	b.until(`document.getElementById("missed").textContent === "6 lines are new since your last visit. Go to the first of them"`)
	b.accessible(axe, "new lines")
	b.tabTo("#missed a")
	b.press(kb.Enter)
	b.until(`document.querySelector(":target")?.id === "step-302" && document.querySelector(":target .eyebrow").textContent === "New since your last visit"`)
	l.calls.Add(200)
	b.visit("/sessions/sess_1")
	b.until(`document.getElementById("missed").textContent.startsWith("More than 200 lines are new")`)
	b.reload()
	b.until(`document.querySelector("th button") && document.getElementById("missed").hidden`)
}

// TestCopy: buttons copy the code that they stand under, and all of a session as text, and say so.
func TestCopy(t *testing.T) {
	t.Parallel()
	_, b := newLongSession(t, 3)
	value[bool](b, `navigator.clipboard.writeText = async (text) => { window.copied = text; }, true`)
	b.tabTo(".code button")
	b.press(kb.Enter)
	b.until(`window.copied === "rm a.jpg\n" && document.getElementById("copied").textContent === "Copied."`)
	b.acts("Copy all as text")
	b.until(`window.copied.startsWith("tidy, folders\n") && window.copied.includes("Looking through folder 0.")`)
	value[bool](b, `navigator.clipboard.writeText = async () => { throw new Error(); }, true`)
	b.acts("Copy all as text")
	b.until(`document.getElementById("copied").textContent.startsWith("It could not be copied.")`)
}

// TestFindInSession: what is looked for is found by keyboard, in all of the session, and each line leads to its place.
func TestFindInSession(t *testing.T) {
	t.Parallel()
	_, b := newLongSession(t, manyCalls)
	b.tabTo("#find")
	b.types("FOLDER 7.")
	b.press(kb.Enter)
	b.until(`document.querySelectorAll("#steps > li").length === 1 && document.querySelector("#steps > li").id === "step-16"`)
	b.tabTo("#step-16 .at")
	b.press(kb.Enter)
	b.until(`document.querySelectorAll("#steps > li").length === 200 && document.querySelector(":target")?.id === "step-16"`)
}

// TestAnswerIsLaidOut: the answer of a real turn is laid out on the page once it is whole, without a reload.
func TestAnswerIsLaidOut(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	s := serveAgent(t, answers("# Kept\n\n- **one** <script>window.bad = 1</script>\n\n```\ncode\n```\n"))
	b := s.login()
	session := s.begin(asker, "look", nil)
	b.until(`document.querySelector("#output h4")?.textContent === "Kept" && document.querySelector("#output .code button:not([hidden])")`)
	if value[bool](b, `window.bad === 1 || document.querySelector("#output script") !== null`) {
		t.Error("a script of the answer is there")
	}
	b.accessible(axe, "an answer")
	s.ended(session)
	b.visit("/sessions/" + session)
	b.until(`document.querySelector("#output h3")?.textContent === "Kept"`)
	b.accessible(axe, "the page of the session")
}
