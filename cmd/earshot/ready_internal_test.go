package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cli"
)

// TestReportReady: a server that answers and takes no work is told of after some seconds, again from time to time, and
// when it takes work again. One that does not answer at all is left to those who read its events, and one slow answer is not told.
func TestReportReady(t *testing.T) {
	t.Parallel()
	unavailable := &client.Error{Code: client.Code(api.KindUnavailable)}
	for name, row := range map[string]struct {
		answers func(passed time.Duration) error
		wanted  []string
	}{
		"away": {
			func(passed time.Duration) error {
				if passed < 20*time.Second || passed > 100*time.Second {
					return nil
				}
				return unavailable
			},
			[]string{"for 5 seconds now", "for 10 seconds now", "for 30 seconds now", "for 1 minute now", "takes work again"},
		},
		"slow once": {
			func(passed time.Duration) error {
				if passed == 20*time.Second {
					return unavailable
				}
				return nil
			}, nil,
		},
		"gone": {func(time.Duration) error { return errors.Join(client.ErrUnreachable) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var said strings.Builder
				m := &Main{Program: cli.Program{Stderr: &said, Now: time.Now}}
				began := time.Now()
				done := m.reportReady(t.Context(), func(context.Context) error { return row.answers(time.Since(began)) })
				<-time.After(2 * time.Minute)
				done()
				var got []string
				for line := range strings.SplitSeq(strings.TrimSpace(strings.ReplaceAll(said.String(), "\n  ", " ")), "\n") {
					if line != "" {
						got = append(got, line)
					}
				}
				if !slices.EqualFunc(got, row.wanted, strings.Contains) {
					t.Errorf("it said %s, expected lines with %q", fmt.Sprintf("%q", got), row.wanted)
				}
			})
		})
	}
}

// TestSessionThere: how a session ended is asked for again while the server does not answer or takes no work, for half a minute; another
// refusal is returned at once.
func TestSessionThere(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		failures int // before there is an answer
		err      error
		took     time.Duration
		fails    bool
	}{
		"at once":         {0, nil, 0, false},
		"away for 3 s":    {3, &client.Error{Code: client.CodeUnreachable}, 3 * time.Second, false},
		"no work for 5 s": {5, &client.Error{Code: client.Code(api.KindUnavailable), Retry: true}, 5 * time.Second, false},
		"away for good":   {100, &client.Error{Code: client.CodeUnreachable}, verdictTime, true},
		"not allowed":     {100, &client.Error{Code: client.CodeForbidden}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, asked := time.Now(), 0
				_, err := sessionThere(t.Context(), func(context.Context) (api.Session, error) {
					if asked++; asked <= row.failures {
						return api.Session{}, row.err
					}
					return api.Session{}, nil
				})
				if took := time.Since(began); took != row.took || (err != nil) != row.fails {
					t.Errorf("it took %v and ended with %v", took, err)
				}
			})
		})
	}
}
