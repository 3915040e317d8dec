package terminal_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

var update = flag.Bool("update", false, "rewrite the expected screens in testdata; read the diff before keeping it")

// TestScenarios plays every testdata/*.script at 80 and at 40 columns and
// compares the whole screen. In a script a line is one of
//
//	event TYPE {members}   at, session and urgency may be among the members
//	type WORDS             a line of input
//	keys TEXT              keys that are pressed, with Go's escapes
//	wait 2s                time passes, second by second
//	ok | fail TEXT         the end of the oldest request
//	rested [TEXT]          the end of the agent's turn, with an error or without
//	page 1/5 100 VALUE;…   the same, for a list
//	means TEXT             the same, for what a standing permission would mean
//	permissions JSON       the same, for standing permissions
//	end | close            end of input, end of events
//	piped                  first line only: input is a pipe
//	keyed                  first line only: every key comes by itself
//	prompts                first line only, alone or after piped: the agent takes requests
//	permits                the same: standing permissions can be given
//	single                 the same: one question at a time
//	away                   the same: the connection is lost
//
// On the screen "|" is narration, "?" the prompt, ">" keys that are shown, "!" what else is done.
func TestScenarios(t *testing.T) {
	t.Parallel()

	scripts, err := filepath.Glob("testdata/*.script")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}

	for _, script := range scripts {
		for _, width := range []int{80, 40} {
			golden := fmt.Sprintf("%s.%d.txt", strings.TrimSuffix(script, ".script"), width)
			t.Run(filepath.Base(golden), func(t *testing.T) {
				t.Parallel()

				got := play(t, script, width)

				if *update {
					if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
						t.Fatal(err)
					}
				}

				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}

				if got != string(want) {
					t.Errorf("the screen differs from %s (-update rewrites it):\n%s", golden, got)
				}
			})
		}
	}
}

func play(t *testing.T, script string, width int) string {
	t.Helper()

	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}

	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	p := &player{t: t, width: width, now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}
	settings := terminal.Settings{Width: width, Zone: time.UTC, Person: "ada", Typed: true}

	if header := strings.Fields(lines[0]); isHeader(header) {
		settings.Typed, settings.Keys = !slices.Contains(header, "piped"), slices.Contains(header, "keyed")
		settings.Prompts, settings.Permits = slices.Contains(header, "prompts"), slices.Contains(header, "permits")
		settings.OneQuestion = slices.Contains(header, "single")
		settings.Away = func() bool { return slices.Contains(header, "away") }
	}

	p.terminal = terminal.New(settings)

	for _, line := range lines {
		p.out.WriteString(line + "\n")

		if !isHeader(strings.Fields(line)) && !strings.HasPrefix(line, "#") {
			p.play(line)
		}
	}

	return p.out.String()
}

// isHeader reports whether a line only says what kind of terminal it is, or is empty.
func isHeader(words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool {
		return word != "piped" && word != "keyed" && word != "prompts" && word != "permits" && word != "single" && word != "away"
	})
}

// player plays one script.
type player struct {
	t        *testing.T
	width    int
	terminal *terminal.Terminal
	now      time.Time
	events   int
	sent     []int
	prompt   int // the request that the agent works on
	out      strings.Builder
}

func (p *player) play(line string) {
	p.t.Helper()

	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "event":
		p.show(p.terminal.Event(p.now, p.event(rest)))
	case "type":
		p.show(p.terminal.Line(p.now, rest))
	case "keys":
		p.show(p.terminal.Keys(p.now, []byte(unescaped(p.t, rest))))
	case "ok":
		p.show(p.terminal.Result(p.now, terminal.Result{ID: p.oldest()}))
	case "fail":
		p.show(p.terminal.Result(p.now, terminal.Result{ID: p.oldest(), Err: errors.New(rest)}))
	case "rested":
		r := terminal.Result{ID: p.prompt}
		if rest != "" {
			r.Err = errors.New(rest)
		}

		p.show(p.terminal.Result(p.now, r))
	case "page":
		p.show(p.terminal.Result(p.now, terminal.Result{ID: p.oldest(), Page: p.page(rest)}))
	case "means":
		p.show(p.terminal.Result(p.now, terminal.Result{ID: p.oldest(), Proposed: terminal.Proposed{Asked: api.Standing{Uses: 20}, Means: rest}}))
	case "permissions":
		p.show(p.terminal.Result(p.now, terminal.Result{ID: p.oldest(), Permissions: p.permissions(rest)}))
	case "wait":
		p.wait(rest)
	case "end":
		p.show(p.terminal.EndInput(p.now))
	case "close":
		p.show(p.terminal.Close(p.now))
	default:
		p.t.Fatalf("unknown line %q", line)
	}
}

// wait lets time pass the way a shell does: tick by tick, at the times asked for.
func (p *player) wait(text string) {
	p.t.Helper()

	d, err := time.ParseDuration(text)
	if err != nil {
		p.t.Fatal(err)
	}

	until := p.now.Add(d)

	for {
		wake := p.terminal.Wake()
		if wake.IsZero() || wake.After(until) {
			break
		}

		if wake.After(p.now) {
			p.now = wake
		}

		p.show(p.terminal.Tick(p.now))

		if again := p.terminal.Wake(); !again.IsZero() && !again.After(p.now) {
			p.t.Fatalf("Tick left something undone: %v", again)
		}
	}

	p.now = until
}

