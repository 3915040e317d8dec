package main_test

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/gateway/hook"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// uses is how each host tells that it is about to use its shell.
var uses = map[string]string{
	"claude":  `{"session_id":"s1","cwd":"/home/me/photos","hook_event_name":"PreToolUse","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t1"}`,
	"codex":   `{"session_id":"s1","cwd":"/home/me/photos","hook_event_name":"PreToolUse","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t1"}`,
	"gemini":  `{"session_id":"s1","cwd":"/home/me/photos","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"make"}}`,
	"qwen":    `{"session_id":"s1","cwd":"/home/me/photos","hook_event_name":"PreToolUse","permission_mode":"yolo","tool_name":"run_shell_command","tool_input":{"command":"make"},"tool_use_id":"t1"}`,
	"cursor":  `{"conversation_id":"s1","hook_event_name":"preToolUse","workspace_roots":["/home/me/photos"],"tool_name":"Shell","tool_input":{"command":"make"},"tool_use_id":"t1"}`,
	"copilot": `{"hook_event_name":"PreToolUse","session_id":"s1","cwd":"/home/me/photos","tool_name":"bash","tool_input":{"command":"make"}}`,
}

// allows is how each host is told yes. Codex cannot be: it asks by its own rules after it.
var allows = map[string]string{
	"claude":  `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"A person said yes at Earshot."}}`,
	"codex":   `{}`,
	"gemini":  `{"decision":"allow","reason":"A person said yes at Earshot."}`,
	"qwen":    `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"A person said yes at Earshot."}}`,
	"cursor":  `{"agent_message":"A person said yes at Earshot.","permission":"allow","user_message":"A person said yes at Earshot."}`,
	"copilot": `{"permissionDecision":"allow","permissionDecisionReason":"A person said yes at Earshot."}`,
}

// hook is `earshot hook` that a host runs.
func (s *scene) hook(host, says string, env ...string) *hookRun {
	s.t.Helper()
	r := &hookRun{t: s.t, cmd: command(s.t, options{verb: "hook", data: s.data, args: []string{host, "--no-start"}, env: env})}
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = strings.NewReader(says), &r.out, &r.said
	must(s.t, r.cmd.Start())
	return r
}

type hookRun struct {
	t         *testing.T
	cmd       *exec.Cmd
	out, said bytes.Buffer
}

// ends waits for the end of the hook, and demands what it prints.
func (r *hookRun) ends(want string) {
	r.t.Helper()
	err := r.cmd.Wait()
	if got := strings.TrimSpace(r.out.String()); err != nil || got != want {
		r.t.Errorf("found %s (%v)\n%s\nexpected %s", got, err, &r.said, want)
	}
}

// TestHookAllows: of each host a rule that allows prints no decision, so that the host's own rules still ask; a person's yes alone
// prints one.
func TestHookAllows(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, host := range hook.Names() {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			s := emptyScene(t)
			s.up("--policy", s.policy("rules: [{tool: "+host+".allowed, decide: allow}]\n"))
			shell := regexp.MustCompile(`"tool_name":"\w+"`)
			s.hook(host, shell.ReplaceAllString(uses[host], `"tool_name":"allowed"`)).ends("{}")
			asks := s.hook(host, uses[host])
			s.awaitQuestion(1)
			s.does(0, "reply", "1", "accept")
			asks.ends(allows[host])
			contains(t, s.does(0, "audit", "verify"), "is whole")
		})
	}
}

