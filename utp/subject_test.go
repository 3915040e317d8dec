package utp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/utp"
)

func TestParseSubject(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 129)
	tests := []struct {
		name, text string
		part       string // of the error; "" means that it parses
	}{
		{"tool command", "cg.v1r4.home.public.cmd.tool.files.delete", ""},
		{"long suffix", "cg.v1r4.home.public.cmd.sys.pmo.internal.fork_join", ""},
		{"event", "cg.v1r4.home.public.evt.agent.a1.task", ""},
		{"stream", "cg.v1r4.home.public.str.agent.a1.chunk", ""},
		{"user", "cg.v1r4.home.public.evt.user.ada.note", ""},
		{"another version is still a subject", "cg.v2.home.public.cmd.tool.files.delete", ""},
		{"too short", "cg.v1r4.home.public.cmd.tool.files", "the whole"},
		{"empty", "", "the whole"},
		{"other root", "ng.v1r4.home.public.cmd.tool.files.delete", "the first token"},
		{"no version", "cg..home.public.cmd.tool.files.delete", "the version"},
		{"dot in project shifts", "cg.v1r4.my.home.public.cmd.tool.files.delete", "the category"},
		{"wildcard project", "cg.v1r4.*.public.cmd.tool.files.delete", "the project"},
		{"empty channel", "cg.v1r4.home..cmd.tool.files.delete", "the channel"},
		{"category", "cg.v1r4.home.public.rpc.tool.files.delete", "the category"},
		{"component", "cg.v1r4.home.public.cmd.robot.files.delete", "the component"},
		{"target", "cg.v1r4.home.public.cmd.tool.fi les.delete", "the target"},
		{"long target", "cg.v1r4.home.public.cmd.tool." + long + ".delete", "the target"},
		{"wildcard suffix", "cg.v1r4.home.public.cmd.tool.files.>", "a token of the suffix"},
		{"empty suffix token", "cg.v1r4.home.public.cmd.tool.files.a..b", "a token of the suffix"},
		{"not ascii", "cg.v1r4.home.public.cmd.tool.files.löschen", "a token of the suffix"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := utp.ParseSubject(tt.text)
			if tt.part == "" {
				if err != nil || s.String() != tt.text {
					t.Fatalf("got %q, %v; want it back", s, err)
				}
				return
			}
			wrong, ok := errors.AsType[*utp.SubjectError](err)
			if !ok || wrong.Part != tt.part || wrong.Code() != utp.CodeBadRequest {
				t.Fatalf("got %v, want a fault of %s", err, tt.part)
			}
		})
	}
}

func TestSubjectConstructors(t *testing.T) {
	t.Parallel()
	command, err := utp.ToolCommand("home", "public", "files", "delete")
	if err != nil || command.String() != "cg.v1r4.home.public.cmd.tool.files.delete" || !command.IsToolCommand() {
		t.Errorf("command: %q, %v", command, err)
	}
	wakeup, err := utp.Wakeup("home", "public", "worker_go")
	if err != nil || wakeup.String() != "cg.v1r4.home.public.cmd.agent.worker_go.wakeup" || wakeup.IsToolCommand() {
		t.Errorf("wakeup: %q, %v", wakeup, err)
	}
	if _, err := utp.ToolCommand("home", "public", "files", "delete.now"); err == nil {
		t.Error("a suffix of two tokens passes, though no service listens to it")
	}
	for _, bad := range []string{"", "a.b", "*", ">", "a b", "a\n"} {
		if _, err := utp.ToolCommand(bad, "public", "files", "delete"); err == nil {
			t.Errorf("project %q passes", bad)
		}
		if _, err := utp.ToolCommand("home", "public", bad, "delete"); err == nil {
			t.Errorf("target %q passes", bad)
		}
		if _, err := utp.Wakeup("home", bad, "w"); err == nil {
			t.Errorf("channel %q passes", bad)
		}
	}
}

func TestRenderTarget(t *testing.T) {
	t.Parallel()
	values := utp.TargetValues{Project: "home", Channel: "public", Agent: "tidy"}
	tests := []struct {
		name, template, want string
		part                 string
	}{
		{"usual", "cg.v1r4.{project_id}.{channel_id}.cmd.tool.files.delete", "cg.v1r4.home.public.cmd.tool.files.delete", ""},
		{"agent", "cg.v1r4.{project_id}.{channel_id}.cmd.tool.files.{agent_id}", "cg.v1r4.home.public.cmd.tool.files.tidy", ""},
		{"part of a token", "cg.v1r4.{project_id}.{channel_id}.cmd.tool.files-{agent_id}.x", "cg.v1r4.home.public.cmd.tool.files-tidy.x", ""},
		{"unknown place", "cg.v1r4.{project_id}.{channel_id}.cmd.tool.files.{step_id}", "", "a place"},
		{"open place", "cg.v1r4.{project_id}.{channel_id}.cmd.tool.files.{agent_id", "", "a place"},
		{"stray brace", "cg.v1r4.{project_id}.{channel_id}.cmd.tool.files.x}", "", "a token of the suffix"},
		{"another project", "cg.v1r4.work.{channel_id}.cmd.tool.files.delete", "", "the project"},
		{"another channel", "cg.v1r4.{project_id}.ops.cmd.tool.files.delete", "", "the channel"},
		{"another version", "cg.v2.{project_id}.{channel_id}.cmd.tool.files.delete", "", "the version"},
		{"a system command", "cg.v1r4.{project_id}.{channel_id}.cmd.sys.pmo.internal", "", "the category and component"},
		{"a wakeup", "cg.v1r4.{project_id}.{channel_id}.cmd.agent.w.wakeup", "", "the category and component"},
		{"an event", "cg.v1r4.{project_id}.{channel_id}.evt.tool.files.delete", "", "the category and component"},
		{"two suffix tokens", "cg.v1r4.{project_id}.{channel_id}.cmd.tool.files.a.b", "", "the suffix"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := utp.RenderTarget(tt.template, values)
			if tt.part == "" {
				if err != nil || s.String() != tt.want {
					t.Fatalf("got %q, %v; want %q", s, err, tt.want)
				}
				return
			}
			if wrong, ok := errors.AsType[*utp.SubjectError](err); !ok || wrong.Part != tt.part {
				t.Fatalf("got %v, want a fault of %s", err, tt.part)
			}
		})
	}
	for _, agent := range []string{"", "a.b", "{project_id}", ">"} {
		_, err := utp.RenderTarget("cg.v1r4.{project_id}.{channel_id}.cmd.tool.files.{agent_id}", utp.TargetValues{Project: "p", Channel: "c", Agent: agent})
		if wrong, ok := errors.AsType[*utp.SubjectError](err); !ok || wrong.Part != "the value of {agent_id}" {
			t.Errorf("agent %q: %v", agent, err)
		}
	}
}

// TestPMOTool: only the command to a tool of the PMO is one.
func TestPMOTool(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"cg.v1r4.home.public.cmd.sys.pmo.internal.fork_join":      "fork_join",
		"cg.v1r4.home.public.cmd.sys.pmo.internal.fork_join.more": "",
		"cg.v1r4.home.public.cmd.sys.pmo.fork_join":               "",
		"cg.v1r4.home.public.cmd.sys.judge.internal.fork_join":    "",
		"cg.v1r4.home.public.cmd.tool.pmo.internal.fork_join":     "",
		"cg.v1r4.home.public.evt.sys.pmo.internal.fork_join":      "",
	} {
		s, err := utp.ParseSubject(text)
		if got := s.PMOTool(); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
}
