package acp_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/gateway/acp"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
)

// session is an agent's session whose modes are these; the first is the current one.
func session(modes ...string) acp.Opened {
	list := &acp.ModeList{}
	for _, id := range modes {
		list.Available = append(list.Available, acp.Mode{ID: id, Name: strings.ToUpper(id[:1]) + id[1:]})
	}
	if len(modes) > 0 {
		list.Current = modes[0]
	}
	return acp.Opened{Session: "s1", Modes: list}
}

// written writes effects, one on a line.
func written(effects []acp.Effect) string {
	var lines []string
	for _, e := range effects {
		switch e := e.(type) {
		case acp.Report:
			if e.Text != "" {
				lines = append(lines, fmt.Sprintf("text %q", e.Text))
				continue
			}
			lines = append(lines, "report "+e.Observed)
		case acp.Ask:
			lines = append(lines, fmt.Sprintf("ask %s: %s %s", e.Request, e.Permission.Tool, e.Permission.Input))
		case acp.Reply:
			option := e.Option
			if option == "" {
				option = "cancelled"
			}
			lines = append(lines, fmt.Sprintf("reply %s: %s", e.Request, option))
		case acp.SetMode:
			lines = append(lines, strings.TrimSpace("set mode "+e.Mode+" "+e.Setting))
		case acp.Send:
			lines = append(lines, "send "+e.Text)
		case acp.Cancel:
			lines = append(lines, "cancel")
		case acp.Ready:
			lines = append(lines, "ready")
		case acp.End:
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("end %s %s", e.Result.Status, e.Reason)))
		}
	}
	return strings.Join(lines, "\n")
}

// same compares effects with lines.
func same(t *testing.T, what string, effects []acp.Effect, want ...string) {
	t.Helper()
	if got := written(effects); got != strings.Join(want, "\n") {
		t.Errorf("%s: found\n%s\nexpected\n%s", what, got, strings.Join(want, "\n"))
	}
}

// machine is one of an agent that asks, with a request to work on.
func machine(t *testing.T) *acp.Machine {
	t.Helper()
	m := acp.NewMachine(acp.Settings{Agent: "claude"})
	m.Opened(session("default", "plan", "acceptEdits", "bypassPermissions"))
	m.Prompt("Do it.")
	if m.CanPrompt() {
		t.Fatal("it takes a second request while it works")
	}
	return m
}

func update(kind, rest string) jsontext.Value {
	if rest != "" {
		rest = "," + rest
	}
	return jsontext.Value(`{"sessionId":"s1","update":{"sessionUpdate":"` + kind + `"` + rest + `}}`)
}

const usual = `[{"optionId":"always","name":"Always","kind":"allow_always"},{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]`

func request(call, options string) jsontext.Value {
	return jsontext.Value(`{"sessionId":"s1","toolCall":` + call + `,"options":` + options + `}`)
}

