package earshot_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestLibraryLinksSmall: a program that reads, judges, paces and announces AAEP links under 6 MB, symbols included. One that serves it over HTTP adds
// net/http and TLS, which alone take more (docs/performance.md).
func TestLibraryLinksSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("it links a program")
	}
	const most = 6_000_000
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	write := []byte(`package main

import (
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/aaep/session"
)

func main() {
	event, err := aaep.DecodeEvent([]byte("{}"))
	pacer := pacing.NewPacer(pacing.Terms{}, time.Now())
	fmt.Println(err, pacer.Offer(time.Now(), pacing.Item{Event: event}), session.NewChecker, announce.New)
}
`)
	if err := os.WriteFile(source, write, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	built, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", built.Size())
	if built.Size() > most {
		t.Errorf("the program has %d bytes, expected at most %d", built.Size(), most)
	}
}