// TestHookTells: the end of a turn, waiting, and a change of the host's mode are announced in the order in which they come, and the
// question in between is heard as one sentence.
func TestHookTells(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := emptyScene(t)
	s.up()
	event := func(name, more string) string {
		return `{"session_id":"s1","cwd":"/home/me/photos","hook_event_name":"` + name + `"` + more + `}`
	}
	s.hook("claude", event("UserPromptSubmit", `,"permission_mode":"acceptEdits","prompt":"Build it."`)).ends("{}")
	asks := s.hook("claude", strings.Replace(uses["claude"], `"default"`, `"acceptEdits"`, 1))
	s.awaitQuestion(1)
	s.does(0, "reply", "1", "accept")
	asks.ends(allows["claude"])
	s.hook("claude", event("Notification", `,"message":"Claude is waiting for your input"`)).ends("{}")
	s.hook("claude", event("Stop", `,"permission_mode":"default"`)).ends("{}")
	s.hook("claude", event("SessionEnd", "")).ends("{}")
	said := squeeze(s.does(0, "recap", "20"))
	at := 0
	for _, want := range []string{
		"claude reports: “Its own mode: it changes files without asking. What it asks Earshot for is asked all the same.”",
		"Let claude use its own tool Bash. command: “make”. Earshot cannot undo it.",
		"claude reports: “It waits for you: Claude is waiting for your input”",
		"claude reports: “Its own mode: it asks before it uses tools. What it asks Earshot for is asked all the same.”",
		"claude reports: “It has finished its turn.”",
		"Finished.",
	} {
		i := strings.Index(said[at:], want)
		if i < 0 {
			t.Fatalf("%q is not told, or not in its place:\n%s", want, said)
		}
		at += i + len(want)
	}
	if strings.Contains(said, "cannot be undone") {
		t.Errorf("what Earshot cannot know is said:\n%s", said)
	}
}

// TestHookOfAnotherServer: a tool of a server that only calls itself earshot is asked for, and one of Earshot's is not.
func TestHookOfAnotherServer(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := emptyScene(t)
	tools, _ := s.box()
	s.up("--tools", tools)
	use := func(tool string) string { return strings.Replace(uses["claude"], "Bash", tool, 1) }
	s.hook("claude", use("mcp__earshot__box_add")).ends("{}")
	s.hook("claude", use("mcp__earshot__earshot_wait")).ends("{}")
	asks := s.hook("claude", use("mcp__earshot__box_empty"))
	s.awaitQuestion(1)
	s.does(0, "reply", "1", "reject")
	asks.ends(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"A person said no. Do not do it."}}`)
}

// TestHookChecked: a hook that is only checked says no without a server, and to nobody.
func TestHookChecked(t *testing.T) {
	t.Parallel()
	s := emptyScene(t)
	s.hook("claude", uses["claude"], "EARSHOT_HOOK_CHECK=word").ends(
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Not done: this is a check by ` + "`earshot doctor agents`" + ` (word)."}}`)
	s.hook("claude", strings.Replace(uses["claude"], "Bash", "Read", 1), "EARSHOT_HOOK_CHECK=word").ends("{}")
	s.hook("claude", `{"session_id":"s1","hook_event_name":"Stop"}`, "EARSHOT_HOOK_CHECK=word").ends("{}")
}

// TestHookKilled: the question of a hook that is killed ends with it. A late yes finds no question and starts nothing, and the next
// hook for the same use asks again.
func TestHookKilled(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	counts(t)
	s := emptyScene(t)
	s.up()
	asks := s.hook("claude", uses["claude"])
	s.awaitQuestion(1)
	must(t, asks.cmd.Process.Kill())
	if err := asks.cmd.Wait(); err == nil || asks.out.Len() > 0 {
		t.Errorf("it was not killed: %v, %s", err, &asks.out)
	}
	remote := s.dials()
	for n := 0; ; n++ {
		open, err := remote.Questions(t.Context())
		must(t, err)
		if len(open) == 0 {
			break
		}
		if n == 600 {
			t.Fatalf("the question stays open: %+v", open)
		}
		<-time.After(50 * time.Millisecond) // the server has its own clock
	}
	s.does(3, "reply", "1", "accept")
	contains(t, s.does(0, "recap", "20"), "Question 1 is withdrawn: claude does not wait for the answer any more. If it asks again, you are asked again.")
	again := s.hook("claude", uses["claude"])
	s.awaitQuestion(2)
	s.does(0, "reply", "2", "accept")
	again.ends(allows["claude"])
	contains(t, s.does(0, "audit", "verify"), "is whole")
}