// TestModes: the agent works in a mode in which it asks, or in one that the person has named, and in no other.
func TestModes(t *testing.T) {
	t.Parallel()
	refused := func(reason string) []string {
		return []string{"report It is refused, because " + reason + ".", "end failed the agent is refused, because " + reason}
	}
	for _, tt := range []struct {
		name     string
		settings acp.Settings
		opened   acp.Opened
		want     []string
	}{
		{"it asks", acp.Settings{Agent: "gemini"}, session("default", "yolo"), []string{"report Its mode is default: it asks before it uses tools.", "ready"}},
		{"it does not ask", acp.Settings{Agent: "claude"}, session("auto", "default"), []string{"set mode default"}},
		{"it plans", acp.Settings{Agent: "claude"}, session("plan", "default"), []string{"set mode default"}},
		{"codex", acp.Settings{Agent: "codex"}, session("auto", "read-only", "full-access"), []string{"set mode read-only"}},
		{"none of its modes asks", acp.Settings{Agent: "claude"}, session("auto", "bypassPermissions"), refused("none of its modes is known as one in which it asks before it acts; it names auto, bypassPermissions")},
		{"an agent that nobody has reviewed", acp.Settings{Agent: "goose"}, session("default"), refused("none of its modes is known as one in which it asks before it acts; it names default")},
		{"qwen", acp.Settings{Agent: "qwen"}, session("auto", "default", "yolo"), []string{"set mode default"}},
		{"opencode, with the mode that it was given", acp.Settings{Agent: "opencode"}, session("build", "earshot", "plan"), []string{"set mode earshot"}},
		{"opencode, without it", acp.Settings{Agent: "opencode"}, session("build", "plan"), refused("none of its modes is known as one in which it asks before it acts; it names build, plan")},
		{"no modes", acp.Settings{Agent: "claude"}, session(), refused("it names no modes, so that nobody can tell whether it asks before it acts")},
		{"no modes, allowed", acp.Settings{Agent: "goose", AllowedMode: acp.NoMode}, acp.Opened{}, []string{"report It names no modes: nobody can tell whether it asks before it acts. You have allowed that.", "ready"}},
		{"named by the person", acp.Settings{Agent: "claude", AllowedMode: "auto"}, session("default", "auto"), []string{"set mode auto"}},
		{"named, and current", acp.Settings{Agent: "claude", AllowedMode: "auto"}, session("auto", "default"), []string{"report Its mode is auto: it may act without asking, and you have allowed this mode.", "ready"}},
		{"named, and not there", acp.Settings{Agent: "claude", AllowedMode: "yolo"}, session("default"), refused(`it has no mode "yolo"; it names default`)},
		{"none named, and it has some", acp.Settings{Agent: "claude", AllowedMode: acp.NoMode}, session("auto"), refused(`it has no mode "none"; it names auto`)},
		{
			"a setting",
			acp.Settings{Agent: "claude"},
			acp.Opened{Options: []acp.ConfigOption{
				{ID: "model", Category: "model", Current: jsontext.Value(`"default"`)},
				{ID: "m", Category: "mode", Current: jsontext.Value(`"auto"`), Options: jsontext.Value(`[{"value":"auto"},{"name":"Careful","options":[{"value":"default","name":"Ask"}]}]`)},
			}},
			[]string{"set mode default m"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			same(t, "opened", acp.NewMachine(tt.settings).Opened(tt.opened), tt.want...)
		})
	}
}

// TestModeIsVerified: before the mode is set, nothing can be requested; an agent that does not take it is refused.
func TestModeIsVerified(t *testing.T) {
	t.Parallel()
	m := acp.NewMachine(acp.Settings{Agent: "claude"})
	m.Opened(session("auto", "default"))
	same(t, "too early", m.Prompt("Do it."))
	same(t, "set", m.ModeSet("default", nil), "report Its mode is default: it asks before it uses tools.", "ready")

	m = acp.NewMachine(acp.Settings{Agent: "claude"})
	m.Opened(session("auto", "default"))
	const why = "its mode could not be set to default: not now"
	same(t, "not set", m.ModeSet("default", errors.New("not now")), "report It is refused, because "+why+".", "end failed the agent is refused, because "+why)
	same(t, "after it", m.Prompt("Do it."))
}

