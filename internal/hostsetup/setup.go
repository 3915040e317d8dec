package hostsetup

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/hostfile"
	"github.com/earshot-dev/earshot/internal/toolfile"
)

// Options say which host, and which Earshot.
type Options struct {
	Host hostfile.Host
	File string // of the host
	Data string // of Earshot
	// Program is the full path of Earshot, and Args what makes it the server of a host.
	Program string
	Args    []string
	// Home is where a server starts that moves behind Earshot and says nothing else.
	Home string
	// Tools are what reading a file of tools needs.
	Tools toolfile.Options
	// Import moves the host's servers behind Earshot; Restore moves them back.
	Import, Restore bool
	// AskLogin records that the server of that name at that address asks for a login. Required for Import.
	AskLogin func(ctx context.Context, server, address string) error
	// OnStart is called before a server is started, or dialled, to list its tools, which can take a while. Default: nobody is told.
	OnStart func(server string)
	// Force writes over, and removes, what somebody has changed by hand.
	Force bool
	// DryRun writes nothing and starts nothing.
	DryRun bool
}

// Result is what was done, or would be.
type Result struct {
	Host    string          `json:"host"`
	File    string          `json:"file"`
	Changed bool            `json:"changed"`
	Entry   string          `json:"entry,omitzero"` // what became of that of Earshot: added, replaced or removed
	DryRun  bool            `json:"dry_run,omitzero"`
	Diff    []string        `json:"diff,omitzero"`
	Backup  string          `json:"backup,omitzero"`
	Back    bool            `json:"restored,omitzero"` // servers go back to the host
	Moved   []Moved         `json:"moved,omitzero"`    // those that go back, or else behind Earshot
	Left    []hostfile.Left `json:"left,omitzero"`
	// Snippet is what to write into the file by hand, where it is in a form that is not edited.
	Snippet string `json:"snippet,omitzero"`
	// Behind are the servers of this host that stay behind Earshot after its entry is gone.
	Behind []string `json:"behind,omitzero"`
	// Removed are the servers that were taken away from behind Earshot, by their names there.
	Removed []string `json:"removed_servers,omitzero"`
}

// Moved is a server that moved, and its name behind Earshot.
type Moved struct {
	Name string `json:"name"`
	As   string `json:"as"`
	// Without is what of it cannot be had behind Earshot.
	Without []string `json:"without,omitzero"`
	// Login is "needed" if its tools can be listed after a login only. Client is the one that its host logs in as, if its entry
	// names one.
	Login  string `json:"login,omitzero"`
	Client string `json:"client,omitzero"`
}

// work is one run.
type work struct {
	Options

	file   *file
	record *record
	result Result
}

func begin(o Options) (*work, error) {
	f, err := open(o.Host, o.File)
	if err != nil {
		return nil, err
	}
	r, err := recordOf(o.Data, o.Host.Name, o.File)
	if err != nil {
		return nil, err
	}
	return &work{Options: o, file: f, record: r, result: Result{Host: o.Host.Name, File: o.File, DryRun: o.DryRun}}, nil
}

// Install writes the entry of Earshot into the file of a host. The error is for people.
func Install(ctx context.Context, o Options) (Result, error) {
	w, err := begin(o)
	if err != nil {
		return Result{}, err
	}
	entry := o.Host.Entry(o.Program, o.Args...)
	before, made := w.file.Entry(hostfile.EntryName), !w.file.HasSection()
	if !w.file.Has(hostfile.EntryName, entry) {
		if err := w.mayReplace(); err != nil {
			return w.result, err
		}
		if err := w.file.Set(hostfile.EntryName, entry); err != nil {
			w.result.Snippet = hostfile.Snippet(o.Host, hostfile.EntryName, entry)
			return w.result, w.byHand(err)
		}
		if w.result.Entry = added; before != nil {
			w.result.Entry = replaced
		}
	}
	if !o.DryRun {
		if err := datadir.Make(o.Data); err != nil {
			return w.result, err
		}
	}
	if o.Import {
		if err := w.moveIn(ctx); err != nil {
			return w.result, err
		}
	}
	w.record.Entry, w.record.Previous, w.record.Made = entry.Table(), before, w.record.Made || made
	return w.end(nil)
}

