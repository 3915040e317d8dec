package session_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// questionAt is how many events of a benchmark's session come before its question has been answered.
const questionAt = 11

// oneSession is the events of one whole, legal session with a question, as they go over a wire.
func oneSession(b *testing.B, n int) (events [][]byte) {
	b.Helper()
	clock := time.Date(2026, 5, 24, 14, 22, 11, 0, time.UTC)
	s := session.New(session.Options{
		SessionID: fmt.Sprintf("sess_019e59db64f87453%08d", n), Language: "en",
		Producer: aaep.Producer{AgentID: "earshot.tidy", AgentVersion: "1.0.0", AgentName: "tidy"},
	})
	e := session.NewEmitter(s, session.EmitterOptions{
		Now: func() time.Time { return clock }, Rand: rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16)}),
		Emit: func(event aaep.Event) error {
			raw, err := event.Encode()
			events = append(events, raw)
			return err
		},
	})
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	must(e.Start(aaep.SessionStarted{SummaryNormal: "Looking for duplicate files in your home folder."}))
	for _, tool := range []string{"files.scan", "files.hash"} {
		t, err := e.Tool(aaep.ToolInvoked{Tool: tool, SummaryNormal: "Looking through the folder."})
		must(err)
		must(e.Progress(aaep.ProgressUpdated{SummaryNormal: "Half of the folder is done.", Progress: aaep.Progress{Percent: new(50.0)}}))
		must(t.Complete(aaep.ToolCompleted{Status: aaep.ToolSuccess, SummaryNormal: "Found 1,000 files."}))
	}
	asked, err := e.Confirm("files.delete", aaep.AwaitingConfirmation{
		Action: "Delete 100 duplicate files.", Consequence: "This frees 12 MB. It cannot be undone.", SummaryNormal: "Delete 100 files?",
		RiskLevel: aaep.RiskHigh, Irreversible: true,
	})
	must(err)
	must(asked.Resolve(aaep.ResolutionAccepted, aaep.StateChanged{SummaryNormal: "You accepted."}))
	t, err := asked.Tool(aaep.ToolInvoked{SummaryNormal: "Deleting the files."})
	must(err)
	must(t.Complete(aaep.ToolCompleted{Status: aaep.ToolSuccess, SummaryNormal: "Deleted 100 files."}))
	text := e.Output(session.TextOptions{Boundary: aaep.BoundarySentence})
	_, err = fmt.Fprint(text, "I looked through 1,000 files in your home. A hundred of them were duplicates, 12 MB in all. They are deleted now.")
	must(err)
	must(e.Complete(aaep.SessionCompleted{SummaryNormal: "Deleted 100 files, freed 12 MB."}))
	return events
}

// stream is the events of many sessions, 20 of which are open at a time.
func stream(b *testing.B, sessions int) (all [][]byte) {
	b.Helper()
	for first := 0; first < sessions; first += 20 {
		var lanes [][][]byte
		for n := range 20 {
			lanes = append(lanes, oneSession(b, first+n))
		}
		for step := range lanes[0] {
			for _, lane := range lanes {
				all = append(all, lane[step])
			}
		}
	}
	return all
}

// BenchmarkChecker judges the events of a stream one by one, without and with their order. A round begins with an empty
// checker.
func BenchmarkChecker(b *testing.B) {
	all := stream(b, 100)
	size := 0
	for _, raw := range all {
		size += len(raw)
	}
	for _, ordered := range []bool{false, true} {
		b.Run(fmt.Sprintf("order=%t", ordered), func(b *testing.B) {
			validator := &aaep.Validator{}
			b.ReportAllocs()
			for b.Loop() {
				checker := session.NewChecker()
				for _, raw := range all {
					document := validator.Read(raw)
					found := validator.Judge(document, aaep.ModeProducer)
					if ordered {
						found = append(found, checker.CheckDocument(document)...)
					}
					if i := slices.IndexFunc(found, func(v aaep.Violation) bool { return v.Severity != aaep.SeverityInfo }); i >= 0 {
						b.Fatalf("found %s in\n%s", found[i], raw)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(all)), "ns/event")
			b.ReportMetric(float64(size)/float64(len(all)), "B/event")
		})
	}
}

// BenchmarkCheckerMemory is what a checker remembers of an open session, up to its question, and of an ended one.
func BenchmarkCheckerMemory(b *testing.B) {
	for name, steps := range map[string]int{"open": questionAt, "ended": 1 << 10} {
		b.Run(name, func(b *testing.B) {
			const sessions = 10_000
			for b.Loop() {
				checker, before := session.NewChecker(), heap()
				for n := range sessions {
					events := oneSession(b, n)
					for _, raw := range events[:min(steps, len(events))] {
						checker.Check(raw)
					}
				}
				b.ReportMetric(float64(heap()-before)/sessions, "B/session")
				runtime.KeepAlive(checker)
			}
		})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