// TestModeChanges: a change to a mode that asks is told; another one ends what the agent does.
func TestModeChanges(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		update jsontext.Value
		want   []string
	}{
		"the same":          {update("current_mode_update", `"currentModeId":"default"`), nil},
		"one that asks":     {update("current_mode_update", `"currentModeId":"plan"`), []string{"report Its mode has changed to plan: it plans, and changes nothing."}},
		"another option":    {update("config_option_update", `"configOptions":[{"id":"model","currentValue":"acceptEdits"}]`), nil},
		"by an option":      {update("config_option_update", `"configOptions":[{"id":"mode","currentValue":"plan"}]`), []string{"report Its mode has changed to plan: it plans, and changes nothing."}},
		"one that does not": {update("current_mode_update", `"currentModeId":"acceptEdits"`), refusedMidway("its mode has changed to acceptEdits: it may act without asking")},
		"an unknown one":    {update("current_mode_update", `"currentModeId":"new"`), refusedMidway("its mode has changed to new: it may act without asking")},
		"none":              {update("current_mode_update", ""), refusedMidway("its mode has changed to not known: it may act without asking")},
		"not a text":        {update("config_option_update", `"configOptions":[{"id":"mode","currentValue":7}]`), refusedMidway("its mode has changed to not known: it may act without asking")},
		"unreadable":        {update("current_mode_update", `"currentModeId":7`), refusedMidway("its mode has changed, and the message cannot be read")},
	} {
		m := machine(t)
		m.Permission("1", request(`{"toolCallId":"t1","title":"ls"}`, usual))
		same(t, name, m.Update(tt.update), tt.want...)
	}
}

func refusedMidway(reason string) []string {
	return []string{"report It is refused, because " + reason + ".", "cancel", "reply 1: cancelled", "end failed the agent is refused, because " + reason}
}

