package recording_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/internal/recording"
)

// What was recorded is played to anyone who listens, and can be recorded again.
func Example() {
	source, err := recording.Spool(strings.NewReader(`{"event_id":"evt_1","type":"aaep:x"}` + "\n"))
	if err != nil {
		panic(err)
	}
	defer source.Remove()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	at, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- recording.Play(ctx, recording.PlayOptions{Source: source, Name: "a.jsonl", HTTP: "127.0.0.1:0", Notice: func(line string) {
			for word := range strings.FieldsSeq(line) {
				if strings.HasPrefix(word, "http://") {
					at <- word
				}
			}
		}})
	}()

	var again bytes.Buffer
	err = recording.Record(ctx, recording.RecordOptions{URL: <-at, To: &again, Events: 1, Notice: func(string) {}, Now: time.Now})
	fmt.Print(again.String())
	cancel()
	fmt.Println(err, <-ended)
	// Output:
	// {"event_id":"evt_1","type":"aaep:x"}
	// <nil> <nil>
}
