package bus

import (
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

func TestCallerOf(t *testing.T) {
	t.Parallel()
	for _, k := range Kinds() {
		for _, op := range Ops(k) {
			want := Principal{Kind: k, Name: "x"}
			if got, gotOp, ok := callerOf("home", servedSubject("home", want, op)); !ok || got != want || gotOp != op {
				t.Errorf("%s %s was read as %s %s, %t", want, op, got, gotOp, ok)
			}
		}
	}
	for _, subject := range []string{
		"", "earshot.v1.home.kernel.claim", "earshot.v1.home.kernel.agent.x", "earshot.v1.home.kernel.agent.x.claim.y", "earshot.v1.other.kernel.agent.x.claim",
		"earshot.v1.home.kernel.agent.x.start", "earshot.v1.home.kernel.tool.x.claim", "earshot.v1.home.kernel.root.x.claim", "earshot.v1.home.kernel.agent..claim",
		"earshot.v1.home.kernel.agent.*.claim", "_R_.earshot.v1.home.kernel.agent.x.claim",
	} {
		if p, op, ok := callerOf("home", subject); ok {
			t.Errorf("%q was read as %s %s", subject, p, op)
		}
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, subject string
		want             bool
	}{
		{"a.b", "a.b", true},
		{"a.b", "a.c", false},
		{"a.b", "a", false},
		{"a", "a.b", false},
		{"a.*", "a.b", true},
		{"a.*", "a", false},
		{"a.*", "a.b.c", false},
		{"a.>", "a.b.c", true},
		{"a.>", "a", false},
		{"*.b.>", "a.b.c", true},
		{"*.b.>", "a.c.c", false},
	} {
		if got := matches(tt.pattern, tt.subject); got != tt.want {
			t.Errorf("matches(%q, %q) is %t", tt.pattern, tt.subject, got)
		}
	}
}

// The check before publishing and the server's own agree on every subject.
func FuzzMatchesLikeTheServer(f *testing.F) {
	for _, subject := range []string{"cg.v1r4.home.public.cmd.tool.files.x", "earshot.v1.home.events.a", "earshot.v1.home.events", "cg.v1r4.home.cmd", "a..b", "a b", "*", ""} {
		f.Add(subject, "home")
	}
	f.Fuzz(func(t *testing.T, subject, project string) {
		if !isLiteral(subject) || !isToken(project) {
			return
		}
		if !server.IsValidPublishSubject(subject) || strings.ContainsAny(subject, "*> \t\r\n") {
			t.Fatalf("%q is taken for a subject", subject)
		}
		for _, pattern := range slices.Concat(publishable(project, true), []string{servedPattern(project)}, commandsOf(project), sentPatterns(project, "*"),
			subjectsOf(project, Principal{Kind: Tool, Name: "x"}), subjectsOf(project, Principal{Kind: External, Name: "x"})) {
			if got, want := matches(pattern, subject), server.SubjectMatchesFilter(subject, pattern); got != want {
				t.Errorf("matches(%q, %q) is %t, the server says %t", pattern, subject, got, want)
			}
		}
	})
}
