// Command checker measures what judging the order of a stream costs beside judging each
// event by itself, and what it remembers.
//
//	go run ./checker                 time for each event, in turns, medians of ten rounds
//	go run ./checker -short          the same for events with one summary only
//	go run ./checker -memory         bytes for each open and each ended session
//	go run ./checker -events 10000000    a synthetic stream: peak memory of this process
//
// The stream is of legal sessions, 20 at a time, of 24 events each, about 650 bytes an
// event; every 50th event is delivered twice.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

func main() {
	events := flag.Int("events", 0, "feed so many events and report the peak memory")
	write := flag.Int("write", 0, "write so many events to standard output, a line each")
	memory := flag.Bool("memory", false, "report the bytes that one session takes")
	short := flag.Bool("short", false, "leave out the summaries that need not be there")
	sessions := flag.Int("sessions", 100, "how many sessions a checker judges in one round")
	rounds := flag.Int("rounds", 300, "how often each way is measured; the median counts")
	flag.Parse()
	if *short {
		for i, line := range script {
			script[i] = others.ReplaceAll(line, nil)
		}
	}
	switch {
	case *write > 0:
		if err := writeEvents(os.Stdout, *write); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
	case *events > 0:
		feed(*events)
	case *memory:
		sizes()
	default:
		times(*sessions, *rounds)
	}
}

// script is one session; N is its number, in eight digits.
var script = lines(`
{"type":"aaep:agent.session.started",E,"summary_normal":"Looking for duplicate files in your home folder.","requested_by":"anna"}
{"type":"aaep:agent.state.changed",E,"summary_normal":"Thinking about it.","from_state":"idle","to_state":"thinking"}
{"type":"aaep:agent.state.changed",E,"summary_normal":"Using files.scan.","from_state":"thinking","to_state":"calling_tool"}
{"type":"aaep:agent.tool.invoked",E,"tool":"files.scan","summary_normal":"Looking through the folder.","irreversible":false,"tool_call_id":"call_aN"}
{"type":"aaep:agent.progress.updated",E,"summary_normal":"Half of the folder is done.","progress":{"percent":50}}
{"type":"aaep:agent.tool.completed",E,"tool":"files.scan","status":"success","summary_normal":"Found 1,000 files.","tool_call_id":"call_aN","duration_ms":120}
{"type":"aaep:agent.tool.invoked",E,"tool":"files.hash","summary_normal":"Comparing the files.","irreversible":false,"tool_call_id":"call_bN"}
{"type":"aaep:agent.progress.updated",E,"summary_normal":"Half of the files are compared.","progress":{"step":1,"total_steps":2}}
{"type":"aaep:agent.tool.completed",E,"tool":"files.hash","status":"success","summary_normal":"Found 100 duplicates.","tool_call_id":"call_bN","duration_ms":120}
{"type":"aaep:agent.state.changed",E,"summary_normal":"Waiting for your word.","from_state":"calling_tool","to_state":"awaiting_input"}
{"type":"aaep:agent.awaiting.confirmation",E,"urgency":"critical","action":"Delete 100 duplicate files.","consequence":"This frees 12 MB. It cannot be undone.","summary_normal":"Delete 100 files?","reply_token":"rpl_N","timeout_seconds":300,"default_decision":"reject","risk_level":"high","irreversible":true,"extra_context":{"tool":"files.delete","tool_call_id":"call_cN"}}
{"type":"aaep:agent.state.changed",E,"summary_normal":"You accepted.","from_state":"awaiting_input","to_state":"calling_tool"}
{"type":"aaep:agent.tool.invoked",E,"tool":"files.delete","summary_normal":"Deleting the files.","risk_level":"high","irreversible":true,"tool_call_id":"call_cN"}
{"type":"aaep:agent.progress.updated",E,"summary_normal":"Half of the files are deleted.","progress":{"percent":50}}
{"type":"aaep:agent.tool.completed",E,"tool":"files.delete","status":"success","summary_normal":"Deleted 100 files.","tool_call_id":"call_cN","duration_ms":1200}
{"type":"aaep:agent.state.changed",E,"summary_normal":"Writing the answer.","from_state":"calling_tool","to_state":"writing_output"}
{"type":"aaep:agent.output.streaming",E,"chunk":"I looked through 1,000 files in your home. ","position":0,"complete":false,"coalesce_hint":"sentence"}
{"type":"aaep:agent.output.streaming",E,"chunk":"A hundred of them were duplicates, 12 MB in all. ","position":43,"complete":false,"coalesce_hint":"sentence"}
{"type":"aaep:agent.output.streaming",E,"chunk":"They are deleted now. ","position":92,"complete":false,"coalesce_hint":"sentence"}
{"type":"aaep:agent.output.streaming",E,"chunk":"One copy of each is left, where you used it last. ","position":114,"complete":false,"coalesce_hint":"sentence"}
{"type":"aaep:agent.output.streaming",E,"chunk":"Nothing else was changed.","position":164,"complete":true,"coalesce_hint":"completion"}
{"type":"aaep:agent.state.changed",E,"summary_normal":"Going through it once more.","from_state":"writing_output","to_state":"deciding"}
{"type":"aaep:agent.progress.updated",E,"summary_normal":"All is done.","progress":{"percent":100}}
{"type":"aaep:agent.session.completed",E,"summary_normal":"Deleted 100 files, freed 12 MB.","tool_invocations_count":3}
`)