// mayReplace asks whether an entry of our name is ours to write over.
func (w *work) mayReplace() error {
	present := w.file.Entry(hostfile.EntryName)
	if present == nil || w.Force || w.record.wrote(present) || w.record.Entry == nil && ours(present) {
		return nil
	}
	if w.record.Entry == nil {
		return cause.Misuse(cause.OneLine(w.File)+" has an entry earshot that is not Earshot's", "rename it, or have it replaced with --force")
	}
	return cause.Misuse("the entry earshot in "+cause.OneLine(w.File)+" was changed since Earshot wrote it, and is left as it is", "have it written again with --force")
}

// ours reports whether an entry starts the gateway, as one that was written by hand does.
func ours(entry map[string]any) bool {
	args, _ := entry["args"].([]any)
	return len(args) >= 2 && args[0] == "mcp" && args[1] == "serve"
}

// byHand says what to write where an entry cannot be edited.
func (w *work) byHand(err error) error {
	if hand, is := errors.AsType[*hostfile.HandError](err); is {
		return cause.Misuse(cause.OneLine(w.File)+" was left as it is: "+hand.Error(), "change the entry there by hand; `earshot install "+w.Host.Name+"` shows what it is to be")
	}
	return cause.Fail(err, cause.OneLine(w.File)+" was left as it is", "")
}

// Uninstall takes the entry of Earshot out of the file of a host. The error is for people.
func Uninstall(_ context.Context, o Options) (Result, error) {
	w, err := begin(o)
	if err != nil {
		return Result{}, err
	}
	if present := w.file.Entry(hostfile.EntryName); present != nil {
		if !o.Force && !w.record.wrote(present) && (w.record.Entry != nil || !ours(present)) {
			return w.result, w.mayReplace()
		}
		if err := w.file.Remove(hostfile.EntryName); err != nil {
			return w.result, w.byHand(err)
		}
		w.result.Entry = removed
	}
	var back []moved
	if w.result.Back = o.Restore; o.Restore {
		if back, err = w.moveOut(); err != nil {
			return w.result, err
		}
	}
	if w.record.Made && w.result.Entry == removed {
		if err := w.file.RemoveSection(); err != nil {
			return w.result, w.byHand(err)
		}
	}
	w.record.Entry, w.record.Previous, w.record.Made = nil, nil, false
	return w.end(back)
}

// end writes what was changed: the record, the file of the host, and then what only counts once that is written.
func (w *work) end(back []moved) (Result, error) {
	w.result.Changed, w.result.Diff = w.file.Changed(), w.file.Diff(w.File)
	for _, m := range w.record.Moved {
		if !slices.ContainsFunc(back, func(b moved) bool { return b.Name == m.Name }) {
			w.result.Behind = append(w.result.Behind, m.As)
		}
	}
	if w.DryRun {
		return w.result, nil
	}
	installing := w.record.Entry != nil
	if installing { // what was moved has to be known before it is gone
		if err := w.record.save(); err != nil {
			return w.result, err
		}
	}
	if w.result.Changed {
		var err error
		if w.result.Backup, err = w.file.write(w.Host); err != nil {
			return w.result, err
		}
	}
	if installing {
		return w.result, nil
	}
	if err := w.removeMoved(back); err != nil {
		return w.result, err
	}
	return w.result, w.record.save()
}

// toolsFile is where servers stand behind Earshot.
func (w *work) toolsFile() string { return filepath.Join(w.Data, datadir.ToolsFile) }

// Has reports whether the file of a host has an entry of Earshot.
func Has(host hostfile.Host, path string) (bool, error) {
	f, err := open(host, path)
	if err != nil {
		return false, err
	}
	return f.Entry(hostfile.EntryName) != nil, nil
}
