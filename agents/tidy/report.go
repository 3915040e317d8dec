package tidy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// namesShown is how many paths of one kind a report lists; the counts have all.
const namesShown = 20

// report tells how it ended first, then what was not done, then what had been found, then what was left out from the start.
func (p *Planner) report(outcome Outcome, result Result, removing bool) []string {
	lines := p.ending(outcome, result, removing)
	if p.counts.Sets > 0 {
		lines = append(append(lines, p.leftovers(outcome)...), p.found())
	}
	return append(lines, p.skipped()...)
}

func (p *Planner) found() string {
	return fmt.Sprintf("Found %s in %s, %s, among %s.", plural(p.counts.Duplicates, "duplicate file"), plural(p.counts.Sets, "set"),
		sized(p.counts.DuplicateBytes), plural(p.counts.Files, "file"))
}

func (p *Planner) ending(outcome Outcome, result Result, removing bool) []string {
	switch outcome {
	case Nothing:
		if p.counts.Files == 0 {
			return []string{"There is no file to compare in " + named(p.args.Root) + ". Nothing was deleted."}
		}
		return []string{fmt.Sprintf("No duplicates were found among %s. Nothing was deleted.", plural(p.counts.Files, "file"))}
	case Done, Partly:
		return []string{p.removed()}
	case Declined:
		return []string{"You said no. " + p.nothing()}
	case Expired:
		return []string{"Nobody answered. " + p.nothing()}
	case Withdrawn:
		return []string{"The question was withdrawn. " + p.nothing()}
	case Denied:
		return []string{"The policy of this installation forbids it. " + p.nothing()}
	case Stale:
		return []string{"The consent was too old when the work could begin. " + p.nothing()}
	case Stopped:
		return []string{"Stopped on request. " + p.soFar(removing && p.reported)}
	case Unknown:
		return []string{
			"It is not known how far the " + p.noun() + " came. " + p.known(),
			"Look into " + named(p.args.Root) + " before you run this again. Nothing is repeated by itself.",
		}
	case Unwritable:
		return []string{
			"This user cannot write to " + p.unwritableFolders() + ", so no duplicate can be removed. " + p.nothing(),
			"Change the rights of the folder, or run this as a user who may write there.",
		}
	case Failed:
		return []string{"Failed: " + detail(result) + ". " + p.soFar(removing)}
	default:
		return []string{"Ended as " + string(outcome) + ". " + p.soFar(removing)}
	}
}

func detail(result Result) string {
	if result.Message == "" {
		return result.Code
	}
	return oneLine(strings.TrimRight(result.Message, ".")) + " (" + result.Code + ")"
}

func (p *Planner) noun() string {
	if p.args.Trash {
		return "move to the trash"
	}
	return "deletion"
}

// nothing says that the latest removal did nothing, and what those before it did.
func (p *Planner) nothing() string {
	switch {
	case p.counts.Deleted > 0 && p.args.Trash:
		return "Nothing more was moved to the trash. " + p.removed()
	case p.counts.Deleted > 0:
		return "Nothing more was deleted. " + p.removed()
	case p.args.Trash:
		return "Nothing was moved to the trash."
	default:
		return "Nothing was deleted."
	}
}

func (p *Planner) removed() string {
	switch {
	case p.counts.Deleted == 0:
		return p.nothing()
	case p.args.Trash:
		return fmt.Sprintf("Moved %s to the trash, %s.", plural(p.counts.Deleted, "file"), sized(p.counts.Bytes))
	default:
		return fmt.Sprintf("Deleted %s. Freed %s.", plural(p.counts.Deleted, "file"), sized(p.counts.Bytes))
	}
}

func (p *Planner) soFar(removing bool) string {
	switch {
	case !removing:
		return p.nothing()
	case !p.reported:
		return p.known()
	default:
		return p.removed()
	}
}

func (p *Planner) known() string {
	if p.counts.Deleted == 0 {
		return "No file is known to be gone."
	}
	return "Known so far: " + p.removed()
}

