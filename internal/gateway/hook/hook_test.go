package hook_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/internal/gateway/hook"
)

// uses is what each host says before it uses its shell; those of the first four were taken down from the real programs.
var uses = map[string]string{
	"claude": `{"session_id":"s1","transcript_path":"/t","cwd":"/home/me/photos","prompt_id":"p","permission_mode":"default","effort":{"level":"medium"},` +
		`"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls","description":"List"},"tool_use_id":"call_1"}`,
	"codex": `{"session_id":"s1","turn_id":"t","transcript_path":"/t","cwd":"/home/me/photos","hook_event_name":"PreToolUse","model":"m",` +
		`"permission_mode":"bypassPermissions","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"call_1"}`,
	"gemini": `{"session_id":"s1","transcript_path":"/t","cwd":"/home/me/photos","hook_event_name":"BeforeTool","timestamp":"2026-11-24T14:04:41.950Z",` +
		`"tool_name":"run_shell_command","tool_input":{"command":"ls","description":"List"}}`,
	"qwen": `{"session_id":"s1","transcript_path":"/t","cwd":"/home/me/photos","hook_event_name":"PreToolUse","timestamp":"2026-11-27T09:25:45.843Z",` +
		`"permission_mode":"yolo","prompt_id":"p","tool_name":"run_shell_command","tool_input":{"command":"ls","is_background":false},"tool_use_id":"call_1","tool_call_id":"c"}`,
	"cursor": `{"conversation_id":"s1","generation_id":"g","hook_event_name":"preToolUse","workspace_roots":["/home/me/photos"],` +
		`"tool_name":"Shell","tool_input":{"command":"ls"},"tool_use_id":"call_1"}`,
	"copilot": `{"hook_event_name":"PreToolUse","session_id":"s1","timestamp":"2026-11-24T14:04:41.950Z","cwd":"/home/me/photos","tool_name":"bash","tool_input":{"command":"ls"}}`,
}

func eachHost(t *testing.T, test func(t *testing.T, h hook.Host)) {
	t.Helper()
	for _, h := range hook.Hosts() {
		t.Run(h.Name, func(t *testing.T) { test(t, h) })
	}
}

