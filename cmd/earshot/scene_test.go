package main_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/internal/cli"
)

// asked is the end of every question.
const asked = "then press Enter."

// scene is a folder with duplicates, and a data directory.
type scene struct {
	t      *testing.T
	folder string
	data   string
	before map[string]string // what the folder held: the content's hash by path
	fault  string            // where the next run of the agent dies, or is held

	approving sync.Once // makes the token of [scene.approver]
}

// counts says that the test counts consents, starts or effects: when it fails once, it has failed, whatever
// comes of running it again (scripts/verdict).
func counts(t *testing.T) { t.Attr("counts", "effects") }

// newScene makes the sample folder of the product.
func newScene(t *testing.T) *scene {
	t.Helper()
	s := emptyScene(t)
	_, err := tidy.MakeSample(s.folder)
	must(t, err)
	s.before = content(t, s.folder)
	return s
}

func emptyScene(t *testing.T) *scene {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	s := &scene{t: t, folder: filepath.Join(dir, "photos"), data: filepath.Join(dir, "data")}
	must(t, os.Mkdir(s.folder, 0o755))
	must(t, os.Mkdir(s.data, 0o700))
	return s
}

// sceneOf makes a folder of these files.
func sceneOf(t *testing.T, files map[string]string) *scene {
	t.Helper()
	s := emptyScene(t)
	for path, text := range files {
		s.write(path, text)
	}
	s.before = content(t, s.folder)
	return s
}

func (s *scene) write(path, text string) {
	s.t.Helper()
	full := filepath.Join(s.folder, path)
	must(s.t, os.MkdirAll(filepath.Dir(full), 0o755))
	must(s.t, os.WriteFile(full, []byte(text), 0o600))
}

// content reads every regular file below a folder.
func content(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(folder, path)
		all[rel] = fmt.Sprintf("%x", sha256.Sum256(raw))
		return err
	}))
	return all
}

// gone lists what the folder held and holds no more, and demands that nothing else has
// happened: no file changed, none appeared, and each content is still there.
func (s *scene) gone() []string {
	s.t.Helper()
	counts(s.t)
	now := content(s.t, s.folder)
	left := map[string]bool{}
	for path, sum := range now {
		left[sum] = true
		if s.before[path] != sum {
			s.t.Errorf("%q has appeared or changed", path)
		}
	}
	var gone []string
	for path, sum := range s.before {
		if now[path] == "" {
			gone = append(gone, path)
		}
		if !left[sum] {
			s.t.Errorf("the content of %q is lost: no survivor is left", path)
		}
	}
	slices.Sort(gone)
	return gone
}

// duplicates are what a whole removal deletes: all of a content but the bytewise
// smallest path, without what a scan leaves out.
func (s *scene) duplicates() []string {
	sets := map[string][]string{}
	for path, sum := range s.before {
		if strings.HasPrefix(path, ".git/") || path == "notes/empty.txt" || strings.Contains(path, "hard link") {
			continue
		}
		sets[sum] = append(sets[sum], path)
	}
	var all []string
	for sum := range maps.Keys(sets) {
		slices.Sort(sets[sum])
		all = append(all, sets[sum][1:]...)
	}
	slices.Sort(all)
	return all
}

// untouched demands that every file is where it was, and that nothing else is there.
func (s *scene) untouched(when string) {
	s.t.Helper()
	counts(s.t)
	if now := content(s.t, s.folder); !maps.Equal(now, s.before) {
		s.t.Errorf("%s the folder is not as it was: %v are gone", when, s.gone())
	}
	s.tidied()
}

// tidied demands that no private folder of the program is left behind.
func (s *scene) tidied() {
	s.t.Helper()
	left, err := filepath.Glob(filepath.Join(s.folder, ".earshot-*"))
	must(s.t, err)
	if len(left) > 0 {
		s.t.Errorf("left behind: %v", left)
	}
}

