package hostsetup

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/hostfile"
	"github.com/earshot-dev/earshot/internal/toolfile"
	"github.com/earshot-dev/earshot/tool/mcp"
	"github.com/earshot-dev/earshot/tool/settings"
)

// behind is a server on its way behind Earshot.
type behind struct {
	as      string
	entry   toolfile.MCPServer
	secrets map[string]string // files by their paths, with what they are to hold
}

// moveIn puts the servers of the host behind Earshot, and takes their entries out of the host's file, which is not written yet.
func (w *work) moveIn(ctx context.Context) error {
	servers, left := w.file.Servers()
	w.result.Left = left
	for _, s := range servers {
		m, err := w.moveOne(ctx, s)
		if err != nil {
			w.result.Left = append(w.result.Left, hostfile.Left{Name: s.Name, Reason: cause.OneLine(cause.Of(err))})
			continue
		}
		entry := w.file.Entry(s.Name)
		if err := w.file.Remove(s.Name); err != nil {
			w.result.Left = append(w.result.Left, hostfile.Left{Name: s.Name, Reason: "it stands behind Earshot now, too; its entry has to be taken out by hand: " + cause.Of(err)})
			continue
		}
		w.record.remember(moved{Name: s.Name, As: m.As, Entry: entry})
		w.result.Moved = append(w.result.Moved, m)
	}
	return ctx.Err()
}

// moveOne adds one server to the file of tools, unless it is there already: a run before was interrupted, or another host has it, too.
func (w *work) moveOne(ctx context.Context, s hostfile.Server) (Moved, error) {
	b, err := w.behind(s)
	m := Moved{Name: s.Name, As: b.as}
	if err != nil {
		return m, err
	}
	present, err := toolfile.Servers(w.toolsFile())
	if err != nil {
		return m, err
	}
	if old, there := present[b.as]; there {
		if reflect.DeepEqual(old, b.entry) && b.secretsAre() {
			return m, nil
		}
		return m, errors.New("there is another server of the name " + b.as + " behind Earshot")
	}
	if w.DryRun {
		return m, nil
	}
	if err := b.writeSecrets(); err != nil {
		return m, err
	}
	if err := w.add(ctx, b, &m); err != nil {
		b.removeSecrets()
		return m, err
	}
	if m.Login != "" {
		m.Client = s.Client
	}
	return m, nil
}

// add adds a server that lists its tools, or asks for a login before it does.
func (w *work) add(ctx context.Context, b behind, m *Moved) error {
	draft, err := toolfile.AddServer(w.toolsFile(), b.as, b.entry)
	if err != nil {
		return err
	}
	defer draft.Drop()
	if w.OnStart != nil {
		w.OnStart(b.as)
	}
	offered, _, err := draft.Inspect(ctx, b.as, w.Tools)
	if _, is := errors.AsType[*mcp.LoginError](err); is {
		m.Login = loginNeeded
		if err := draft.Save(); err != nil {
			return err
		}
		return w.AskLogin(ctx, b.as, b.entry.URL)
	}
	if err != nil {
		return errors.New("its tools cannot be listed: " + cause.Of(err))
	}
	if len(offered.Definitions) == 0 {
		return errors.New("it offers no tools, resources or prompts")
	}
	for _, tool := range offered.LeftOut {
		m.Without = append(m.Without, cause.OneLine(cause.Of(tool)))
	}
	return draft.Save()
}

// loginNeeded is the login of a server that asks for one.
const loginNeeded = "needed"