// TestPermission: what is asked is all that the agent shows, and the answer selects a single use or nothing.
func TestPermission(t *testing.T) {
	t.Parallel()
	const call = `{"toolCallId":"t1","title":"ls -l","kind":"execute","rawInput":{"n":12345678901234567890,"command":"ls -l"}}`
	const asks = `ask 1: execute {"title":"ls -l","input":{"n":12345678901234567890,"command":"ls -l"}}`
	yes, no := hook.Answer{Verdict: hook.Allow}, hook.Answer{}
	for _, tt := range []struct {
		name    string
		request jsontext.Value
		asked   string
		answer  hook.Answer
		want    string
	}{
		{"yes", request(call, usual), asks, yes, "reply 1: yes"},
		{"no", request(call, usual), asks, no, "reply 1: no"},
		{"no, and no option for it", request(call, `[{"optionId":"yes","kind":"allow_once"}]`), asks, no, "reply 1: cancelled"},
		{
			"a rule that allows a look",
			request(`{"toolCallId":"t1","title":"notes.txt","kind":"read","rawInput":{"path":"notes.txt"}}`, usual),
			`ask 1: read {"title":"notes.txt","input":{"path":"notes.txt"}}`,
			hook.Answer{Verdict: hook.NoDecision},
			"report The policy lets it do this without asking you: notes.txt\nreply 1: yes",
		},
		{
			"a rule that allows more, and nobody was asked",
			request(call, usual), asks,
			hook.Answer{Verdict: hook.NoDecision},
			"reply 1: no",
		},
		{
			"always alone", request(call, `[{"optionId":"always","kind":"allow_always"},{"optionId":"no","kind":"reject_once"}]`),
			"report It asks for a permission, but offers no way to allow it once, and is told no: ls -l\nreply 1: no", yes, "",
		},
		{
			"two ways", request(call, `[{"optionId":"a","name":"Here","kind":"allow_once"},{"optionId":"b","name":"There","kind":"allow_once"}]`),
			"report It asks for a permission, but offers several ways to allow it once (Here, There), and is told no: ls -l\nreply 1: cancelled", yes, "",
		},
		{
			"a title alone", request(`{"toolCallId":"t1","title":"ls -l","kind":"execute","rawInput":{}}`, usual),
			`ask 1: execute {"title":"ls -l","details":"The agent does not show the details."}`, yes, "reply 1: yes",
		},
		{
			"what is about the request", request(`{"toolCallId":"t1","title":"ls","kind":"execute","rawInput":{"call_id":"c","command":["ls"],"turn_id":"t"}}`, usual),
			`ask 1: execute {"title":"ls","input":{"command":["ls"]},"request":{"call_id":"c","turn_id":"t"}}`, yes, "reply 1: yes",
		},
		{
			"nothing else", request(`{"toolCallId":"t1","title":"ls","kind":"execute","rawInput":{"call_id":"c"}}`, usual),
			`ask 1: execute {"title":"ls","input":{"call_id":"c"}}`, yes, "reply 1: yes",
		},
		{
			"a text as input", request(`{"toolCallId":"t1","title":"ls","kind":"execute","rawInput":"ls"}`, usual),
			`ask 1: execute {"title":"ls","input":"ls"}`, yes, "reply 1: yes",
		},
		{
			"no kind", request(`{"toolCallId":"t1","title":"ls -l"}`, usual),
			`ask 1: other {"title":"ls -l","details":"The agent does not show the details."}`, yes, "reply 1: yes",
		},
		{
			"a change", request(`{"toolCallId":"t1","title":"Edit","kind":"edit","locations":[{"path":"/w/a","line":3}],`+
				`"content":[{"type":"diff","path":"/w/a","oldText":"one\ntwo\n","newText":"one\n2\n3\n"},{"type":"content","content":{"type":"text","text":"Sure?"}}]}`, usual),
			`ask 1: edit {"title":"Edit","details":"The agent does not show the details.","changes":["It changes /w/a: 2 lines added, 1 removed"],` +
				`"locations":[{"path":"/w/a","line":3}],"text":["Sure?"],"files":[{"path":"/w/a","before":"one\ntwo\n","after":"one\n2\n3\n"}]}`, yes, "reply 1: yes",
		},
		{
			"the same name twice", request(`{"toolCallId":"t1","rawInput":{"a":1,"a":2}}`, usual),
			"", yes, "",
		},
		{
			"two options with one id", request(call, `[{"optionId":"a","kind":"allow_once"},{"optionId":"a","kind":"reject_once"}]`),
			"report It asks for a permission in a way that cannot be read (two of its options have the same id), and is told no.\nreply 1: cancelled", yes, "",
		},
		{"no call", request(`{}`, usual), "report It asks for a permission in a way that cannot be read (it names no tool call), and is told no.\nreply 1: cancelled", yes, ""},
		{"not what it should be", jsontext.Value(`[]`), "", yes, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := machine(t)
			got := written(m.Permission("1", tt.request))
			if tt.asked == "" { // the reader's own words
				if !strings.Contains(got, "is told no") || !strings.HasSuffix(got, "reply 1: cancelled") {
					t.Errorf("found %s", got)
				}
			} else if got != tt.asked {
				t.Errorf("asked: found\n%s\nexpected\n%s", got, tt.asked)
			}
			same(t, "answered", m.Answered("1", tt.answer), lines(tt.want)...)
			same(t, "answered again", m.Answered("1", yes))
		})
	}
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// TestPermissionKnowsMore: what the agent showed before counts as shown.
func TestPermissionKnowsMore(t *testing.T) {
	t.Parallel()
	m := machine(t)
	m.Update(update("tool_call", `"toolCallId":"t1","title":"Run","kind":"execute","rawInput":{"command":"ls"},"status":"pending"`))
	same(t, "asked", m.Permission("1", request(`{"toolCallId":"t1","title":"Run ls"}`, usual)), `ask 1: execute {"title":"Run ls","input":{"command":"ls"}}`)
}

// TestManyCalls: an agent that never ends its calls does not fill the memory, and a question about one that was forgotten is answered.
func TestManyCalls(t *testing.T) {
	t.Parallel()
	m := machine(t)
	m.Permission("1", request(`{"toolCallId":"t1","title":"ls"}`, usual))
	for i := range 3000 {
		m.Update(update("tool_call", fmt.Sprintf(`"toolCallId":"u%d","title":"ls","status":"in_progress"`, i)))
	}
	same(t, "answered", m.Answered("1", hook.Answer{Verdict: hook.NoDecision}), "reply 1: no")
	if n := strings.Count(written(m.Stop()), "ls"); n > 1000 {
		t.Errorf("found %d calls", n)
	}
}

