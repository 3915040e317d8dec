package web_test

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// got is one frame of a page's stream.
type got struct {
	event, id string
	data      struct {
		ID        string `json:"id"`
		Text      string `json:"text"`
		Priority  string `json:"priority"`
		Kind      string `json:"kind"`
		Language  string `json:"language"`
		Question  int    `json:"question"`
		HTML      string `json:"html"`
		Title     string `json:"title"`
		Open      int    `json:"open"`
		Where     string `json:"where"`
		Last      int64  `json:"last"`
		Progress  string `json:"progress"`
		Questions []struct {
			ID, Text, Priority, Kind string
		} `json:"questions"`
		Outputs []struct {
			ID, Text, HTML string
			Position, Next int64
		} `json:"outputs"`
	}
}

// frames reads what a reader of a page's stream has got, and forgets it.
func (r *reader) frames(t *testing.T) []got {
	t.Helper()
	text := r.text()
	r.mu.Lock()
	r.got.Reset()
	r.mu.Unlock()
	var all []got
	for part := range strings.SplitSeq(text, "\n\n") {
		var f got
		for line := range strings.Lines(part) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "event":
				f.event = value
			case "id":
				f.id = value
			case "data":
				if err := json.Unmarshal([]byte(value), &f.data, json.MatchCaseInsensitiveNames(true)); err != nil {
					t.Fatalf("%v in %s", err, value)
				}
			}
		}
		if f.event != "" {
			all = append(all, f)
		}
	}
	return all
}

func names(all []got) string {
	var list []string
	for _, f := range all {
		list = append(list, strings.TrimPrefix(f.event, "earshot."))
	}
	return strings.Join(list, " ")
}

func spoken(all []got) []string {
	var list []string
	for _, f := range all {
		if f.event == "earshot.announce" {
			list = append(list, f.data.Priority+": "+f.data.Text)
		}
	}
	return list
}

func find(all []got, event string) got {
	for _, f := range all {
		if f.event == "earshot."+event {
			return f
		}
	}
	return got{}
}

// TestQueuedIsListed: a turn that waits to be taken up has told nothing; it stands in the
// list within ten seconds all the same, and nothing but a heartbeat is sent while nothing changes.
func TestQueuedIsListed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.begin("sess_1", "tidy Downloads")
		s.login("ada")
		r := s.stream("/page/events?fresh=true", "@ada")
		defer r.close()
		r.frames(t)
		<-time.After(12 * time.Second)
		if all := r.frames(t); names(all) != "heartbeat" {
			t.Errorf("nothing has changed: %s", names(all))
		}
		s.room.change(func() {
			s.room.sessions = append(s.room.sessions, api.Session{ID: "sess_2", Turn: "turn_2", Agent: "tidy", Owner: "ada", Request: "tidy Music", Status: "queued", Created: noon})
		})
		<-time.After(12 * time.Second)
		all := r.frames(t)
		if names(all) != "sessions heartbeat" || !strings.Contains(find(all, "sessions").data.HTML, "sess_2") {
			t.Errorf("a turn waits: %s %+v", names(all), find(all, "sessions"))
		}
	})
}