// others are the summaries that need not be there (ENV-37).
var others = regexp.MustCompile(`"summary_(terse|detailed)":"[^"]*",`)

// lines writes the envelopes in, and the other two summaries that a producer should
// give (ENV-37). The clock stands still, which is legal.
func lines(text string) [][]byte {
	var all [][]byte
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		kind, rest, _ := strings.Cut(strings.TrimPrefix(line, "{"), ",E,")
		urgency := "normal"
		if strings.Contains(kind, "progress") {
			urgency = "background"
		}
		if strings.HasPrefix(rest, `"urgency":"critical",`) {
			urgency, rest = "critical", strings.TrimPrefix(rest, `"urgency":"critical",`)
		}
		if _, behind, ok := strings.Cut(rest, `"summary_normal":"`); ok {
			said, _, _ := strings.Cut(behind, `"`)
			word, _, _ := strings.Cut(said, " ")
			rest = fmt.Sprintf(`"summary_terse":"%s.","summary_detailed":"%s The agent tidy works in /home/anna for anna.",%s`, strings.TrimRight(word, ".?!"), said, rest)
		}
		all = append(all, fmt.Appendf(nil, `{"@context":"https://aaep-protocol.org/context/v1","aaep_version":"1.0.0",%s,"event_id":"evt_019e59db64f87453%02dN","session_id":"sess_019e59db64f87453N","timestamp":"2026-05-24T14:22:11.342Z","producer":{"agent_id":"earshot.tidy","agent_version":"1.0.0","agent_name":"tidy"},"verbosity":"normal","urgency":%q,"localization_hints":{"primary_language":"en","text_direction":"ltr"},%s`, kind, i, urgency, rest))
	}
	return all
}

const atOnce = 20

// stream makes the events of many sessions, in the same memory.
type stream struct {
	first, step, lane int
	buffer            []byte
	again             bool
	count             int
}

func (s *stream) next() []byte {
	s.count++
	if s.count%50 == 0 && s.buffer != nil {
		return s.buffer
	}
	s.buffer = instance(s.buffer[:0], s.step, s.first+s.lane)
	s.lane++
	if s.lane == atOnce {
		s.lane, s.step = 0, s.step+1
	}
	if s.step == len(script) {
		s.step, s.first = 0, s.first+atOnce
	}
	return s.buffer
}

