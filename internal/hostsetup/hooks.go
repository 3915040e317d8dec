package hostsetup

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
	"github.com/earshot-dev/earshot/internal/hostfile"
)

// HookOptions say which host is to ask before it uses tools of its own, and which Earshot it asks.
type HookOptions struct {
	Hook hook.Host
	Host hostfile.Host // with the file that names the hooks
	File string
	Data string // of Earshot
	// Program is the full path of Earshot, Args are what its hook is given beside its own.
	Program string
	Args    []string
	// Force writes over, and removes, what somebody has changed by hand.
	Force bool
	// DryRun writes nothing.
	DryRun bool
}

// HookResult is what was done, or would be.
type HookResult struct {
	Host    string   `json:"host"`
	File    string   `json:"file"`
	Changed bool     `json:"changed"`
	Events  []string `json:"events,omitzero"` // at which Earshot's hook runs, or ran
	DryRun  bool     `json:"dry_run,omitzero"`
	Diff    []string `json:"diff,omitzero"`
	Backup  string   `json:"backup,omitzero"`
	// Then is what the person has to do at the host.
	Then string `json:"then,omitzero"`
	// Snippet is what has to stand in the file, where that could not be edited.
	Snippet string `json:"snippet,omitzero"`
}

// hookRecord is what Earshot remembers of the hooks in one file.
type hookRecord struct {
	Host    string                    `json:"host"`
	File    string                    `json:"file"`
	Entries map[string]map[string]any `json:"entries,omitzero"` // by their events
	// MadeSection and MadeVersion: these were not there before.
	MadeSection bool `json:"made_section,omitzero"`
	MadeVersion bool `json:"made_version,omitzero"`
}

// hookWork is one run.
type hookWork struct {
	HookOptions

	file   *file
	path   string // of the record
	record hookRecord
	result HookResult
}

func beginHooks(o HookOptions) (*hookWork, error) {
	f, err := open(o.Host, o.File)
	if err != nil {
		return nil, err
	}
	w := &hookWork{HookOptions: o, file: f, result: HookResult{Host: o.Host.Name, File: o.File, DryRun: o.DryRun}}
	w.path = recordPath(o.Data, o.Host.Name+"-hooks", o.File)
	w.record.Host, w.record.File = o.Host.Name, o.File
	return w, readRecord(w.path, o.Host.Name, &w.record)
}

// InstallHooks has a host run Earshot's hook. Where its file cannot be edited, the result says what has to stand there, and the error
// is for people, as are all others.
func InstallHooks(o HookOptions) (HookResult, error) {
	w, err := beginHooks(o)
	if err != nil {
		return HookResult{}, err
	}
	settings := o.Hook.Settings(o.Program, o.Args...)
	wanted, err := entriesOf(settings)
	if err != nil {
		return w.result, err
	}
	w.result.Then = settings.Then
	section := w.file.HasSection()
	for _, event := range settings.Events() {
		if err := w.set(event, wanted[event]); err != nil {
			return w.byHand(settings, err)
		}
		w.result.Events = append(w.result.Events, event)
	}
	w.record.MadeSection = w.record.MadeSection || !section
	if settings.Version != 0 && w.file.Version() == nil {
		if err := w.file.SetVersion(settings.Version); err != nil {
			return w.byHand(settings, err)
		}
		w.record.MadeVersion = true
	}
	w.record.Entries = map[string]map[string]any{}
	for event, entry := range wanted {
		w.record.Entries[event] = entry.Table()
	}
	if !o.DryRun {
		if err := datadir.Make(o.Data); err != nil {
			return w.result, err
		}
		if err := saveRecord(w.path, o.Host.Name, w.record, false); err != nil { // else what is written now could not be told from what somebody else has
			return w.result, err
		}
	}
	return w.end()
}

// set has the hook at one event: as it is wanted, once.
func (w *hookWork) set(event string, entry hostfile.Object) error {
	positions, changed := w.positions(event)
	if len(positions) == 1 && hostfile.Same(w.file.List(event)[positions[0]], entry) {
		return nil
	}
	if changed && !w.Force {
		return w.changedByHand(event)
	}
	if err := w.removeAt(event, positions); err != nil {
		return err
	}
	return w.file.Append(event, entry)
}

// positions are where the hook stands in the list of an event, and whether somebody has changed it since it was written.
func (w *hookWork) positions(event string) (positions []int, changed bool) {
	for i, entry := range w.file.List(event) {
		table, is := entry.(map[string]any)
		if !is || !w.ours(table) {
			continue
		}
		positions = append(positions, i)
		if written := w.record.Entries[event]; written != nil && !sameTable(table, written) {
			changed = true
		}
	}
	return positions, changed
}

func sameTable(a, b map[string]any) bool { return hostfile.Same(a, hostfile.ObjectOf(b)) }