// TestPageStream: what lies there comes first, then each event with its sentences, its
// lines and the lists that it changes; its id comes last.
func TestPageStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.begin("sess_1", "tidy Downloads")
		s.login("ada")
		r := s.stream("/page/events?session=sess_1&from=1&after=evt_11", "@ada")
		defer r.close()
		wants(t, r.text(), "retry: 1000\n\n")
		if first := r.frames(t); names(first) != "questions sessions open" {
			t.Errorf("first: %s", names(first))
		}

		asked := s.room.ask("sess_1", 2, tokenA)
		all := r.frames(t)
		if names(all) != "questions sessions steps announce at" {
			t.Fatalf("a question: %s", names(all))
		}
		if q := find(all, "questions"); q.data.Open != 1 || q.data.Title != "(1 question) Earshot" || !strings.Contains(q.data.HTML, `data-question="2"`) {
			t.Errorf("the list is %+v", q)
		}
		if a := find(all, "announce"); a.data.Priority != "assertive" || a.data.Question != 2 || a.data.Kind != "question" || !strings.Contains(a.data.Text, "uestion 2") {
			t.Errorf("the cue is %+v", a)
		}
		if at := find(all, "at"); at.id != asked {
			t.Errorf("the id is %q", at.id)
		}
		for _, f := range all[:len(all)-1] {
			if f.id != "" {
				t.Errorf("%s carries an id: what follows it would be lost with the connection", f.event)
			}
		}
		wants(t, find(all, "steps").data.HTML, `<li data-seq="2" lang="en" dir="ltr">Question 2: Delete 5 files`)

		s.room.settle("sess_1", 2, "rejected")
		all = r.frames(t)
		if q := find(all, "questions"); q.data.Open != 0 || q.data.Title != "Earshot" || strings.Contains(q.data.HTML, "data-question") {
			t.Errorf("the list is %+v", q)
		}
		if len(spoken(all)) == 0 {
			t.Error("nobody is told how it ended")
		}

		s.room.tell("sess_1", aaep.OutputStreaming{Chunk: "Five ", Position: 0})
		s.room.tell("sess_1", aaep.OutputStreaming{Chunk: "files.", Position: 5, Complete: true})
		all = r.frames(t)
		var text string
		for _, f := range all {
			for _, o := range f.data.Outputs {
				if int(o.Position) != len(text) {
					t.Errorf("a piece at %d, want %d", o.Position, len(text))
				}
				text += o.Text
			}
		}
		if text != "Five files." || strings.Contains(strings.Join(spoken(all), ""), "Five files") {
			t.Errorf("the answer is %q, and is said as %q", text, spoken(all))
		}
	})
}

// TestPageProgress: how far the work is stands on the page, and is not a line of its own.
func TestPageProgress(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.begin("sess_1", "")
		s.login("ada")
		r := s.stream("/page/events?session=sess_1&from=1&after=evt_11", "@ada")
		defer r.close()
		r.frames(t)
		percent := 40.0
		s.room.tell("sess_1", aaep.ProgressUpdated{Progress: aaep.Progress{Percent: &percent}, SummaryNormal: "Deleting."})
		f := find(r.frames(t), "steps")
		if f.data.Progress != "40 percent done. Deleting." || f.data.HTML != "" {
			t.Errorf("found %+v", f)
		}
	})
}

// TestPageResume: a connection that breaks loses nothing and repeats nothing: what comes
// again has the same ids. So does a reload, where the page itself knows the last id.
func TestPageResume(t *testing.T) {
	for name, again := range map[string]func(s *scene, last string) *reader{
		"by the browser": func(s *scene, last string) *reader {
			return s.stream("/page/events?session=sess_1&from=1&after=evt_11&fresh=true", "@ada", "Last-Event-ID", last)
		},
		"by a reload": func(s *scene, last string) *reader {
			return s.stream("/page/events?session=sess_1&from=9&after="+last, "@ada")
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				whole, broken := newScene(t), newScene(t)
				answer := map[*scene][]string{}
				for _, s := range []*scene{whole, broken} {
					s.room.begin("sess_1", "tidy Downloads")
					s.login("ada")
					r := s.stream("/page/events?session=sess_1&from=1&after=evt_11", "@ada")
					s.room.tell("sess_1", aaep.ToolInvoked{Tool: "files.scan", SummaryNormal: "Looking through Downloads.", ToolCallID: "call_1"})
					last := s.room.tell("sess_1", aaep.ToolCompleted{Tool: "files.scan", Status: aaep.ToolSuccess, SummaryNormal: "Found 5 files.", ToolCallID: "call_1"})
					heard := r.frames(t)
					if s == broken {
						r.close()
					}
					s.room.ask("sess_1", 2, tokenA)
					s.room.settle("sess_1", 2, "accepted")
					s.room.tell("sess_1", aaep.SessionCompleted{SummaryNormal: "Five files are gone."})
					if s == broken {
						r = again(s, last)
					}
					heard = append(heard, r.frames(t)...)
					for _, f := range heard {
						if f.event == "earshot.announce" {
							answer[s] = append(answer[s], f.data.ID+" "+f.data.Text)
						}
					}
					r.close()
				}
				if a, b := strings.Join(answer[whole], "\n"), strings.Join(answer[broken], "\n"); a != b || len(answer[whole]) < 4 {
					t.Errorf("without a break:\n%s\nwith one:\n%s", a, b)
				}
			})
		})
	}
}