// writeEvents writes the beginning of the stream, up to where no session is open.
func writeEvents(to io.Writer, events int) error {
	out := bufio.NewWriterSize(to, 1<<20)
	s := &stream{}
	for whole := false; !whole || s.count < events; whole = s.lane == 0 && s.step == 0 {
		if _, err := out.Write(append(s.next(), '\n')); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return nil
}

// feed judges a long stream and reports the memory.
func feed(events int) {
	checker, validator := session.NewChecker(), &aaep.Validator{}
	var s stream
	peak := session.Size{}
	infos := 0
	for range events {
		raw := s.next()
		document := validator.Read(raw)
		found := append(validator.Judge(document, aaep.ModeProducer), checker.CheckDocument(document)...)
		for _, v := range found {
			if v.Severity != aaep.SeverityInfo {
				log.Fatalf("found %s in\n%s", v, raw)
			}
			infos++
		}
		size := checker.Size()
		peak = session.Size{Open: max(peak.Open, size.Open), Ended: max(peak.Ended, size.Ended), IDs: max(peak.IDs, size.IDs), Things: max(peak.Things, size.Things)}
	}
	fmt.Printf("events: %d\nentries at most: %+v\ninfos: %d\nlive memory at the end: %d kB\n", events, peak, infos, heap()/1024)
	runtime.KeepAlive(checker)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range strings.Split(string(status), "\n") {
		if strings.HasPrefix(line, "VmHWM") {
			fmt.Println("peak resident memory:", strings.TrimSpace(strings.TrimPrefix(line, "VmHWM:")))
		}
	}
}

// sizes reports what one session takes.
func sizes() {
	const open, ended = 10_000, 100_000
	base := heap()
	checker := session.NewChecker()
	for n := range open {
		play(checker, n, 10) // up to the question
	}
	withOpen := heap()
	fmt.Printf("an open session of 10 events: %d bytes (%d of them)\n", (withOpen-base)/open, checker.Size().Open)
	runtime.KeepAlive(checker)
	checker = nil
	base = heap()
	checker = session.NewChecker()
	for n := range ended {
		play(checker, n, len(script))
	}
	withEnded := heap()
	fmt.Printf("%d ended sessions and the last 65,536 ids: %d bytes, %d for each session\n", checker.Size().Ended, withEnded-base, (withEnded-base)/ended)
	runtime.KeepAlive(checker)
	checker = session.NewChecker()
	base = heap()
	play(checker, 0, 10)
	raw := instance(nil, 4, 0)
	for n := range 65_536 {
		checker.Check(bytes.Replace(raw, []byte("evt_019e59db64f87453"), fmt.Appendf(nil, "evt_%016d", n), 1))
	}
	fmt.Printf("one open session of 65,546 events: %d bytes\n", heap()-base)
	runtime.KeepAlive(checker)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// instance writes one event of one session behind to.
func instance(to []byte, step, n int) []byte {
	rest := script[step]
	for {
		before, after, found := bytes.Cut(rest, []byte(`N"`))
		to = append(to, before...)
		if !found {
			return to
		}
		for figure := 10_000_000; figure > 0; figure /= 10 {
			to = append(to, '0'+byte(n/figure%10))
		}
		to, rest = append(to, '"'), after
	}
}

func play(c *session.Checker, n, steps int) {
	for step := range steps {
		c.Check(instance(nil, step, n))
	}
}

// times compares judging with and without the order, by processor time, so that other
// work on the machine counts little.
func times(sessions, rounds int) {
	const passes = 1
	var all [][]byte
	var s stream
	for range sessions * len(script) {
		all = append(all, slices.Clone(s.next()))
	}
	validator := &aaep.Validator{}
	ways := []struct {
		name string
		do   func()
		ns   []float64
		news float64
	}{
		{name: "read and validate", do: func() {
			for _, raw := range all {
				validator.Judge(validator.Read(raw), aaep.ModeProducer)
			}
		}},
		{name: "read, validate and check the order", do: func() {
			checker := session.NewChecker()
			for _, raw := range all {
				document := validator.Read(raw)
				validator.Judge(document, aaep.ModeProducer)
				checker.CheckDocument(document)
			}
		}},
	}
	for range rounds {
		for i := range ways {
			before, news := spent(), mallocs()
			for range passes {
				ways[i].do()
			}
			ways[i].ns = append(ways[i].ns, float64(spent()-before)/float64(passes*len(all)))
			ways[i].news = float64(mallocs()-news) / float64(passes*len(all))
		}
	}
	var added []float64
	for i := range ways[0].ns {
		added = append(added, ways[1].ns[i]-ways[0].ns[i])
	}
	for _, w := range ways {
		fmt.Printf("%-36s %6.0f ns an event (median of %d; best %.0f), %.3f allocations\n", w.name, median(w.ns), rounds, slices.Min(w.ns), w.news)
	}
	best := slices.Min(ways[1].ns) - slices.Min(ways[0].ns)
	size := 0
	for _, raw := range all {
		size += len(raw)
	}
	fmt.Printf("events of %d bytes\n", size/len(all))
	fmt.Printf("the order adds %.0f ns (median of the differences), %.0f %%; at best %.0f ns, %.0f %%\n", median(added), 100*median(added)/median(ways[0].ns), best, 100*best/slices.Min(ways[0].ns))
}

func median(ns []float64) float64 {
	sorted := slices.Sorted(slices.Values(ns))
	return sorted[len(sorted)/2]
}

// spent is the processor time of this process so far, in nanoseconds.
func spent() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}
