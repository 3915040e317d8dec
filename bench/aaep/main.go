// Command aaep measures how fast messages are judged, from raw bytes to the verdict,
// beside a general validator of JSON Schema, the decoding of the same bytes into Go
// structs, and the mere check that they are JSON: in one run, in turns, medians.
//
//	go run ./aaep -schemas DIR
//
// DIR holds JSON Schemas, one for each message, found by the last part of the type.
// The messages are the examples of package aaep: the twelve events, the two replies and
// the handshake, as far as there are schemas for them; with -examples instead those
// inside the schemas.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	fast "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/earshot-dev/earshot/aaep"
)

func main() {
	schemas := flag.String("schemas", os.Getenv("AAEP_SCHEMAS"), "folder of the JSON Schemas of the messages; AAEP_SCHEMAS if it is not given")
	examples := flag.Bool("examples", false, "measure the examples inside the schemas instead of our own messages")
	rounds := flag.Int("rounds", 10, "how often each way is measured; the median counts")
	flag.Parse()
	if err := measure(*schemas, *examples, *rounds); err != nil {
		log.Fatal(err)
	}
}

// message is one text and what judges it elsewhere.
type message struct {
	raw    []byte
	schema *jsonschema.Schema
	decode func(raw []byte) error
}

// way is one thing to do with every message.
type way struct {
	name      string
	do        func(m message) error
	wall, cpu []float64 // nanoseconds for one message, by round
	b, n      float64   // bytes and allocations for one message
}

func measure(folder string, examples bool, rounds int) error {
	mix, err := load(folder, examples)
	if err != nil {
		return err
	}
	ways := ways()
	for _, m := range mix {
		for _, w := range ways {
			if err := w.do(m); err != nil {
				return fmt.Errorf("%s refuses a message: %w\n%s", w.name, err, m.raw)
			}
		}
	}
	for range rounds {
		for i := range ways {
			if err := run(&ways[i], mix); err != nil {
				return err
			}
		}
	}
	size := 0
	for _, m := range mix {
		size += len(m.raw)
	}
	fmt.Printf("%d messages, %d bytes on average, medians of %d, %s, %d processors\n", len(mix), size/len(mix), rounds, runtime.Version(), runtime.NumCPU())
	fmt.Printf("  %-36s %9s %9s %10s %7s %7s %7s\n", "", "wall ns", "cpu ns", "/cpu s", "bytes", "allocs", "ratio")
	ours := median(ways[0].cpu)
	for _, w := range ways {
		cpu := median(w.cpu)
		fmt.Printf("  %-36s %9.0f %9.0f %10.0f %7.0f %7.1f %7.2f\n", w.name, median(w.wall), cpu, 1e9/cpu, w.b, w.n, cpu/ours)
	}
	return nil
}

// passes is how often one round goes through all messages.
const passes = 2000

// run measures one way once: the clock, and the processor time of the whole program,
// with the collecting of garbage and without what others do on the machine.
func run(w *way, mix []message) error {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start, used := time.Now(), processorTime()
	for range passes {
		for _, m := range mix {
			if err := w.do(m); err != nil {
				return err
			}
		}
	}
	count := float64(passes * len(mix))
	w.wall = append(w.wall, float64(time.Since(start))/count)
	w.cpu = append(w.cpu, float64(processorTime()-used)/count)
	runtime.ReadMemStats(&after)
	w.b, w.n = float64(after.TotalAlloc-before.TotalAlloc)/count, float64(after.Mallocs-before.Mallocs)/count
	return nil
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func ways() []way {
	var validator aaep.Validator
	return []way{
		{name: "aaep.Validator.Validate", do: func(m message) error {
			return verdict(validator.Validate(m.raw, aaep.ModeProducer))
		}},
		{name: "aaep.Validate", do: func(m message) error {
			return verdict(aaep.Validate(m.raw, aaep.ModeProducer))
		}},
		{name: "jsonschema: UnmarshalJSON, Validate", do: func(m message) error {
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(m.raw))
			if err != nil {
				return err
			}
			return m.schema.Validate(value)
		}},
		{name: "json.Unmarshal into a struct", do: func(m message) error { return m.decode(m.raw) }},
		{name: "jsontext.Value.IsValid", do: func(m message) error {
			if !jsontext.Value(m.raw).IsValid() {
				return fmt.Errorf("not JSON")
			}
			return nil
		}},
	}
}

