package main_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestExportInterrupted: an export that is broken off leaves no file that looks like one.
func TestExportInterrupted(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 8)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // who am I?
			_, _ = io.WriteString(w, `{"name":"ann","roles":["operator"]}`)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // only then is it told that the caller is gone
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(slow.Close)
	for s, code := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		folder := t.TempDir()
		token, file := filepath.Join(folder, "token"), filepath.Join(folder, "turns.jsonl")
		must(t, os.WriteFile(token, []byte("secret\n"), 0o600))
		p := start(t, options{verb: "export", args: []string{file, "--url", slow.URL, "--token-file", token}, nobody: true, process: true})
		<-asked
		if _, err := os.Stat(file); err != nil {
			t.Fatalf("nothing is being written: %v", err)
		}
		p.signal(s)
		p.ends(code)
		contains(t, p.prompt.String(), "Broken off; nothing is kept of it.")
		if _, err := os.Stat(file); err == nil {
			t.Error("it left a file")
		}
	}
}

// TestExportToReaderThatIsGone: `earshot export | head` ends as every program does whose reader has
// gone away, and does not say that the disk is full.
func TestExportToReaderThatIsGone(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.turned()
	reader, writer, err := os.Pipe()
	must(t, err)
	must(t, reader.Close())
	cmd := command(t, options{verb: "export", data: s.data, args: []string{"-"}})
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = writer, &said
	err = cmd.Run()
	must(t, writer.Close())
	status, is := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if err == nil || !is || status.Signal() != syscall.SIGPIPE || said.String() != "" {
		t.Errorf("ended with %v, and said %q; want SIGPIPE", err, said.String())
	}
}