func (p *player) oldest() int {
	p.t.Helper()

	if len(p.sent) == 0 {
		p.t.Fatal("no request is under way")
	}

	id := p.sent[0]
	p.sent = p.sent[1:]

	return id
}

func (p *player) page(text string) terminal.Page {
	p.t.Helper()

	var page terminal.Page

	head, items, _ := strings.Cut(text, " ")
	total, items, _ := strings.Cut(items, " ")

	if _, err := fmt.Sscanf(head+" "+total, "%d/%d %d", &page.Number, &page.Pages, &page.Total); err != nil {
		p.t.Fatal(err)
	}

	for item := range strings.SplitSeq(items, ";") {
		value, note, _ := strings.Cut(item, "=")
		if value != "" {
			page.Items = append(page.Items, terminal.Item{Value: unescaped(p.t, value), Note: note})
		}
	}

	return page
}

func (p *player) permissions(text string) (all []api.StandingPermission) {
	p.t.Helper()

	if err := json.Unmarshal([]byte(text), &all); err != nil {
		p.t.Fatal(err)
	}

	return all
}

// unescaped lets a script write what cannot be seen.
func unescaped(t *testing.T, text string) string {
	t.Helper()

	plain, err := strconv.Unquote(`"` + text + `"`)
	if err != nil {
		t.Fatal(err)
	}

	return plain
}

func (p *player) event(text string) aaep.Event {
	p.t.Helper()

	name, members, _ := strings.Cut(text, " ")

	kind := name
	if !strings.Contains(name, ":") {
		kind = "aaep:agent." + name
	}

	p.events++

	event := map[string]any{
		"@context": []string{aaep.CoreContext, aaep.ExtensionContext}, "type": kind,
		"event_id": "evt_" + strconv.Itoa(p.events), "session_id": "sess_1",
		"timestamp": aaep.FormatTime(p.now), "producer": map[string]string{"agent_id": "test"},
	}
	if m, ok := aaep.Lookup(kind); ok && m.Critical != "" {
		event["urgency"] = "critical"
	}

	if err := json.Unmarshal([]byte(members), &event); err != nil {
		p.t.Fatalf("%s: %v", members, err)
	}

	raw, err := json.Marshal(event)
	if err != nil {
		p.t.Fatal(err)
	}

	decoded, err := aaep.DecodeEvent(raw)
	if err != nil {
		p.t.Fatalf("%s: %v", raw, err)
	}

	return decoded
}

func (p *player) show(effects []terminal.Effect) {
	p.t.Helper()

	for _, effect := range effects {
		switch e := effect.(type) {
		case terminal.Print:
			mark := map[terminal.Stream]string{terminal.Narration: "|", terminal.Prompt: "?"}[e.Stream]
			for _, line := range e.Lines {
				p.out.WriteString(strings.TrimRight("  "+mark+" "+visible(line), " ") + "\n")
			}
		case terminal.Echo:
			p.out.WriteString("  > " + strconv.Quote(visible(e.Text)) + "\n")
		case terminal.Flush:
			p.out.WriteString("  ! flush\n")
		case terminal.InputEnded:
			p.out.WriteString("  ! input ended\n")
		case terminal.Send:
			if _, is := e.Request.(terminal.AgentPrompt); is {
				p.prompt = e.ID
			} else {
				p.sent = append(p.sent, e.ID)
			}

			p.out.WriteString("  ! send " + requestText(e.Request) + "\n")
		}
	}
}

func requestText(request terminal.Request) string {
	switch r := request.(type) {
	case terminal.Answer:
		text := string(r.Decision)
		if r.Decision == "" {
			raw, err := r.Response.MarshalJSON()
			text = string(raw)

			if err != nil {
				text = err.Error()
			}
		}

		if r.Standing != nil {
			text += fmt.Sprintf(", and %d uses", r.Standing.Uses)
		}

		return fmt.Sprintf("answer %d %s %s", r.Question, r.Token, text)
	case terminal.Proposal:
		return fmt.Sprintf("proposal %d %s %+v", r.Question, r.Token, r.Standing)
	case terminal.ListPermissions:
		return "permissions"
	case terminal.Revoke:
		return fmt.Sprintf("revoke %d", r.Number)
	case terminal.Extend:
		return fmt.Sprintf("extend %d %s", r.Question, r.Token)
	case terminal.Stop:
		return "stop"
	case terminal.Undo:
		return fmt.Sprintf("undo %d", r.Question)
	case terminal.PageRequest:
		return fmt.Sprintf("page %d of %d", r.Page, r.Question)
	case terminal.AgentPrompt:
		return fmt.Sprintf("prompt %q", r.Text)
	default:
		return "?"
	}
}

// visible shows the isolates on a golden screen.
func visible(line string) string {
	return strings.NewReplacer("\u2066", "⟨", "\u2067", "⟨", "\u2068", "⟨", "\u2069", "⟩").Replace(line)
}
