package browser_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// heat is how many questions are open together.
const heat = 5

// raceCount is how many questions are answered by everybody at once: twenty, with EARSHOT_SOAK=1 (make soak) two hundred.
func raceCount() int {
	const few, many = 20, 200
	if os.Getenv("EARSHOT_SOAK") != "" {
		return many
	}
	return few
}

// surface is somebody who answers a question at the same moment as the others. Answering, it
// says when its answer is on its way.
type surface struct {
	name   string
	wins   string // what the record says of a question that it was the first to answer
	answer func(n int, begun func()) error
}

// leaders is how many of the surfaces, the slowest first, begin race n: the others follow as
// soon as those have answers on their way. Left to themselves, the quickest would win them all.
func leaders(n int) int { return [...]int{4, 3, 2, 2}[n%4] }

// TestEverybodyAtOnce: two browsers, a terminal and another person's program answer the
// same question at the same moment, again and again. Each question has one resolution
// (and a no that follows a yes takes it back, which is no second one); who came second is
// told so; both pages hear how it ended, once, and by whom where that was somebody else. Each
// of the four wins the race in which its answer is on record before the others begin.
func TestEverybodyAtOnce(t *testing.T) {
	t.Parallel()
	races := raceCount()
	s := prepare(t, races)
	must(t, s.command("set", "undo-time", "30s").Run()) // the no that follows comes within it on any machine; a yes that stays is stopped below
	s.start()
	first, second := s.login(), s.login()
	waiting := map[int]*run{} // by question
	all := []surface{
		{"page", "page accepted", first.presses("accept")},
		{"another page", "page rejected", second.presses("reject")},
		{"terminal", "terminal accepted", func(n int, begun func()) error { return waiting[n].accepts(n, begun) }},
		{"program of bob", "bob rejected", s.another("bob")},
	}
	won := map[string]int{}
	for from := 1; from <= races; from += heat {
		sessions := map[int]string{} // by question
		for i := range heat {
			s.turn(from + i)
		}
		within(t, "the questions are open", func() (bool, error) {
			open := s.questions()
			for _, q := range open {
				sessions[q.Number] = q.Session
			}
			return len(open) == heat, fmt.Errorf("open are %d", len(open))
		})
		for _, b := range []*tab{first, second} {
			b.until(fmt.Sprintf(`document.querySelectorAll("[data-question]").length === %d`, heat))
			b.settled()
		}
		for n, session := range sessions {
			waiting[n] = s.attends(session)
		}
		for n := range sessions {
			waiting[n].asked()
		}
		for n := range sessions {
			atOnce(t, n, all)
			by, how := s.resolution(n, sessions[n])
			_, place, _ := strings.Cut(by, " ")
			won[place+" "+how]++
			if n <= len(all) && place+" "+how != all[n-1].wins {
				t.Errorf("question %d, which the %s answered before the others began, is %s by %s", n, all[n-1].name, how, by)
			}
			if how == "accepted" { // what it asked for need not be waited for
				s.api(http.MethodPost, "/api/v1/sessions/"+sessions[n]+"/stop", map[string]any{}, nil)
			}
			for _, b := range []*tab{first, second} {
				b.toldHow(n, how, by)
			}
		}
		for n, session := range sessions {
			s.ended(session)
			waiting[n].ends()
		}
	}
	t.Logf("who was first: %v", won)
	for n := range races {
		if !s.left(n + 1) {
			t.Errorf("folder %d has lost its duplicate: every question was rejected, or taken back", n+1)
		}
	}
}