// TestStop: a stop cancels what is asked and what is done, and tells what had begun. Nothing is told after it.
func TestStop(t *testing.T) {
	t.Parallel()
	m := machine(t)
	m.Update(update("tool_call", `"toolCallId":"t1","title":"make","status":"in_progress"`))
	m.Permission("1", request(`{"toolCallId":"t2","title":"rm"}`, usual))
	same(t, "stop", m.Stop(), "report It is told to stop. Begun, and not known to have ended: make.", "cancel", "reply 1: cancelled")
	same(t, "again", m.Stop())
	same(t, "stopped", m.Stopped())
	same(t, "an answer", m.Answered("1", hook.Answer{Verdict: hook.Allow}))
	same(t, "a question", m.Permission("2", request(`{"toolCallId":"t3","title":"rm"}`, usual)), "reply 2: cancelled")
	same(t, "text", m.Update(update("agent_message_chunk", `"content":{"type":"text","text":"I stop."}`)))
	same(t, "the end of the tool", m.Update(update("tool_call_update", `"toolCallId":"t1","status":"failed"`)))
	same(t, "rest", m.Rested("cancelled", nil))
	if got := m.Account(); got != "When the agent was stopped, it had begun: make (the agent says that it failed since)." {
		t.Errorf("found %s", got)
	}
}

// TestStopAfterYes: what a person has allowed counts as begun, whether the agent says so or not.
func TestStopAfterYes(t *testing.T) {
	t.Parallel()
	m := machine(t)
	m.Permission("1", request(`{"toolCallId":"t2","title":"rm -r build"}`, usual))
	m.Answered("1", hook.Answer{Verdict: hook.Allow})
	same(t, "stopped elsewhere", m.Stopped(), "cancel")
	if got := m.Account(); got != "When the agent was stopped, it had begun: rm -r build (not known to have ended)." {
		t.Errorf("found %s", got)
	}
}

// TestEnd: the session ends with the last request, with the agent, or with Earshot.
func TestEnd(t *testing.T) {
	t.Parallel()
	m := machine(t)
	same(t, "no further request", m.LastPrompt())
	same(t, "rest", m.Rested("max_tokens", nil), "report It has ended its turn early, because its limit of tokens is reached.", "ready", "end success")
	same(t, "after it", m.Permission("1", request(`{"toolCallId":"t1"}`, usual)), "reply 1: cancelled")
	same(t, "and after it", m.Update(update("agent_message_chunk", `"content":{"type":"text","text":"Hello"}`)))

	m = machine(t)
	m.Permission("1", request(`{"toolCallId":"t1"}`, usual))
	same(t, "gone", m.AgentEnded("exit status 1"), "report It has ended unexpectedly.", "cancel", "reply 1: cancelled", "end failed the agent has ended: exit status 1")

	m = machine(t)
	m.Permission("1", request(`{"toolCallId":"t1"}`, usual))
	same(t, "lost", m.Lost("no answer"), "cancel", "reply 1: cancelled", "end failed Earshot could not be told what the agent does, so the agent was ended: no answer")

	m = machine(t)
	same(t, "an error", m.Rested("", errors.New("no credit")), "report It could not do that: no credit.", "ready")
	same(t, "idle", m.LastPrompt(), "end success")
}