// ours reports whether an entry runs Earshot's hook for this host, and nothing else.
func (w *hookWork) ours(entry map[string]any) bool {
	for _, written := range w.record.Entries {
		if sameTable(entry, written) {
			return true
		}
	}
	commands := commandsOf(entry)
	return len(commands) == 1 && strings.Contains(commands[0], "earshot") && strings.Contains(commands[0], " hook "+w.Hook.Name+" ")
}

// commandsOf are the commands of an entry, in whichever of its forms.
func commandsOf(entry map[string]any) (commands []string) {
	for _, name := range []string{"command", "bash"} {
		if command, is := entry[name].(string); is {
			commands = append(commands, command)
		}
	}
	inner, _ := entry["hooks"].([]any)
	for _, one := range inner {
		if table, is := one.(map[string]any); is {
			commands = append(commands, commandsOf(table)...)
		}
	}
	return commands
}

func (w *hookWork) changedByHand(event string) error {
	found := "Earshot's hook at " + event + " in " + cause.OneLine(w.File) + " was changed since Earshot wrote it, and is left as it is"
	return cause.Misuse(found, "have it written again, or removed, with --force")
}

// removeAt takes entries out of the list of an event.
func (w *hookWork) removeAt(event string, positions []int) error {
	for _, i := range slices.Backward(positions) {
		if err := w.file.RemoveAt(event, i); err != nil {
			return err
		}
	}
	return nil
}

// byHand says what to write where the file cannot be edited.
func (w *hookWork) byHand(settings hook.Settings, err error) (HookResult, error) {
	if _, is := errors.AsType[*hostfile.HandError](err); !is {
		return w.result, err
	}
	raw, jerr := settings.JSON()
	if jerr != nil {
		return w.result, cause.Fail(jerr, "the entries cannot be written", "")
	}
	w.result.Snippet = string(raw)
	return w.result, cause.Misuse(cause.OneLine(w.File)+" was left as it is: its hooks are written in a form that is not edited here", "add the entries that are shown to it by hand")
}

// UninstallHooks takes out what InstallHooks has put in. The error is for people.
func UninstallHooks(o HookOptions) (HookResult, error) {
	w, err := beginHooks(o)
	if err != nil {
		return HookResult{}, err
	}
	wrong := func(err error) (HookResult, error) {
		if hand, is := errors.AsType[*hostfile.HandError](err); is {
			return w.result, cause.Misuse(cause.OneLine(w.File)+" was left as it is: "+hand.Error(), "take the entries with `earshot hook "+o.Hook.Name+"` out by hand")
		}
		return w.result, err
	}
	for _, event := range w.file.Names() {
		positions, changed := w.positions(event)
		if len(positions) == 0 {
			continue
		}
		if changed && !o.Force {
			return w.result, w.changedByHand(event)
		}
		if err := w.removeAt(event, positions); err != nil {
			return wrong(err)
		}
		w.result.Events = append(w.result.Events, event)
	}
	if w.record.MadeSection {
		if err := w.file.RemoveSection(); err != nil {
			return wrong(err)
		}
	}
	if w.record.MadeVersion && w.file.Version() != nil {
		if err := w.file.RemoveVersion(); err != nil {
			return wrong(err)
		}
	}
	w.record.Entries, w.record.MadeSection, w.record.MadeVersion = nil, false, false
	r, err := w.end()
	if err != nil || o.DryRun {
		return r, err
	}
	return r, saveRecord(w.path, o.Host.Name, w.record, true)
}

func (w *hookWork) end() (r HookResult, err error) {
	w.result.Changed, w.result.Diff = w.file.Changed(), w.file.Diff(w.File)
	if w.DryRun || !w.result.Changed {
		return w.result, nil
	}
	w.result.Backup, err = w.file.write(w.Host)
	return w.result, err
}

// entriesOf are the entries of settings, each in the order in which people write them.
func entriesOf(settings hook.Settings) (map[string]hostfile.Object, error) {
	raw, err := json.Marshal(settings.Hooks)
	if err != nil {
		return nil, cause.Fail(err, "the entries cannot be written", "")
	}
	var lists map[string][]map[string]any
	if err := json.Unmarshal(raw, &lists); err != nil {
		return nil, cause.Fail(err, "the entries cannot be written", "")
	}
	entries := map[string]hostfile.Object{}
	for event, list := range lists {
		entries[event] = hostfile.ObjectOf(list[0])
	}
	return entries, nil
}

// HasHooks reports whether a host runs Earshot's hook before it uses a tool of its own.
func HasHooks(o HookOptions) (bool, error) {
	w, err := beginHooks(o)
	if err != nil {
		return false, err
	}
	positions, _ := w.positions(o.Hook.Event())
	return len(positions) > 0, nil
}
