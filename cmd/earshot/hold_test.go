package main_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// hold keeps a program at a fault point for as long as the test wants.
type hold struct {
	t    *testing.T
	fifo string
	gate *os.File // open while the program is held
}

func newHold(t *testing.T) *hold {
	t.Helper()
	h := &hold{t: t, fifo: filepath.Join(t.TempDir(), "hold")}
	must(t, syscall.Mkfifo(h.fifo, 0o600))
	return h
}

// at is the fault that holds a program at the point.
func (h *hold) at(point string) string { return point + "@" + h.fifo }

// wait returns when the program is at the point.
func (h *hold) wait(p *process) {
	h.t.Helper()
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		gate, err := os.OpenFile(h.fifo, os.O_WRONLY, 0) // waits for the program to open it
		if err == nil {
			h.gate = gate
		}
	}()
	select {
	case <-opened:
	case <-p.ended:
		other, err := os.OpenFile(h.fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		must(h.t, err)
		<-opened
		_ = other.Close()
		h.t.Fatalf("the program ended before it came to the point; standard output:\n%s\nprompts:\n%s", p.out, p.prompt)
	}
}

// release lets the program go on.
func (h *hold) release() { must(h.t, h.gate.Close()) }