// behind is a server as it is written into a file of tools. Values that may be credentials lie in files of their own.
func (w *work) behind(s hostfile.Server) (behind, error) {
	b := behind{as: nameBehind(s.Name), secrets: map[string]string{}}
	b.entry = toolfile.MCPServer{URL: s.URL}
	if len(s.Command) > 0 {
		path, err := exec.LookPath(s.Command[0])
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err != nil {
			return b, errors.New("there is no program " + cause.Quoted(s.Command[0]))
		}
		b.entry.Command = append([]string{path}, s.Command[1:]...)
		b.entry.Inherit = settings.Sorted(append([]string{"HOME", "PATH"}, s.Inherit...))
		if b.entry.Folder = w.Home; filepath.IsAbs(s.Folder) {
			b.entry.Folder = s.Folder
		}
	}
	secret := func(name, text string) string {
		if !hostfile.MayBeSecret(name, text) && !strings.ContainsAny(text, "{}") {
			return text
		}
		key := strings.ReplaceAll(name, "-", "_")
		path := filepath.Join(w.Data, secretsFolder, b.as+"."+key)
		b.secrets[path] = text
		b.reference(key, toolfile.SecretRef{File: path})
		return "{" + key + "}"
	}
	for _, name := range slices.Sorted(maps.Keys(s.Environment)) {
		b.entry.Environment = with(b.entry.Environment, name, secret(name, s.Environment[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		b.entry.Headers = with(b.entry.Headers, name, secret(name, s.Headers[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(s.HeaderVariables)) {
		variable := s.HeaderVariables[name]
		b.reference(variable, toolfile.SecretRef{Env: variable})
		text := "{" + variable + "}"
		if name == "Authorization" {
			text = "Bearer " + text
		}
		b.entry.Headers = with(b.entry.Headers, name, text)
	}
	return b, nil
}

func (b *behind) reference(name string, ref toolfile.SecretRef) {
	if b.entry.Secrets == nil {
		b.entry.Secrets = map[string]toolfile.SecretRef{}
	}
	b.entry.Secrets[name] = ref
}

func with(texts map[string]string, name, text string) map[string]string {
	if texts == nil {
		texts = map[string]string{}
	}
	texts[name] = text
	return texts
}

// nameBehind is the name of a server among services, which takes fewer characters.
func nameBehind(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
}

func (b *behind) secretsAre() bool {
	for path, text := range b.secrets {
		if raw, err := os.ReadFile(path); err != nil || string(raw) != text+"\n" {
			return false
		}
	}
	return true
}

func (b *behind) writeSecrets() error {
	for path, text := range b.secrets {
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = datadir.WriteFile(path, []byte(text+"\n"))
		}
		if err != nil {
			return cause.Fail(err, "its credentials could not be kept", "")
		}
	}
	return nil
}

func (b *behind) removeSecrets() {
	for path := range b.secrets {
		_ = os.Remove(path) // nothing reads it
	}
}

// moveOut puts the servers that were moved into the host's file again, which is not written yet.
func (w *work) moveOut() (back []moved, err error) {
	for _, m := range w.record.Moved {
		entry := hostfile.ObjectOf(m.Entry)
		switch {
		case w.file.Has(m.Name, entry):
		case w.file.Entry(m.Name) != nil:
			w.result.Left = append(w.result.Left, hostfile.Left{Name: m.Name, Reason: w.Host.Title + " has another server of that name now"})
			continue
		default:
			if err := w.file.Set(m.Name, entry); err != nil {
				return nil, w.byHand(err)
			}
		}
		back = append(back, m)
		w.result.Moved = append(w.result.Moved, Moved{Name: m.Name, As: m.As})
	}
	return back, nil
}

// removeMoved takes servers away from behind Earshot that their host has again. One that was changed there stays.
func (w *work) removeMoved(back []moved) error {
	present, err := toolfile.Servers(w.toolsFile())
	if err != nil {
		return err
	}
	for _, m := range back {
		w.record.Moved = slices.DeleteFunc(w.record.Moved, func(old moved) bool { return old.Name == m.Name })
		old, there := present[m.As]
		if !there || w.record.shared(m.As) {
			continue
		}
		b, err := w.again(m)
		if err != nil || !reflect.DeepEqual(old, b.entry) {
			w.result.Left = append(w.result.Left, hostfile.Left{Name: m.As, Reason: "it was changed behind Earshot, and stays there, too; remove it with `earshot mcp rm " + m.As + "`"})
			continue
		}
		draft, err := toolfile.RemoveServer(w.toolsFile(), m.As)
		if err == nil {
			err = draft.Save()
		}
		if err != nil {
			return err
		}
		b.removeSecrets()
		w.result.Removed = append(w.result.Removed, m.As)
	}
	return nil
}

// again is how a server was put behind Earshot.
func (w *work) again(m moved) (behind, error) {
	s, why := hostfile.ServerOf(m.Name, m.Entry)
	if why != "" {
		return behind{}, errors.New(why)
	}
	return w.behind(s)
}
