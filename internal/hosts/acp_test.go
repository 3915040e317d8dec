package hosts_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"github.com/earshot-dev/earshot/internal/fakemodel"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
)

// patience bounds a conversation with a host. It is long because a loaded machine is not a failure.
const patience = 2 * time.Minute

// front is a client of ACP that answers every request for permission the same way.
type front struct {
	answer acp.PermissionOptionKind

	mu    sync.Mutex
	asked []acp.RequestPermissionRequest
}

func (f *front) RequestPermission(_ context.Context, r acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r)
	for _, option := range r.Options {
		if option.Kind == f.answer {
			return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(option.OptionId)}, nil
		}
	}
	return acp.RequestPermissionResponse{}, errors.New("found no option of kind " + string(f.answer))
}

func (*front) SessionUpdate(context.Context, acp.SessionNotification) error { return nil }

// errNotOffered answers what the client's capabilities do not offer, so that agents use files and programs themselves.
var errNotOffered = errors.New("this client has neither files nor terminals")

func (*front) ReadTextFile(context.Context, acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	return acp.ReadTextFileResponse{}, errNotOffered
}

func (*front) WriteTextFile(context.Context, acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	return acp.WriteTextFileResponse{}, errNotOffered
}

func (*front) CreateTerminal(context.Context, acp.CreateTerminalRequest) (acp.CreateTerminalResponse, error) {
	return acp.CreateTerminalResponse{}, errNotOffered
}

func (*front) KillTerminal(context.Context, acp.KillTerminalRequest) (acp.KillTerminalResponse, error) {
	return acp.KillTerminalResponse{}, errNotOffered
}

func (*front) TerminalOutput(context.Context, acp.TerminalOutputRequest) (acp.TerminalOutputResponse, error) {
	return acp.TerminalOutputResponse{}, errNotOffered
}

func (*front) ReleaseTerminal(context.Context, acp.ReleaseTerminalRequest) (acp.ReleaseTerminalResponse, error) {
	return acp.ReleaseTerminalResponse{}, errNotOffered
}

func (*front) WaitForTerminalExit(context.Context, acp.WaitForTerminalExitRequest) (acp.WaitForTerminalExitResponse, error) {
	return acp.WaitForTerminalExitResponse{}, errNotOffered
}

// TestAutoMode: claude-agent-acp begins in a mode in which it asks nobody. A client that wants to be asked has to set
// another one before the first prompt, as `earshot acp` does.
func TestAutoMode(t *testing.T) {
	testkit.Slow(t)
	t.Parallel()
	needs(t, "claude")
	programs := agenthost.Need(t)
	folder := t.TempDir()
	effect := filepath.Join(folder, "effect.txt")
	model := fakemodel.Start(t, fakemodel.Script{
		agenthost.Title,
		{Call: []fakemodel.Call{{Tool: "Bash", Args: map[string]any{"command": "echo done > " + effect, "description": "Write a file"}}}},
		{Say: "That is all."},
	})
	person := &front{answer: acp.PermissionOptionKindRejectOnce}
	converse(t, agenthost.Prepare(t, programs, agenthost.ClaudeACP, agenthost.Setup{Model: model.URL, Dir: folder}), person)
	if _, err := os.Stat(effect); len(person.asked) != 0 || err != nil {
		t.Errorf("found %d requests for permission (%v), expected none and the command to run: does it ask by itself now?", len(person.asked), err)
	}
}

// converse opens a session with an agent, and has it take one turn.
func converse(t *testing.T, command agenthost.Command, person *front) {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	process, to, from := agenthost.Talk(t, command)
	agent := acp.NewClientSideConnection(person, to, from)
	agent.SetLogger(slog.New(slog.DiscardHandler))
	defer func() {
		process.Kill()
		_ = from.Close() // a process that the agent has left may hold it open
		<-agent.Done()
	}()
	hello, err := agent.Initialize(ctx, acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber})
	if err != nil || hello.ProtocolVersion != acp.ProtocolVersionNumber {
		t.Fatalf("initialize: found version %d (%v), expected %d", hello.ProtocolVersion, err, acp.ProtocolVersionNumber)
	}
	session, err := agent.NewSession(ctx, acp.NewSessionRequest{Cwd: command.Dir, McpServers: []acp.McpServer{}})
	if err != nil {
		t.Fatalf("new session: %v", err)
	}
	if session.Modes != nil {
		t.Logf("mode %s", session.Modes.CurrentModeId)
	}
	end, err := agent.Prompt(ctx, acp.PromptRequest{SessionId: session.SessionId, Prompt: []acp.ContentBlock{acp.TextBlock("Write a file.")}})
	if err != nil {
		t.Fatalf("prompt: %v", err)
	}
	t.Logf("took %.1f s; stop reason %s", time.Since(began).Seconds(), end.StopReason)
}