// TestPageFresh: who comes in the middle is told where things stand, once, with the open
// question; what is long past is not told line by line.
func TestPageFresh(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, func(o *web.Options) { o.Now = time.Now })
		s.room.begin("sess_1", "tidy Downloads")
		for range 20 {
			s.room.tell("sess_1", aaep.ToolInvoked{Tool: "files.scan", SummaryNormal: "Looking.", ToolCallID: "call_1"})
			s.room.tell("sess_1", aaep.ToolCompleted{Tool: "files.scan", Status: aaep.ToolSuccess, SummaryNormal: "Found.", ToolCallID: "call_1"})
		}
		last := s.room.ask("sess_1", 2, tokenA)
		s.login("ada")
		<-time.After(time.Minute)
		r := s.stream("/page/events?fresh=true&session=sess_1&from=42&after="+last, "@ada")
		defer r.close()
		<-time.After(5 * time.Second)
		answer := spoken(r.frames(t))
		t.Log(answer)
		if len(answer) == 0 || len(answer) > 3 || strings.Count(strings.Join(answer, "\n"), "uestion 2") == 0 {
			t.Errorf("said %q", answer)
		}
		<-time.After(time.Minute)
		if again := spoken(r.frames(t)); len(again) != 0 {
			t.Errorf("and then %q", again)
		}
	})
}

// TestPageComesAgain: a page that comes again gets all open questions as they are put, under the
// ids that the stream puts them under; each names its session where several ask. A page that is new
// is told them with the summary.
func TestPageComesAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.login("ada")
		open := func(target string) (all []got, questions []string) {
			t.Helper()
			r := s.stream(target, "@ada")
			defer r.close()
			all = r.frames(t)
			for _, q := range find(all, "open").data.Questions {
				questions = append(questions, q.ID+" "+q.Priority+" "+q.Kind+": "+q.Text)
			}
			return all, questions
		}
		s.room.begin("sess_1", "tidy Downloads")
		if all, questions := open("/page/events?after=evt_11"); names(all) != "questions sessions steps open" || len(questions) != 0 {
			t.Errorf("with nothing open: %s %q", names(all), questions)
		}
		s.room.ask("sess_1", 2, tokenA)
		if _, questions := open("/page/events?after=evt_12"); len(questions) != 1 ||
			!strings.HasPrefix(questions[0], "sess_1.evt_12.1 assertive question: Question 2: Delete 5 files") {
			t.Errorf("one is open: %q", questions)
		}
		s.room.begin("sess_2", "tidy Documents")
		s.room.ask("sess_2", 3, tokenB)
		if _, questions := open("/page/events?after=evt_22"); len(questions) != 2 ||
			!strings.Contains(questions[0], ": Question 2, tidy 1: ") || !strings.Contains(questions[1], ": Question 3, tidy 2: ") {
			t.Errorf("two are open: %q", questions)
		}
		if all, _ := open("/page/events?fresh=true&after=evt_22"); strings.Contains(names(all), "open") {
			t.Errorf("a new page gets %s", names(all))
		}
		s.room.change(func() { s.room.questions[0].Event = []byte(`{"no":"event"}`) })
		if _, questions := open("/page/events?after=evt_22"); len(questions) != 1 || !strings.Contains(questions[0], ": Question 3: ") {
			t.Errorf("one cannot be read: %q", questions)
		}
	})
}

// TestPageHeartbeat: a page hears a heartbeat every ten seconds, for as long as the hub answers.
func TestPageHeartbeat(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.login("ada")
		r := s.stream("/page/events?after=evt_11", "@ada")
		defer r.close()
		r.frames(t)
		for range 5 {
			<-time.After(10 * time.Second)
			if all := r.frames(t); names(all) != "heartbeat" {
				t.Errorf("heard %s", names(all))
			}
		}
		s.room.change(func() { s.room.hang = true })
		<-time.After(29 * time.Second)
		if all := r.frames(t); len(all) != 0 {
			t.Errorf("the hub does not answer, and the page hears %s", names(all))
		}
	})
}

