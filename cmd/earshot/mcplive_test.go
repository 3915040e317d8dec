package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestMCPWhileTheServerRuns: a server that is added beside a running `earshot up` has its tools there when the command ends, unreviewed as any;
// one that does not start there is told, and hurts nobody; one that is removed is ended at once, and can come back.
func TestMCPWhileTheServerRuns(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	t.Attr("counts", "effects")
	p := newPost(t)
	server := p.upWith(options{}) // it lacks the variable of the secret
	flags := []string{"--env", mcpPlace + "=" + p.place}
	contains(t, p.adds(0, append([]string{"post"}, flags...)...), "The server that runs offers the tools of post now.")
	contains(t, p.does(0, "tools", "list"), "post.look: irreversible, high risk, not reviewed", "post.send: irreversible, high risk, not reviewed")
	p.does(0, "tools", lastCommand(p.does(0, "tools", "review", "post.*"))...)
	look := func() {
		t.Helper()
		contains(t, p.does(0, "tools", "call", "post.look", `{"to":"a"}`), "look with")
	}
	look()

	contains(t, p.adds(0, append([]string{"other", "--secret", "POST_TOKEN=env:POST_SECRET"}, flags...)...),
		"The server that runs does not offer the tools of other yet", "the variable POST_SECRET is not set", "It goes on trying.")
	if got := p.does(0, "tools", "list"); strings.Contains(got, "other.") {
		t.Errorf("what did not start is listed: %s", got)
	}
	look()
	contains(t, p.adds(0, append([]string{"third", "--json"}, flags...)...), `"offered": "now"`)
	contains(t, p.does(0, "mcp", "rm", "other"), "other is not in", "The server that runs has ended other.")
	look()

	ended := func() int {
		raw, err := os.ReadFile(filepath.Join(p.place, "ended"))
		must(t, err)
		return strings.Count(string(raw), "post")
	}
	before := ended()
	contains(t, p.does(0, "mcp", "rm", "post"), "post is not in", "Tools that are not offered any more: post.look, post.send.", "The server that runs has ended post.")
	if ended() <= before {
		t.Error("its process goes on")
	}
	if got := p.does(0, "tools", "list"); strings.Contains(got, "post.") || !strings.Contains(got, "third.send") {
		t.Errorf("listed are: %s", got)
	}
	contains(t, p.adds(0, append([]string{"post"}, flags...)...), "The server that runs offers the tools of post now.")
	contains(t, p.does(0, "tools", "list"), "post.look: irreversible, high risk, not reviewed")

	// A file that cannot be read any more changes nothing, and is told.
	file := filepath.Join(p.data, "tools.yaml")
	raw, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, append(raw, "command: 7\n"...), 0o600))
	contains(t, p.does(1, "mcp", "rm", "none"), "the server that runs has not taken it up", "tools.yaml: line ")
	contains(t, p.does(0, "tools", "list"), "post.look: ", "third.send: ")
	must(t, os.WriteFile(file, raw, 0o600))
	server.signal(os.Interrupt)
	server.ends(0)
}

// TestMCPChangesItsTools: a server of the SDK changes its list while Earshot runs. The tool that it has no more is not offered, and the question
// about it is withdrawn; the one that it has added waits for a review; the one that it has changed is another.
func TestMCPChangesItsTools(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	t.Attr("counts", "effects")
	p := newPost(t)
	must(t, os.WriteFile(filepath.Join(p.place, "changes"), nil, 0o600))
	server := p.upWith(options{})
	contains(t, p.adds(0, "post", "--env", mcpPlace+"="+p.place), "The server that runs offers the tools of post now.")
	p.does(0, "tools", lastCommand(p.does(0, "tools", "review", "post.*"))...)
	call := start(t, options{verb: "tools", data: p.data, args: []string{"call", "post.send", `{"to":"b"}`}})
	call.await(asked)
	contains(t, p.does(0, "tools", "call", "post.change", `{}`), "change with")
	call.ends(3)
	contains(t, call.out.String()+call.prompt.String(), "The tool post.send is not there any more. Question 1 is withdrawn.")
	p.lists(server, "post.stamp: irreversible, high risk, not reviewed")
	contains(t, p.does(0, "tools", "list"), "post.look: irreversible, high risk, changed since its review")
	contains(t, p.does(1, "tools", "call", "post.send", `{"to":"b"}`), "post.send")
	if got := p.done(); strings.Contains(got, "send") {
		t.Errorf("it was sent: %s", got)
	}
	server.signal(os.Interrupt)
	server.ends(0)
}