func read(t *testing.T, h hook.Host, raw string) hook.Event {
	t.Helper()
	e, err := h.Read([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestUse: the tool, its exact input, the session and the folder are read as the host says them.
func TestUse(t *testing.T) {
	t.Parallel()
	eachHost(t, func(t *testing.T, h hook.Host) {
		e := read(t, h, uses[h.Name])
		if e.Kind != hook.Use || e.Session != "s1" || e.Folder != "/home/me/photos" || e.Tool == "" || !h.Asks(e.Tool) {
			t.Errorf("found %+v", e)
		}
		if !strings.Contains(uses[h.Name], `"tool_input":`+string(e.Input)) {
			t.Errorf("found the input %s", e.Input)
		}
		if strings.Contains(uses[h.Name], "call_1") != (e.Call == "call_1") {
			t.Errorf("found the call %q", e.Call)
		}
	})
}

// TestExactInput: nothing of the input is written in another way, not even its spaces and numbers.
func TestExactInput(t *testing.T) {
	t.Parallel()
	h, _ := hook.Named("claude")
	const exact = `{ "n": 1.50e3,  "text":"\u00e9\n" , "deep":[{},[ ]] }`
	e := read(t, h, `{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":`+exact+`}`)
	if string(e.Input) != exact {
		t.Errorf("found %s", e.Input)
	}
}

// TestOwnWords: Copilot says the same in two ways, and may write the input into a text.
func TestOwnWords(t *testing.T) {
	t.Parallel()
	h, _ := hook.Named("copilot")
	e := read(t, h, `{"sessionId":"s2","timestamp":1,"cwd":"/w","toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}`)
	if e.Kind != hook.Use || e.Session != "s2" || e.Tool != "bash" || string(e.Input) != `{"command":"ls"}` {
		t.Errorf("found %+v", e)
	}
	if other, _ := hook.Named("claude"); true {
		if _, err := other.Read([]byte(`{"toolName":"bash","toolArgs":{}}`)); err == nil {
			t.Error("Claude Code has no such words")
		}
	}
}

// denies reports whether a host takes the output for a no: by the exit code with words on standard error, or by JSON.
func denies(h hook.Host, out hook.Output) error {
	if out.Code == 2 && out.Stderr != "" && len(out.Stdout) == 0 && h.Name != "copilot" {
		return nil
	}
	if out.Code != 0 {
		return errors.New("the exit code blocks nothing")
	}
	d, reason := decision(out)
	if d != "deny" || reason == "" {
		return errors.New("it says " + string(out.Stdout))
	}
	return nil
}

// decision reads JSON in the words of all hosts.
func decision(out hook.Output) (decision, reason string) {
	var said struct {
		Permission string `json:"permission"`
		Agent      string `json:"agent_message"`
		Decision   string `json:"decision"`
		Reason     string `json:"reason"`
		Flat       string `json:"permissionDecision"`
		FlatReason string `json:"permissionDecisionReason"`
		Specific   struct {
			Event    string `json:"hookEventName"`
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(out.Stdout, &said); err != nil {
		return "", err.Error()
	}
	return said.Permission + said.Decision + said.Flat + said.Specific.Decision, said.Agent + said.Reason + said.FlatReason + said.Specific.Reason
}

// TestAnswers: only a person's yes comes out as one, a no has its reason, and where nothing was decided nothing is said.
func TestAnswers(t *testing.T) {
	t.Parallel()
	eachHost(t, func(t *testing.T, h hook.Host) {
		e := read(t, h, uses[h.Name])
		for _, a := range []hook.Answer{{}, {Reason: "A person said no."}, {Reason: strings.Repeat("é", 5000)}, {Reason: "\xff"}} {
			if err := denies(h, h.Write(e, a)); err != nil {
				t.Errorf("%q: %v", a.Reason, err)
			}
		}
		if out := h.Write(e, hook.Answer{Verdict: hook.NoDecision, Reason: "by the rules"}); out.Code != 0 || string(out.Stdout) != "{}\n" {
			t.Errorf("no decision: %+v", out)
		}
		want := "allow"
		if h.Name == "codex" { // which knows no yes
			want = ""
		}
		if got, _ := decision(h.Write(e, hook.Answer{Verdict: hook.Allow, Reason: "A person said yes."})); got != want {
			t.Errorf("a yes is %q, expected %q", got, want)
		}
		if err := denies(h, h.Refuse("")); err != nil {
			t.Errorf("a failure: %v", err)
		}
	})
}

// TestUnreadable: what a host cannot mean is an error, of which [hook.Host.Refuse] makes a no.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	eachHost(t, func(t *testing.T, h hook.Host) {
		event := read(t, h, uses[h.Name]).Name
		for name, raw := range map[string]string{
			"nothing": "", "blanks": " \n", "garbage": "not json {", "a list": "[]", "null": "null", "cut off": uses[h.Name][:40],
			"two values":      uses[h.Name] + uses[h.Name],
			"a member twice":  `{"hook_event_name":"` + event + `","tool_name":"ls","tool_name":"rm","tool_input":{}}`,
			"twice inside":    `{"hook_event_name":"` + event + `","tool_name":"Bash","tool_input":{"command":"ls","command":"rm"}}`,
			"no event":        `{"tool_name":"Bash","tool_input":{}}`,
			"unknown event":   `{"hook_event_name":"BeforeLunch","tool_name":"Bash","tool_input":{}}`,
			"no tool":         `{"hook_event_name":"` + event + `","tool_input":{}}`,
			"no input":        `{"hook_event_name":"` + event + `","tool_name":"Bash"}`,
			"input is null":   `{"hook_event_name":"` + event + `","tool_name":"Bash","tool_input":null}`,
			"input is a list": `{"hook_event_name":"` + event + `","tool_name":"Bash","tool_input":["rm"]}`,
			"input is words":  `{"hook_event_name":"` + event + `","tool_name":"Bash","tool_input":"rm"}`,
			"other type":      `{"hook_event_name":"` + event + `","tool_name":7,"tool_input":{}}`,
			"not UTF-8":       `{"hook_event_name":"` + event + `","tool_name":"Bash","tool_input":{"command":"` + "\xff" + `"}}`,
			"too large":       `{"hook_event_name":"` + event + `","tool_name":"Bash","tool_input":{"command":"` + strings.Repeat("a", hook.MaxInput) + `"}}`,
		} {
			if e, err := h.Read([]byte(raw)); err == nil {
				t.Errorf("%s: found %+v, expected an error", name, e)
			} else if err := denies(h, h.Refuse(err.Error())); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestTold: what only tells something never holds the host up, whatever comes of it.
func TestTold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		host, event string
		kind        hook.Kind
	}{
		{"claude", "UserPromptSubmit", hook.Prompted},
		{"claude", "Notification", hook.Waiting},
		{"claude", "Stop", hook.Rested},
		{"claude", "SessionEnd", hook.Closed},
		{"codex", "Stop", hook.Rested},
		{"codex", "SessionEnd", hook.Closed},
		{"gemini", "Notification", hook.Waiting},
		{"gemini", "AfterAgent", hook.Rested},
		{"qwen", "Stop", hook.Rested},
		{"cursor", "stop", hook.Rested},
		{"copilot", "Notification", hook.Waiting},
	} {
		h, _ := hook.Named(tt.host)
		e := read(t, h, `{"hook_event_name":"`+tt.event+`","session_id":"s1","message":"It waits."}`)
		if e.Kind != tt.kind || e.Message != "It waits." {
			t.Errorf("%s %s: found %+v", tt.host, tt.event, e)
		}
		if out := h.Write(e, hook.Answer{Reason: "It failed."}); out.Code != 0 || string(out.Stdout) != "{}\n" || out.Stderr != "" {
			t.Errorf("%s %s: found %+v", tt.host, tt.event, out)
		}
	}
}

// TestTools: what runs, writes or sends is asked for, and so is what is not known. A tool that may be Earshot's is told apart by its name.
func TestTools(t *testing.T) {
	t.Parallel()
	for host, tools := range map[string][]string{
		"claude":  {"Bash", "Write", "Edit", "NotebookEdit", "WebFetch", "WebSearch", "Skill", "Monitor", "Workflow", "CronCreate", "mcp__files__write_file", "mcp__earshotx__a", "read", ""},
		"codex":   {"Bash", "apply_patch", "write_stdin", "mcp__files__write_file"},
		"gemini":  {"run_shell_command", "write_file", "replace", "web_fetch", "invoke_agent", "mcp_files_write_file"},
		"qwen":    {"run_shell_command", "write_file", "edit", "web_fetch", "agent", "monitor", "tool_call", "mcp__files__write_file"},
		"cursor":  {"Shell", "Write", "Delete", "Task", "MCP:write_file"},
		"copilot": {"bash", "create", "edit", "task", "web_fetch", "powershell"},
	} {
		h, _ := hook.Named(host)
		for _, tool := range tools {
			if !h.Asks(tool) {
				t.Errorf("%s: %q is not asked for", host, tool)
			}
		}
		if len(h.Quiet()) == 0 {
			t.Errorf("%s has no tool that only reads", host)
		}
	}
	for host, tool := range map[string]string{"claude": "mcp__earshot__files_delete", "codex": "mcp__earshot__files_delete", "gemini": "mcp_earshot_files_delete", "qwen": "mcp__earshot__files_delete"} {
		h, _ := hook.Named(host)
		if name, is := h.OfGateway(tool); !is || name != "files_delete" || !h.Asks(tool) {
			t.Errorf("%s: %s is %q of the gateway (%v)", host, tool, name, is)
		}
		for _, other := range []string{"mcp__earshotx__a", "mcp__files__earshot__a", "files_delete", ""} {
			if _, is := h.OfGateway(other); is {
				t.Errorf("%s: %q counts as of the gateway", host, other)
			}
		}
	}
	if h, _ := hook.Named("cursor"); true {
		if _, is := h.OfGateway("MCP:files_delete"); is {
			t.Error("Cursor does not say of which server a tool is")
		}
	}
}

// TestReviewed: the tools of a host without hooks are known, and it has none all the same.
func TestReviewed(t *testing.T) {
	t.Parallel()
	h, known := hook.Reviewed("opencode")
	for _, tool := range []string{"bash", "edit", "write", "patch", "webfetch", "task", "files_write_file", "earshot"} {
		if _, gated := h.OfGateway(tool); !known || gated || !h.Asks(tool) {
			t.Errorf("%q is not one that may change something", tool)
		}
	}
	if name, is := h.OfGateway("earshot_files_delete"); !is || name != "files_delete" || h.Asks("read") {
		t.Errorf("found %q (%v)", name, is)
	}
	if _, hooks := hook.Named("opencode"); hooks {
		t.Error("it has hooks")
	}
	if claude, known := hook.Reviewed("claude"); !known || claude.Name != "claude" {
		t.Errorf("found %+v", claude)
	}
}

// TestMilliseconds: Qwen Code reads a limit of 1000 and more in milliseconds, and a smaller one in seconds, so that none is smaller.
func TestMilliseconds(t *testing.T) {
	t.Parallel()
	h, _ := hook.Named("qwen")
	raw, err := h.Settings("").JSON()
	if err != nil || !strings.Contains(string(raw), `"timeout": 3600000`) || strings.Count(string(raw), `"timeout": 10000`) != 4 {
		t.Errorf("found (%v)\n%s", err, raw)
	}
}

// TestBefore: the hook answers before its host gives up.
func TestBefore(t *testing.T) {
	t.Parallel()
	for limit, want := range map[time.Duration]time.Duration{
		time.Hour: 59 * time.Minute, 10 * time.Minute: 9 * time.Minute, time.Minute: 54 * time.Second, 30 * time.Second: 25 * time.Second,
	} {
		if got := hook.Before(limit); got != want {
			t.Errorf("%v: found %v, expected %v", limit, got, want)
		}
	}
}

// TestSettings: what the host is told waits longer than the hook, and blocks on failures where it can.
func TestSettings(t *testing.T) {
	t.Parallel()
	eachHost(t, func(t *testing.T, h hook.Host) {
		s := h.Settings("/opt/my tools/earshot")
		raw, err := s.JSON()
		if err != nil || s.File == "" {
			t.Fatal(err)
		}
		text := string(raw)
		if !strings.Contains(text, `'/opt/my tools/earshot' hook `+h.Name+` --answer-before 59m`) {
			t.Errorf("found %s", text)
		}
		closes := map[string]string{"claude": `"onFailure": "block"`, "cursor": `"failClosed": true`}[h.Name]
		if !strings.Contains(text, closes) {
			t.Errorf("found no %s in %s", closes, text)
		}
		for event := range s.Hooks {
			if _, err := h.Read([]byte(`{"hook_event_name":"` + event + `","tool_name":"x","tool_input":{}}`)); err != nil {
				t.Errorf("its settings run the hook at what it does not know: %v", err)
			}
		}
	})
}

// FuzzHook: whatever a host says, its hook ends with a no that the host understands, with nothing, or at an event that holds nothing up.
func FuzzHook(f *testing.F) {
	for _, raw := range uses {
		f.Add([]byte(raw))
	}
	for _, raw := range []string{"", "{", "[]", `{"hook_event_name":"Stop"}`, `{"toolName":"bash","toolArgs":"{}"}`, `{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{}}`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, h := range hook.Hosts() {
			e, err := h.Read(raw)
			if err != nil {
				if err := denies(h, h.Refuse(err.Error())); err != nil {
					t.Errorf("%s: %v", h.Name, err)
				}
				continue
			}
			out := h.Write(e, hook.Answer{Reason: string(raw)})
			if e.Kind != hook.Use {
				if out.Code != 0 || string(out.Stdout) != "{}\n" {
					t.Errorf("%s: %s holds the host up: %+v", h.Name, e.Name, out)
				}
				continue
			}
			if err := denies(h, out); err != nil {
				t.Errorf("%s: %v", h.Name, err)
			}
			if got, _ := decision(h.Write(e, hook.Answer{Verdict: hook.NoDecision})); got != "" {
				t.Errorf("%s: no decision is %q", h.Name, got)
			}
		}
	})
}