// atOnce lets everybody answer a question at the same moment; of the first questions each has
// one who has heard that its answer is on record before the others begin.
func atOnce(t *testing.T, n int, all []surface) {
	t.Helper()
	if n <= len(all) {
		if err := all[n-1].answer(n, func() {}); err != nil {
			t.Errorf("question %d, %s, before the others: %v", n, all[n-1].name, err)
		}
		all = slices.Concat(all[:n-1], all[n:])
	}
	var ready, leading, done sync.WaitGroup
	begin := make(chan struct{})
	led := min(leaders(n), len(all))
	leading.Add(led)
	for i := range all {
		place := (i + n/4) % len(all)
		begun := func() {}
		if place < led {
			begun = sync.OnceFunc(leading.Done)
		}
		ready.Add(1)
		done.Go(func() {
			defer begun()
			ready.Done()
			<-begin
			if place >= led {
				leading.Wait()
			}
			if err := all[place].answer(n, begun); err != nil {
				t.Errorf("question %d, %s: %v", n, all[place].name, err)
			}
		})
	}
	ready.Wait()
	close(begin)
	done.Wait()
}

// presses is a person at a page, who hears what became of their answer: that it was
// taken, or that another came first.
func (b *tab) presses(act string) func(int, func()) error {
	return func(n int, begun func()) error {
		pressed, err := tryValue[bool](b, fmt.Sprintf(`(() => {
			const button = document.querySelector(%q);
			if (!button) return false; // answered elsewhere a moment ago: there is nothing to press
			document.getElementById("notice-text").textContent = "";
			button.click();
			return true;
		})()`, fmt.Sprintf(`form[action="/questions/%d/%s"] button`, n, act)))
		begun()
		if err != nil || !pressed {
			return err
		}
		told, err := tryValue[string](b, `(async () => {
			const notice = document.getElementById("notice-text");
			for (let tries = 0; tries < 9000 && !notice.textContent; tries++) await new Promise((done) => setTimeout(done, 20));
			return notice.textContent;
		})()`)
		if err != nil {
			return err
		}
		took := regexp.MustCompile(fmt.Sprintf(`^Recorded: (question %[1]d is (accepted|rejected)\.|the yes to question %[1]d is taken back\. Nothing was done\.)$`, n))
		late := regexp.MustCompile(fmt.Sprintf(`^Question %d( was (already )?(accepted|rejected|stopped)| is not open any more| is no longer asked|: question %[1]d was accepted)`, n))
		if !took.MatchString(told) && !late.MatchString(told) {
			return fmt.Errorf("the page says %q", told)
		}
		return nil
	}
}

// run is a person at the terminal of an attached run, who has been asked already. The start
// of a process for each answer would come too late to win any race.
type run struct {
	t     *testing.T
	cmd   *exec.Cmd
	input io.WriteCloser
	said  *written
	ended chan struct{}
}

