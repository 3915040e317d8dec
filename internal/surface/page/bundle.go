package page

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	// imported is what a script imports, a line each, and from where.
	imported = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^import (?:(\{.*\}) from )?"\./([a-z]+\.js)";$`)
	})
	// exported is what a script exports.
	exported = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^export ((?:async )?function|const) (\w+)`)
	})
	// module is a line that only a module of its own may have.
	module = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(?:import|export)\b.*$`)
	})
	// named is a script that a template names.
	named = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\{\{script "([a-z]+\.js)"\}\}`)
	})
	// waits is a script that waits before what imports it may run.
	waits = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`= \(await import\(`)
	})
)

// bundle is a script with all that it imports, each once and before what imports it, so that a page asks for one file. Each keeps its own
// names to itself. A script that cannot be bundled is an error: it would not run.
type bundle struct {
	sources map[string][]byte
	done    []string
	text    bytes.Buffer
}

// bundled is what a page is sent as a script.
func bundled(sources map[string][]byte, name string) ([]byte, error) {
	b := bundle{sources: sources}
	if !imported().Match(sources[name]) {
		return sources[name], nil
	}
	err := b.add(name, nil)
	return b.text.Bytes(), err
}

func (b *bundle) add(name string, within []string) error {
	if slices.Contains(b.done, name) {
		return nil
	}
	source, found := b.sources[name]
	if !found || slices.Contains(within, name) {
		return fmt.Errorf("%s imports %s, which is not there or imports it", strings.Join(within, ", which imports "), name)
	}
	for _, one := range imported().FindAllSubmatch(source, -1) {
		if err := b.add(string(one[2]), append(within, name)); err != nil {
			return err
		}
	}
	b.done = append(b.done, name)
	var names []string
	for _, one := range exported().FindAllSubmatch(source, -1) {
		names = append(names, string(one[2]))
	}
	source = imported().ReplaceAllFunc(source, func(line []byte) []byte {
		parts := imported().FindSubmatch(line)
		if len(parts[1]) == 0 {
			return nil
		}
		return fmt.Appendf(nil, "const %s = %s;", parts[1], variable(string(parts[2])))
	})
	source = exported().ReplaceAll(source, []byte("$1 $2"))
	if line := module().Find(source); line != nil {
		return fmt.Errorf("%s has a line that cannot be bundled: %s", name, line)
	}
	begin, end := "(() => {", "})();"
	if waits().Match(source) {
		begin, end = "await (async () => {", "})();"
	}
	if len(names) > 0 {
		begin, end = "const "+variable(name)+" = "+begin, "return { "+strings.Join(names, ", ")+" };\n"+end
	}
	fmt.Fprintf(&b.text, "%s\n%s%s\n", begin, source, end)
	return nil
}

// variable is what a script exports, in a bundle.
func variable(name string) string { return "$" + strings.TrimSuffix(name, scriptExt) }

// scripts are those of the page.
type scripts struct {
	files   map[string]File
	sources []byte // of all
}

// loadScripts keeps the scripts that a page or a browser asks for: those that a template names, and those that no other one imports.
func (p *Assets) loadScripts() (*scripts, error) {
	loaded := &scripts{files: map[string]File{}}
	sources, parts := map[string][]byte{}, map[string]bool{}
	err := fs.WalkDir(embedded, "assets", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != scriptExt {
			return err
		}
		source, err := embedded.ReadFile(name)
		sources[path.Base(name)] = source
		loaded.sources = append(loaded.sources, source...)
		for _, one := range imported().FindAllSubmatch(source, -1) {
			parts[string(one[2])] = true
		}
		return err //nolint:wrapcheck // named below
	})
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	names, err := fs.Glob(embedded, "assets/*.html")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	for _, name := range names {
		source, err := embedded.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("web: %w", err)
		}
		for _, one := range named().FindAllSubmatch(source, -1) {
			delete(parts, string(one[1]))
		}
	}
	for name := range sources {
		if parts[name] {
			continue
		}
		text, err := bundled(sources, name)
		if err != nil {
			return nil, fmt.Errorf("web: %w", err)
		}
		loaded.files[name] = p.file(scriptKind, text)
	}
	return loaded, nil
}
