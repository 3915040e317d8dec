package main

import (
	"os"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/utp"
)

func TestExitCode(t *testing.T) {
	t.Parallel()
	success, failed, canceled := utp.StatusSuccess, utp.StatusFailed, utp.StatusCanceled
	for _, row := range []struct {
		name  string
		tally api.Tally
		end   utp.Status
		code  int
	}{
		{"done", api.Tally{Effects: 1}, success, 0},
		{"nothing to do", api.Tally{}, success, 0},
		{"failed", api.Tally{Failed: 1}, failed, 1},
		{"all calls failed, and the agent calls it done", api.Tally{Invoked: 2, Failed: 2}, success, 1},
		{"all calls were refused, and the agent calls it done", api.Tally{Failed: 1}, success, 1},
		{"a call was refused, and made again as it should be", api.Tally{Invoked: 1, Failed: 1, Refused: 1}, success, 0},
		{"one was refused, and the other failed", api.Tally{Invoked: 1, Failed: 2, Refused: 1}, success, 1},
		{"one of two calls failed", api.Tally{Invoked: 2, Failed: 1}, success, 0},
		{"one failed in part", api.Tally{Invoked: 1, Failed: 1, Effects: 1}, success, 0},
		{"done in part", api.Tally{Effects: 1}, utp.StatusPartial, 1},
		{"took too long", api.Tally{}, utp.StatusTimeout, 1},
		{"an unknown fate", api.Tally{Unknown: 1}, success, 1},
		{"an unknown fate, and a no", api.Tally{Unknown: 1, Declined: 1}, failed, 1},
		{"declined", api.Tally{Declined: 1}, success, 3},
		{"declined, and the agent gives up", api.Tally{Declined: 1}, canceled, 3},
		{"expired", api.Tally{Expired: 1}, canceled, 3},
		{"taken back", api.Tally{Undone: 1}, canceled, 3},
		{"stopped", api.Tally{}, canceled, 3},
		{"stopped on the way", api.Tally{Effects: 1}, canceled, 1},
		{"accepted, stale, asked again, expired", api.Tally{Cancelled: 2, Expired: 1, Broken: 1}, canceled, 1},
		{"accepted, stale, asked again, declined", api.Tally{Cancelled: 1, Declined: 1}, success, 3},
		{"accepted, stale, asked again, accepted", api.Tally{Cancelled: 1, Effects: 1}, success, 0},
		{"accepted and stale, and the agent makes do without", api.Tally{Cancelled: 1, Broken: 1}, success, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := exitCode(row.end, row.tally); got != row.code {
				t.Errorf("the exit code is %d, want %d", got, row.code)
			}
		})
	}
}

func TestSignalCode(t *testing.T) {
	t.Parallel()
	for s, want := range map[os.Signal]int{syscall.SIGHUP: 129, os.Interrupt: 130, syscall.SIGTERM: 143} {
		if got := cli.SignalCode(s); got != want {
			t.Errorf("the exit code for %s is %d, want %d", s, got, want)
		}
	}
}