// refusals are the reasons for which a file was not removed, in words.
func refusals() map[string]string {
	return map[string]string{
		"changed":       "changed since it was listed",
		"vanished":      "was gone already",
		"keep_missing":  "its last equal is gone",
		"keep_changed":  "its equal changed",
		"escapes_root":  "is out of bounds now",
		"not_regular":   "is not a plain file any more",
		"unreadable":    "could not be read",
		"not_permitted": "may not be removed by this user",
	}
}

func (p *Planner) leftovers(outcome Outcome) []string {
	var lines []string
	if p.counts.Unwritable > 0 && outcome != Unwritable {
		lines = append(lines, "Left alone: "+plural(p.counts.Unwritable, "file")+" where this user cannot write, in "+p.unwritableFolders()+".")
	}
	reasons := refusals()
	for _, code := range slices.Sorted(maps.Keys(p.counts.Refused)) {
		lines = append(lines, fmt.Sprintf("Left alone: %s, reason %s%s.", plural(p.counts.Refused[code], "file"), code, inWords(reasons[code])))
	}
	lines = append(lines, shown(len(p.counts.Misplaced), func(i int) string {
		kept := p.counts.Misplaced[i]
		return fmt.Sprintf("Its place was taken: %s lies in %s now.", quoted(kept.Path), quoted(kept.Now))
	})...)
	lines = append(lines, shown(len(p.counts.Unclear), func(i int) string {
		return "Unclear whether it was removed: " + quoted(p.counts.Unclear[i]) + "."
	})...)
	if p.counts.NotReached > 0 {
		line := "Not reached: " + plural(p.counts.NotReached, "file") + ", untouched."
		if outcome != Unknown {
			line += " Run this again to be asked about what is left."
		}
		lines = append(lines, line)
	}
	return lines
}

func inWords(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// shown lists the first few.
func shown(count int, line func(i int) string) []string {
	var lines []string
	for i := range min(count, namesShown) {
		lines = append(lines, line(i))
	}
	if count > namesShown {
		lines = append(lines, "And "+strconv.Itoa(count-namesShown)+" more.")
	}
	return lines
}

// skips are the reasons for which a scan leaves something out, in words for one and for several.
func skips() map[string][2]string {
	return map[string][2]string{
		"symlink":          {"symbolic link", "symbolic links"},
		"git":              {".git folder", ".git folders"},
		"unreadable":       {"unreadable file or folder", "unreadable files or folders"},
		"empty":            {"empty file", "empty files"},
		"hard_link":        {"further name of one file (hard link)", "further names of one file (hard links)"},
		"special":          {"device, pipe or socket", "devices, pipes or sockets"},
		"other_filesystem": {"folder on another file system", "folders on other file systems"},
		"not_utf8":         {"name that is not UTF-8", "names that are not UTF-8"},
		"private":          {"folder of Earshot's own", "folders of Earshot's own"},
		"long_path": {
			"file or folder whose path is longer than 4,096 bytes", "files or folders whose paths are longer than 4,096 bytes",
		},
		"unfinished": {
			"private folder of an unfinished removal, where a file may lie (.earshot-…)",
			"private folders of unfinished removals, where files may lie (.earshot-…)",
		},
		"trash":        {"trash folder", "trash folders"},
		"vanished":     {"file that vanished meanwhile", "files that vanished meanwhile"},
		"changed":      {"file that was changing", "files that were changing"},
		"not_regular":  {"file that became something else", "files that became something else"},
		"escapes_root": {"file behind a new link", "files behind a new link"},
	}
}

func (p *Planner) skipped() []string {
	var parts []string
	words := skips()
	for _, reason := range slices.Sorted(maps.Keys(p.counts.Skipped)) {
		count := p.counts.Skipped[reason]
		if count == 0 {
			continue
		}
		word, ok := words[reason]
		switch {
		case !ok:
			parts = append(parts, grouped(int64(count))+" "+oneLine(reason))
		case count == 1:
			parts = append(parts, "1 "+word[0])
		default:
			parts = append(parts, grouped(int64(count))+" "+word[1])
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"Skipped: " + strings.Join(parts, ", ") + "."}
}
