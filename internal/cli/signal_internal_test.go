package cli

import (
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestEcho: a signal that comes to the program twice, from the terminal and from the program that has started it, is one; one
// that a person sends again is another.
func TestEcho(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := new(Program).NewSignals()
		s.heeded = true
		go s.pass(s.raw)
		defer s.Stop()
		for _, one := range []os.Signal{os.Interrupt, os.Interrupt, syscall.SIGTERM, os.Interrupt} {
			s.raw <- one
			synctest.Wait()
		}
		var came []os.Signal
		take := func() {
			for len(s.C) > 0 {
				came = append(came, <-s.C)
			}
		}
		take()
		if want := []os.Signal{os.Interrupt, syscall.SIGTERM, os.Interrupt}; !slices.Equal(came, want) {
			t.Errorf("found %v, expected %v", came, want)
		}
		came = nil
		for range 3 {
			<-time.After(echo)
			s.raw <- os.Interrupt
			synctest.Wait()
			take()
		}
		if len(came) != 3 {
			t.Errorf("found %v, expected three", came)
		}
	})
}

// TestStopBeforeHeed: signals that were never heeded need nothing but to be let go.
func TestStopBeforeHeed(t *testing.T) {
	t.Parallel()
	new(Program).NewSignals().Stop()
}
