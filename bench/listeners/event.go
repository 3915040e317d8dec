package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// eventBytes is the size of an event that is told, as JSON.
const eventBytes = 600

// An event's id says when it was told: in nanoseconds, and how many there were before.
const (
	stampDigits = 19
	countDigits = 13
)

// marker precedes the digits. Each event has it once.
const marker = `"event_id":"evt_`

func named(at time.Time, count int) string {
	return fmt.Sprintf("evt_%0*d%0*d", stampDigits, at.UnixNano(), countDigits, count)
}

// counted returns the count in an event's id, 0 if it has none.
func counted(id string) int {
	if len(id) != len("evt_")+stampDigits+countDigits {
		return 0
	}
	n, _ := strconv.Atoi(id[len("evt_")+stampDigits:])
	return n
}

// stamps calls f with the time at which each event was told of which b has the id, and returns the rest of b that may be
// the beginning of another.
func stamps(b []byte, f func(nanos int64)) (rest []byte) {
	for {
		i := bytes.Index(b, []byte(marker))
		if i < 0 {
			return b[max(0, len(b)-len(marker)+1):]
		}
		if len(b) < i+len(marker)+stampDigits {
			return b[i:]
		}
		b = b[i+len(marker):]
		nanos, _ := strconv.ParseInt(string(b[:stampDigits]), 10, 64)
		f(nanos)
	}
}

const padding = "Looking through the folder of pictures for files that are the same, and reading each of those that have the same size."

// step is what sessions tell, padded to the size of an event.
var step = padded(aaep.StateChanged{FromState: aaep.StateThinking, ToState: aaep.StateDeciding, SummaryTerse: "Looking", SummaryNormal: padding})

func padded(p aaep.StateChanged) aaep.StateChanged {
	e := aaep.Event{
		ID: named(time.Now(), 0), SessionID: "sess_open0", Time: time.Now(), Producer: aaep.Producer{AgentID: "earshot", AgentName: "Earshot"},
		Hints: &aaep.LocalizationHints{PrimaryLanguage: "en"}, Payload: p,
	}
	body, err := e.Encode()
	if err != nil {
		panic(err)
	}
	p.SummaryDetailed = strings.Repeat("x", max(1, eventBytes-len(body)-len(`"summary_detailed":"",`)))
	return p
}
