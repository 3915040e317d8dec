package tidy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// How the turn's percents are shared out.
const (
	scanEnds = 10
	hashEnds = 70
	allDone  = 100
)

// Planner plans one turn. It is not for use by several goroutines.
type Planner struct {
	args    Args
	catalog catalog
	pending *Call
	answer  *Answer

	pages   int
	cursor  string
	batches int
	hashed  int // files
	// fixed: the root cannot be written, so nothing can be removed.
	fixed  bool
	counts Counts
	// message is what people are to hear before the pending call.
	message    string
	unwritable []string // duplicates in folders that cannot be written
	removals   int
	asked      int  // files of the latest removal
	reported   bool // the latest removal's own result was received
}

var errBadResult = errors.New("the tool's result contradicts its contract")

// unreadable is a result of another form than the tool's. Where it breaks off says nothing to a person.
func unreadable(tool string) error {
	return fmt.Errorf("the result of %s cannot be read: %w", tool, errBadResult)
}

// New starts a turn.
func New(args Args) *Planner {
	p := &Planner{args: args, counts: Counts{Skipped: map[string]int{}, Refused: map[string]int{}}}
	p.scan()
	return p
}

// Next is the move that is due. It stays the same until its call's result is observed.
func (p *Planner) Next() Move {
	if p.answer != nil {
		return Move{Answer: p.answer}
	}
	return Move{Message: p.message, Calls: []Call{*p.pending}}
}

// Observe takes in the result of a call of the last move; only the call's Key is looked at. Results of other calls
// (repeated ones, say) change nothing.
func (p *Planner) Observe(call Call, result Result) {
	if p.answer != nil || call.Key != p.pending.Key {
		return
	}
	var err error
	switch p.pending.Tool {
	case ToolScan:
		err = p.observeScan(result)
	case ToolHash:
		err = p.observeHash(result)
	default:
		err = p.observeRemoval(result)
	}
	if err != nil {
		p.fail(Result{Code: "bad_result", Message: err.Error()})
	}
}

func (p *Planner) ask(call Call) { p.pending, p.message = &call, "" }

// scan asks for the next page. How many will follow is not known: each covers half of what is left of the first percents.
func (p *Planner) scan() {
	from := scanEnds - scanEnds/(p.pages+1)
	says := "Listing the files in " + named(p.args.Root) + "."
	if p.pages > 0 {
		says = "Listing more files in " + named(p.args.Root) + "; " + grouped(int64(p.counts.Files)) + " so far."
	}
	p.pages++
	p.ask(Call{
		Key: "scan-" + strconv.Itoa(p.pages), Tool: ToolScan,
		Args: files.ScanArgs{Root: p.args.Root, Cursor: p.cursor},
		From: from, To: scanEnds - scanEnds/(p.pages+1),
		Comment: says,
	})
}

func (p *Planner) observeScan(result Result) error {
	if result.Code != "" {
		p.fail(result)
		return nil
	}
	var page files.ScanResult
	if json.Unmarshal(result.Output, &page) != nil {
		return unreadable(ToolScan)
	}
	if err := p.catalog.add(page.Files); err != nil {
		return err
	}
	p.fixed = page.Fixed
	p.counts.Files += len(page.Files)
	for reason, count := range page.Skipped {
		p.counts.Skipped[reason] += count
	}
	if page.Next == "" {
		p.catalog.dropSingles()
		p.hash()
		return nil
	}
	if page.Next <= p.cursor {
		return fmt.Errorf("files.scan: the cursor went from %q to %q: %w", p.cursor, page.Next, errBadResult)
	}
	p.cursor = page.Next
	p.scan()
	return nil
}

// hash asks for the next batch, or goes on to the removal when all are hashed.
func (p *Planner) hash() {
	paths, bytes := p.catalog.batch()
	if len(paths) == 0 {
		p.remove()
		return
	}
	p.batches++
	p.ask(Call{
		Key: "hash-" + strconv.Itoa(p.batches), Tool: ToolHash,
		Args: files.HashArgs{Root: p.args.Root, Paths: paths, Before: p.hashed, After: len(p.catalog.entries) - p.catalog.next},
		From: p.hashPercent(p.catalog.hashed), To: p.hashPercent(p.catalog.hashed + bytes),
		Comment: "Comparing the content of " + share(len(paths), len(p.catalog.entries)) + " of equal size, " + sized(bytes) + ".",
	})
}

// share tells a part of the files, and all of them where that is not the same.
func share(part, all int) string {
	if part == all {
		return plural(all, "file")
	}
	return grouped(int64(part)) + " of " + plural(all, "file")
}

func (p *Planner) hashPercent(done int64) int {
	if p.catalog.total == 0 {
		return hashEnds
	}
	return scanEnds + int(float64(done)/float64(p.catalog.total)*(hashEnds-scanEnds))
}

func (p *Planner) observeHash(result Result) error {
	if result.Code != "" {
		p.fail(result)
		return nil
	}
	var hashed files.HashResult
	if json.Unmarshal(result.Output, &hashed) != nil {
		return unreadable(ToolHash)
	}
	if err := p.catalog.learn(hashed.Hashes); err != nil {
		return err
	}
	for _, refusal := range hashed.Refused {
		p.counts.Skipped[string(refusal.Code)]++
	}
	p.hashed += len(hashed.Hashes)
	p.hash()
	return nil
}

// fail ends the turn after a call that went wrong.
func (p *Planner) fail(result Result) {
	outcome := outcomeOf(result.Code)
	if outcome == Done {
		outcome = Failed
	}
	p.finish(outcome, result)
}

func (p *Planner) finish(outcome Outcome, result Result) {
	removing := p.removals > 0
	p.pending, p.message = nil, ""
	p.answer = &Answer{Outcome: outcome, Code: result.Code, Counts: p.counts}
	p.answer.Lines = p.report(outcome, result, removing)
}