// TestPageGroup: sessions that the page does not show are heard too; their lines are not
// placed among those of the one that it shows.
func TestPageGroup(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.begin("sess_1", "tidy Downloads")
		s.login("ada")
		r := s.stream("/page/events?session=sess_1&from=1&after=evt_11", "@ada")
		defer r.close()
		r.frames(t)
		s.room.begin("sess_2", "tidy Documents")
		all := r.frames(t)
		if find(all, "steps").event != "" || len(spoken(all)) != 1 || !strings.Contains(find(all, "sessions").data.HTML, "tidy, Documents") {
			t.Errorf("found %s: %q", names(all), spoken(all))
		}
		if where := find(all, "sessions").data.Where; !strings.HasPrefix(where, "2 sessions running. No question is open. You are looking at \u2068tidy, Downloads\u2069, ") {
			t.Errorf("where: %q", where)
		}
	})
}

// TestPageGone: a page that goes leaves no subscription behind.
func TestPageGone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.login("ada")
		r := s.stream("/page/events", "@ada")
		synctest.Wait()
		r.close()
		s.room.mu.Lock()
		defer s.room.mu.Unlock()
		for id, one := range s.room.subs {
			if !one.closed {
				t.Errorf("%s is still open", id)
			}
		}
		if len(s.room.subs) != 1 {
			t.Errorf("%d subscriptions", len(s.room.subs))
		}
	})
}

// TestPageRefused: a page that gets no subscription is told when to come back.
func TestPageRefused(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.login("ada")
	s.room.reject = &aaep.SubscriptionRejected{ReasonCode: aaep.ReasonRateLimit, ReasonMessage: "Too many.", RetryAfterSeconds: 9}
	w := s.do("GET", "/page/events", "@ada", "")
	if w.Code != 503 || w.Header().Get("Retry-After") != "9" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// TestListsThatThePageHas: a page that has just been made has the lists, so that only what has changed since is sent; a mark of other
// lists is none. That it is connected is said all the same.
func TestListsThatThePageHas(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.begin("sess_1", "tidy Downloads")
		s.login("ada")
		found := regexp.MustCompile(`data-lists="(.*?)"`).FindStringSubmatch(s.page("/", "@ada"))
		if len(found) != 2 || len(strings.Split(found[1], ".")) != 2 {
			t.Fatalf("the page names its lists as %q", found)
		}
		questions, sessions, _ := strings.Cut(found[1], ".")
		first := func(lists string) string {
			r := s.stream("/page/events?session=sess_1&from=1&after=evt_11&fresh=true&lists="+lists, "@ada")
			defer r.close()
			return strings.TrimSuffix(names(r.frames(t)), " announce")
		}
		for lists, want := range map[string]string{
			found[1]: "heartbeat", "": "questions sessions", "x": "questions sessions", sessions + "." + questions: "questions sessions",
			questions + ".x": "sessions", "x." + sessions: "questions",
		} {
			if got := first(lists); got != want {
				t.Errorf("with the lists %q: %s, want %s", lists, got, want)
			}
		}
		r := s.stream("/page/events?session=sess_1&from=1&after=evt_11&lists="+found[1], "@ada")
		defer r.close()
		if all := r.frames(t); names(all) != "heartbeat open" {
			t.Errorf("a page that comes again hears %s", names(all))
		}
		s.room.ask("sess_1", 1, tokenA)
		if all := r.frames(t); find(all, "questions").data.Open != 1 || find(all, "sessions").data.HTML == "" {
			t.Errorf("a question came: %s", names(all))
		}
		if got := first(found[1]); !strings.HasPrefix(got, "questions sessions") {
			t.Errorf("a question came after the page was made: %s", got)
		}
	})
}

// TestOneMarkForWhatComesAtOnce: a page that resumes can be sent thousands of events at once, most of which say nothing. One id ends them.
func TestOneMarkForWhatComesAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.begin("sess_1", "tidy Downloads")
		s.login("ada")
		r := s.stream("/page/events?after=evt_11&session=sess_1&from=1", "@ada")
		r.frames(t)
		r.close()
		percent := 10.0
		for range 40 {
			s.room.tell("sess_1", aaep.ProgressUpdated{Progress: aaep.Progress{Percent: &percent}, SummaryNormal: "Comparing."})
		}
		r = s.stream("/page/events?after=evt_11&session=sess_1&from=1", "@ada")
		defer r.close()
		all := r.frames(t)
		if n := strings.Count(names(all)+" ", " at "); n != 1 || all[len(all)-1].event != "earshot.at" || all[len(all)-1].id == "" {
			t.Errorf("it hears %s, the last with the id %q", names(all), all[len(all)-1].id)
		}
	})
}
