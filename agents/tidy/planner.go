package tidy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	counts  Counts
	told    bool // the removal's own result was received
}

var errBadResult = errors.New("the tool's result contradicts its contract")

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
	return Move{Calls: []Call{*p.pending}}
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

func (p *Planner) ask(call Call) { p.pending = &call }

// scan asks for the next page. How many will follow is not known: each covers half of what is left of the first percents.
func (p *Planner) scan() {
	from := scanEnds - scanEnds/(p.pages+1)
	p.pages++
	p.ask(Call{
		Key: "scan-" + strconv.Itoa(p.pages), Tool: ToolScan,
		Args: files.ScanArgs{Root: p.args.Root, Cursor: p.cursor},
		From: from, To: scanEnds - scanEnds/(p.pages+1),
		Says: "Listing the files in " + named(p.args.Root) + ".",
	})
}

func (p *Planner) observeScan(result Result) error {
	if result.Code != "" {
		p.fail(result)
		return nil
	}
	var page files.ScanResult
	if err := json.Unmarshal(result.Output, &page); err != nil {
		return fmt.Errorf("files.scan: %w", err)
	}
	if err := p.catalog.add(page.Files); err != nil {
		return err
	}
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
		Args: files.HashArgs{Root: p.args.Root, Paths: paths},
		From: p.hashPercent(p.catalog.hashed), To: p.hashPercent(p.catalog.hashed + bytes),
		Says: "Comparing the content of " + plural(len(paths), "file") + " of equal size, " + sized(bytes) + ".",
	})
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
	if err := json.Unmarshal(result.Output, &hashed); err != nil {
		return fmt.Errorf("files.hash: %w", err)
	}
	if err := p.catalog.learn(hashed.Hashes); err != nil {
		return err
	}
	for _, refusal := range hashed.Refused {
		p.counts.Skipped[string(refusal.Code)]++
	}
	p.hash()
	return nil
}

// remove asks for the one removal of the turn.
func (p *Planner) remove() {
	sets := p.catalog.sets()
	p.catalog = catalog{}
	if len(sets) == 0 {
		p.finish(Nothing, Result{})
		return
	}
	p.counts.Sets = len(sets)
	for i := range sets {
		p.counts.Duplicates += len(sets[i].Delete)
		p.counts.DuplicateBytes += int64(len(sets[i].Delete)) * sets[i].Size
	}
	tool, doing, where := ToolDelete, "Deleting ", ""
	if p.args.Trash {
		tool, doing, where = ToolTrash, "Moving ", " to the trash"
	}
	p.ask(Call{
		Key: "remove", Tool: tool, Args: files.DeleteArgs{Root: p.args.Root, Sets: sets}, From: hashEnds, To: allDone,
		Says: doing + plural(p.counts.Duplicates, "duplicate file") + where + ", " + sized(p.counts.DuplicateBytes) +
			". One file of each of " + plural(p.counts.Sets, "set") + " stays.",
	})
}

func (p *Planner) observeRemoval(result Result) error {
	if len(result.Output) > 0 {
		var removed files.DeleteResult
		if err := json.Unmarshal(result.Output, &removed); err != nil {
			return fmt.Errorf("%s: %w", p.pending.Tool, err)
		}
		p.count(removed)
	}
	outcome := outcomeOf(result.Code)
	if outcome == Done && p.counts.Deleted < p.counts.Duplicates {
		outcome = Partly
	}
	p.finish(outcome, result)
	return nil
}

func (p *Planner) count(removed files.DeleteResult) {
	p.told = true
	p.counts.Deleted, p.counts.Bytes, p.counts.NotReached = removed.Deleted, removed.Bytes, removed.NotReached
	p.counts.Unclear = slices.Clone(removed.Unclear)
	for _, refusal := range removed.Refused {
		p.counts.Refused[string(refusal.Code)]++
		if refusal.Kept != "" {
			p.counts.Kept = append(p.counts.Kept, Kept{Path: refusal.Path, Now: refusal.Kept})
		}
	}
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
	removing := p.pending.Key == "remove"
	p.pending = nil
	p.answer = &Answer{Outcome: outcome, Code: result.Code, Counts: p.counts}
	p.answer.Lines = p.report(outcome, result, removing)
}