// attends comes back to a session at a terminal.
func (s *server) attends(session string) *run {
	s.t.Helper()
	r := &run{t: s.t, cmd: s.command("run", "--resume", session, "--token-file", s.tokenFile()), said: new(written), ended: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = r.said, r.said
	input, err := r.cmd.StdinPipe()
	must(s.t, err)
	r.input = input
	must(s.t, r.cmd.Start())
	go func() {
		_ = r.cmd.Wait() // what it said counts
		close(r.ended)
	}()
	s.t.Cleanup(func() {
		_ = r.cmd.Process.Kill() // it may have ended
		<-r.ended
	})
	return r
}

// asked waits until the question has been shown.
func (r *run) asked() {
	r.t.Helper()
	within(r.t, "the terminal has been asked", func() (bool, error) {
		return strings.Contains(r.said.String(), "then press Enter."), fmt.Errorf("it said:\n%s", r.said)
	})
}

// accepts types the word and hears that it was recorded, or who was first.
func (r *run) accepts(n int, begun func()) error {
	_, err := io.WriteString(r.input, "accept\n")
	begun()
	if err != nil && !errors.Is(err, os.ErrClosed) && !errors.Is(err, syscall.EPIPE) { // it was told before it could say a word, and has ended
		return err
	}
	told := regexp.MustCompile(fmt.Sprintf(`Recorded: question %[1]d is accepted\.|(Question %[1]d was|You) (accepted|rejected|stopped)|No question is open\.`, n))
	for {
		text, news := r.said.now()
		if told.MatchString(strings.Join(strings.Fields(text), " ")) {
			return nil
		}
		select {
		case <-news:
		case <-r.ended:
			if text, _ = r.said.now(); told.MatchString(strings.Join(strings.Fields(text), " ")) {
				return nil
			}
			return fmt.Errorf("the terminal has ended without a word on it:\n%s", text)
		case <-r.t.Context().Done():
			return r.t.Context().Err()
		}
	}
}

func (r *run) ends() {
	r.t.Helper()
	within(r.t, "the run has ended", func() (bool, error) {
		select {
		case <-r.ended:
			return true, nil
		default:
			return false, fmt.Errorf("it said:\n%s", r.said)
		}
	})
}

// another is another person, who may approve here, with a program of their own.
func (s *server) another(person string) func(int, func()) error {
	s.t.Helper()
	owner := regexp.MustCompile(`"person": *"([^"]+)"`)
	raw, err := os.ReadFile(filepath.Join(s.data, "server.json"))
	must(s.t, err)
	out, err := exec.CommandContext(s.t.Context(), program, "token", "add", person, "--data", s.data, "--role", "approver", "--owner", string(owner.FindSubmatch(raw)[1])).CombinedOutput()
	if err != nil {
		s.t.Fatalf("token add: %v: %s", err, out)
	}
	token := regexp.MustCompile(`earshot_[\w-]{40,}`).FindString(string(out))
	return func(n int, _ func()) error {
		request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, fmt.Sprintf("%s/api/v1/questions/%d/reply", s.url, n), strings.NewReader(`{"decision":"reject"}`))
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		switch response.StatusCode {
		case http.StatusOK, http.StatusConflict, http.StatusNotFound:
			return nil
		}
		return fmt.Errorf("the program gets %s", response.Status)
	}
}

// resolution reads from the record by whom and how a question ended, and demands that it
// did so once.
func (s *server) resolution(n int, session string) (by, how string) {
	s.t.Helper()
	ends := 0
	within(s.t, fmt.Sprintf("question %d has ended", n), func() (bool, error) {
		ends = 0
		for _, line := range s.events(session) {
			var e struct {
				Extensions struct {
					Earshot struct {
						Question   int    `json:"question"`
						Resolution string `json:"resolution"`
						By         string `json:"by"`
						Surface    string `json:"surface"`
					} `json:"earshot"`
				} `json:"extensions"`
			}
			must(s.t, json.Unmarshal([]byte(line), &e))
			if ours := e.Extensions.Earshot; ours.Question == n && (ours.Resolution == "accepted" || ours.Resolution == "rejected") {
				ends++
				by, how = ours.By+" "+ours.Surface, ours.Resolution
			}
		}
		return ends > 0, nil
	})
	if ends != 1 {
		s.t.Errorf("question %d has %d resolutions", n, ends)
	}
	return by, how
}

// toldHow waits until a page has said how a question ended, and demands that it did so
// once and took the question away.
func (b *tab) toldHow(n int, how, by string) {
	b.t.Helper()
	tone := map[string]string{"accepted": "assertive", "rejected": "polite"}[how] // a yes can be taken back for some seconds
	want := fmt.Sprintf("%s: Recorded: question %d is %s.", tone, n, how)
	switch person, place, _ := strings.Cut(by, " "); {
	case person == "bob":
		want = fmt.Sprintf("assertive: Question %d was %s by bob", n, how)
	case place != "page":
		want = fmt.Sprintf("%s: You %s question %d ", tone, how, n)
	}
	count := func() int {
		told := 0
		for _, line := range b.said() {
			if strings.HasPrefix(line, want) {
				told++
			}
		}
		return told
	}
	within(b.t, "a page has said: "+want, func() (bool, error) { return count() > 0, fmt.Errorf("said: %q", b.said()) })
	if n := count(); n != 1 {
		b.t.Errorf("a page has said %d times: %s", n, want)
	}
	b.until(fmt.Sprintf(`!document.getElementById("question-%d")`, n))
}
