package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// open is how many sessions of the stream are under way at a time.
const open = 20

// stream writes at least so many events of legal sessions, a line each, up to where no session is open. One event in 50
// is delivered twice.
func stream(to io.Writer, events int) error {
	w := &lines{out: bufio.NewWriterSize(to, 1<<20)}
	random := rand.NewChaCha8([32]byte{})
	for w.count < events && w.err == nil {
		var lanes [open]*session.Emitter
		for i := range lanes {
			s := session.New(session.Options{
				SessionID: fmt.Sprintf("sess_019e59db64f87453%08d", w.count+i), Language: "en",
				Producer: aaep.Producer{AgentID: "earshot.tidy", AgentVersion: "1.0.0", AgentName: "tidy"},
			})
			lanes[i] = session.NewEmitter(s, session.EmitterOptions{
				Now: func() time.Time { return time.Date(2026, 5, 24, 14, 22, 11, 0, time.UTC) }, Rand: random, Emit: w.emit,
			})
		}
		for _, step := range steps {
			for _, lane := range lanes {
				if err := step(lane); err != nil {
					return fmt.Errorf("the stream: %w", err)
				}
			}
		}
	}
	return w.end()
}

// steps are one session.
var steps = []func(e *session.Emitter) error{
	func(e *session.Emitter) error {
		return e.Start(aaep.SessionStarted{SummaryNormal: "Looking for duplicate files in your home folder."})
	},
	useTool, useTool, useTool, useTool,
	func(e *session.Emitter) error {
		_, err := fmt.Fprint(e.Output(session.TextOptions{Boundary: aaep.BoundarySentence}),
			"I looked through 1,000 files in your home. A hundred of them were duplicates, 12 MB in all. Nothing was changed.")
		return err
	},
	func(e *session.Emitter) error {
		return e.Complete(aaep.SessionCompleted{SummaryNormal: "Found 100 duplicates."})
	},
}

func useTool(e *session.Emitter) error {
	t, err := e.Tool(aaep.ToolInvoked{Tool: "files.scan", SummaryNormal: "Looking through the folder."})
	if err != nil {
		return err
	}
	if err := e.Progress(aaep.ProgressUpdated{SummaryNormal: "Half of the folder is done.", Progress: aaep.Progress{Percent: new(50.0)}}); err != nil {
		return err
	}
	return t.Complete(aaep.ToolCompleted{Status: aaep.ToolSuccess, SummaryNormal: "Found 1,000 files."})
}

// lines writes events, a line each.
type lines struct {
	out   *bufio.Writer
	count int
	err   error
}

func (w *lines) emit(event aaep.Event) error {
	raw, err := event.Encode()
	if err != nil {
		return err
	}
	times := 1
	if w.count++; w.count%50 == 0 {
		times, w.count = 2, w.count+1
	}
	for range times {
		if _, err := w.out.Write(append(raw, '\n')); err != nil {
			w.err = err
			return err
		}
	}
	return nil
}

func (w *lines) end() error {
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("writing the stream: %w", err)
	}
	return w.err
}
