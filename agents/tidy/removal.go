package tidy

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// remove asks for the removal of all duplicates, unless none can be removed.
func (p *Planner) remove() {
	found := p.catalog.duplicates()
	p.catalog = catalog{}
	if found.sets == 0 {
		p.finish(Nothing, Result{})
		return
	}
	p.counts.Sets, p.counts.Duplicates, p.counts.DuplicateBytes = found.sets, found.files, found.bytes
	p.counts.Unwritable, p.unwritable = len(found.unwritable), found.unwritable
	if p.fixed || len(found.remove) == 0 {
		p.counts.Unwritable = found.files
		p.finish(Unwritable, Result{})
		return
	}
	p.askFor(found.remove)
	if p.counts.Unwritable > 0 {
		p.message = plural(p.counts.Unwritable, "duplicate file") + " cannot be removed, because this user cannot write to " + p.unwritableFolders() + ". The question is about the others."
	}
}

// askFor asks for one removal of sets of files.
func (p *Planner) askFor(sets []files.Set) {
	p.removals++
	p.asked, p.reported = 0, false
	var bytes int64
	for i := range sets {
		p.asked += len(sets[i].Delete)
		bytes += int64(len(sets[i].Delete)) * sets[i].Size
	}
	tool, doing, where := ToolDelete, "Deleting ", ""
	if p.args.Trash {
		tool, doing, where = ToolTrash, "Moving ", " to the trash"
	}
	call := Call{
		Key: "remove", Tool: tool, Args: files.DeleteArgs{Root: p.args.Root, Sets: sets}, From: hashEnds, To: allDone,
		Comment: doing + plural(p.asked, "duplicate file") + where + ", " + sized(bytes) + ". One file of each of " + plural(len(sets), "set") + " stays.",
	}
	if p.removals > 1 {
		call.Key, call.From = "remove-"+strconv.Itoa(p.removals), allDone
	}
	p.ask(call)
}

func (p *Planner) observeRemoval(result Result) error {
	removed, told, good := report(result.Output)
	if !good {
		return unreadable(p.pending.Tool)
	}
	if told {
		p.count(removed)
	}
	if rest := p.interrupted(result, removed); len(rest) > 0 {
		p.askFor(rest)
		p.message = "The " + p.noun() + " was interrupted. " + p.removed() + " " + plural(p.asked, "file") + " are left, and nothing was done to them."
		if p.asked == 1 {
			p.message = "The " + p.noun() + " was interrupted. " + p.removed() + " 1 file is left, and nothing was done to it."
		}
		return nil
	}
	outcome := outcomeOf(result.Code)
	if outcome == Done && p.counts.Deleted < p.counts.Duplicates-p.counts.Unwritable {
		outcome = Partly
	}
	p.finish(outcome, result)
	return nil
}

// report is what a removal says of itself. The result of a call that was refused says only why.
func report(raw json.RawMessage) (removed files.DeleteResult, told, good bool) {
	var is struct {
		Deleted *int `json:"deleted"`
	}
	if len(raw) == 0 {
		return removed, false, true
	}
	if err := json.Unmarshal(raw, &is); err != nil || is.Deleted == nil {
		return removed, false, err == nil
	}
	return removed, true, json.Unmarshal(raw, &removed) == nil
}

// interrupted is what a removal did not come to because its service ended or crashed. A person who stops the turn ends it, so that
// nobody is asked again. A removal that did nothing at all is not repeated.
func (p *Planner) interrupted(result Result, removed files.DeleteResult) []files.Set {
	args, is := p.pending.Args.(files.DeleteArgs)
	if !is || !p.reported || result.Code != "" && result.Code != CodeStopped || removed.NotReached >= p.asked {
		return nil
	}
	return restOf(args.Sets, removed.Rest)
}

// restOf are the sets with those files only whose positions are in the spans.
func restOf(sets []files.Set, spans []files.Span) []files.Set {
	var rest []files.Set
	at := 0
	for _, set := range sets {
		left := set
		left.Delete = nil
		for _, file := range set.Delete {
			if slices.ContainsFunc(spans, func(s files.Span) bool { return s.From <= at && at < s.To }) {
				left.Delete = append(left.Delete, file)
			}
			at++
		}
		if len(left.Delete) > 0 {
			rest = append(rest, left)
		}
	}
	return rest
}

// count adds what one removal did to what the others did.
func (p *Planner) count(removed files.DeleteResult) {
	p.reported = true
	p.counts.Deleted += removed.Deleted
	p.counts.Bytes += removed.Bytes
	p.counts.NotReached = removed.NotReached
	p.counts.Unclear = append(p.counts.Unclear, removed.Unclear...)
	for _, refusal := range removed.Refused {
		p.counts.Refused[string(refusal.Code)]++
		if refusal.Remains != "" {
			p.counts.Misplaced = append(p.counts.Misplaced, Misplaced{Path: refusal.Path, Now: refusal.Remains})
		}
	}
}

// foldersShown is how many folders a sentence names.
const foldersShown = 3

// unwritableFolders names the folders that cannot be written.
func (p *Planner) unwritableFolders() string {
	if p.fixed {
		return named(p.args.Root)
	}
	var folders []string
	for _, file := range p.unwritable {
		folder := path.Join(p.args.Root, path.Dir(file))
		if !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	slices.Sort(folders)
	text := ""
	for i, folder := range folders {
		switch {
		case i == foldersShown:
			return text + " and " + plural(len(folders)-i, "other folder")
		case i > 0:
			text += ", "
		}
		text += named(folder)
	}
	return text
}