// run starts the agent on the folder.
func (s *scene) run(args ...string) *process {
	s.t.Helper()
	return start(s.t, options{data: s.data, args: append([]string{"tidy", s.folder}, s.answering(args)...), fault: s.fault})
}

// runApart is run in a process of its own: the test kills it.
func (s *scene) runApart(args ...string) *process {
	s.t.Helper()
	return start(s.t, options{data: s.data, args: append([]string{"tidy", s.folder}, s.answering(args)...), process: true})
}

// answering has a run at a server answer there, as a script does on purpose.
func (s *scene) answering(args []string) []string {
	s.t.Helper()
	if !cli.ServerAt(s.data) {
		return args
	}
	return append(slices.Clone(args), "--token-file", s.approver())
}

// resume goes on with what an earlier run left.
func (s *scene) resume(args ...string) *process {
	s.t.Helper()
	return start(s.t, options{data: s.data, args: append([]string{"--resume", "--json"}, s.answering(args)...), fault: s.fault})
}

// policy writes a policy file.
func (s *scene) policy(text string) string {
	s.t.Helper()
	file := filepath.Join(filepath.Dir(s.data), "policy.yaml")
	must(s.t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// removed reads the journals: the paths that each call says it has removed.
func (s *scene) removed() map[string][]string {
	s.t.Helper()
	journals, err := filepath.Glob(filepath.Join(s.data, "journal", "*.jsonl"))
	must(s.t, err)
	all := map[string][]string{}
	for _, name := range journals {
		raw, err := os.ReadFile(name)
		must(s.t, err)
		call := strings.TrimSuffix(filepath.Base(name), ".jsonl")
		all[call] = removals(s.t, raw)
	}
	return all
}

// removals reads one journal. A line that was cut off by a crash says nothing.
func removals(t *testing.T, raw []byte) []string {
	t.Helper()
	paths, gone := map[int]string{}, []string(nil)
	for line := range strings.Lines(string(raw)) {
		var e struct {
			Kind string `json:"k"`
			Item int    `json:"n"`
			Path string `json:"path"`
			Code string `json:"code"`
			Kept string `json:"kept"`
		}
		if json.Unmarshal([]byte(line), &e) != nil {
			continue
		}
		switch {
		case e.Kind == "before":
			paths[e.Item] = e.Path
		case e.Kind == "after" && e.Code == "" && e.Kept == "":
			gone = append(gone, paths[e.Item])
		}
	}
	return gone
}

// restore puts back what lies in a trash, as a desktop does: by the info files.
func (s *scene) restore(trash string) int {
	s.t.Helper()
	infos, err := filepath.Glob(filepath.Join(trash, "info", "*.trashinfo"))
	must(s.t, err)
	form := regexp.MustCompile(`^\[Trash Info\]\nPath=(\S+)\nDeletionDate=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\n$`)
	for _, info := range infos {
		raw, err := os.ReadFile(info)
		must(s.t, err)
		match := form.FindSubmatch(raw)
		if match == nil {
			s.t.Fatalf("%s is %q", info, raw)
		}
		to := regexp.MustCompile(`%[0-9A-F]{2}`).ReplaceAllStringFunc(string(match[1]), func(code string) string {
			var b byte
			for _, c := range code[1:] {
				b = b<<4 | byte(strings.IndexRune("0123456789ABCDEF", c))
			}
			return string([]byte{b})
		})
		name := strings.TrimSuffix(filepath.Base(info), ".trashinfo")
		must(s.t, os.Rename(filepath.Join(trash, "files", name), to))
	}
	return len(infos)
}

// manyFiles makes so many duplicates that a removal can be stopped on its way.
func manyFiles(t *testing.T) *scene {
	t.Helper()
	files := map[string]string{}
	for i := range 4000 {
		files[fmt.Sprintf("%04d", i)] = fmt.Sprintf("pair %d", i/2)
	}
	return sceneOf(t, files)
}