// TestTold: what is told of an agent's work, update by update.
func TestTold(t *testing.T) {
	t.Parallel()
	m := machine(t)
	for _, tt := range []struct{ kind, rest, want string }{
		{"agent_message_chunk", `"content":{"type":"text","text":"I look.\n"}`, `text "I look.\n"`},
		{"agent_message_chunk", `"content":{"type":"image","data":"AA==","mimeType":"image/png"}`, `text "[an image]"`},
		{"agent_thought_chunk", `"content":{"type":"text","text":"Hm."}`, ""},
		{"available_commands_update", `"availableCommands":[]`, ""},
		{"something_new", `"content":{"type":"text","text":"?"}`, ""},
		{"tool_call", `"toolCallId":"t1","title":"Terminal","kind":"execute","status":"pending","rawInput":{}`, ""},
		{"tool_call_update", `"toolCallId":"t1","title":"ls","rawInput":{"command":"ls"}`, ""},
		{"tool_call_update", `"toolCallId":"t1","status":"in_progress"`, "report It begins: ls."},
		{"tool_call_update", `"toolCallId":"t1","status":"in_progress","content":[]`, ""},
		{"tool_call_update", "\"toolCallId\":\"t1\",\"status\":\"completed\",\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"```console\\na.txt\\nb.txt\\n```\"}}]", "report Done: ls. Its output: a.txt\nb.txt"},
		{"tool_call_update", `"toolCallId":"t1","status":"completed"`, ""},
		{"tool_call", `"toolCallId":"t2","title":"Write note","kind":"edit","status":"completed","content":[{"type":"diff","path":"note","newText":"one\ntwo"}]`, "report Done: Write note. It writes note, with 2 lines."},
		{"tool_call", `"toolCallId":"t3","title":"Edit note.","status":"failed","content":[{"type":"diff","path":"note","oldText":"one\n","newText":""},{"type":"content","content":{"type":"text","text":"not found"}}]`, "report Failed: Edit note. It changes note: 1 line removed. Its output: not found"},
		{"plan", `"entries":[{"content":"Read it.","status":"pending","priority":"high"},{"content":"Change it","status":"pending","priority":"low"}]`, "report Plan: 2 steps. 1: Read it. 2: Change it."},
		{"plan", `"entries":[{"content":"Read it.","status":"completed"},{"content":"Change it","status":"in_progress"}]`, "report Plan: 2 steps, 1 done. Now: Change it."},
		{"plan", `"entries":[{"content":"Read it.","status":"completed"},{"content":"Change it","status":"in_progress"}]`, ""},
		{"plan", `"entries":[{"content":"Read it.","status":"completed"},{"content":"Change it","status":"in_progress"},{"content":"Test it","status":"pending"}]`, "report Plan: 3 steps, 1 done. 1, done: Read it. 2, now: Change it. 3: Test it."},
		{"plan", `"entries":[]`, ""},
		{"tool_call", `"toolCallId":7`, "report Something that it says cannot be read: "},
		{"tool_call", `"toolCallId":7`, ""},
	} {
		got := written(m.Update(update(tt.kind, tt.rest)))
		if got != tt.want && (!strings.HasSuffix(tt.want, ": ") || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s %s: found\n%s\nexpected\n%s", tt.kind, tt.rest, got, tt.want)
		}
	}
}

// TestLongWords: nothing that is told is longer than Earshot takes, and nothing is cut within a character.
func TestLongWords(t *testing.T) {
	t.Parallel()
	m := machine(t)
	long := strings.Repeat("ä", 40_000)
	whole := ""
	for _, e := range m.Update(update("agent_message_chunk", `"content":{"type":"text","text":"`+long+`"}`)) {
		whole += checked(t, e).Text
	}
	if whole != long {
		t.Error("the pieces are not the text")
	}
	for _, params := range []jsontext.Value{
		update("tool_call", `"toolCallId":"t1","title":"`+long+`","status":"completed","content":[{"type":"content","content":{"type":"text","text":"`+long+`"}}]`),
		update("plan", `"entries":[`+strings.TrimSuffix(strings.Repeat(`{"content":"`+long+`","status":"pending"},`, 100), ",")+`]`),
	} {
		for _, e := range m.Update(params) {
			if !strings.HasSuffix(checked(t, e).Observed, "(shortened)") {
				t.Error("what is left out is not said")
			}
		}
	}
}