func verdict(found []aaep.Violation) error {
	if errors := aaep.Errors(found); len(errors) > 0 {
		return fmt.Errorf("%v", errors[0])
	}
	return nil
}

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// load reads the messages and compiles the schema of each.
func load(folder string, examples bool) ([]message, error) {
	if folder == "" {
		return nil, fmt.Errorf("found no folder of schemas; give -schemas DIR")
	}
	schemas, inside, err := compile(folder)
	if err != nil {
		return nil, err
	}
	texts := inside
	if !examples {
		if texts, err = own(schemas); err != nil {
			return nil, err
		}
	}
	var mix []message
	for _, raw := range texts {
		var head struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(raw, &head); err != nil {
			return nil, err
		}
		schema, ok := schemas[strings.TrimPrefix(head.Type, "aaep:")]
		decode, known := structs[head.Type]
		if !ok || !known {
			return nil, fmt.Errorf("found no schema or no struct for %q", head.Type)
		}
		mix = append(mix, message{raw: raw, schema: schema, decode: decode})
	}
	return mix, nil
}

// own returns the examples of package aaep that have a schema.
func own(schemas map[string]*jsonschema.Schema) ([][]byte, error) {
	var texts [][]byte
	for _, m := range aaep.Messages() {
		if schemas[strings.TrimPrefix(m.Type, "aaep:")] == nil || structs[m.Type] == nil {
			continue
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(m.Example)); err != nil {
			return nil, err
		}
		texts = append(texts, compact.Bytes())
	}
	return texts, nil
}

// compile reads every schema of a folder, and the examples inside, as compact JSON.
func compile(folder string) (map[string]*jsonschema.Schema, [][]byte, error) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	names := map[string]string{} // type without the prefix to $id
	var inside [][]byte
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".schema.json") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			return err
		}
		var head struct {
			ID       string            `json:"$id"`
			Examples []json.RawMessage `json:"examples"`
		}
		if err := json.Unmarshal(raw, &head); err != nil {
			return err
		}
		name := strings.TrimSuffix(entry.Name(), ".schema.json")
		names[name] = head.ID
		if name != "envelope" {
			for _, example := range head.Examples {
				var compact bytes.Buffer
				if err := json.Compact(&compact, example); err != nil {
					return err
				}
				inside = append(inside, compact.Bytes())
			}
		}
		return compiler.AddResource(head.ID, document)
	})
	if err != nil {
		return nil, nil, err
	}
	schemas := map[string]*jsonschema.Schema{}
	for name, id := range names {
		schema, err := compiler.Compile(id)
		if err != nil {
			return nil, nil, err
		}
		schemas[name] = schema
	}
	return schemas, inside, nil
}

// envelope is the outer part of an event as a Go program would declare it.
type envelope struct {
	Context       jsontext.Value            `json:"@context"`
	Version       string                    `json:"aaep_version"`
	Type          string                    `json:"type"`
	ID            string                    `json:"event_id"`
	SessionID     string                    `json:"session_id"`
	Sequence      *int64                    `json:"sequence_number"`
	Timestamp     string                    `json:"timestamp"`
	Producer      aaep.Producer             `json:"producer"`
	Verbosity     string                    `json:"verbosity"`
	Urgency       string                    `json:"urgency"`
	Hints         *aaep.LocalizationHints   `json:"localization_hints"`
	CorrelationID string                    `json:"correlation_id"`
	Extensions    map[string]jsontext.Value `json:"extensions"`
}

var structs = map[string]func(raw []byte) error{
	aaep.TypeSessionStarted: event[struct {
		envelope
		aaep.SessionStarted
	}],
	aaep.TypeSessionCompleted: event[struct {
		envelope
		aaep.SessionCompleted
	}],
	aaep.TypeSessionErrored: event[struct {
		envelope
		aaep.SessionErrored
	}],
	aaep.TypeSessionCancelled: event[struct {
		envelope
		aaep.SessionCancelled
	}],
	aaep.TypeStateChanged: event[struct {
		envelope
		aaep.StateChanged
	}],
	aaep.TypeProgressUpdated: event[struct {
		envelope
		aaep.ProgressUpdated
	}],
	aaep.TypeToolInvoked: event[struct {
		envelope
		aaep.ToolInvoked
	}],
	aaep.TypeToolCompleted: event[struct {
		envelope
		aaep.ToolCompleted
	}],
	aaep.TypeOutputStreaming: event[struct {
		envelope
		aaep.OutputStreaming
	}],
	aaep.TypeAwaitingConfirmation: event[struct {
		envelope
		aaep.AwaitingConfirmation
	}],
	aaep.TypeAwaitingClarification: event[struct {
		envelope
		aaep.AwaitingClarification
	}],
	aaep.TypeHandoffRequested: event[struct {
		envelope
		aaep.HandoffRequested
	}],
	aaep.TypeConfirmationReply:    event[aaep.ConfirmationReply],
	aaep.TypeClarificationReply:   event[aaep.ClarificationReply],
	aaep.TypeSubscriptionRequest:  event[aaep.SubscriptionRequest],
	aaep.TypeSubscriptionAccepted: event[aaep.SubscriptionAccepted],
	aaep.TypeSubscriptionRejected: event[aaep.SubscriptionRejected],
}

func event[T any](raw []byte) error {
	var into T
	return fast.Unmarshal(raw, &into)
}
