package main_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestSetWords: the preferences that are words are kept with the server running or not, and refused with what is allowed.
func TestSetWords(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	contains(t, s.does(0, "set", "verbosity", "terse"), "hears is short")
	s.up()
	contains(t, s.does(0, "set", "verbosity", "--json"), `"verbosity": "terse"`)
	for name, word := range map[string]string{"language": "en", "time-zone": "Asia/Tokyo", "questions": "one", "density": "compact"} {
		contains(t, s.does(0, "set", name, word), "Recorded: ")
		contains(t, s.does(0, "set", name, "--json"), `"`+word+`"`)
		contains(t, s.does(2, "set", name, "Mars/Base"), `cannot be "Mars/Base"; it can be`)
		contains(t, s.does(0, "set", name, "default", "--json"), `: ""`)
	}
}

// TestRunAsPreferred: a run narrates at the length, and tells times in the zone, that its person has set; by itself and at a
// server.
func TestRunAsPreferred(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	zone, err := time.LoadLocation("Pacific/Kiritimati")
	must(t, err)
	for where, serves := range map[string]bool{"alone": false, "at a server": true} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.does(0, "set", "verbosity", "terse")
			s.does(0, "set", "time-zone", zone.String())
			if serves {
				s.up()
			}
			before := time.Now().In(zone)
			run := s.run()
			run.hears("in 5 minutes")
			after := time.Now().In(zone)
			told := regexp.MustCompile(`Answer by (\d\d:\d\d)`).FindStringSubmatch(run.out.String())
			if told == nil {
				t.Fatalf("no time is told:\n%s", run.out)
			}
			least, most := before.Add(4*time.Minute).Format("15:04"), after.Add(5*time.Minute).Format("15:04")
			if told[1] < least && least < most || told[1] > most && least < most {
				t.Errorf("it says %s, expected %s to %s in %s", told[1], least, most, zone)
			}
			run.say("reject")
			run.wait()
			if out := run.out.String(); strings.Contains(out, "Looking through") {
				t.Errorf("it is told at this length:\n%s", out)
			}
		})
	}
}

// TestLanguageAsPreferred: a person who has chosen one of the languages that the server offers hears a run in it, without
// asking again; a deletion is asked about in English too, and a language that is not offered is refused with those that are.
func TestLanguageAsPreferred(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.up("--languages", "es", "--languages", "ar")
	contains(t, s.does(0, "set", "language", "es"), "Recorded: what agents do is told to ", " in Español (es)")
	contains(t, s.does(1, "set", "language", "fr"), `does not offer the language "fr"; it offers en, es, ar`)
	run := s.run()
	run.hears("ha traducido una máquina")
	run.hears("duplicate file") // the tool's own sentence, once: its English is not behind it
	run.say("reject")
	run.wait()
}

// TestListsAsPreferred: lists tell times in the zone that their person has set; from the ledger and from a server.
func TestListsAsPreferred(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	zone, err := time.LoadLocation("Pacific/Kiritimati")
	must(t, err)
	s := newScene(t)
	begin := time.Now()
	s.does(3, "run", "tidy", s.folder, "--no-input")
	var clock []string // each second in which the turn can have begun
	for at := begin; !at.After(time.Now().Add(time.Second)); at = at.Add(time.Second) {
		clock = append(clock, at.In(zone).Format("15:04:05"))
	}
	s.does(0, "set", "time-zone", zone.String())
	told := func() {
		t.Helper()
		list := s.does(0, "turns", "list")
		if !slices.ContainsFunc(clock, func(at string) bool { return strings.Contains(list, at) }) {
			t.Errorf("the list has none of %q:\n%s", clock, list)
		}
	}
	told()
	s.up()
	told()
}
